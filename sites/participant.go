package sites

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// participant carries legs along the table: what brokers, the cluster and limits do
// to them. It asks the cluster when its request is first in line, and has orders and
// notices said until they are heard.
type participant struct {
	*memory
	requests    *requests
	orders      *orders
	notices     *notices
	archive     *archive
	offers      *offers
	limits      *limits
	negotiation *negotiation
	operator    *operator

	early uint64 // words of the cluster about work whose time has not come
}

// step takes what is an event of the table, by the kind of its message; false if
// it is none.
func (p *participant) step(t step) bool {
	e, known := events[t.m.Kind()]
	m, ofLeg := t.m.(agents.OfLeg)
	switch {
	case !known || !ofLeg:
		return false
	case e < onLimit:
		p.of(t, e, m)
	default:
		p.hear(t, e, m.LegID())
	}
	return true
}

// of takes a step of a broker but Hold: first fencing, then what the site
// does about a leg that it does not know, then the table.
func (p *participant) of(t step, e event, m agents.OfLeg) {
	id, decidedBy := m.LegID(), decider(m)
	if why := p.fence(t, e, id, decidedBy); why.Refused() {
		p.refusal(t, id, e, bourse.Fare{}, why, decidedBy)
		return
	}
	l := p.legs[id]
	switch {
	case l != nil:
		table[e][l.State](p, l, t)
	case e == onCancel: // S52
		p.archive.tombstone(t, id)
		t.reply(agents.Cancelled{Leg: id, Stamp: p.stamp()})
	default: // S50, S51
		p.refusal(t, id, e, bourse.Fare{}, bourse.Reason{Code: bourse.Unknown,
			Detail: p.cfg.Name + " does not know leg " + id.String()}, decidedBy)
	}
}

// credible is what the site does about a word of the cluster. By its own clock a
// leg's work cannot run before its window begins: the site goes on asking. Work
// that is over by then has not run in its window, and the nodes are given back:
// the leg is lost. Rows S105, S106.
func (p *participant) credible(t step, e event, l *leg) act {
	do := table[e][l.State]
	if do == nil || e != onStarted && e != onEnded || !l.Flex.Early(l.What, t.now) {
		return do
	}
	p.early++
	if e == onStarted {
		return nil
	}
	return endedEarly
}

// hear takes a word of the cluster about a leg. Of one that is over, or was
// never known, the site wants nothing any more, and says so: that ends the
// cluster's repeating. One that it may have forgotten is left alone as long as its
// nodes are, for its broker to speak for it: the word comes again.
func (p *participant) hear(t step, e event, id bourse.LegID) {
	if id.Tx.Broker == "" { // maintenance runs no work; it may be lost with its nodes
		t.out.Send(p.cfg.Cluster, agents.ClusterRelease{Leg: id})
		if l := p.legOf(id); l != nil {
			inventoryAt(t, t.now)
		}
		return
	}
	l := p.legs[id]
	if l != nil {
		if do := p.credible(t, e, l); do != nil {
			do(p, l, t)
		}
	}
	switch {
	case e == onStarted: // one that does not yet run here is to be told again
		if l != nil && l.State >= bourse.Running {
			t.out.Send(p.cfg.Cluster, agents.ClusterHeard{Leg: id})
		}
	case (l == nil || l.tomb) && p.orphaned(t.now), p.requests.restoring(id): // S60
	case l == nil:
		t.out.Send(p.cfg.Cluster, agents.ClusterRelease{Leg: id})
	case l.State.Terminal():
		p.orders.tell(t, l, releaseOrder)
	}
}

// refusal answers a step that is not granted.
func (p *participant) refusal(t step, id bourse.LegID, e event, fare bourse.Fare, why bourse.Reason, decidedBy uint32) {
	m := agents.Refused{Leg: id, Step: names[e], Fare: fare, Reason: why, DecidedBy: decidedBy, Stamp: p.stamp()}
	if why.Code == bourse.Fenced {
		m.Latest = p.life(id.Tx.Broker).highest
	}
	t.reply(m)
}

// earlyWords is how often the cluster has spoken of work whose time has not come.
func (p *participant) earlyWords() uint64 { return p.early }
