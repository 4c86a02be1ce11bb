package transaction

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// The cost that a site claims for a leg is borne up to the budget and as much again, as for legs
// without a record. Beyond that the books stay as they were.
func TestClaims_WhatASiteSaysIsBorneWithinTheBudgetOnceMore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ budget, costs grid.Credits }{
		{100 * grid.Credit, 4 * grid.Credit},
		{2 * grid.Credit, 4 * grid.Credit},
		{grid.Credit, 0},
	} {
		k := newKeeper(c.budget, "wave")
		price := 4 * grid.Credit
		k.apply(bought(1, "wave", grid.Leg{Group: "main", Nodes: 4, Start: 60_000, End: 1_060_000}, price)...)
		x := k.jobs["wave"].Last()
		k.apply(facts.LegDone{Leg: x.LegID(0), End: 60_000, State: grid.Lost, Refund: price, Claim: true})
		out := &agents.Outbox{}
		NewCoordinator(k.state, nil).losses.settleClaim(x, 0, grid.Settled, price, out)
		if f, ok := out.Facts[0].(facts.ClaimSettled); !ok || f.Cost != c.costs {
			t.Errorf("with a budget of %v: %+v, want a cost of %v", c.budget, out.Facts, c.costs)
		}
	}
}
