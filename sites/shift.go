package sites

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// How a leg's move travels: the cluster decides it, the site records it and tells
// the broker until that has noted it.

// moved takes the cluster's word that a flexible leg lies elsewhere, or is fixed.
// For a leg that is not confirmed here yet the cluster must say it again. Row
// S81.
func (n *notices) moved(t step, m agents.ClusterMoved) {
	l := n.legs[m.Leg]
	if l != nil && l.State < bourse.Confirmed {
		return
	}
	t.out.Send(n.cfg.Cluster, agents.ClusterHeard{Leg: m.Leg, Shifts: m.Shifts})
	if l != nil {
		n.shift(t, l, bourse.LegShifted{Leg: m.Leg, Start: m.Start, End: m.End, Shifts: m.Shifts, Fixed: m.Fixed})
	}
}

// shift records where a leg lies and tells its broker, unless that is known
// already or cannot be true.
func (n *notices) shift(t step, l *leg, f bourse.LegShifted) {
	open := l.State == bourse.Confirmed || l.State == bourse.Running
	if !open || f.Shifts <= l.shifts || !l.Flex.Holds(f.Start, f.End) || f.End.Sub(f.Start) != l.What.Duration() {
		return
	}
	n.record(t, f)
	n.tellShift(t, l)
	n.beginShift(t, l)
}

// beginShift has that told again.
func (n *notices) beginShift(t step, l *leg) { n.retries.begin(t, theShift, l.Leg, slowWait) }

// tellShift tells the broker where a leg lies, until it has noted that or another
// shift is under way.
func (n *notices) tellShift(t step, l *leg) {
	t.out.Send(n.life(l.Leg.Tx.Broker).address(), agents.Shifted{Leg: l.Leg, Start: l.What.Start, End: l.What.End,
		Shifts: l.shifts, Fixed: l.fixed(), Stamp: n.stamp(), Proof: n.proof(l)})
}

// notedShift ends the repeating. Row S83.
func (n *notices) notedShift(t step, l *leg, shifts uint32) {
	if shifts = min(shifts, l.shifts); shifts > l.told {
		n.record(t, bourse.ShiftNoted{Leg: l.Leg, Shifts: shifts})
	}
}

// catchUp takes in, after a restart, where the cluster says that a leg lies.
func (n *notices) catchUp(t step, l *leg, k *agents.ClusterLock) {
	if k.Shifts > 0 {
		n.shift(t, l, bourse.LegShifted{Leg: l.Leg, Start: k.From, End: k.To, Shifts: k.Shifts, Fixed: k.FixedThere})
	}
}

// fixed reports whether a leg's window has closed to where it lies.
func (l *leg) fixed() bool { return l.Flex.Due > 0 && !l.Flex.Movable(l.What) }
