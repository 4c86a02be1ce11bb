package sites

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/policy/sla"
)

// view is what the site knows of its cluster: the last snapshot, and the plan
// of each group's queue, made when it is first needed. While the version stands
// nothing has started, ended or arrived, so the plan stands too.
type view struct {
	version uint64
	states  []backfill.State
	own     bool // they are no message's: what has changed is changed in them
	books   []*pricing.Book
	planned []bool

	room [][]float64 // of time-shared groups, by node; nil for nodes that can be reserved

	promises  *Promises
	plans     []*sla.Image // of groups that make promises
	schedules []*sla.Schedule
}

// seen is the version of the last snapshot, known reports whether there has been any.
func (v *view) seen() uint64 { return v.version }
func (v *view) known() bool  { return v.states != nil }

// follows reports whether a snapshot makes sense beside what the site has.
func (v *view) follows(m agents.Snapshot) bool { return m.Changes == nil || m.Since == v.version }

// update takes a snapshot that follows.
func (v *view) update(m agents.Snapshot) {
	switch {
	case m.Changes != nil:
		v.follow(m.Changes) // of groups that plan by reservations: they have no Room
	case m.States != nil:
		v.states, v.own = m.States, false
		v.planned, v.room = make([]bool, len(m.States)), m.Room
	default:
		return
	}
	v.version = m.Version
	v.plans, v.schedules = m.Plans, make([]*sla.Schedule, len(m.Plans))
}

// follow brings the states up to what has changed. A message must stay as it is: they are
// copied once, after the last one that had them all.
func (v *view) follow(changes []backfill.Delta) {
	if !v.own {
		whole := v.states
		v.states, v.own = make([]backfill.State, len(whole)), true
		for i := range whole {
			v.states[i] = whole[i].Clone()
		}
		clear(v.planned)
	}
	for i, d := range changes {
		if s := &v.states[i]; !d.Empty() || d.Now != s.Now {
			s.Apply(d)
			v.planned[i] = false
		}
	}
}

// book returns the plan of group i.
func (v *view) book(i int) *pricing.Book {
	if !v.planned[i] {
		v.books[i].Reset(&v.states[i])
		v.planned[i] = true
	}
	return v.books[i]
}
