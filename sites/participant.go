package sites

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// participant moves legs through the table as brokers, the cluster and limits cause events.
// It asks the cluster when its request is first in line, and leaves orders and notices to
// their components, which repeat them until they are acknowledged.
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

	early uint64 // the cluster's reports about work before its window
}

// step handles a message that is an event of the table. It reports false for any other.
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

// of handles a broker's step other than Hold: first fencing, then legs that the site does
// not know, then the table.
func (p *participant) of(t step, e event, m agents.OfLeg) {
	id, decidedBy := m.LegID(), decider(m)
	if why := p.fence(t, e, id, decidedBy); why.Refused() {
		p.refusal(t, id, e, grid.Fare{}, why, decidedBy)
		return
	}
	l := p.legs[id]
	switch {
	case l != nil:
		table[e][l.State].take(p, l, t)
	case e == onCancel:
		t.out.Row("S52")
		p.archive.tombstone(t, id)
		t.reply(agents.Cancelled{Leg: id, Stamp: p.stamp()})
	default:
		t.out.Row(unknownRow(e))
		p.refusal(t, id, e, grid.Fare{}, grid.Reason{Code: grid.Unknown,
			Detail: p.cfg.Name + " does not know leg " + id.String()}, decidedBy)
	}
}

// unknownRow is the row of a step of an unknown leg that is refused.
func unknownRow(e event) agents.Row {
	if e == onPrepare {
		return "S50"
	}
	return "S51"
}

// credible is the act for a report from the cluster. By the site's clock, work cannot run
// before its window begins: such a report is ignored, and the cluster repeats it. Work that
// is over by then has not run in its window and its nodes are gone: the leg is lost. Rows
// S105, S106.
func (p *participant) credible(t step, e event, l *leg) act {
	do := table[e][l.State]
	if do.do == nil || e != onStarted && e != onEnded || !l.Flex.Early(l.What, t.now) {
		return do
	}
	p.early++
	if e == onStarted {
		return act{row: "S105"}
	}
	return act{"S106", endedEarly}
}

// hear handles a report from the cluster about a leg. If the leg is over or was never known,
// the site releases it, which stops the cluster repeating. If the site may have forgotten
// the leg, it does nothing for as long as it keeps such nodes, so that the leg's broker can
// assert it; the cluster will repeat the report. A life heeds no report before its first
// inventory, which shows what the cluster itself has forgotten.
func (p *participant) hear(t step, e event, id grid.LegID) {
	if id.Tx.Broker == "" { // a maintenance: it runs no work, but may be lost with its nodes
		t.out.Send(p.cfg.Cluster, agents.ClusterRelease{Leg: id})
		if l := p.legOf(id); l != nil {
			inventoryAt(t, t.now)
		}
		return
	}
	if !p.compared {
		return // the cluster may have forgotten what this site knows; it repeats the report
	}
	l := p.legs[id]
	if l != nil {
		p.credible(t, e, l).take(p, l, t)
	}
	switch {
	case e == onStarted: // if the leg does not run yet here, the cluster must repeat it
		if l != nil && l.State >= grid.Running {
			t.out.Send(p.cfg.Cluster, agents.ClusterHeard{Leg: id})
		}
	case (l == nil || l.tomb) && p.orphaned(t.now), p.requests.restoring(id): // S60
	case l == nil:
		t.out.Send(p.cfg.Cluster, agents.ClusterRelease{Leg: id})
	case l.State.Terminal():
		p.orders.tell(t, l, releaseOrder)
	}
}

// refusal refuses a step.
func (p *participant) refusal(t step, id grid.LegID, e event, fare grid.Fare, why grid.Reason, decidedBy uint32) {
	m := agents.Refused{Leg: id, Step: names[e], Fare: fare, Reason: why, DecidedBy: decidedBy, Stamp: p.stamp()}
	if why.Code == grid.Fenced {
		m.Latest = p.life(id.Tx.Broker).highest
	}
	t.reply(m)
}

// earlyWords counts the cluster's reports about work before its window.
func (p *participant) earlyWords() uint64 { return p.early }
