package cluster

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Record records a fact, applies it to the locks, and tells the site what it must know.
func (a *Agent) Record(f agents.Fact) {
	if l := a.record(f); l != nil {
		a.tell(l)
	}
}

// Recover records a fact and leaves telling the site to the first reminder after a
// restart.
func (a *Agent) Recover(f agents.Fact) {
	if a.taken.Refused() { // in the middle of a life
		a.Record(f)
		return
	}
	a.record(f)
}

// Send sends a backend's message.
func (a *Agent) Send(to agents.ID, m agents.Message) { a.out.Send(to, m) }

// When is the instant that a fact must state: 0 if it is now, since every fact is
// recorded with the current instant.
func (a *Agent) When(at grid.Time) grid.Time {
	if at == a.now {
		return 0
	}
	return at
}

func (a *Agent) record(f agents.Fact) (news *lock) {
	f = a.withReason(f)
	if shown := a.shown(f); shown != nil {
		a.out.Record(shown)
	}
	return a.apply(a.now, f)
}

// shown is the part of a fact that is recorded: all of it or, for a volatile cluster,
// what reports need.
func (a *Agent) shown(f agents.Fact) agents.Fact {
	if !a.cfg.Volatile {
		return f
	}
	switch f := f.(type) {
	case facts.WorkBegun, facts.LockMoved, facts.TasksPlaced:
		return nil
	case facts.NodesLocked:
		f.Ends, f.Flex = 0, grid.Flex{}
		return f
	case facts.JobRefused:
		f.Group = ""
		return f
	}
	return f
}

// Replay applies a fact of an earlier life.
func (a *Agent) Replay(at grid.Time, f agents.Fact) {
	a.apply(at, f)
	a.now = max(a.now, a.backend.Replay(at, f))
}

// apply applies to the locks a fact recorded at an instant, in this life or an earlier
// one. It returns the lock if the site must be told something about it.
func (a *Agent) apply(at grid.Time, f agents.Fact) (news *lock) {
	switch f := f.(type) {
	case facts.ClusterImage:
		a.load(f)
	case facts.WorkBegun:
		a.begun, a.fed, a.sizes = f.At, true, f.Groups
	case facts.NodesSet:
		a.sizes = grid.WithoutPast(f.Groups)
	case facts.NodesLocked:
		a.number++
		a.keep(&lock{LockMemory: facts.LockMemory{NodesLocked: f, State: facts.LockHeld}})
	case facts.TasksPlaced:
		return a.placed(f)
	case facts.NodesMoved:
		l := a.locks[f.Leg]
		if l != nil {
			l.Ends = l.Ends.Add(f.Start.Sub(l.What.Start))
			l.What.Start, l.What.End, l.Shifts, l.Fixed = f.Start, f.End, f.Shifts, f.Fixed
		}
		return l
	case facts.NodesFreed:
		if a.beside == 0 {
			break
		}
		for _, l := range a.locks {
			if l.Beside == f.Leg { // it no longer counts on them
				l.Beside = grid.LegID{}
			}
		}
	case facts.LockMoved:
		return a.lockMoved(cmp.Or(f.When, at), f)
	}
	return nil
}

// placed applies a TasksPlaced: work was given a share of nodes and so has begun, or it
// waits for one.
func (a *Agent) placed(f facts.TasksPlaced) (news *lock) {
	if f.Leg == (grid.LegID{}) {
		return nil
	}
	l := a.locks[f.Leg]
	if l == nil || l.Number != f.Number {
		l = &lock{LockMemory: facts.LockMemory{NodesLocked: facts.NodesLocked{Leg: f.Leg, What: f.What}, State: facts.LockHeld, Number: f.Number}}
		a.keep(l)
	}
	if l.begun = l.begun || len(f.Nodes) > 0; l.begun && l.State == facts.LockConfirmed {
		l.State = facts.LockRunning
		return l
	}
	return nil
}

func (a *Agent) lockMoved(at grid.Time, f facts.LockMoved) (news *lock) {
	if f.State == facts.LockReleased && !a.cfg.Lossless { // without loss no hold comes after its release
		a.past.add(release{at, f.Leg, f.Begun})
	}
	if f.State == facts.LockConfirmed {
		a.number++
	}
	l := a.locks[f.Leg]
	if l == nil {
		return nil
	}
	switch f.State {
	case facts.LockReleased, facts.LockExpired:
		a.drop(l)
		return nil
	case facts.LockHeard:
		l.Heard = true
		return nil
	case facts.LockSubmitted:
		l.Submitted = cmp.Or(l.Submitted, at)
		return nil
	case facts.LockConfirmed:
		l.Work = f.Work
		if l.Number == 0 { // it has nodes of its own, not a share of them
			l.Agreed, l.Ends = a.number, max(l.Ends, at)
		}
		switch l.State = f.State; {
		case l.over:
			l.State = facts.LockEnded
		case l.begun:
			l.State = facts.LockRunning
		default:
			return nil
		}
	case facts.LockEnded:
		l.over, l.Ends, l.Beside, l.Result = true, at, grid.LegID{}, f.Result
		if l.State == facts.LockHeld {
			return nil // nobody has confirmed it yet
		}
		l.State = f.State
	case facts.LockLost:
		l.State, l.Beside, l.Reason = f.State, grid.LegID{}, f.Reason
	default:
		l.State, l.begun = f.State, true
	}
	return l
}

// Image returns everything the cluster keeps as one fact.
func (a *Agent) Image() agents.Fact {
	f := facts.ClusterImage{At: a.now, Begun: a.begun, Fed: a.fed, Sizes: slices.Clone(a.sizes)}
	for l := range a.each {
		f.Locks = append(f.Locks, l.LockMemory)
	}
	rank(f.Locks)
	for _, r := range a.past.line {
		f.Past = append(f.Past, facts.ReleasedLeg{Leg: r.leg, At: r.at, Begun: r.begun})
	}
	a.backend.Save(&f)
	return f
}

// rank renumbers the confirmed locks from 1, in order of confirmation.
func rank(locks []facts.LockMemory) {
	var agreed []*facts.LockMemory
	for i := range locks {
		if locks[i].Agreed > 0 {
			agreed = append(agreed, &locks[i])
		}
	}
	slices.SortFunc(agreed, func(a, b *facts.LockMemory) int { return cmp.Compare(a.Agreed, b.Agreed) })
	for i, l := range agreed {
		l.Agreed = i + 1
	}
}

// load replaces the locks by those of an image. For work on time-shared nodes the image
// says, apart from the lock's state, whether it had begun and when it ended.
func (a *Agent) load(f facts.ClusterImage) {
	a.now, a.begun, a.fed, a.past, a.sizes = f.At, f.Begun, f.Fed, past{}, f.Sizes
	clear(a.locks)
	a.order, a.number, a.beside = nil, len(f.Locks), 0
	for _, x := range f.Locks {
		a.keep(&lock{LockMemory: x, begun: x.State == facts.LockRunning, over: x.State == facts.LockEnded || x.Number > 0 && x.Ends > 0})
		a.number = max(a.number, x.Agreed)
	}
	for _, m := range f.Servers {
		for _, p := range m.Placed {
			if l := a.locks[p.Leg]; l != nil && p.Start > 0 {
				l.begun = true
			}
		}
	}
	for _, r := range f.Past {
		a.past.add(release{r.At, r.Leg, r.Begun})
	}
}
