package view

import (
	"encoding/json"

	"github.com/bourse-grid/bourse/grid"
)

// Document is what a view shows. Times are milliseconds from the run's zero, spans
// milliseconds, money millionths of credits. What is left out is not shown.
type Document struct {
	Title   string `json:"title,omitempty"`
	Line    string `json:"line,omitempty"`    // what it is of, in a line
	Finding string `json:"finding,omitempty"` // what came of it, in a sentence

	From  int64 `json:"from,omitempty"`  // where the ruler begins
	Until int64 `json:"until,omitempty"` // where it ends
	Now   int64 `json:"now,omitempty"`   // marked on the ruler, of what goes on
	Epoch int64 `json:"epoch,omitempty"` // the zero in Unix milliseconds: times are shown as those of a calendar

	Alerts  []Alert  `json:"alerts,omitempty"` // what needs attention, above all else
	Figures []Figure `json:"figures,omitempty"`

	SiteColumns []Column `json:"siteColumns,omitempty"` // of Site.Cells
	Sites       []Site   `json:"sites,omitempty"`
	Tables      []Table  `json:"tables,omitempty"`  // VOs, accounts, ...: by their titles
	Jobs        any      `json:"jobs,omitempty"`    // []Job, or packed by PackJobs
	Stories     any      `json:"stories,omitempty"` // of Story by the jobs' ids, or Packed
	JobsNote    string   `json:"jobsNote,omitempty"`
	Bars        any      `json:"bars,omitempty"` // []Bar, or *PackedBars

	Loads    any     `json:"loads,omitempty"`    // []Load, or Packed
	TopPrice float64 `json:"topPrice,omitempty"` // where the axes of prices end
	Shares   []Share `json:"shares,omitempty"`
	Fronts   []Front `json:"fronts,omitempty"`
}

// Alert is what needs somebody's attention: a job that failed, a site that is gone, money
// that ends.
type Alert struct {
	Kind  string `json:"kind"` // failed, site, budget, replica, certificate
	Words string `json:"words"`
	Job   string `json:"job,omitempty"`   // the id of the job that it is about,
	Batch string `json:"batch,omitempty"` // the batch,
	Site  string `json:"site,omitempty"`  // or the site
	At    int64  `json:"at,omitempty"`    // since when
}

// Figure is a number that is shown large.
type Figure struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Note  string `json:"note,omitempty"`
}

// Column is the head of a table's column. Kind says how its cells read and sort: "word",
// "state" (a word that can be filtered by), "number", "at" (a time), "span", "money",
// "figure" (a Cell).
type Column struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// Cell is a figure: the number that it sorts by, and its words.
type Cell struct {
	Value float64 `json:"v"`
	Words string  `json:"s"`
}

// Table is a table that can be sorted.
type Table struct {
	Title   string   `json:"title"`
	About   string   `json:"about,omitempty"`
	Columns []Column `json:"columns"`
	Rows    [][]any  `json:"rows"`
}

// Site is a site, with its groups of nodes in the order of their rows.
type Site struct {
	Name   string  `json:"name"`
	State  string  `json:"state,omitempty"`
	Why    string  `json:"why,omitempty"` // it is not usable
	Used   string  `json:"used,omitempty"`
	Groups []Group `json:"groups"`
	Cells  []any   `json:"cells,omitempty"`
	Outs   []Out   `json:"outs,omitempty"` // when nothing new began there
}

// Out is a time in which a site, or nodes of a group of it, took nothing new: a drain, an
// outage, maintenance.
type Out struct {
	What  string `json:"what"` // maintenance, or a state of the site
	Why   string `json:"why,omitempty"`
	Group string `json:"group,omitempty"` // empty: the whole site
	Nodes int    `json:"nodes,omitempty"` // 0: all of the group
	Start int64  `json:"start"`
	End   *int64 `json:"end,omitempty"` // nil: it goes on
}

// Group is a group of nodes.
type Group struct {
	Name  string `json:"name"`
	Nodes int    `json:"nodes"`
}

// Job is a VO's job. A job without a window has no start.
type Job struct {
	ID     string   `json:"id"` // VO and name are one of all; where the name is, it is ID
	VO     string   `json:"vo,omitempty"`
	User   string   `json:"user,omitempty"`
	Name   string   `json:"name"`
	Batch  string   `json:"batch,omitempty"` // jobs of one batch are folded into a row
	State  string   `json:"state"`
	Counts string   `json:"counts,omitempty"` // of an array: how many elements are in each state
	Exit   *int     `json:"exit,omitempty"`   // of its work, the first that is not 0
	Submit int64    `json:"submit"`
	Start  *int64   `json:"start,omitempty"`
	End    *int64   `json:"end,omitempty"`
	Nodes  int      `json:"nodes"`
	Sites  []string `json:"sites,omitempty"`
	Cost   *int64   `json:"cost,omitempty"`
	Price  float64  `json:"price,omitempty"` // credits a node-hour
	Why    string   `json:"why,omitempty"`
	Gone   bool     `json:"gone,omitempty"`
}

// Story is how a job came to where it is. Document.Stories has them by the jobs' ids.
type Story struct {
	Turns   []string `json:"turns,omitempty"`
	Found   string   `json:"found,omitempty"`
	Options []Option `json:"options,omitempty"`
}

// Option is an alternative that a job had.
type Option struct {
	Number  int    `json:"number"`
	Start   int64  `json:"start"`
	End     int64  `json:"end"`
	Cost    int64  `json:"cost"`
	On      string `json:"on"`
	Outcome string `json:"outcome"`
}

// Kind is what a bar stands for.
type Kind uint8

// The kinds of bars: local jobs by how they started, and legs of windows.
const (
	Immediate Kind = iota
	Backfilled
	Reserved
	Shared // it shares nodes with others
	Leg
	SharedLeg
	Held // held, and not run
)

// Bar is a block: nodes of a group for a while.
type Bar struct {
	ID    string `json:"id,omitempty"` // one of all, of what is updated
	Site  string `json:"site"`
	Group string `json:"group"`
	Nodes int    `json:"nodes"`
	Start int64  `json:"start"`
	End   int64  `json:"end"`
	Kind  Kind   `json:"kind"`
	Used  int64  `json:"used,omitempty"`  // thousandths of nodes in the mean, of what is shared
	Local int64  `json:"local,omitempty"` // the number of a local job
	Part         // of a leg
	Gone  bool   `json:"gone,omitempty"`
}

// Part is what a leg's bar is of.
type Part struct {
	Job    string `json:"job,omitempty"`    // its id
	Window int    `json:"window,omitempty"` // of which it is a part: one colour, joined by a line
	Part   int    `json:"part,omitempty"`   // from 1
	Parts  int    `json:"parts,omitempty"`
	Of     string `json:"of,omitempty"` // the part of its job that it carries, if the job has parts
	Cost   int64  `json:"cost,omitempty"`
	Extra  int64  `json:"extra,omitempty"` // of the cost, for delay
}

// Load is how a site stood over time: means over equal steps from the Document's From
// to its Until, or over those that begin at At, of which the last ends now. A price is null where nothing was sold.
type Load struct {
	Site  string     `json:"site"`
	Nodes int        `json:"nodes"`
	At    []int64    `json:"at,omitempty"` // where each step begins
	Local []float64  `json:"local"`        // nodes
	VO    []float64  `json:"vo"`
	Paid  []*float64 `json:"paid,omitempty"` // credits a node-hour
	Base  []*float64 `json:"base,omitempty"`
	Asked []*float64 `json:"asked,omitempty"`
}

// Share is a distribution: how many of each series lie in each bin.
type Share struct {
	Title  string   `json:"title"`
	About  string   `json:"about,omitempty"`
	Bin    string   `json:"bin"` // what the bins are of
	Bins   []string `json:"bins"`
	Series []Series `json:"series"`
}

// Series is a named row of numbers with a word on them.
type Series struct {
	Name   string `json:"name"`
	Note   string `json:"note,omitempty"`
	Counts []int  `json:"counts"`
}

// Front is the choice for a batch: the points that no other beats, and the one taken.
type Front struct {
	Title   string   `json:"title"`
	About   string   `json:"about,omitempty"`
	X       string   `json:"x"`
	Y       string   `json:"y"`
	Points  []Point  `json:"points"`
	Chosen  Point    `json:"chosen"`
	LimitX  *float64 `json:"limitX,omitempty"`
	LimitY  *float64 `json:"limitY,omitempty"`
	LimitsX string   `json:"limitsX,omitempty"` // in words
	LimitsY string   `json:"limitsY,omitempty"`
}

// Point is a point of a front.
type Point struct {
	X     float64 `json:"x"`
	Y     float64 `json:"y"`
	Words string  `json:"words"`
}

// At is a time of a Document.
func At(t grid.Time) *int64 {
	v := int64(t)
	return &v
}

// Packed is JSON or columns as base64 of DEFLATE, or where a Feed brings that.
type Packed struct {
	Packed string `json:"packed,omitempty"`
	Feed   int    `json:"feed,omitempty"` // from 1
}

// Feeds removes the packed data from a document and returns it, so that a page can hold it
// after the document and it is read while the page loads. The document's fields are left
// with the numbers of their Feeds, which are in the order in which a view reads them.
func (d *Document) Feeds() []string {
	var list []string
	take := func(p Packed) Packed {
		list = append(list, p.Packed)
		return Packed{Feed: len(list)}
	}
	field := func(f *any) {
		if p, ok := (*f).(Packed); ok {
			*f = take(p)
		}
	}
	field(&d.Jobs)
	field(&d.Loads)
	if p, ok := d.Bars.(*PackedBars); ok {
		bars := *p
		bars.Parts = take(p.Parts)
		bars.Columns = take(p.Columns)
		d.Bars = &bars
	}
	field(&d.Stories)
	return list
}

// Pack packs a field of a Document.
func Pack(v any) (Packed, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return Packed{}, err
	}
	return Packed{Packed: deflate(text)}, nil
}
