package invariant

import (
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// I4: no hold outlives its limit, no prepared leg its in-doubt limit.

// limits is the rule I4.
type limits struct{ *journal }

// kept checks how long the leg stayed held or prepared. A restart begins a
// limit afresh, and the journal does not show restarts; but none lasts past the
// start.
func (r *limits) kept(at grid.Time, l *siteLeg, f facts.LegMoved) {
	if l.State != grid.Held && l.State != grid.Prepared {
		return
	}
	if f.State == grid.Confirmed && at > l.What.Start {
		r.breaks("I4", "leg %v starts at %v and was still %v at %v", f.Leg, l.What.Start, l.State, at)
		return
	}
	if l.For > 0 && at > l.at.Add(l.For) {
		r.notes("I4", "leg %v was %v for %v s, its limit is %v s: right only if the site restarted meanwhile",
			f.Leg, l.State, at.Sub(l.at), l.For)
	}
}
