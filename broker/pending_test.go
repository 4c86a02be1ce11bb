package broker

import (
	"testing"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// Earlier versions closed a leg of a transaction that was not decided yet. Their
// journals are still read, the money that was reserved for it is free again, and
// an image taken at any point of them gives the same accounts.
func TestReplay_WhatWasClosedUndecidedLeavesNothingPending(t *testing.T) {
	t.Parallel()
	cfg := Defaults("vo1")
	cfg.Sites, cfg.Budget = []agents.ID{"site:north"}, 100*bourse.Credit
	tx := bourse.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: 1}
	leg := bourse.LegID{Tx: tx}
	facts := []agents.Fact{
		bourse.LifeBegun{Incarnation: 1, Nonce: 1},
		bourse.JobSubmitted{Job: testJob("wave", 4, 1000*bourse.Second, 20*bourse.Credit)},
		bourse.TxBegun{Tx: tx, Job: "wave", Sites: []string{"north"}, Legs: []bourse.Leg{{Group: "main", Nodes: 4, Start: 60_000, End: 1_060_000}}, Limits: []bourse.Credits{20 * bourse.Credit}},
		bourse.LegClosed{Leg: leg},
		bourse.TxDecided{Tx: tx, Job: "wave", Reason: reason(bourse.NoOffer, "it was given up")},
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
	if a := b.accounts.Ledger().Account(b.accounts.VO()); a.PendingDebit != 0 {
		t.Errorf("%v credits are pending still", a.PendingDebit)
	}
}
