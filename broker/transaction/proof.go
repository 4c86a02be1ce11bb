package transaction

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Sites prove their answers. The broker cannot check a proof and need not: it keeps the
// last one for each leg, and presents it when it asserts the leg to a site that has
// forgotten it. Rows B95 to B98.

// keepProofs keeps the proofs in a site's answer. moved says that the answer moves the
// leg.
func (co *Coordinator) keepProofs(m agents.Message, moved bool, out *agents.Outbox) {
	switch m := m.(type) {
	case agents.Held:
		co.keepProof(m.Leg, m.Proof, false, "B95", out)
	case agents.Confirmed:
		co.keepProof(m.Leg, m.Proof, false, "B95", out)
		if l := co.txs.Lookup(m.Leg); l != nil {
			co.keepProof(l.Replaces(), m.Replaced, false, "B95", out)
		}
	case agents.Shifted:
		co.keepProof(m.Leg, m.Proof, moved, "B95", out)
	case agents.Released:
		co.keepProof(m.Leg, m.Proof, false, "B95", out)
	case agents.Degraded:
		co.keepProof(m.Leg, m.Proof, false, "B95", out)
	}
}

// keepProof keeps a proof of the state that a leg is in: the first for each state, and
// the one for a new place. Proofs of repeated answers add nothing.
func (co *Coordinator) keepProof(id grid.LegID, p grid.Proof, moved bool, row agents.Row, out *agents.Outbox) {
	l := co.txs.Lookup(id)
	if l == nil || p == (grid.Proof{}) || p.State == l.proof.State && !moved || !l.proves(p.State) {
		return
	}
	out.Row(row)
	co.record(facts.LegProved{Leg: id, Proof: p}, out)
}

// proves reports whether the proved state is the one that the leg is in.
func (l *Leg) proves(s grid.LegState) bool {
	switch s {
	case grid.Held:
		return l.priced && (l.state == grid.Held || l.state == grid.Prepared)
	case grid.Confirmed:
		return l.charged && (l.state == grid.Confirmed || l.state == grid.Running)
	case grid.Released, grid.Lost:
		return l.charged && l.state == s
	}
	return false // no other state has proofs
}
