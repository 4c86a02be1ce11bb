package sites

import (
	"github.com/bourse-grid/bourse"
)

// keepClosed is how long a site remembers a leg that has ended, so that a step repeated
// late gets the same answer, and a tombstone.
const keepClosed = bourse.Day

// forgetAtMost is the least time between two searches for legs to forget.
const forgetAtMost = bourse.Hour

// oldAt is when a leg that is over may be forgotten: a day after it ended and its window
// was over.
func oldAt(l *leg) bourse.Time { return max(l.at, l.What.End).Add(keepClosed) }

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
func (a *archive) tombstone(t step, id bourse.LegID) {
	if vo, _, several := bourse.CutVO(id.Tx.Broker); several && 2*a.keptOf[vo] >= a.cfg.MaxKept {
		a.makeRoom(t, vo)
	} else if len(a.kept) >= a.cfg.MaxKept && len(a.tombs) > 0 {
		a.record(t, bourse.LegsForgotten{Legs: []bourse.LegID{a.tombs[0].Leg}})
	}
	a.record(t, bourse.Tombstone{Leg: id})
	a.remember(t, a.legs[id])
}

// makeRoom forgets the oldest tombstones of a VO that has its half of all kept legs. It
// forgets many at once, because each call walks all of them.
func (a *archive) makeRoom(t step, vo string) {
	var old []bourse.LegID
	for _, l := range a.tombs {
		if bourse.VOOf(l.Leg.Tx.Broker) == vo {
			if old = append(old, l.Leg); 100*len(old) >= a.cfg.MaxKept {
				break
			}
		}
	}
	if len(old) > 0 {
		a.record(t, bourse.LegsForgotten{Legs: old})
	}
}

// forget drops the legs that have been over for a day. Row S57.
func (a *archive) forget(t step) {
	a.forgetful = false
	var old []bourse.LegID
	next := bourse.Never
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
		a.record(t, bourse.LegsForgotten{Legs: old})
	}
	if next < bourse.Never {
		a.forgetful = true
		t.out.Alarm(max(next, t.now.Add(forgetAtMost)), forgetDue{})
	}
}
