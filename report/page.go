package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"

	"github.com/bourse-grid/bourse"
)

// ReportFile is the page of a run, ComparisonFile that of two, with its figures in
// ApartFile.
const (
	ReportFile     = "report.html"
	ComparisonFile = "comparison.html"
	ApartFile      = "comparison.csv"
)

// mostPage bounds a page, in bytes. One that would be larger shows density in
// place of bars, then fewer jobs.
const mostPage = 10 << 20

// Bounds on the tables of a page.
const (
	mostJobRows  = mostStories
	leastJobRows = 200
	mostDataRows = 240
	longTable    = 24 // rows of a table that is folded
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page is what page.html shows. The drawings, the style and the script are our
// own; all other words are escaped by the template.
type page struct {
	Title    string
	Until    int64 // milliseconds
	Heads    []pageHead
	Sections []pageSection

	Rules, Style template.CSS
	Script       template.JS
	Defs         template.HTML
}

type pageHead struct{ Title, Line, Finding string }

type pageSection struct {
	Title, About string
	Zoom         bool
	Tables       []pageTable
	Grid         string // class of the plots' grid
	Plots        []pagePlot
	Jobs         []jobTable
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

// Word reports whether column i is of words, not of numbers.
func (t pageTable) Word(i int) bool { return i < t.Words || t.Verdict && i == len(t.Head)-1 }

type pagePlot struct {
	Title, About, Label string
	Timed               bool
	SVG                 template.HTML
	Data                *pageTable
}

// WriteHTML writes report.html: the run's numbers, pictures and jobs on one page
// that needs nothing else. It needs a report that kept its jobs, and is 10 MB at
// most: a larger one shows how full groups were in place of bars, then fewer jobs.
func (r *Report) WriteHTML(w io.Writer) error {
	return writeWithin(w, func(o pageOptions) (*page, error) { return r.page(o) })
}

// pageOptions say how much a page shows.
type pageOptions struct {
	dense bool
	jobs  int
}

func writeWithin(w io.Writer, make func(pageOptions) (*page, error)) error {
	var text bytes.Buffer
	for _, o := range []pageOptions{{false, mostJobRows}, {true, mostJobRows}, {true, leastJobRows}} {
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
	p.Rules, p.Style, p.Script = template.CSS(sheet.Rules()), template.CSS(pageStyle), template.JS(pageScript)
	p.Defs = template.HTML(sheet.Defs())
	return pageTemplate.Execute(w, p)
}

func (r *Report) page(o pageOptions) (*page, error) {
	s := &r.Summary
	plots, err := r.plots(r.view(), ganttOptions{tried: true, dense: o.dense})
	if err != nil {
		return nil, err
	}
	p := &page{Title: s.Scenario + ", seed " + strconv.FormatUint(s.Seed, 10), Until: int64(max(r.until, 1)), Heads: []pageHead{r.head("")}}
	p.add(pageSection{Title: "Key numbers", Tables: s.keyTables()})
	if len(s.Settings) > 0 {
		p.add(pageSection{Title: "Configuration", Tables: []pageTable{settingsTable(s.Settings)}})
	}
	p.addPlots([][]Plot{plots}, nil)
	if len(r.brokers) > 0 {
		p.add(r.jobSection("", o.jobs))
	}
	return p, nil
}

func (p *page) add(s pageSection) { p.Sections = append(p.Sections, s) }

// head names a run, with a letter where there are two.
func (r *Report) head(letter string) pageHead {
	s := &r.Summary
	h := pageHead{Title: s.Scenario, Finding: s.Finding, Line: fmt.Sprintf("Seed %d, %s simulated, %s, %s.",
		s.Seed, bourse.Duration(s.Until).Words(), count(len(s.Sites), "site"), count(len(s.Brokers), "VO"))}
	if letter != "" {
		h.Title = letter + ": " + h.Title
	}
	return h
}

// addPlots adds the figures of one run, or of two side by side, each named by
// its letter.
func (p *page) addPlots(runs [][]Plot, letters []string) {
	grid := "single"
	if len(runs) > 1 {
		grid = "pair"
	}
	for k, title := range []string{"What ran where", "Use and price over time"} {
		one := pageSection{Title: title, About: runs[0][k].About, Zoom: k == 0, Grid: grid}
		for i, plots := range runs {
			plot := plots[k]
			plot.About = ""
			plot.Title = letter(letters, i)
			one.Plots = append(one.Plots, plot.onPage(id(letters, i), k == 1))
		}
		p.add(one)
	}
	var prices, fronts pageSection
	prices = pageSection{Title: "Prices paid", Grid: "small"}
	fronts = pageSection{Title: "Choices for whole batches", Grid: "small",
		About: "The largest batches of each VO: which combinations of its alternatives there were in cost and in what the goal has least of, and which one was taken."}
	for i, plots := range runs {
		for _, plot := range plots[2:] {
			to := &fronts
			if plot.Name == "prices" {
				to, prices.About, plot.About, plot.Title = &prices, plot.About, "", letter(letters, i)
			} else if l := letter(letters, i); l != "" {
				plot.Title = l + ", " + plot.Title
			}
			to.Plots = append(to.Plots, plot.onPage(id(letters, i), true))
		}
	}
	for _, s := range []pageSection{prices, fronts} {
		if len(s.Plots) > 0 {
			p.add(s)
		}
	}
}

func letter(letters []string, i int) string {
	if letters == nil {
		return ""
	}
	return "Run " + letters[i]
}

// id begins the names of a run's elements.
func id(letters []string, i int) string {
	if letters == nil {
		return ""
	}
	return letters[i] + "-"
}

// onPage is the plot as a page shows it, on demand with its data as a table.
func (f *Plot) onPage(prefix string, data bool) pagePlot {
	var svg bytes.Buffer
	f.Drawing.WriteInline(&svg, prefix+f.Name) // a buffer takes everything
	p := pagePlot{Title: f.Title, About: f.About, Timed: f.timed, Label: f.Drawing.Title + "; zoom with + and -, move with the arrows", SVG: template.HTML(svg.String())}
	if !data {
		return p
	}
	t := pageTable{Caption: "The numbers", Folded: true, Head: f.Head, Rows: f.Rows, Words: 1}
	if f.Brief != nil {
		t.Rows = f.Brief
	}
	if n := len(t.Rows); n > mostDataRows {
		t.Note = fmt.Sprintf("The first %d of %d rows; bourse report --figures svg writes all of them as CSV.", mostDataRows, n)
		t.Rows = t.Rows[:mostDataRows]
	}
	p.Data = &t
	return p
}

// keyTables are the tables that end a simulation.
func (s *Summary) keyTables() []pageTable {
	sites := keyTable("Site", siteMeasures, s.Sites, siteName)
	sites.Caption = "Sites: how full, by whom; their own jobs; what they earned, in credits"
	sites.Folded = len(sites.Rows) > longTable
	list := []pageTable{sites}
	if len(s.Brokers) == 0 {
		return list
	}
	vos := keyTable("VO", brokerMeasures, s.Brokers, brokerName)
	vos.Caption = "VOs: jobs, means over those placed, credits; extra is what was paid above base price"
	return append(list, vos)
}

// keyTable is a row for each of a run's sites or VOs.
func keyTable[S any](first string, measures []measure[S], list []S, name func(*S) string) pageTable {
	heads, cells := tableOf(first, measures, onPage[S])
	t := pageTable{Words: 1, Head: heads}
	for i := range list {
		t.Rows = append(t.Rows, cells(name(&list[i]), &list[i]))
	}
	return t
}

func settingsTable(list []Setting) pageTable {
	t := pageTable{Caption: "All settings", Folded: true, Head: []string{"Of", "Key", "Value"}, Words: 3}
	for _, s := range list {
		t.Rows = append(t.Rows, []string{s.Owner, s.Key, s.Value})
	}
	return t
}

// WriteComparison writes two runs side by side, over one ruler and on the same
// axes, with how far apart they are over all their seeds. Both must have kept their
// jobs.
func WriteComparison(w io.Writer, a, b *Report, apart []Apart) error {
	return writeWithin(w, func(o pageOptions) (*page, error) { return comparison(a, b, apart, o) })
}

func comparison(a, b *Report, apart []Apart, o pageOptions) (*page, error) {
	letters, runs := []string{"A", "B"}, []*Report{a, b}
	v := view{until: max(a.until, b.until), price: max(a.highestPrice(), b.highestPrice())}
	p := &page{Title: fmt.Sprintf("A: %s, seed %d; B: %s, seed %d", a.Summary.Scenario, a.Summary.Seed, b.Summary.Scenario, b.Summary.Seed), Until: int64(max(v.until, 1))}
	var plots [][]Plot
	for i, r := range runs {
		list, err := r.plots(v, ganttOptions{tried: true, dense: o.dense})
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", letters[i], err)
		}
		plots = append(plots, list)
		p.Heads = append(p.Heads, r.head(letters[i]))
	}
	numbers := apartTable(apart)
	numbers.Caption, numbers.Folded = "All measures", len(numbers.Rows) > 4*longTable
	p.add(pageSection{Title: "Key numbers", Tables: []pageTable{numbers}})
	if t := settingsApart(a.Summary.Settings, b.Summary.Settings); len(t.Rows) > 0 {
		p.add(pageSection{Title: "Configuration", Tables: []pageTable{t}})
	}
	p.addPlots(plots, letters)
	for i, r := range runs {
		if len(r.brokers) > 0 {
			p.add(r.jobSection(letters[i], o.jobs/2))
		}
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
