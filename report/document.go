package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/view"
)

// documentOptions say how much of a run a page holds.
type documentOptions struct {
	stories int  // of each VO
	jobs    int  // in all
	bars    bool // what ran where
}

// loadPoints bounds the steps of all loads of a document together.
const loadPoints = 60_000

// document is the run in the form for a page. Runs side by side share a view.
func (r *Report) document(v shared, o documentOptions) (*view.Document, error) {
	s := &r.Summary
	d := &view.Document{Until: int64(max(v.until, 1)), TopPrice: v.price, Figures: s.numbers(), Shares: r.shares(v)}
	d.SiteColumns, d.Sites = r.siteRows()
	d.Tables = s.documentTables()
	for _, b := range r.brokers {
		for i := range b.detail.batches {
			if f := b.front(&b.detail.batches[i]); len(f.Points) > 1 || f.Points[0].X != f.Chosen.X || f.Points[0].Y != f.Chosen.Y { // else one beats all others
				d.Fronts = append(d.Fronts, f)
			}
		}
	}
	jobs, stories := r.documentJobs(o)
	var err error
	if len(r.brokers) > 0 {
		d.JobsNote = r.jobsNote(len(jobs))
		if d.Jobs, err = view.PackJobs(jobs); err != nil {
			return nil, err
		}
		if d.Stories, err = view.Pack(stories); err != nil {
			return nil, err
		}
	}
	if d.Loads, err = view.Pack(r.loads(v)); err != nil || !o.bars {
		return d, err
	}
	names := make([]string, len(jobs))
	for i := range jobs {
		names[i] = jobs[i].ID
	}
	d.Bars, err = view.PackBars(r.blocks(), names)
	return d, err
}

// jobID names a job among those of all VOs.
func jobID(vo, name string) string { return vo + "/" + name }

// siteRows are the sites with their measures.
func (r *Report) siteRows() ([]view.Column, []view.Site) {
	var columns []view.Column
	for i := range siteMeasures {
		if h := siteMeasures[i].page; h != "" {
			columns = append(columns, view.Column{Name: h, Kind: "figure"})
		}
	}
	var list []view.Site
	for i := range r.sites {
		of := &r.Summary.Sites[i]
		u := of.Utilisation
		one := view.Site{Name: of.Name, Used: fmt.Sprintf("%s used: %s by local jobs, %s by VOs", percent(u.All), percent(u.Local), percent(u.VO)), Cells: cellsOf(siteMeasures, of)}
		for _, g := range r.sites[i].groups {
			one.Groups = append(one.Groups, view.Group{Name: g.Name, Nodes: g.Nodes})
		}
		list = append(list, one)
	}
	return columns, list
}

// cellsOf are the measures of a site or a VO that the page shows.
func cellsOf[S any](measures []measure[S], of *S) []any {
	var cells []any
	for i := range measures {
		if m := &measures[i]; m.page != "" {
			c := view.Cell{Value: m.value(of), Words: m.words(of)}
			if math.IsNaN(c.Value) || math.IsInf(c.Value, 0) {
				c.Value = 0
			}
			cells = append(cells, c)
		}
	}
	return cells
}

// documentTables are the tables of VOs and of accounts.
func (s *Summary) documentTables() []view.Table {
	var list []view.Table
	if len(s.Brokers) > 0 {
		t := view.Table{Title: "VOs", About: "Means are over the placed jobs; extra is what was paid above base price, in credits.", Columns: []view.Column{{Name: "VO", Kind: "word"}}}
		for i := range brokerMeasures {
			if h := brokerMeasures[i].page; h != "" {
				t.Columns = append(t.Columns, view.Column{Name: h, Kind: "figure"})
			}
		}
		rows := s.vos()
		for i := range rows {
			t.Rows = append(t.Rows, append([]any{rows[i].Name}, cellsOf(brokerMeasures, &rows[i])...))
		}
		list = append(list, t)
	}
	accounts := view.Table{Title: "Accounts", About: "Credits paid out and received, and promised.", Columns: []view.Column{{Name: "Books of", Kind: "word"}, {Name: "Account", Kind: "word"},
		{Name: "Gone out", Kind: "money"}, {Name: "Come in", Kind: "money"}, {Name: "Promised out", Kind: "money"}, {Name: "Promised in", Kind: "money"}}}
	add := func(owner string, of []grid.Account) {
		for _, a := range of {
			accounts.Rows = append(accounts.Rows, []any{owner, a.Name, int64(a.Debit), int64(a.Credit), int64(a.PendingDebit), int64(a.PendingCredit)})
		}
	}
	for i := range s.Brokers {
		add("VO "+s.Brokers[i].Name, s.Brokers[i].Accounts)
	}
	for i := range s.Sites {
		add("site "+s.Sites[i].Name, s.Sites[i].Accounts)
	}
	if len(accounts.Rows) > 0 {
		list = append(list, accounts)
	}
	return list
}

// numbers returns the figures at the top of a page.
func (s *Summary) numbers() []view.Figure {
	var nodes, started int
	var all, local, vo float64
	for i := range s.Sites {
		n, u := float64(s.Sites[i].Nodes), s.Sites[i].Utilisation
		nodes, started = nodes+s.Sites[i].Nodes, started+s.Sites[i].Local.Started
		all, local, vo = all+n*u.All, local+n*u.Local, vo+n*u.VO
	}
	whole := float64(max(nodes, 1))
	list := []view.Figure{{Name: "of the node-time used", Value: percent(all / whole), Note: fmt.Sprintf("%s by local jobs, %s by VOs", percent(local/whole), percent(vo/whole))},
		{Name: "local jobs started", Value: strconv.Itoa(started), Note: fmt.Sprintf("on %s of %s", grid.Count(nodes, "node"), grid.Count(len(s.Sites), "site"))}}
	if len(s.Brokers) == 0 {
		return list
	}
	var jobs, placed, across int
	var wait grid.Duration
	var cost Income
	var paid grid.Credits
	for i := range s.Brokers {
		b := &s.Brokers[i]
		jobs, placed, across = jobs+b.Jobs.Submitted, placed+b.Jobs.Placed, across+b.Jobs.CoAllocated
		wait += b.MeanWait * grid.Duration(b.Jobs.Placed)
		cost.Base, cost.Additive, paid = cost.Base.Plus(b.Cost.Base), cost.Additive.Plus(b.Cost.Additive), paid.Plus(b.paid())
	}
	extra := "all at base price"
	if cost.Base > 0 && cost.Additive > 0 {
		extra = percent(cost.Additive.Float()/cost.Base.Float()) + " above base price"
	}
	return append(list,
		view.Figure{Name: fmt.Sprintf("of %s of VOs placed", grid.Count(jobs, "job")), Value: percent(float64(placed) / float64(max(jobs, 1))), Note: fmt.Sprintf("%d, %d of them on several sites", placed, across)},
		view.Figure{Name: "mean wait of those placed", Value: span(wait / grid.Duration(max(placed, 1)))},
		view.Figure{Name: "credits paid for windows", Value: money(paid), Note: extra})
}

// loads are the use and the price of each site over time.
func (r *Report) loads(v shared) []view.Load {
	bands := r.bands(true)
	n := min(steps, max(loadPoints/max(len(bands), 1), 100))
	asked := r.tariffs()
	var list []view.Load
	for i := range bands {
		b, s := &bands[i], r.sites[bands[i].site]
		l := b.load(n, v.until)
		one := view.Load{Site: s.name, Nodes: b.nodes, Local: l.local, VO: l.vo}
		for k := range l.vo {
			one.Local[k], one.VO[k] = rounded(one.Local[k]), rounded(one.VO[k])
		}
		if len(r.brokers) > 0 {
			one.Paid, one.Base = sold(l.paid, l.vo), sold(l.base, l.vo)
			if asked {
				one.Asked = sold(s.asked(n, v.until), nil)
			}
		}
		list = append(list, one)
	}
	return list
}

func rounded(v float64) float64 { return math.Round(v*1000) / 1000 }

// sold are prices, nil where no node of legs was in use.
func sold(prices, nodes []float64) []*float64 {
	list := make([]*float64, len(prices))
	for k := range prices {
		if v := rounded(prices[k]); nodes == nil || nodes[k] > 0 {
			list[k] = &v
		}
	}
	return list
}

// blocks are the bars of each group, in the order of the sites' groups.
func (r *Report) blocks() [][]view.Bar {
	bands := r.bands(false)
	r.addTried(bands)
	rows := make([][]view.Bar, len(bands))
	for i := range bands {
		b := &bands[i]
		for _, list := range [][]bar{b.bars, b.mixed, b.held} {
			rows[i] = slices.Grow(rows[i], len(list))
			for k := range list {
				rows[i] = append(rows[i], list[k].block())
			}
		}
	}
	return rows
}

// block is the bar as a page shows it.
func (b *bar) block() view.Bar {
	one := view.Bar{Nodes: b.nodes, Start: int64(b.start), End: int64(b.end), Local: b.job}
	if b.mixed {
		one.Used = int64(math.Round(1000 * b.share))
	}
	switch {
	case b.tried:
		one.Kind = view.Held
	case b.vo && b.mixed:
		one.Kind = view.SharedLeg
	case b.vo:
		one.Kind = view.Leg
	case b.mixed:
		one.Kind = view.Shared
	case b.class == "backfilled":
		one.Kind = view.Backfilled
	case b.class == "reserved":
		one.Kind = view.Reserved
	}
	if b.vo {
		fare := b.tx.Legs[b.leg].Fare
		one.Part = view.Part{Job: jobID(b.broker, b.tx.name()), Window: b.colour, Part: b.leg + 1, Parts: len(b.tx.Legs), Cost: int64(fare.Total()), Extra: int64(fare.Additive), Of: b.tx.Legs[b.leg].Part}
	}
	return one
}
