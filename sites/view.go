package sites

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/policy/sla"
)

// view is what the site knows of its cluster: the last snapshot, and the plan of each
// group's queue, made when first needed. While the version is the same nothing has started,
// ended or arrived, so the plan stays valid.
type view struct {
	version uint64
	states  []backfill.State
	own     bool // the states are copies, which may be changed in place
	books   []*pricing.Book
	planned []bool

	room [][]float64 // of time-shared groups, by group and node; nil if nodes can be reserved

	longest []grid.Duration // by group: the longest window that can be held, 0 if any; nil: any everywhere

	opened [][]grid.Opened // by group: the nodes that parts share, in the order of their opening; nil: there are none

	promises  *Promises
	plans     []*sla.Image // of groups that make promises
	schedules []*sla.Schedule
}

// seen is the version of the last snapshot; known reports whether there was any.
func (v *view) seen() uint64 { return v.version }
func (v *view) known() bool  { return v.states != nil }

// bounded is a group with the longest window that the cluster allows in it.
func (v *view) bounded(i int, g grid.Group) grid.Group {
	if i < len(v.longest) {
		g.Longest = v.longest[i]
	}
	return g
}

// follows reports whether a snapshot is complete, or adds to the version that the site has.
func (v *view) follows(m agents.Snapshot) bool { return m.Changes == nil || m.Since == v.version }

// update takes a snapshot for which follows is true.
func (v *view) update(m agents.Snapshot) {
	switch {
	case m.Changes != nil:
		v.follow(m.Changes) // of groups that plan by reservations: they have no Room
	case m.States != nil:
		v.states, v.own = m.States, false
		v.planned, v.room, v.longest = make([]bool, len(m.States)), m.Room, m.Longest
	default:
		return
	}
	v.version, v.opened = m.Version, m.Opened
	v.plans, v.schedules = m.Plans, make([]*sla.Schedule, len(m.Plans))
}

// follow applies changes to the states. Messages must not be changed, so the states of a
// complete snapshot are copied first, once.
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
