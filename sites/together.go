package sites

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// Quotes for a set: the windows that a broker is about to hold one after the other.
// Priced by itself, a leg is taken to find the state as it is; but it will find there
// the legs that are held before it, and may cost more beside them. So the legs of a
// set are priced in their order, each on the state with those before it taken. Time-
// shared nodes and promised ones are priced by themselves all the same: there a
// price does not follow from what others hold.

// maxTogether bounds the legs that are priced so, for each may cost a plan of its
// queue. Those beyond are priced by themselves.
const maxTogether = 64

// trial is the state of the groups as it would be if some legs were held.
type trial struct {
	offers *offers
	taken  []bourse.Leg
	groups map[int]*trialGroup // of groups of which any are
}

// trialGroup is one group's state, and the plan of its queue.
type trialGroup struct {
	state backfill.State
	book  func() *pricing.Book // made when it is needed
}

func newTrial(o *offers) *trial { return &trial{offers: o, groups: map[int]*trialGroup{}} }

// legs are those that are taken; nil of no trial.
func (x *trial) legs() []bourse.Leg {
	if x == nil {
		return nil
	}
	return x.taken
}

// touches reports whether any nodes of a group are taken; none are by no trial.
func (x *trial) touches(group int) bool { return x != nil && x.groups[group] != nil }

// of is a group that it touches: its state and its plan, with what is taken.
func (x *trial) of(group int) (*backfill.State, func() *pricing.Book) {
	g := x.groups[group]
	return &g.state, g.book
}

// take takes the nodes of a leg, as a reservation does: the cluster brings its state
// up to now for it.
func (x *trial) take(now bourse.Time, l bourse.Leg) {
	x.taken = append(x.taken, l)
	o := x.offers
	i := o.groups[l.Group]
	if l.Work > 0 || i < len(o.plans) && o.plans[i] != nil {
		return
	}
	g := x.groups[i]
	if g == nil {
		g = &trialGroup{state: o.states[i].Clone()}
		g.state.Now = max(g.state.Now, now) // the cluster's clock may be ahead
		g.state.From(g.state.Now)
		x.groups[i] = g
	}
	r := backfill.Reserved{Nodes: l.Nodes, Start: l.Start, End: l.End}
	for _, y := range g.state.Reserved {
		r.ID = max(r.ID, y.ID)
	}
	r.ID++
	g.state.Reserve(r)
	g.book = o.planOf(&g.state)
}
