package invariant

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// The fold of what a broker's jobs have: the window of each, as it is bought, repaired,
// replaced by another one, or released.

// job is what a broker's journal shows of a job.
type job struct {
	asks      grid.Job
	window    []*tx    // what it has: the transaction that placed it, and its repairs
	before    []string // the jobs that come after it
	withdrawn bool     // its user cancels it, or it is cancelled with another one
	gone      bool     // the same, or it was abandoned for good
}

// jobs are those of a broker, by name.
type jobs map[string]*job

// named is the job of a name.
func (all jobs) named(name string) *job {
	j := all[name]
	if j == nil {
		j = &job{}
		all[name] = j
	}
	return j
}

// submitted takes what a job asks for, and what it comes after.
func (all jobs) submitted(asks *grid.Job) {
	j := all.named(asks.Name)
	j.asks = *asks
	for _, d := range asks.After {
		if p := all.named(d.Job); !slices.Contains(p.before, asks.Name) {
			p.before = append(p.before, asks.Name)
		}
	}
}

// placed takes a committed transaction into its job's window. A move takes the place of
// all of it; a window that is bought anew, of what is over.
func (all jobs) placed(x *tx) {
	j := all.named(x.begun.Job)
	switch {
	case x.begun.Request.Nodes > 0:
		for _, o := range j.window {
			o.by = x
		}
		x.old, j.window = j.window, nil
	case x.begun.Repairs == (grid.LegID{}):
		j.window = slices.DeleteFunc(slices.Clone(j.window), (*tx).over)
	}
	j.window = append(j.window, x)
}

// failed puts back the window that a move was to take the place of, where the only leg of
// the move is lost before it was confirmed.
func (all jobs) failed(x *tx) {
	if len(x.legs) == 1 && x.by == nil && x.old != nil {
		all.restored(x)
	}
}

// reversed takes a transaction out of its job's window, whose COMMIT took effect nowhere.
// What repairs legs of it is of no use alone.
func (all jobs) reversed(x *tx) {
	if x.old != nil {
		all.restored(x)
	}
	j := all.named(x.begun.Job)
	j.window = slices.DeleteFunc(slices.Clone(j.window), func(o *tx) bool { return o == x })
	gone := []*tx{x}
	for _, o := range j.window {
		if slices.ContainsFunc(gone, func(g *tx) bool { return g.begun.Tx == o.begun.Repairs.Tx }) {
			gone, o.broken = append(gone, o), true
		}
	}
}

func (all jobs) restored(x *tx) {
	j := all.named(x.begun.Job)
	j.window = slices.DeleteFunc(slices.Clone(j.window), func(o *tx) bool { return o == x })
	for _, o := range x.old {
		if o.by = nil; !o.over() {
			j.window = append(j.window, o)
		}
	}
	x.old = nil
}

// broken gives a job's window back.
func (all jobs) broken(name string) {
	for _, x := range all.named(name).window {
		x.broken = true
	}
}

// over reports whether no leg of a transaction holds anything any more, by its broker's
// record.
func (x *tx) over() bool {
	return !slices.ContainsFunc(x.legs, func(l txLeg) bool { return !l.over() })
}

// over is that of a leg.
func (l *txLeg) over() bool { return l.done || l.closed && !l.confirmed }

// ends is when a job's window ends, by its broker's record; stands is false if it has none
// that is to stay, known if some of it is not on record. A part that is being repaired
// counts as it was, and one on shared nodes ends when it does.
func (j *job) ends(exempt map[grid.LegID]bool) (end grid.Time, stands, known bool) {
	open, gone := false, len(j.window) == 0
	for _, x := range j.window {
		gone = gone || x.broken
		for i := range x.legs {
			l, what := &x.legs[i], &x.begun.Legs[i]
			switch {
			case exempt[grid.LegID{Tx: x.begun.Tx, Leg: i}] || what.Work > 0:
				return 0, false, false
			case l.mended:
			case l.done && l.state == grid.Settled:
				end = max(end, l.end)
			case l.over():
				gone, end = true, max(end, what.End)
			default:
				open, end = true, max(end, what.End)
			}
		}
	}
	if open && !slices.ContainsFunc(j.window, func(x *tx) bool { return x.broken }) {
		gone = false
	}
	return end, !gone && !j.withdrawn, true
}

// against reports whether the window of a job is over and it has not ended as a condition
// says, or, for one that is not foreseen, that it is not over yet.
func (j *job) against(on grid.Condition) bool {
	over, failed := true, false
	for _, x := range j.window {
		for i := range x.legs {
			l := &x.legs[i]
			over, failed = over && l.over(), failed || l.failed
		}
	}
	switch on {
	case grid.IfDone:
		return over && failed
	case grid.IfFailed:
		return !over || !failed
	}
	return false
}

// starts is when the first part of a window starts that is not over, grid.Never if none
// is or it is being given back.
func (j *job) starts() grid.Time {
	start := grid.Never
	for _, x := range j.window {
		if x.broken {
			return grid.Never
		}
		for i := range x.legs {
			if l := &x.legs[i]; !l.mended && !l.over() {
				start = min(start, x.begun.Legs[i].Start)
			}
		}
	}
	return start
}
