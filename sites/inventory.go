package sites

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// secondLook is how long after a restart, or after the cluster was silent, the site looks
// again for nodes that the cluster keeps for nobody. By then, delayed messages have arrived.
const secondLook = grid.Minute

// orphanGrace is how long after its start a site keeps reservations that it does not know:
// long enough for brokers to see from its stamps that it has forgotten them, and to assert
// them.
const orphanGrace = 5 * grid.Minute

// inventory compares the legs with what the cluster keeps.
type inventory struct {
	*memory
	requests    *requests
	participant *participant
	orders      *orders
	notices     *notices
	operator    *operator
	readers     *readers
}

// inventoryAt sets the alarm for an inventory.
func inventoryAt(t step, at grid.Time) { t.out.Alarm(at, inventoryDue{}) }

// held handles the cluster's answer about nodes. If no request waits for it, it has come
// twice or too late, and nodes locked for a leg that is over or unknown are given back.
func (v *inventory) held(t step, m agents.ClusterHeld) {
	if v.requests.held(t, m) {
		return
	}
	switch l := v.legOf(m.Leg); {
	case m.Refusal.Refused(), v.requests.restoring(m.Leg):
	case l == nil:
		v.orders.releaseUnknown(t, m.Leg)
	case l.State.Terminal():
		v.orders.tell(t, l, releaseOrder)
	}
}

// reconcile compares the legs with what the cluster keeps. Nodes that no open leg holds are
// given back; a leg without nodes is lost; starts and ends missed meanwhile are noted. A
// reservation for an unknown leg means that the site has lost memory: it is kept for a
// while, and the leg's broker is told. Row S60.
func (v *inventory) reconcile(t step, m agents.ClusterLocks) {
	if !v.requests.looking(m.Ref) {
		return // it came twice or too late
	}
	t.out.Row("S60")
	kept := make(map[grid.LegID]*agents.ClusterLock, len(m.Locks))
	for i := range m.Locks {
		kept[m.Locks[i].Leg] = &m.Locks[i]
	}
	var open []*leg
	for l := range v.open.each {
		open = append(open, l)
	}
	for _, l := range open {
		v.compare(t, l, kept[l.Leg])
	}
	owners := map[string]bool{} // of reservations that the site does not know
	for i := range m.Locks {
		k := &m.Locks[i]
		l := v.legOf(k.Leg)
		switch {
		case l != nil && k.Leg.Tx.Broker == "" && !k.Lost:
		case l != nil && (l.State.Blocks() || l.State == grid.Asked):
		case v.requests.restoring(k.Leg):
		case (l == nil || l.tomb) && (k.Confirmed || k.Lost) && v.orphaned(t.now):
			v.call(t, k.Leg.Tx.Broker, owners)
		case l == nil:
			v.orders.releaseUnknown(t, k.Leg)
		default:
			v.orders.tell(t, l, releaseOrder)
		}
	}
	v.compared = true
	v.operator.again(t, func(id grid.LegID) bool { return kept[id] != nil && !kept[id].Lost })
	if len(owners) > 0 {
		inventoryAt(t, v.began.Add(orphanGrace))
	}
	v.requests.next(t)
}

// call tells a broker, once at each inventory, that the site is there: by the stamp the
// broker sees that the site has forgotten legs, and asserts them. Without that, a broker
// with no other business at the site would hear of it only after the nodes are given back.
func (v *inventory) call(t step, broker string, called map[string]bool) {
	if broker != "" && !called[broker] { // "": a maintenance
		v.readers.tellOne(t, agents.ID("broker:"+broker))
	}
	called[broker] = true
}

// compare compares an open leg with what the cluster keeps for it.
func (v *inventory) compare(t step, l *leg, k *agents.ClusterLock) {
	lost, forgot := agents.ClusterLost{Leg: l.Leg}, k != nil && v.forgotten(l, k)
	switch {
	case forgot:
		t.out.Row("S123")
		lost.Reason = grid.Because(grid.Busy, "its cluster has begun again with an older journal")
	case k != nil:
		lost.Reason = k.Reason
	}
	t.m = lost
	switch {
	case k == nil, k.Lost, forgot:
		if table[onLost][l.State].take(v.participant, l, t) {
			v.orders.tell(t, l, releaseOrder)
		}
	case k.Ended:
		t.m = agents.ClusterEnded{Leg: l.Leg, End: k.End, Result: k.Result}
		if v.participant.credible(t, onEnded, l).take(v.participant, l, t) {
			v.orders.tell(t, l, releaseOrder)
		}
	default:
		confirmed := l.State == grid.Confirmed || l.State == grid.Running
		if confirmed && !k.Confirmed {
			v.orders.tell(t, l, confirmOrder)
		}
		v.notices.catchUp(t, l, k)
		if k.Running && l.State == grid.Confirmed {
			v.participant.credible(t, onStarted, l).take(v.participant, l, t)
		}
	}
}

// forgotten reports whether the cluster, which has lost the last of its journal, has forgotten
// what it had told of a leg: that it moved the leg to where it lies, or that the leg's work
// has begun, so that it would begin again. Only the first inventory of a life can show that:
// a cluster and its site are one process, and nothing else is heard of the cluster before.
// Row S123.
func (v *inventory) forgotten(l *leg, k *agents.ClusterLock) bool {
	switch {
	case v.compared:
		return false
	case l.State == grid.Running && !k.Running && !k.Ended && l.What.Work == 0:
		return true // a share works from its hold on
	case k.Shifts == l.shifts:
		return k.Shifts > 0 && (k.From != l.What.Start || k.To != l.What.End)
	}
	return k.Shifts < l.shifts
}
