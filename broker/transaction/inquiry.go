package transaction

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// inquire answers a site in doubt. For a transaction that this broker began and no longer
// has on record it presumes ABORT. For one that it may never have known it presumes
// nothing. Rows B40 to B43.
func (rec *recovery) inquire(from agents.ID, m agents.Inquire, out *agents.Outbox) {
	if m.Leg.Tx.Broker != rec.cfg.Name {
		rec.stray++
		return
	}
	v, row := rec.verdict(from, m.Leg)
	out.Row(row)
	life := rec.lives.Current().Incarnation
	if v == agents.Commit {
		if c := rec.co.confirmation(rec.txs.Get(m.Leg.Tx), m.Leg.Leg); c.Work != nil { // an Answer cannot carry it
			out.Send(from, c)
			return
		}
	}
	out.Send(from, agents.Answer{Leg: m.Leg, Verdict: v, DecidedBy: life})
}

func (rec *recovery) verdict(from agents.ID, id grid.LegID) (agents.Verdict, agents.Row) {
	if rec.peers.Listening() {
		if t := rec.txs.Get(id.Tx); t == nil || !t.resolved {
			return agents.Wait, "B41"
		}
	}
	t, l := rec.txs.Find(from, id)
	switch {
	case t == nil && rec.txs.Get(id.Tx) != nil:
		return agents.Unknown, "B43" // a leg that is not this site's, or never existed
	case t == nil && rec.lives.Presumes(id.Tx):
		return agents.Abort, "B42"
	case t == nil:
		return agents.Unknown, "B43"
	case !t.resolved || t.Open(), t.state == grid.TxCommitted && l.state.Terminal() && !l.confirmable():
		return agents.Wait, "B41"
	case t.state == grid.TxCommitted:
		return agents.Commit, "B40"
	}
	return agents.Abort, "B40"
}
