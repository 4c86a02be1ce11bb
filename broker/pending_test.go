package broker

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Earlier versions closed a leg of a transaction that was not decided yet. Their
// journals are still read, the money that was reserved for it is free again, and
// an image taken at any point of them gives the same accounts.
func TestReplay_WhatWasClosedUndecidedLeavesNothingPending(t *testing.T) {
	t.Parallel()
	cfg := Defaults("vo1")
	cfg.Sites, cfg.Budget = []agents.ID{"site:north"}, 100*grid.Credit
	tx := grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: 1}
	leg := grid.LegID{Tx: tx}
	facts := []agents.Fact{
		facts.LifeBegun{Incarnation: 1, Nonce: 1},
		facts.JobSubmitted{Job: testJob("wave", 4, 1000*grid.Second, 20*grid.Credit)},
		facts.TxBegun{Tx: tx, Job: "wave", Sites: []string{"north"}, Legs: []grid.Leg{{Group: "main", Nodes: 4, Start: 60_000, End: 1_060_000}}, Limits: []grid.Credits{20 * grid.Credit}},
		facts.LegClosed{Leg: leg},
		facts.TxDecided{Tx: tx, Job: "wave", Reason: reason(grid.NoOffer, "it was given up")},
	}
	b := New(cfg)
	for i, f := range facts {
		b.Replay(0, f)
		again := New(cfg)
		again.Replay(0, b.Image())
		if facts, image := accountWords(b), accountWords(again); i > 2 && facts != image {
			t.Errorf("after %s: by its facts\n%sby its image\n%s", f.Kind(), facts, image)
		}
	}
	if a := b.mem.Accounts.Ledger().Account(b.mem.Accounts.VO()); a.PendingDebit != 0 {
		t.Errorf("%v credits are pending still", a.PendingDebit)
	}
}
