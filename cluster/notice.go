package cluster

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// Waits before a notice is repeated: the first, and the longest that it doubles to.
const (
	firstWait = 500 * bourse.Millisecond
	lastWait  = 5 * bourse.Second
)

// remind is the alarm that repeats what the site has not taken note of.
type remind struct{ wait bourse.Duration }

// Kind names the alarm.
func (remind) Kind() string { return "Remind" }

// unheard reports whether the site has yet to take note of what came of a lock.
func (l *lock) unheard() bool {
	return l.done() || l.State == bourse.LockRunning && !l.Heard || l.told < l.Shifts
}

// tell tells the site what came of a lock, until it has heard it.
func (a *Agent) tell(l *lock) {
	if l.told < l.Shifts {
		a.out.Send(a.cfg.Site, agents.ClusterMoved{Leg: l.Leg, Start: l.What.Start, End: l.What.End, Shifts: l.Shifts, Fixed: l.Fixed})
	}
	switch l.State {
	case bourse.LockRunning:
		if !l.Heard {
			a.out.Send(a.cfg.Site, agents.ClusterStarted{Leg: l.Leg})
		}
	case bourse.LockEnded:
		a.out.Send(a.cfg.Site, agents.ClusterEnded{Leg: l.Leg, End: l.Ends, Result: l.Result})
	case bourse.LockLost:
		a.out.Send(a.cfg.Site, agents.ClusterLost{Leg: l.Leg, Reason: l.Reason})
	}
	if a.cfg.Lossless {
		return
	}
	a.owe(l)
	if !a.reminds {
		a.reminds = true
		a.out.Alarm(a.now.Add(firstWait), remind{firstWait})
	}
}

// owe keeps a lock that there is something to tell of until the site has heard it: a
// reminder looks at these alone, where there are hundreds that nothing has come of yet.
func (a *Agent) owe(l *lock) {
	if !l.owed {
		l.owed = true
		a.owed = append(a.owed, l)
	}
}

// remindAgain repeats what the site has not taken note of, in the order in which the locks
// were made.
func (a *Agent) remindAgain(now bourse.Time, m remind) {
	a.reminds = true // its alarm is this one, or the next
	a.owed = slices.DeleteFunc(a.owed, func(l *lock) bool {
		l.owed = !l.gone && l.unheard()
		return !l.owed
	})
	slices.SortFunc(a.owed, func(x, y *lock) int { return cmp.Compare(x.made, y.made) })
	for _, l := range a.owed {
		a.tell(l)
	}
	again := len(a.owed) > 0
	if a.reminds = again; again {
		wait := min(2*m.wait, lastWait)
		a.out.Alarm(now.Add(wait), remind{wait})
	}
}

// heard takes note that the site knows that a leg's work runs, or where it lies.
// Which shifts it has heard of is not on record: the next life says them all again.
func (a *Agent) heard(m agents.ClusterHeard) {
	switch l := a.locks[m.Leg]; {
	case l == nil:
	case m.Shifts > 0:
		l.told = max(l.told, min(m.Shifts, l.Shifts))
	case !l.Heard:
		a.Record(bourse.LockMoved{Leg: m.Leg, State: bourse.LockHeard})
	}
}
