package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/view"
)

// ReportFile is the page of a run, ComparisonFile that of two, with its figures in
// ApartFile.
const (
	ReportFile     = "report.html"
	ComparisonFile = "comparison.html"
	ApartFile      = "comparison.csv"
)

// mostPage bounds a page, in bytes. One that would be larger shows fewer jobs, then no
// blocks.
const mostPage = 10 << 20

// Bounds on the tables of a page.
const (
	mostDataRows = 240
	longTable    = 24 // rows of a table that is folded
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

// page is what page.html shows. The drawings, the style and the script are our
// own; all other words are escaped by the template.
type page struct {
	Title    string
	Heads    []pageHead
	Views    []pageView
	Sections []pageSection // above the views
	Below    []pageSection

	Rules, Style template.CSS
	Script       template.JS // of the views
	Defs         template.HTML
}

// pageView is a run: its letter where there are two, and what its view loads.
type pageView struct {
	ID       string
	Document template.JS
	Pieces   []pagePiece
}

// pagePiece is a part of one of the document's feeds.
type pagePiece struct {
	Feed int
	Text template.HTML
}

type pageHead struct{ Title, Line, Finding string }

type pageSection struct {
	Title, About string
	Tables       []pageTable
	Plots        []pagePlot
}

type pageTable struct {
	Caption string
	Folded  bool
	Head    []string
	Rows    [][]string
	Note    string
	Words   int  // how many columns from the left are words
	Verdict bool // the last column is words too
}

// Word reports whether column i contains words rather than numbers.
func (t pageTable) Word(i int) bool { return i < t.Words || t.Verdict && i == len(t.Head)-1 }

type pagePlot struct {
	Title, About string
	SVG          template.HTML
	Data         *pageTable
}

// WriteHTML writes report.html: the run's numbers, pictures and jobs on one page that needs
// nothing else. The report must have kept its jobs. The page has at most 10 MB: a larger
// one shows fewer jobs, then leaves out what ran where.
func (r *Report) WriteHTML(w io.Writer) error {
	if !r.kept {
		return errors.New("the jobs of this run were not kept: there is nothing to draw")
	}
	return writeWithin(w, r.page)
}

// lesser lists how much pages hold, each less than the one before.
var lesser = []documentOptions{{mostStories, math.MaxInt, true}, {200, 20_000, true}, {200, 2000, true}, {200, 2000, false}}

func writeWithin(w io.Writer, make func(documentOptions) (*page, error)) error {
	var text bytes.Buffer
	for _, o := range lesser {
		p, err := make(o)
		if err != nil {
			return err
		}
		text.Reset()
		if err := p.write(&text); err != nil {
			return err
		}
		if text.Len() <= mostPage {
			break
		}
	}
	_, err := w.Write(text.Bytes())
	return err
}

func (p *page) write(w io.Writer) error {
	p.Rules, p.Style, p.Defs = template.CSS(sheet.Rules()), template.CSS(view.Style()+pageStyle), template.HTML(sheet.Defs())
	if len(p.Views) > 0 {
		p.Script = template.JS(view.Script())
	}
	return template.Must(template.New("page").Parse(pageText)).Execute(w, p)
}

func (r *Report) page(o documentOptions) (*page, error) {
	s := &r.Summary
	p := &page{Title: s.Scenario + ", seed " + strconv.FormatUint(s.Seed, 10), Heads: []pageHead{r.head("")}}
	if err := p.view(r, "", r.alone(), o); err != nil {
		return nil, err
	}
	if len(s.Settings) > 0 {
		p.Below = append(p.Below, pageSection{Title: "Configuration", Tables: []pageTable{settingsTable(s.Settings)}})
	}
	return p, nil
}

func (p *page) add(s pageSection) { p.Sections = append(p.Sections, s) }

// view adds a run.
func (p *page) view(r *Report, letter string, s shared, o documentOptions) error {
	d, err := r.document(s, o)
	if err != nil {
		return err
	}
	if letter != "" {
		d.Title, d.Line = "Run "+letter, r.Summary.Scenario
	}
	v, feeds := pageView{ID: cmp.Or(letter, "run")}, d.Feeds()
	text, err := json.Marshal(d) // < and > are escaped
	if err != nil {
		return err
	}
	v.Document = template.JS(text)
	for i, text := range feeds {
		for piece := range slices.Chunk([]byte(text), onePiece) {
			v.Pieces = append(v.Pieces, pagePiece{i + 1, template.HTML(piece)})
		}
	}
	p.Views = append(p.Views, v)
	return nil
}

// onePiece is how much of a feed one element of the page holds. A browser takes almost
// twice as long to read a single element of megabytes as many of this size. It is a
// multiple of four, the unit of base64.
const onePiece = 60_000

// head names a run, with a letter if there are two.
func (r *Report) head(letter string) pageHead {
	s := &r.Summary
	h := pageHead{Title: s.Scenario, Finding: s.Finding, Line: fmt.Sprintf("Seed %d, %s simulated, %s, %s.",
		s.Seed, grid.Duration(s.Until).Words(), grid.Count(len(s.Sites), "site"), grid.Count(len(s.Brokers), "VO"))}
	if letter != "" {
		h.Title = letter + ": " + h.Title
	}
	return h
}

// onPage is the plot as a page shows it, on demand with its data as a table.
func (f *Plot) onPage(data bool) pagePlot {
	var svg bytes.Buffer
	f.Drawing.WriteInline(&svg, f.Name) // a buffer takes everything
	p := pagePlot{Title: f.Title, About: f.About, SVG: template.HTML(svg.String())}
	if !data {
		return p
	}
	t := pageTable{Caption: "The numbers", Folded: true, Head: f.Head, Rows: f.Rows, Words: 1}
	if n := len(t.Rows); n > mostDataRows {
		t.Note = fmt.Sprintf("The first %d of %s; bourse report --figures svg writes all of them as CSV.", mostDataRows, grid.Count(n, "row"))
		t.Rows = t.Rows[:mostDataRows]
	}
	p.Data = &t
	return p
}

func settingsTable(list []Setting) pageTable {
	t := pageTable{Caption: "All settings", Folded: true, Head: []string{"Of", "Key", "Value"}, Words: 3}
	for _, s := range list {
		t.Rows = append(t.Rows, []string{s.Owner, s.Key, s.Value})
	}
	return t
}

// WriteComparison writes two runs side by side, over one ruler and on the same axes, with
// their differences over all their seeds. Both must have kept their jobs.
func WriteComparison(w io.Writer, a, b *Report, apart []Apart) error {
	return writeWithin(w, func(o documentOptions) (*page, error) { return comparison(a, b, apart, o) })
}

func comparison(a, b *Report, apart []Apart, o documentOptions) (*page, error) {
	v := shared{until: max(a.until, b.until), price: max(a.highestPrice(), b.highestPrice())}
	p := &page{Title: fmt.Sprintf("A: %s, seed %d; B: %s, seed %d", a.Summary.Scenario, a.Summary.Seed, b.Summary.Scenario, b.Summary.Seed)}
	for i, r := range []*Report{a, b} {
		letter := []string{"A", "B"}[i]
		if !r.kept {
			return nil, fmt.Errorf("run %s: its jobs were not kept: there is nothing to draw", letter)
		}
		if err := p.view(r, letter, v, o); err != nil {
			return nil, fmt.Errorf("run %s: %w", letter, err)
		}
		p.Heads = append(p.Heads, r.head(letter))
	}
	numbers := apartTable(apart)
	numbers.Caption, numbers.Folded = "All measures", len(numbers.Rows) > 4*longTable
	p.add(pageSection{Title: "Key numbers", Tables: []pageTable{numbers}})
	if t := settingsApart(a.Summary.Settings, b.Summary.Settings); len(t.Rows) > 0 {
		p.add(pageSection{Title: "Configuration", Tables: []pageTable{t}})
	}
	return p, nil
}

// settingsApart lists the settings in which two runs differ.
func settingsApart(a, b []Setting) pageTable {
	t := pageTable{Head: []string{"Of", "Key", "A", "B"}, Words: 4, Note: "Settings that are the same in both runs are left out."}
	rest := slices.Clone(b)
	for _, s := range a {
		other := ""
		if i := slices.IndexFunc(rest, func(o Setting) bool { return o.Owner == s.Owner && o.Key == s.Key }); i >= 0 {
			other = rest[i].Value
			rest = slices.Delete(rest, i, i+1)
		}
		if other != s.Value {
			t.Rows = append(t.Rows, []string{s.Owner, s.Key, s.Value, other})
		}
	}
	for _, s := range rest {
		t.Rows = append(t.Rows, []string{s.Owner, s.Key, "", s.Value})
	}
	return t
}
