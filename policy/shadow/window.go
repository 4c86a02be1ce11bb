package shadow

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/policy/slurm"
)

// Bounds of what somebody looks at who buys.
const (
	MaxStarts = 12             // starts that are priced for one window at one group
	Ahead     = 2 * grid.Day   // how far ahead the queue is planned for a price
	alpha     = choice.One / 2 // as much the price as the start
)

// Window is a window that suits somebody best.
type Window struct {
	Start    grid.Time
	Nodes    slurm.Set
	Delays   []grid.Delay  // who would wait longer; Job is a place in the list of jobs
	Additive grid.Duration // those delays in node-time
}

// Wish is a window that somebody asks for.
type Wish struct {
	Partition int // of whose nodes
	Nodes     int
	Length    grid.Duration
	From      grid.Time                 // no start before; 0: from now on
	Refuses   func(start grid.Time) Why // by what the operator allows; "": it does not; nil: no start is
}

// Best returns the window that suits somebody best who weighs the delay of those who wait as
// much as the start; none is later than the first that delays nobody. conf has all
// reservations, and jobs are those that run and wait, as slurm.Resume takes them. Otherwise
// it says why there is none. It costs MaxStarts plans of the queue.
func Best(conf *slurm.Config, jobs []slurm.Job, now grid.Time, q Wish) (Window, Why) {
	p := slurm.NewPrices(conf, jobs, now, q.Partition, now.Add(Ahead))
	why := NoNodes
	var offers []pricing.Offer
	var windows []Window
	for _, at := range starts(p, max(now, q.From)) {
		if q.Refuses != nil {
			if refused := q.Refuses(at); refused != "" {
				why = refused
				continue
			}
		}
		list, can := p.Delays(at, q.Nodes, q.Length)
		if !can {
			continue
		}
		w := Window{Start: at, Delays: list}
		for _, x := range list {
			w.Additive += min(grid.Duration(x.Nodes)*x.By, grid.MaxDuration-w.Additive)
		}
		offers, windows = append(offers, pricing.Offer{Start: at, Feasible: true, Additive: w.Additive}), append(windows, w)
		if w.Additive == 0 || len(offers) == MaxStarts { // later ones are no better
			break
		}
	}
	k := choice.ByAlpha(offers, alpha)
	if k < 0 {
		return Window{}, why
	}
	w := windows[k]
	w.Nodes, _ = p.Window(w.Start, q.Nodes, q.Length)
	return w, ""
}

// starts are the instants worth considering from one on.
func starts(p *slurm.Prices, from grid.Time) []grid.Time {
	return append([]grid.Time{from}, slices.DeleteFunc(p.Starts(), func(at grid.Time) bool { return at <= from })...)
}
