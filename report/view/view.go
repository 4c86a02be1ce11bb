// Package view is what people see of sites, jobs and money in a browser: report.html
// holds it whole, the live page is served its files. It is a stylesheet, modules of
// plain JavaScript and one JSON document, a Document; it knows no facts, asks for
// nothing, and decides nothing.
//
// view.js is the door:
//
//	import { createView } from "./view.js";
//	const view = createView(element, options);
//	await view.load(document);   // a Document: all there is
//	await view.update(part);     // a Document too: what has changed
//
// load draws a Document. update merges one into what is shown, and keeps the span of
// time, what is open, sorted and filtered: sites are replaced by their names, jobs and
// bars by their ids, and a job or bar with "gone" true goes; any other field that is
// there replaces the one that was. Parts of one frame are drawn once. Jobs, stories, loads
// and bars come plain or packed (Pack, PackBars); what is updated later must have come plain.
//
// The options, each of which may be left out:
//
//	explain(job)   a promise of the job's Story, asked for when the job is opened; else
//	               it is that of Document.Stories
//	actions(site)  a list of {label, run}: buttons of a site, such as Drain
//	jobActions(job)  likewise of a job
//	sitesAbout     a sentence on the table of sites
//	users          the table of jobs has their users, not their VOs
//	tell(job, store, show)  what opens below a job, in place of its Story
//	opened(job)    is told which job is open; undefined: none
//	fold           the jobs of a batch are one row, which opens on them
//	filters        an element with filters of the page's own, which then call view.choose;
//	               it and all tables come above the pictures
//	unfilter       clears these filters, to show a job that they hide
//	before         of tables that come first, by their titles: {rows, inside(cells, view)}
//	colour, coloured(by)  what the colours of legs stand for at first (window, user, state,
//	               vo), and who is told when another is chosen
//	newest         new jobs come before the others
//	price          "asked": the price chart of all sites has the base price that each asks,
//	               not what is paid
//	span           a Span of another view, so that both show the same time
//
// A page that is served names Files' modules by <script type="module">, uPlot's script
// before them, and view.css and uPlot's; it needs no 'unsafe-inline' but for styles. A
// page that stands alone holds Style and Script, in which createView is a global, and may hold
// what is packed in Feeds beside its document.
package view

import (
	"embed"
	"regexp"
	"strings"
)

// Files are view.css, the modules, and uPlot with its licence in the folder uplot.
//
//go:embed *.js *.css uplot
var Files embed.FS

// UPlotScript and UPlotStyle are the files of uPlot.
const (
	UPlotScript = "uplot/uPlot.iife.min.js"
	UPlotStyle  = "uplot/uPlot.min.css"
)

// modules in the order of a page that holds all: none uses a later one before the page
// has been read.
var modules = []string{"words.js", "pack.js", "store.js", "lanes.js", "span.js", "rows.js", "paint.js", "gantt.js",
	"pointer.js", "table.js", "story.js", "charts.js", "figures.js", "tint.js", "batch.js", "alerts.js", "view.js"}

// Style returns the stylesheet of a page that stands alone.
func Style() string { return read(UPlotStyle) + "\n" + read("view.css") }

// Script is all modules as one script that leaves createView, Span, Feed and uPlot behind.
func Script() string {
	imports, exports := regexp.MustCompile(`(?m)^import [^;]*;\n`), regexp.MustCompile(`(?m)^export `)
	var b strings.Builder
	b.WriteString(read(UPlotScript))
	b.WriteString("\nconst {createView, Span, Feed} = (() => {\n\"use strict\";\n")
	for _, name := range modules {
		b.WriteString(exports.ReplaceAllString(imports.ReplaceAllString(read(name), ""), ""))
	}
	b.WriteString("return {createView, Span, Feed};\n})();\n")
	return b.String()
}

// read reads a file that is built in.
func read(name string) string {
	text, err := Files.ReadFile(name)
	if err != nil {
		panic(err) // of a file that this package embeds
	}
	return string(text)
}
