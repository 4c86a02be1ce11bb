package sites

import (
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/portions"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// Quotes for a set of legs that a broker is about to hold one after another. A leg priced by
// itself assumes the present state; but the legs held before it will be there too, and may
// make it cost more. So the legs of a set are priced in order, each with those before it
// taken. Legs on time-shared or promised nodes are still priced by themselves: their price
// does not depend on what others hold.

// maxTogether bounds the legs that are priced as a set, because each may need a plan of its
// queue. Further legs are priced by themselves.
const maxTogether = 64

// trial is the state of the groups as if some legs were held. A nil trial has no legs.
type trial struct {
	offers *offers
	taken  []grid.Leg
	groups map[int]*trialGroup // the groups that have such legs
}

// trialGroup is one group's state, and the plan of its queue.
type trialGroup struct {
	state  backfill.State
	opened []grid.Opened        // those of the state, and those that the legs open; nil: as they are
	book   func() *pricing.Book // made when needed
}

func newTrial(o *offers) *trial { return &trial{offers: o, groups: map[int]*trialGroup{}} }

// legs are the legs taken so far.
func (x *trial) legs() []grid.Leg {
	if x == nil {
		return nil
	}
	return x.taken
}

// touches reports whether any of a group's nodes are taken.
func (x *trial) touches(group int) bool { return x != nil && x.groups[group] != nil }

// of is the state and plan of a group that the trial touches.
func (x *trial) of(group int) (*backfill.State, func() *pricing.Book) {
	g := x.groups[group]
	return &g.state, g.book
}

// take takes a leg's nodes as a reservation would, which the cluster makes on its state
// brought up to now.
func (x *trial) take(now grid.Time, l grid.Leg) {
	o := x.offers
	i := o.groups[l.Group]
	own := o.opens(now, i, l, x)
	x.taken = append(x.taken, own)
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
	if l.Part.Some() {
		if g.opened == nil {
			g.opened = o.openedOn(i, now, grid.MaxTime)
		}
		g.layParts(&l, own.Nodes)
	}
	if own.Nodes == 0 {
		return
	}
	r := backfill.Reserved{Nodes: own.Nodes, Start: l.Start, End: l.End}
	for _, y := range g.state.Reserved {
		r.ID = max(r.ID, y.ID)
	}
	r.ID++
	g.state.Reserve(r)
	g.book = o.planOf(&g.state)
}

// openedOn are the opened nodes of a group that the trial touches; nil: as the site has them.
func (x *trial) openedOn(i int) []grid.Opened {
	if x == nil || x.groups[i] == nil {
		return nil
	}
	return x.groups[i].opened
}

// layParts lays a leg of parts, which opens so many nodes.
func (g *trialGroup) layParts(l *grid.Leg, opens int) {
	for _, k := range portions.Choose(g.opened, l) {
		g.opened[k].Take(l.Start, l.End, int(l.Part.Slices))
	}
	for range opens {
		g.opened = append(g.opened, grid.Open(0, l.Start, l.End, int(l.Part.Of-l.Part.Slices)))
	}
}
