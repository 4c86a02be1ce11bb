package explain

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
)

// elements are those of an array, each with its state by its own turns: together they are
// the state of the array.
type elements struct {
	array  grid.Job
	teller history.Turns
	own    map[grid.TxID]bool
	begun  map[string]*history.Standing // those that are jobs, or were
	over   [grid.AllJobStates]int       // those that are no jobs any more, or never were
}

// newElements are the elements of a job; nil: it is no array.
func newElements(j *grid.Job) *elements {
	if !j.Array.Some() {
		return nil
	}
	return &elements{array: *j, own: map[grid.TxID]bool{}, begun: map[string]*history.Standing{}}
}

// within reports whether a job is an element of an array.
func within(job, array string) bool {
	of, _, ok := grid.ElementOf(job)
	return ok && of == array
}

// take follows a fact, if it is about an element.
func (x *elements) take(at grid.Time, f agents.Fact) {
	about := facts.About(f)
	mine := within(about.Job, x.array.Name)
	if mine && about.OfTx() {
		x.own[about.Tx] = true
	}
	if !mine && about.Job != x.array.Name && (about != (facts.Subject{})) && !x.own[about.Tx] {
		return
	}
	switch f := f.(type) {
	case facts.ElementsDropped:
		x.over[grid.JobWithdrawn.Shown(f.Reason.Code)] += f.Elements.Len()
	case facts.BrokerImage:
		x.load(f)
	}
	for _, u := range x.teller.Take(at, f) {
		s := x.begun[u.Job]
		switch {
		case u.What == history.Forgotten && s != nil:
			x.over[s.State]++
			delete(x.begun, u.Job)
		case within(u.Job, x.array.Name):
			if s == nil {
				s = &history.Standing{}
				x.begun[u.Job] = s
			}
			s.Take(&u)
		}
	}
}

// load begins again with what a part of an image has of the array.
func (x *elements) load(f facts.BrokerImage) {
	for i := range f.Jobs {
		m := &f.Jobs[i]
		switch {
		case m.Job.Name == x.array.Name && m.Array != nil:
			clear(x.begun)
			x.over = [grid.AllJobStates]int{}
			for _, e := range m.Array.Over {
				x.over[e.State] += e.Elements.Len()
			}
		case within(m.Job.Name, x.array.Name):
			s := &history.Standing{Known: true, State: m.State.Shown(m.Reason.Code), Since: m.Since, Reason: m.Reason}
			x.begun[m.Job.Name] = s
			if !s.State.Open() {
				x.over[s.State]-- // the array has counted it
			}
		}
	}
	for i := range f.Txs {
		t := &f.Txs[i]
		s := x.begun[t.Job]
		if s == nil {
			continue
		}
		x.own[t.Tx] = true
		for k, r := range t.Memory {
			if !t.Detached && (r.State == grid.Running || r.State == grid.Settled) {
				s.Begun(grid.LegID{Tx: t.Tx, Leg: k}, t.Legs[k].Start)
			}
		}
	}
}

// counts is the number of elements in each state.
func (x *elements) counts() (n [grid.AllJobStates]int) {
	n = x.over
	for _, s := range x.begun {
		n[s.State]++
	}
	known := 0
	for _, k := range n {
		known += k
	}
	n[grid.JobWaiting] += x.array.Array.Indices.Len() - known
	return n
}

// stand gives an open array the state of its elements.
func (x *elements) stand(s *history.Standing) {
	if s.Known && s.State.Open() {
		s.State = grid.Furthest(x.counts())
	}
}
