package sites

import (
	"bourse"
	"bourse/agents"
	"bourse/agents/plant"
)

// event is what can happen to a leg: a step of its broker, a word of the
// cluster, or its limit.
type event uint8

const (
	onHold event = iota
	onPrepare
	onConfirm
	onCancel
	onRelease
	onLimit
	onStarted
	onEnded
	onLost
)

// names are the kinds of the messages that events come by: steps of a broker, then
// words of the cluster.
var names = [...]string{
	onHold: agents.Hold{}.Kind(), onPrepare: agents.Prepare{}.Kind(), onConfirm: agents.Confirm{}.Kind(),
	onCancel: agents.Cancel{}.Kind(), onRelease: agents.Release{}.Kind(),
	onStarted: agents.ClusterStarted{}.Kind(), onEnded: agents.ClusterEnded{}.Kind(), onLost: agents.ClusterLost{}.Kind(),
}

// events is names the other way round.
var events = func() map[string]event {
	m := map[string]event{}
	for e, kind := range names {
		if kind != "" {
			m[kind] = event(e)
		}
	}
	return m
}()

// decider is the incarnation whose decision a step carries, or that asks for it.
func decider(m agents.OfLeg) uint32 {
	if d, ok := m.(agents.Decision); ok {
		return d.Decider()
	}
	return m.LegID().Tx.Incarnation
}

// act is what a site does about an event.
type act func(s *Site, l *leg, t step)

// states are the acts for one event, by the state in which it finds the leg.
type states [bourse.Lost + 1]act

// table is the transaction as docs/TRANSACTION.md has it: what comes of each
// event in each state of a leg. An empty place changes nothing and answers
// nothing. A leg that the site does not know is none's concern; see of.
var table = [...]states{
	onHold: {
		bourse.Asked:      nil, // S5: the answer is on its way
		bourse.Held:       heldAgain,
		bourse.Prepared:   heldAgain,
		bourse.Confirmed:  heldAgain,
		bourse.Running:    heldAgain,
		bourse.Settled:    withdrawn,
		bourse.Refused:    refusedAgain, // S5
		bourse.LegExpired: withdrawn,    // S14
		bourse.Cancelled:  withdrawn,
		bourse.Heuristic:  withdrawn,
		bourse.Released:   withdrawn,
		bourse.Lost:       withdrawn,
	},
	onPrepare: {
		bourse.Asked:      badState,
		bourse.Held:       toPrepared,    // S20
		bourse.Prepared:   preparedAgain, // S5
		bourse.Confirmed:  preparedAgain,
		bourse.Running:    preparedAgain,
		bourse.Settled:    over,
		bourse.Refused:    over, // S53
		bourse.LegExpired: over,
		bourse.Cancelled:  over,
		bourse.Heuristic:  over,
		bourse.Released:   over,
		bourse.Lost:       over,
	},
	onConfirm: {
		bourse.Asked:      badState,
		bourse.Held:       toConfirmed,    // S21
		bourse.Prepared:   toConfirmed,    // S30, S43
		bourse.Confirmed:  confirmedAgain, // S5
		bourse.Running:    confirmedAgain,
		bourse.Settled:    confirmedAgain,
		bourse.Refused:    over, // S53
		bourse.LegExpired: over,
		bourse.Cancelled:  over,
		bourse.Heuristic:  over,
		bourse.Released:   confirmedAgain,
		bourse.Lost:       confirmedOnce, // S5 if it was confirmed, else S53
	},
	onCancel: {
		bourse.Asked:      toCancelled, // S18
		bourse.Held:       toCancelled, // S22
		bourse.Prepared:   toCancelled, // S31
		bourse.Confirmed:  badState,    // S45
		bourse.Running:    badState,
		bourse.Settled:    cancelledAgain, // S54
		bourse.Refused:    cancelledAgain,
		bourse.LegExpired: cancelledAgain,
		bourse.Cancelled:  cancelledAgain,
		bourse.Heuristic:  cancelledAgain,
		bourse.Released:   cancelledAgain,
		bourse.Lost:       cancelledAgain,
	},
	onRelease: {
		bourse.Asked:      badState, // it is confirmed first
		bourse.Held:       badState,
		bourse.Prepared:   badState,
		bourse.Confirmed:  toReleased, // S41
		bourse.Running:    toReleased,
		bourse.Settled:    releasedAgain, // S54
		bourse.Refused:    releasedAgain,
		bourse.LegExpired: releasedAgain,
		bourse.Cancelled:  releasedAgain,
		bourse.Heuristic:  releasedAgain,
		bourse.Released:   releasedAgain,
		bourse.Lost:       lostAgain, // S110
	},
	onLimit: {
		bourse.Asked:    askedInVain, // S17
		bourse.Held:     toExpired,   // S23
		bourse.Prepared: toHeuristic, // S35
		bourse.Lost:     nil,
	},
	onStarted: {
		bourse.Confirmed: toRunning, // S40
		bourse.Lost:      nil,
	},
	onEnded: {
		bourse.Confirmed: toSettled, // S46, where S40 got lost
		bourse.Running:   toSettled,
		bourse.Lost:      nil,
	},
	onLost: {
		bourse.Held:      toLost, // S24
		bourse.Prepared:  toLost, // S36
		bourse.Confirmed: toLost, // S42
		bourse.Running:   toLost,
	},
}

// of takes a step of a broker but Hold: first the guards, then what the site
// does about a leg that it does not know, then the table.
func (s *Site) of(t step, e event, m agents.OfLeg) {
	id, decidedBy := m.LegID(), decider(m)
	if why := s.fence(t, e, id, decidedBy); why.Refused() {
		s.refusal(t, id, e, bourse.Fare{}, why, decidedBy)
		return
	}
	l := s.legs[id]
	switch {
	case l != nil:
		table[e][l.State](s, l, t)
	case e == onCancel: // S52
		if !plant.On("no-tombstone") {
			s.bury(t, id)
		}
		t.reply(agents.CancelledReply{Leg: id, Stamp: s.stamp()})
	default: // S50, S51
		s.refusal(t, id, e, bourse.Fare{}, bourse.Reason{Code: bourse.Unknown,
			Detail: s.cfg.Name + " does not know leg " + id.String()}, decidedBy)
	}
}

// credible is what the site does about a word of the cluster. By its own clock a
// leg's work cannot run before its window begins: the site goes on asking. Work
// that is over by then has not run in its window, and the nodes are given back:
// the leg is lost. Rows S105, S106.
func (s *Site) credible(t step, e event, l *leg) act {
	do := table[e][l.State]
	if do == nil || e != onStarted && e != onEnded || !l.Flex.Early(l.What, t.now) {
		return do
	}
	s.early++
	if e == onStarted {
		return nil
	}
	return endedEarly
}

// from takes a word of the cluster about a leg. Of one that is over, or was
// never known, the site wants nothing any more, and says so: that ends the
// cluster's repeating.
func (s *Site) from(t step, e event, id bourse.LegID) {
	if id.Tx.Broker == "" { // maintenance runs no work; it may be lost with its nodes
		t.out.Send(s.cfg.Cluster, agents.ClusterRelease{Leg: id})
		if l := s.legOf(id); l != nil {
			s.inventoryAt(t, t.now)
		}
		return
	}
	l := s.legs[id]
	if l != nil {
		if do := s.credible(t, e, l); do != nil {
			do(s, l, t)
		}
	}
	switch {
	case e == onStarted: // one that does not yet run here is to be told again
		if l != nil && l.State >= bourse.Running {
			t.out.Send(s.cfg.Cluster, agents.ClusterHeard{Leg: id})
		}
	case l == nil:
		t.out.Send(s.cfg.Cluster, agents.ClusterRelease{Leg: id})
	case l.State.Terminal():
		s.tell(t, l, releaseDuty)
	}
}

// refusal answers a step that is not granted.
func (s *Site) refusal(t step, id bourse.LegID, e event, fare bourse.Fare, why bourse.Reason, decidedBy uint32) {
	m := agents.RefusedReply{Leg: id, Step: names[e], Fare: fare, Reason: why, DecidedBy: decidedBy, Stamp: s.stamp()}
	if why.Code == bourse.Fenced {
		m.Latest = s.life(id.Tx.Broker).highest
	}
	t.reply(m)
}
