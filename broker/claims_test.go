package broker

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// What the site of a claim says that a leg has cost is borne as far as the budget and
// as much once more go, like legs without a record; beyond, the books stay as they
// were.
func TestClaims_WhatASiteSaysIsBorneWithinTheBudgetOnceMore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ budget, costs grid.Credits }{
		{100 * grid.Credit, 4 * grid.Credit},
		{2 * grid.Credit, 4 * grid.Credit},
		{grid.Credit, 0},
	} {
		cfg := Defaults("vo1")
		cfg.Sites, cfg.Budget = []agents.ID{"site:north"}, c.budget
		b := New(cfg)
		tx := grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: 1}
		leg := grid.LegID{Tx: tx}
		price := grid.Fare{Base: 4 * grid.Credit}
		what := grid.Leg{Group: "main", Nodes: 4, Start: 60_000, End: 1_060_000}
		for _, f := range []agents.Fact{
			facts.LifeBegun{Incarnation: 1, Nonce: 1},
			facts.JobSubmitted{Job: grid.Job{Name: "wave"}},
			facts.TxBegun{Tx: tx, Job: "wave", Sites: []string{"north"}, Legs: []grid.Leg{what}, Limits: []grid.Credits{price.Base}},
			facts.LegPriced{Leg: leg, Fare: price},
			facts.TxDecided{Tx: tx, Job: "wave", Commit: true},
			facts.LegClosed{Leg: leg, Commit: true, Posted: price.Base},
			facts.LegDone{Leg: leg, End: 60_000, State: grid.Lost, Refund: price.Base, Claim: true},
		} {
			b.Replay(0, f)
		}
		out := &agents.Outbox{}
		b.co.losses.settleClaim(b.txs.get(tx), 0, grid.Settled, price.Base, out)
		if f, ok := out.Facts[0].(facts.ClaimSettled); !ok || f.Cost != c.costs {
			t.Errorf("with a budget of %v: %+v, want a cost of %v", c.budget, out.Facts, c.costs)
		}
	}
}
