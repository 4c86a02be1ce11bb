package sites

import (
	"slices"

	"bourse"
	"bourse/agents"
	"bourse/agents/plant"
)

// duty is what a leg's cluster has been told and has not acknowledged.
type duty uint8

const (
	noDuty duty = iota
	confirmDuty
	releaseDuty
)

// duties are the legs with one. They are told again, all together, until the
// cluster has acknowledged them.
type duties struct {
	list    []*leg
	unknown map[bourse.LegID]*leg // stand-ins for legs that the site does not know, to be released
}

// tell tells the cluster what to do about a leg, until it is done.
func (s *Site) tell(t step, l *leg, d duty) {
	if l.duty == noDuty {
		s.duties.list = append(s.duties.list, l)
	}
	l.duty = d
	s.order(t, l)
	if !s.retries.Owes(owed{what: theOrders}) {
		s.begin(t, theOrders, bourse.LegID{}, lastWait)
	}
}

func (s *Site) order(t step, l *leg) {
	if l.duty == confirmDuty {
		t.out.Send(s.cfg.Cluster, agents.ClusterConfirm{Leg: l.Leg})
		return
	}
	t.out.Send(s.cfg.Cluster, agents.ClusterRelease{Leg: l.Leg})
}

// releaseUnknown gives nodes back that the cluster keeps for a leg which the site
// does not know, until that is done. Row S120.
func (s *Site) releaseUnknown(t step, id bourse.LegID) {
	l := s.duties.unknown[id]
	if l == nil {
		l = &leg{LegMoved: bourse.LegMoved{Leg: id}}
		if s.duties.unknown == nil {
			s.duties.unknown = map[bourse.LegID]*leg{}
		}
		s.duties.unknown[id] = l
	}
	s.tell(t, l, releaseDuty)
}

// known ends that: the leg is asked for, or asserted. What is still on its way
// comes before what the cluster is asked now.
func (s *Site) known(id bourse.LegID) {
	if l := s.duties.unknown[id]; l != nil {
		l.duty = noDuty
		delete(s.duties.unknown, id)
	}
}

// restoring reports whether a leg that the site does not know waits in line for its
// nodes to be had again.
func (s *Site) restoring(id bourse.LegID) bool {
	for i := s.desk.head; i < len(s.desk.line); i++ {
		if k := &s.desk.line[i]; k.restored != nil && k.leg.Leg == id {
			return true
		}
	}
	return false
}

// done takes the cluster's acknowledgement.
func (s *Site) done(m agents.ClusterDone) {
	l := s.legOf(m.Leg)
	if x := s.duties.unknown[m.Leg]; x != nil && m.Step == (agents.ClusterRelease{}).Kind() {
		s.known(m.Leg)
	}
	if l == nil && m.Leg.Tx.Broker == "" { // a maintenance that was given up
		for _, x := range s.duties.list {
			if x.Leg == m.Leg {
				l = x
			}
		}
	}
	if l != nil && (l.duty == confirmDuty && m.Step == agents.ClusterConfirm{}.Kind() ||
		l.duty == releaseDuty && m.Step == agents.ClusterRelease{}.Kind()) {
		l.duty = noDuty
	}
}

// open drops what is acknowledged, and reports whether anything is left.
func (d *duties) open() bool {
	d.list = slices.DeleteFunc(d.list, func(l *leg) bool { return l.duty == noDuty || plant.On("tell-once") })
	return len(d.list) > 0
}

// tellAgain repeats what is not acknowledged.
func (s *Site) tellAgain(t step) {
	for _, l := range s.duties.list {
		s.order(t, l)
	}
}

// secondLook is how long after a restart, or after the cluster has been silent,
// the site looks again for what the cluster keeps for nobody: by then messages
// that were on their way have come.
const secondLook = bourse.Minute

// orphanGrace is how long after its start a site leaves reservations alone that
// it does not know: long enough for brokers to see its stamp go back, and to
// speak for them.
const orphanGrace = 5 * bourse.Minute

// inventoryAt has the site look.
func (s *Site) inventoryAt(t step, at bourse.Time) { t.out.Alarm(at, inventoryDue{}) }

// reconcile compares the legs with what the cluster keeps. Nodes kept for no leg
// that holds them are given back; a leg without nodes is lost; what has started
// or ended meanwhile is taken in. A reservation of a leg that the site does not
// know means that the site has lost its memory: for a while it is left alone.
// Row S60.
func (s *Site) reconcile(t step, m agents.ClusterLocks) {
	if s.desk.question != locks || m.Ref != s.desk.ref {
		return // an answer that came twice, or too late
	}
	kept := make(map[bourse.LegID]*agents.ClusterLock, len(m.Locks))
	for i := range m.Locks {
		kept[m.Locks[i].Leg] = &m.Locks[i]
	}
	var open []*leg
	for l := range s.open.each {
		open = append(open, l)
	}
	for _, l := range open {
		s.compare(t, l, kept[l.Leg])
	}
	orphans := false
	for i := range m.Locks {
		k := &m.Locks[i]
		l := s.legOf(k.Leg)
		switch {
		case plant.On("no-reconcile"):
		case l != nil && k.Leg.Tx.Broker == "" && !k.Lost:
		case l != nil && (l.State.Blocks() || l.State == bourse.Asked):
		case s.restoring(k.Leg):
		case (l == nil || l.tomb) && (k.Confirmed || k.Lost) && t.now < s.began.Add(orphanGrace):
			orphans = true
		case l == nil:
			s.releaseUnknown(t, k.Leg)
		default:
			s.tell(t, l, releaseDuty)
		}
	}
	s.againMaintenance(t, func(id bourse.LegID) bool { return kept[id] != nil && !kept[id].Lost })
	if orphans {
		s.inventoryAt(t, s.began.Add(orphanGrace))
	}
	s.next(t)
}

// compare holds an open leg against what the cluster keeps for it.
func (s *Site) compare(t step, l *leg, k *agents.ClusterLock) {
	t.m = agents.ClusterLost{Leg: l.Leg}
	switch {
	case k == nil, k.Lost:
		if do := table[onLost][l.State]; do != nil && !plant.On("no-reconcile") {
			do(s, l, t)
			s.tell(t, l, releaseDuty)
		}
	case k.Ended:
		t.m = agents.ClusterEnded{Leg: l.Leg, End: k.End}
		if do := s.credible(t, onEnded, l); do != nil {
			do(s, l, t)
			s.tell(t, l, releaseDuty)
		}
	default:
		confirmed := l.State == bourse.Confirmed || l.State == bourse.Running
		if confirmed && !k.Confirmed {
			s.tell(t, l, confirmDuty)
		}
		s.catchUp(t, l, k)
		if k.Running && l.State == bourse.Confirmed {
			if do := s.credible(t, onStarted, l); do != nil {
				do(s, l, t)
			}
		}
	}
}
