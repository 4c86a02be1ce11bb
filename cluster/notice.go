package cluster

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// How long to wait before a notice is repeated: the first wait, doubled each time up to
// the last.
const (
	firstWait = 500 * grid.Millisecond
	lastWait  = 5 * grid.Second
)

// remind is the alarm that repeats what the site has not acknowledged.
type remind struct{ wait grid.Duration }

// Kind names the alarm.
func (remind) Kind() string { return "Remind" }

// unheard reports whether the site has yet to acknowledge something about a lock. A lock
// that is done stays unheard until the site releases it.
func (l *lock) unheard() bool {
	return l.done() || l.State == facts.LockRunning && !l.Heard || l.told < l.Shifts
}

// tell tells the site what happened to a lock, now and again until it has heard.
func (a *Agent) tell(l *lock) {
	if l.told < l.Shifts {
		a.out.Send(a.cfg.Site, agents.ClusterMoved{Leg: l.Leg, Start: l.What.Start, End: l.What.End, Shifts: l.Shifts, Fixed: l.Fixed})
	}
	switch l.State {
	case facts.LockRunning:
		if !l.Heard {
			a.out.Send(a.cfg.Site, agents.ClusterStarted{Leg: l.Leg})
		}
	case facts.LockEnded:
		a.out.Send(a.cfg.Site, agents.ClusterEnded{Leg: l.Leg, End: l.Ends, Result: l.Result})
	case facts.LockLost:
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

// owe lists a lock for the reminder, which then need not look at the hundreds of locks
// that there is nothing to tell about.
func (a *Agent) owe(l *lock) {
	if !l.owed {
		l.owed = true
		a.owed = append(a.owed, l)
	}
}

// remindAgain repeats what the site has not acknowledged, in the locks' order of
// creation.
func (a *Agent) remindAgain(now grid.Time, m remind) {
	a.reminds = true // so that tell sets no alarm: it is set below
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

// heard notes that the site knows that a leg's work is running, or where the leg now
// lies. The number of shifts heard is not recorded: the next life repeats them.
func (a *Agent) heard(m agents.ClusterHeard) {
	switch l := a.locks[m.Leg]; {
	case l == nil:
	case m.Shifts > 0:
		l.told = max(l.told, min(m.Shifts, l.Shifts))
	case !l.Heard:
		a.Record(facts.LockMoved{Leg: m.Leg, State: facts.LockHeard})
	}
}
