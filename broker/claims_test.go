package broker

import (
	"testing"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// What the site of a claim says that a leg has cost is borne as far as the budget and
// as much once more go, like legs without a record; beyond, the books stay as they
// were.
func TestClaims_WhatASiteSaysIsBorneWithinTheBudgetOnceMore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ budget, costs bourse.Credits }{
		{100 * bourse.Credit, 4 * bourse.Credit},
		{2 * bourse.Credit, 4 * bourse.Credit},
		{bourse.Credit, 0},
	} {
		cfg := Defaults("vo1")
		cfg.Sites, cfg.Budget = []agents.ID{"site:north"}, c.budget
		b := New(cfg)
		tx := bourse.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: 1}
		leg := bourse.LegID{Tx: tx}
		price := bourse.Fare{Base: 4 * bourse.Credit}
		what := bourse.Leg{Group: "main", Nodes: 4, Start: 60_000, End: 1_060_000}
		for _, f := range []agents.Fact{
			bourse.LifeBegun{Incarnation: 1, Nonce: 1},
			bourse.JobSubmitted{Job: bourse.Job{Name: "wave"}},
			bourse.TxBegun{Tx: tx, Job: "wave", Sites: []string{"north"}, Legs: []bourse.Leg{what}, Limits: []bourse.Credits{price.Base}},
			bourse.LegPriced{Leg: leg, Fare: price},
			bourse.TxDecided{Tx: tx, Job: "wave", Commit: true},
			bourse.LegClosed{Leg: leg, Commit: true, Posted: price.Base},
			bourse.LegDone{Leg: leg, End: 60_000, State: bourse.Lost, Refund: price.Base, Claim: true},
		} {
			b.Replay(0, f)
		}
		out := &agents.Outbox{}
		b.co.losses.settleClaim(b.txs.get(tx), 0, bourse.Settled, price.Base, out)
		if f, ok := out.Facts[0].(bourse.ClaimSettled); !ok || f.Cost != c.costs {
			t.Errorf("with a budget of %v: %+v, want a cost of %v", c.budget, out.Facts, c.costs)
		}
	}
}
