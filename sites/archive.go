package sites

import (
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// keepClosed is how long a site remembers a leg that has ended, so that a step repeated
// late gets the same answer, and a tombstone.
const keepClosed = grid.Day

// forgetAtMost is the least time between two searches for legs to forget.
const forgetAtMost = grid.Hour

// oldAt is when a leg that is over may be forgotten: a day after it ended and its window
// was over.
func oldAt(l *leg) grid.Time { return max(l.at, l.What.End).Add(keepClosed) }

// archive keeps legs that are over, and forgets them in time.
type archive struct {
	*memory
	forgetful bool // the alarm to forget old legs is pending
}

// remember sets the alarm to forget a leg that is over.
func (a *archive) remember(t step, l *leg) {
	if !a.forgetful {
		a.forgetful = true
		t.out.Alarm(oldAt(l), forgetDue{})
	}
}

// tombstone remembers an unknown leg as cancelled, so that it is never held.
func (a *archive) tombstone(t step, id grid.LegID) {
	if vo, _, several := grid.CutVO(id.Tx.Broker); several && 2*a.keptOf[vo] >= a.cfg.MaxKept {
		a.makeRoom(t, vo)
	} else if len(a.kept) >= a.cfg.MaxKept && len(a.tombs) > 0 {
		a.record(t, facts.LegsForgotten{Legs: []grid.LegID{a.tombs[0].Leg}})
	}
	a.record(t, facts.Tombstone{Leg: id})
	a.remember(t, a.legs[id])
}

// makeRoom forgets the oldest tombstones of a VO that has its half of all kept legs. It
// forgets many at once, because each call walks all of them.
func (a *archive) makeRoom(t step, vo string) {
	var old []grid.LegID
	for _, l := range a.tombs {
		if grid.VOOf(l.Leg.Tx.Broker) == vo {
			if old = append(old, l.Leg); 100*len(old) >= a.cfg.MaxKept {
				break
			}
		}
	}
	if len(old) > 0 {
		a.record(t, facts.LegsForgotten{Legs: old})
	}
}

// forget drops the legs that have been over for a day. Row S57.
func (a *archive) forget(t step) {
	a.forgetful = false
	var old []grid.LegID
	next := grid.Never
	for _, l := range a.kept {
		switch {
		case !l.State.Terminal():
		case oldAt(l) <= t.now:
			old = append(old, l.Leg)
		default:
			next = min(next, oldAt(l))
		}
	}
	if len(old) > 0 {
		t.out.Row("S57")
		a.record(t, facts.LegsForgotten{Legs: old})
	}
	if next < grid.Never {
		a.forgetful = true
		t.out.Alarm(max(next, t.now.Add(forgetAtMost)), forgetDue{})
	}
}
