package sites

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// recovery begins lives, and restores legs that the site has forgotten when their brokers
// assert them.
type recovery struct {
	*memory
	groups      map[string]int // index into cfg.Groups, by name
	requests    *requests
	participant *participant
	orders      *orders
	notices     *notices
	negotiation *negotiation
	archive     *archive
}

// restartRows are the rows of legs that a later life of their site finds on record.
var restartRows = [grid.Lost + 1]agents.Row{grid.Held: "S25", grid.Prepared: "S37", grid.Confirmed: "S47", grid.Running: "S47"}

// start begins a life: it sets the alarms again and asks the cluster what it keeps. The
// limits of holds and prepared legs start afresh, though never past the leg's start, so
// that they do not all expire after an outage of the site. Rows S19, S25, S37, S47.
func (r *recovery) start(t step, m agents.Started) {
	r.begin(t.now, m.Nonce)
	r.requests.begin(m.Nonce)
	if len(r.cfg.Key) > 0 {
		r.record(t, facts.SiteBegun{Epoch: m.Nonce, Groups: r.resized()})
	}
	for l := range r.open.each {
		t.out.Row(restartRows[l.State])
		if l.State != grid.Held && l.State != grid.Prepared {
			continue
		}
		r.participant.limit(t, l, min(l.For, l.What.Start.Sub(t.now)))
		if l.State == grid.Prepared {
			r.notices.doubt(t, l)
		}
	}
	for _, l := range r.kept {
		if l.told < l.shifts {
			r.notices.beginShift(t, l)
		}
		if l.offer().State == facts.OfferOpen {
			r.negotiation.beginOffer(t, l)
		}
		if l.State.Terminal() {
			r.archive.remember(t, l)
			if !l.noted && notable(l.State) {
				r.notices.beginNotice(t, l)
			}
		}
	}
	r.requests.add(t, request{m: inventoryDue{}})
	if r.started > 0 {
		inventoryAt(t, t.now.Add(secondLook))
	}
}

// reassert handles a broker's assertion of a leg that the site has forgotten, wholly or in
// part. If the site knows as much or more, nothing changes; a leg that it knows to be over
// stays over. A leg that the broker says was never paid for is given up, as a broker may do
// with any leg. Anything else is restored only if the site's own proof supports it and the
// site's journal has lost it. For open legs the cluster is asked again for their nodes,
// which it may still keep. Rows S59, S100 to S104.
func (r *recovery) reassert(t step, m agents.Reassert) {
	id := m.Leg.Leg
	if why := r.fence(m); why.Refused() {
		r.reasserted(t, t.from, id, why)
		return
	}
	l, was := r.legs[id], r.restoration(t, m)
	known, to := l != nil && !l.tomb, was.Was.State
	why := r.unsound(m.Leg)
	switch {
	case why.Refused():
		t.out.Row(unsoundRow(why.Code))
	case to == grid.Asked: // there is nothing to restore
	case known && (l.State == to || l.State.Terminal() && to.Terminal() || to.Blocks() && to < l.State && !l.State.Terminal()):
	case known && (l.State.Terminal() || l.State == grid.Asked):
		why = grid.Reason{Code: grid.Expired, Detail: "leg " + id.String() + " is " + l.State.String()}
	case !to.Blocks() && !paid(to):
		why = r.abandon(t, l, m)
	case to.Blocks() && m.Leg.What.End <= t.now:
		t.out.Row("S103")
		why = refused(grid.Expired, "leg %v ended at %v, it is %v", id, m.Leg.What.End, t.now).Refusal
	default:
		var row agents.Row
		why, row = r.unproven(&m.Leg)
		t.out.Row(row)
		if !why.Refused() {
			r.takeBack(t, l, m, was)
			return
		}
	}
	r.reasserted(t, t.from, id, why)
}

// fence refuses what a life of the broker asserts that is over, or is not the one known by its
// incarnation; no reason: neither.
func (r *recovery) fence(m agents.Reassert) grid.Reason {
	broker := m.Leg.Leg.Tx.Broker
	if f := r.life(broker); f.twin(m.Incarnation, m.Nonce) || m.Incarnation < f.highest {
		return fenced("incarnation %d of %s has spoken to %s", f.highest, broker, r.cfg.Name)
	}
	return grid.Reason{}
}

// abandon gives up a leg that its broker says was never paid for, known or not, and
// releases its nodes, as Cancel does.
func (r *recovery) abandon(t step, l *leg, m agents.Reassert) grid.Reason {
	id := m.Leg.Leg
	if l != nil && l.charged {
		return grid.Reason{Code: grid.BadState, Detail: "leg " + id.String() + " is " + l.State.String()}
	}
	if why := r.participant.register(t, id.Tx.Broker, m.Incarnation, m.Nonce); why.Refused() {
		return why
	}
	t.out.Row("S59")
	r.orders.known(id)
	if l == nil {
		r.archive.tombstone(t, id)
		l = r.legs[id]
	} else if !l.tomb {
		r.participant.move(t, l, grid.Cancelled)
	}
	r.orders.tell(t, l, releaseOrder)
	return grid.Reason{}
}

// takeBack restores a leg for which there is a proof: at once if it holds no nodes, or is
// known and holds them already; otherwise when the cluster has the nodes. If the line is
// full it does not answer, and the broker will assert the leg again.
func (r *recovery) takeBack(t step, l *leg, m agents.Reassert, was facts.LegRestored) {
	id := m.Leg.Leg
	why := r.participant.register(t, id.Tx.Broker, m.Incarnation, m.Nonce)
	if l == nil && len(r.kept) >= r.cfg.MaxKept && !why.Refused() {
		why = r.participant.crowded(t, id.Tx.Broker)
	}
	unknown := l == nil || l.tomb
	switch {
	case why.Refused():
		r.reasserted(t, t.from, id, why)
	case unknown && was.Was.State.Blocks():
		if !r.requests.full(t.from).Refused() {
			r.orders.known(id)
			if l != nil {
				l.order = noOrder // of its tombstone
			}
			r.requests.add(t, request{from: t.from, client: r, m: m, leg: &leg{LegMoved: was.Was}, restored: &was})
		}
	default:
		if !unknown {
			was.Held = l.heldAt
			if was.Was.Flex == (grid.Flex{}) { // a broker of an older build does not say it
				was.Was.Flex = l.Flex
			}
		}
		r.restore(t, t.from, was)
	}
}

// paid reports whether a leg that ended in state x may have been paid for.
func paid(x grid.LegState) bool {
	return x == grid.Settled || x == grid.Released || x == grid.Lost
}

// unsound says why an assertion makes no sense; no reason: it does. Peers are not trusted.
func (r *recovery) unsound(a agents.ListedLeg) grid.Reason {
	l, sum := a.What, a.Fare.Total().Plus(max(a.Refund, 0)).Plus(max(a.Penalty, 0))
	group, known := r.groups[l.Group]
	switch {
	case a.State > grid.Lost:
		return refused(grid.Invalid, "there is no state %d of a leg", a.State).Refusal
	case a.Fare.Base < 0 || a.Fare.Additive < 0 || a.Refund < 0 || a.Penalty < 0 || a.Limit < 0 || sum > grid.MaxBudget:
		return refused(grid.Invalid, "a leg cannot cost %v, nor give %v back", a.Fare.Total(), a.Refund.Plus(a.Penalty)).Refusal
	case sum > r.accounts.toPay(a.Leg.Tx.Broker) || sum > r.accounts.toReturn(a.Leg.Tx.Broker): // S96
		return refused(grid.NoMoney, "the account of %s has no room for %v", a.Leg.Tx.Broker, sum).Refusal
	case a.Refund > a.Fare.Total() || a.Penalty > 0 && a.State != grid.Lost:
		return refused(grid.Invalid, "a leg that cost %v cannot give back %v and a penalty of %v", a.Fare.Total(), a.Refund, a.Penalty).Refusal
	case a.State.Blocks() && !known:
		return refused(grid.Unknown, "%s has no group %q", r.cfg.Name, l.Group).Refusal
	case a.State.Blocks() && l.Nodes > r.cfg.Groups[group].Nodes:
		return refused(grid.Invalid, "no leg: %s of group %q, which has %d", grid.Count(l.Nodes, "node"), l.Group, r.cfg.Groups[group].Nodes).Refusal
	case a.Leg.Leg < 0 || len(a.Job) > maxName || len(a.User) > maxName || len(l.Group) > maxName:
		return refused(grid.Invalid, "no window has a leg %d, or its name has more than %d bytes", a.Leg.Leg, maxName).Refusal
	case a.State.Blocks() && !calendar(l), max(l.Start, -l.Start, l.End, -l.End, a.End, -a.End) > grid.MaxTime, a.Run < 0, a.Run > grid.MaxDuration:
		return refused(grid.Invalid, "no leg: %s over [%v, %v)", grid.Count(l.Nodes, "node"), l.Start, l.End).Refusal
	}
	return grid.Reason{}
}

// unsoundRow is the row of an assertion that makes no sense.
func unsoundRow(why grid.Code) agents.Row {
	if why == grid.NoMoney {
		return "S96"
	}
	return "S103"
}

// restoration is the fact that restores a leg as asserted. A running leg is restored as
// confirmed: the cluster will report that its work runs.
func (r *recovery) restoration(t step, m agents.Reassert) facts.LegRestored {
	a := m.Leg
	f := facts.LegRestored{Held: t.now, Proof: a.Proof, Was: facts.LegMoved{Leg: a.Leg, State: a.State, What: a.What, Job: a.Job, User: a.User,
		Fare: a.Fare, Limit: a.Limit, End: a.End, Version: max(a.Version, 1), Refund: a.Refund, Penalty: a.Penalty, Run: a.Run, Reason: a.Reason}}
	if m.Work != nil || a.Result != nil {
		f.Was.Real = &facts.RealLeg{Work: m.Work, Result: a.Result}
	}
	if a.State.Blocks() && meant(a.Flex, a.What) { // no proof covers it, and only its owner could suffer
		f.Was.Flex = a.Flex
	}
	switch a.State {
	case grid.Running:
		f.Was.State = grid.Confirmed
	case grid.Held:
		f.Was.For = min(max(a.Left, 0), r.cfg.Hold)
	case grid.Prepared:
		f.Was.For = min(max(a.Left, 0), r.cfg.InDoubt)
	}
	return f
}

// ready reports whether the cluster must be asked for the nodes of a leg to be restored. What
// stood in line when a later life came is dropped: the list of that life stays true.
func (r *recovery) ready(t step, k *request) bool {
	if r.fence(k.m.(agents.Reassert)).Refused() {
		return false
	}
	if l := r.legs[k.leg.Leg]; l == nil || l.tomb {
		return true
	}
	r.reasserted(t, k.from, k.leg.Leg, grid.Reason{}) // asserted twice
	return false
}

// nodes is the order to the cluster to lock a leg's nodes again. If its work runs by the
// broker's word, a cluster that has forgotten that must not begin it once more; nor does one
// that has forgotten where the leg lies keep it where it lay before.
func (r *recovery) nodes(k *request) agents.ClusterHold {
	m := k.m.(agents.Reassert)
	return agents.ClusterHold{Leg: k.leg.Leg, What: k.leg.What, Run: k.leg.Run, Replaces: k.leg.Replaces, Again: true, Begun: m.Work != nil && m.Leg.State == grid.Running,
		Moves: m.Leg.Shifts, Job: k.leg.Job, User: k.leg.User}
}

// granted handles the cluster's answer about the nodes of a leg to be restored. Without
// nodes the leg becomes a tombstone, and the assertion is refused. If a later life has come
// meanwhile it may assert the leg too, so that its nodes are left to an inventory.
func (r *recovery) granted(t step, k *request, m agents.ClusterHeld) {
	if r.fence(k.m.(agents.Reassert)).Refused() {
		inventoryAt(t, t.now.Add(secondLook))
		return
	}
	if l := r.legs[k.leg.Leg]; l != nil && !l.tomb { // it was restored by another request
		if l.State.Terminal() {
			r.orders.tell(t, l, releaseOrder)
		}
		r.reasserted(t, k.from, l.Leg, grid.Reason{})
		return
	}
	if why := m.Refusal; why.Refused() {
		if r.legs[k.leg.Leg] == nil {
			r.archive.tombstone(t, k.leg.Leg)
		}
		r.reasserted(t, k.from, k.leg.Leg, why)
		return
	}
	if len(m.On) > 0 {
		k.restored.Was.Real = &facts.RealLeg{On: m.On}
	}
	r.restore(t, k.from, *k.restored)
	if m.Moves > 0 { // its broker may not have heard of the last one
		r.notices.shift(t, r.legs[m.Leg], facts.LegShifted{Leg: m.Leg, Start: m.What.Start, End: m.What.End, Shifts: m.Moves, Fixed: m.Fixed})
	}
}

// restore records a leg as it was, and passes on to the cluster what it must know.
func (r *recovery) restore(t step, to agents.ID, f facts.LegRestored) {
	t.out.Row("S59")
	r.record(t, f)
	l := r.legs[f.Was.Leg]
	switch {
	case l.State == grid.Confirmed:
		r.orders.tell(t, l, confirmOrder)
	case l.State.Blocks():
		r.participant.limit(t, l, l.For)
		if l.State == grid.Prepared {
			r.notices.doubt(t, l)
		}
	default:
		r.archive.remember(t, l)
		r.orders.tell(t, l, releaseOrder)
	}
	r.reasserted(t, to, l.Leg, grid.Reason{})
}

func (r *recovery) reasserted(t step, to agents.ID, id grid.LegID, why grid.Reason) {
	t.out.Send(to, agents.Reasserted{Leg: id, Reason: why, Stamp: r.stamp()})
}
