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

func (v *view) update(m agents.Snapshot) {
	if m.States == nil {
		return
	}
	v.version, v.states = m.Version, m.States
	v.planned, v.room = make([]bool, len(m.States)), m.Room
	v.plans, v.schedules = m.Plans, make([]*sla.Schedule, len(m.Plans))
}

// book returns the plan of group i.
func (v *view) book(i int) *pricing.Book {
	if !v.planned[i] {
		v.books[i].Reset(&v.states[i])
		v.planned[i] = true
	}
	return v.books[i]
}
