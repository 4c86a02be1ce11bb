package sites

import (
	"github.com/bourse-grid/bourse"
)

// keepClosed is how long a site remembers a leg that has come to its end, so
// that a step repeated late gets the same answer, and a tombstone.
const keepClosed = bourse.Day

// forgetAtMost is how often a site looks for what it may forget.
const forgetAtMost = bourse.Hour

// oldAt is when a leg that is over may be forgotten: a day after its end, and
// after its nodes would have been free.
func oldAt(l *leg) bourse.Time { return max(l.at, l.What.End).Add(keepClosed) }

// archive keeps legs that are over, and forgets them in time.
type archive struct {
	*memory
	forgetful bool // an alarm is on its way that forgets old legs
}

// remember sets the alarm that forgets legs, when one is over.
func (a *archive) remember(t step, l *leg) {
	if !a.forgetful {
		a.forgetful = true
		t.out.Alarm(oldAt(l), forgetDue{})
	}
}

// tombstone makes a leg that the site does not know one that is never to be held.
func (a *archive) tombstone(t step, id bourse.LegID) {
	if vo, _, several := bourse.CutVO(id.Tx.Broker); several && 2*a.keptOf[vo] >= a.cfg.MaxKept {
		a.makeRoom(t, vo)
	} else if len(a.kept) >= a.cfg.MaxKept && len(a.tombs) > 0 {
		a.record(t, bourse.LegsForgotten{Legs: []bourse.LegID{a.tombs[0].Leg}})
	}
	a.record(t, bourse.Tombstone{Leg: id})
	a.remember(t, a.legs[id])
}

// makeRoom forgets the oldest tombstones of one of several VOs that has its half of all that
// is kept. Many at once, because each time costs a walk over all of it.
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

// forget drops what has been over for a day. Row S57.
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
