package sites

import (
	"bourse"
	"bourse/agents"
	"bourse/policy/backfill"
)

// How a leg's move travels: the cluster decides it, the site records it and tells
// the broker until that has noted it.

// moved takes the cluster's word that a flexible leg lies elsewhere, or is fixed.
// Of a leg that is not confirmed here yet it is to be said again. Row S81.
func (s *Site) moved(t step, m agents.ClusterMoved) {
	l := s.legs[m.Leg]
	if l != nil && l.State < bourse.Confirmed {
		return
	}
	t.out.Send(s.cfg.Cluster, agents.ClusterHeard{Leg: m.Leg, Turn: m.Turn})
	if l != nil {
		s.shift(t, l, bourse.LegShifted{Leg: m.Leg, Start: m.Start, End: m.End, Turn: m.Turn, Fixed: m.Fixed})
	}
}

// shift records where a leg lies and tells its broker, unless it is known or
// cannot be.
func (s *Site) shift(t step, l *leg, f bourse.LegShifted) {
	open := l.State == bourse.Confirmed || l.State == bourse.Running
	if !open || f.Turn <= l.turn || !l.Flex.Holds(f.Start, f.End) || f.End.Sub(f.Start) != l.What.Duration() {
		return
	}
	s.record(t, f)
	s.tellShift(t, l)
	s.begin(t, theShift, l.Leg, slowWait)
}

// tellShift tells the broker where a leg lies, until it has noted that or another
// shift is under way.
func (s *Site) tellShift(t step, l *leg) {
	t.out.Send(s.life(l.Leg.Tx.Broker).address(), agents.ShiftedNotice{Leg: l.Leg, Start: l.What.Start, End: l.What.End,
		Turn: l.turn, Fixed: l.fixed(), Stamp: s.stamp(), Proof: s.proof(l)})
}

// notedShift ends the repeating. Row S83.
func (s *Site) notedShift(t step, l *leg, turn uint32) {
	if turn = min(turn, l.turn); turn > l.told {
		s.record(t, bourse.ShiftNoted{Leg: l.Leg, Turn: turn})
	}
}

// catchUp takes in, after a restart, where the cluster says that a leg lies.
func (s *Site) catchUp(t step, l *leg, k *agents.ClusterLock) {
	if k.Turn > 0 {
		s.shift(t, l, bourse.LegShifted{Leg: l.Leg, Start: k.From, End: k.To, Turn: k.Turn, Fixed: k.FixedThere})
	}
}

// fixed reports whether a leg's window has closed to where it lies.
func (l *leg) fixed() bool { return l.Flex.Due > 0 && !l.Flex.Movable(l.What) }

// shifted applies a move of a leg. A window that has closed is where it lies.
func (m *memory) shifted(f bourse.LegShifted) {
	l := m.legs[f.Leg]
	l.What.Start, l.What.End, l.turn = f.Start, f.End, f.Turn
	if f.Fixed {
		l.Flex.Ready, l.Flex.Due = f.Start, f.End
	}
}

// reservedOf lists the open legs of a group as reservations, which the limits on
// those are held against, net of the one that is to be replaced: where local jobs
// are promised their nodes too, the cluster's own list holds both. Where
// reservations may hold the whole group there is nothing to hold against them: who
// may move makes room. It costs a walk over the open legs where there is a limit.
func (s *Site) reservedOf(group string, old *leg) []backfill.Reserved {
	if share := s.cfg.Limits.MaxShare; share == 0 || share >= 1000 {
		return nil
	}
	var list []backfill.Reserved
	id := int64(0)
	for l := range s.open.each {
		if id++; l.What.Group == group && l != old {
			list = append(list, backfill.Reserved{ID: id, Nodes: l.What.Nodes, Start: l.What.Start, End: l.What.End})
		}
	}
	return list
}
