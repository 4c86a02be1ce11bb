package sites

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// How a leg is moved: the cluster decides, the site records the move, and tells the broker
// until that acknowledges.

// moved handles the cluster's report that a flexible leg was moved or fixed. For a leg that
// is not confirmed here yet, or before a life's first inventory, it is ignored; the cluster
// will repeat it. Row S81.
func (n *notices) moved(t step, m agents.ClusterMoved) {
	l := n.legs[m.Leg]
	if l != nil && l.State < grid.Confirmed || !n.compared {
		return
	}
	t.out.Send(n.cfg.Cluster, agents.ClusterHeard{Leg: m.Leg, Shifts: m.Shifts})
	if l != nil {
		n.shift(t, l, facts.LegShifted{Leg: m.Leg, Start: m.Start, End: m.End, Shifts: m.Shifts, Fixed: m.Fixed})
	}
}

// shift records where a leg lies now and tells its broker, unless it is known already or
// cannot be true.
func (n *notices) shift(t step, l *leg, f facts.LegShifted) {
	open := l.State == grid.Confirmed || l.State == grid.Running
	if !open || f.Shifts <= l.shifts || !l.Flex.Holds(f.Start, f.End) || f.End.Sub(f.Start) != l.What.Duration() {
		return
	}
	t.out.Row("S81")
	n.record(t, f)
	n.tellShift(t, l)
	n.beginShift(t, l)
}

// beginShift starts repeating where a leg lies.
func (n *notices) beginShift(t step, l *leg) { n.retries.begin(t, theShift, l.Leg, slowWait) }

// tellShift tells the broker where a leg lies.
func (n *notices) tellShift(t step, l *leg) {
	t.out.Send(n.life(l.Leg.Tx.Broker).address(), agents.Shifted{Leg: l.Leg, Start: l.What.Start, End: l.What.End,
		Shifts: l.shifts, Fixed: l.fixed(), Stamp: n.stamp(), Proof: n.proof(l)})
}

// notedShift stops repeating. Row S83.
func (n *notices) notedShift(t step, l *leg, shifts uint32) {
	if shifts = min(shifts, l.shifts); shifts > l.told {
		t.out.Row("S83")
		n.record(t, facts.ShiftNoted{Leg: l.Leg, Shifts: shifts})
	}
}

// catchUp notes, after a restart, where the cluster has a leg.
func (n *notices) catchUp(t step, l *leg, k *agents.ClusterLock) {
	if k.Shifts > 0 {
		n.shift(t, l, facts.LegShifted{Leg: l.Leg, Start: k.From, End: k.To, Shifts: k.Shifts, Fixed: k.FixedThere})
	}
}

// fixed reports whether a leg had a window and can no longer move in it.
func (l *leg) fixed() bool { return l.Flex.Due > 0 && !l.Flex.Movable(l.What) }
