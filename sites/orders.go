package sites

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// order is an order to the cluster about a leg that it has not acknowledged.
type order uint8

const (
	noOrder order = iota
	confirmOrder
	releaseOrder
)

// orders are the legs with an order. All orders are repeated together until the cluster has
// acknowledged them.
type orders struct {
	*memory
	retries *retries

	list    []*leg
	unknown map[grid.LegID]*leg // placeholders for unknown legs whose nodes are being released
}

// tell orders the cluster to do something about a leg, and repeats that until it is done.
func (o *orders) tell(t step, l *leg, what order) {
	if l.order == noOrder && !o.cfg.Lossless {
		o.list = append(o.list, l)
	}
	l.order = what
	o.send(t, l)
	if !o.retries.owes(theOrders) {
		o.retries.begin(t, theOrders, grid.LegID{}, lastWait)
	}
}

func (o *orders) send(t step, l *leg) {
	if l.order == confirmOrder {
		t.out.Send(o.cfg.Cluster, agents.ClusterConfirm{Leg: l.Leg, Work: l.onNodes().Work})
		return
	}
	t.out.Send(o.cfg.Cluster, agents.ClusterRelease{Leg: l.Leg})
}

// releaseUnknown orders the cluster to release the nodes of a leg that the site does not
// know. Row S120.
func (o *orders) releaseUnknown(t step, id grid.LegID) {
	t.out.Row("S120")
	l := o.unknown[id]
	if l == nil {
		l = &leg{LegMoved: facts.LegMoved{Leg: id}}
		if o.unknown == nil {
			o.unknown = map[grid.LegID]*leg{}
		}
		o.unknown[id] = l
	}
	o.tell(t, l, releaseOrder)
}

// known stops repeating such a release, because the leg is now asked for or asserted. A
// release still on its way arrives before the cluster is asked for the leg.
func (o *orders) known(id grid.LegID) {
	if l := o.unknown[id]; l != nil {
		l.order = noOrder
		delete(o.unknown, id)
	}
}

// done handles the cluster's acknowledgement.
func (o *orders) done(m agents.ClusterDone) {
	l := o.legOf(m.Leg)
	if x := o.unknown[m.Leg]; x != nil && m.Step == (agents.ClusterRelease{}).Kind() {
		o.known(m.Leg)
	}
	if l == nil && m.Leg.Tx.Broker == "" { // a cancelled maintenance
		for _, x := range o.list {
			if x.Leg == m.Leg {
				l = x
			}
		}
	}
	if l != nil && (l.order == confirmOrder && m.Step == agents.ClusterConfirm{}.Kind() ||
		l.order == releaseOrder && m.Step == agents.ClusterRelease{}.Kind()) {
		l.order = noOrder
	}
}

// outstanding drops acknowledged orders, and reports whether any are left.
func (o *orders) outstanding() bool {
	o.list = slices.DeleteFunc(o.list, func(l *leg) bool { return l.order == noOrder })
	return len(o.list) > 0
}

// tellAgain repeats the orders that are not acknowledged.
func (o *orders) tellAgain(t step) {
	for _, l := range o.list {
		o.send(t, l)
	}
}
