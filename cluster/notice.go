package cluster

import (
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
	if !a.reminds {
		a.reminds = true
		a.out.Alarm(a.now.Add(firstWait), remind{firstWait})
	}
}

// remindAgain repeats what the site has not taken note of.
func (a *Agent) remindAgain(now bourse.Time, m remind) {
	a.reminds = true // its alarm is this one, or the next
	again := false
	for l := range a.each {
		if l.unheard() {
			again = true
			a.tell(l)
		}
	}
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
