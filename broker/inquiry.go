package broker

import (
	"bourse"
	"bourse/agents"
	"bourse/agents/plant"
)

// inquire answers a site in doubt. ABORT is presumed of what this broker has
// begun and keeps no record of; of what it cannot have heard of, nothing. Rows
// B40 to B43.
func (b *Broker) inquire(from agents.ID, m agents.Inquire, out *agents.Outbox) {
	if m.Leg.Tx.Broker != b.cfg.Name {
		b.stray++
		return
	}
	out.Send(from, agents.Answer{Leg: m.Leg, Verdict: b.verdict(from, m.Leg), DecidedBy: b.lives.current().Incarnation})
}

func (b *Broker) verdict(from agents.ID, id bourse.LegID) agents.Verdict {
	if b.peers.listening() {
		if t := b.txs.get(id.Tx); t == nil || !t.resolved {
			return agents.Wait
		}
	}
	t, l := b.txs.find(from, id)
	switch {
	case t == nil && b.txs.get(id.Tx) != nil:
		return agents.Unknown // a leg that is not its, or that there never was
	case t == nil && b.lives.presumes(id.Tx):
		return agents.Abort
	case t == nil:
		return agents.Unknown
	case !t.resolved || t.open(), t.state == bourse.TxCommitted && l.state.Terminal() && !l.confirmable():
		return agents.Wait
	case t.state == bourse.TxCommitted && plant.On("forget-commit"):
		return agents.Abort
	case t.state == bourse.TxCommitted:
		return agents.Commit
	}
	return agents.Abort
}
