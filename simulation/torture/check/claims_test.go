package check

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// Sites that are gone for long are lost, by silence and by an operator's word: legs
// are given up before, while and after they would have run, and when the sites are back,
// some were to be released and others had run. All invariants hold over that.
func TestTorture_SitesAreLostAndComeBack(t *testing.T) {
	thorough.Only(t, "lives through a dozen worlds")
	t.Parallel()
	var lost, wished, claims, free, paid int
	for seed := uint64(1); seed < 36; seed++ {
		f, ok := world.DrawLost(seed)
		if !ok {
			continue
		}
		w := world.NewPlain(seed, []sim.Fault{f}, sim.Options{Snapshot: 40})
		c := New(w)
		w.After(func(s *sim.Step) {
			for _, f := range s.Facts {
				switch f := f.(type) {
				case facts.SiteLost:
					if lost++; f.Wish {
						wished++
					}
				case facts.ClaimSettled:
					if f.Cost > 0 {
						paid++
					} else {
						free++
					}
				}
			}
		})
		if err := c.Run(false); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		claims += len(c.claimed)
	}
	t.Logf("%d times lost, %d by an operator's word; %d legs given up, %d of them cost nothing in the end and %d had run", lost, wished, claims, free, paid)
	if lost-wished < 3 || wished < 3 || free < 3 || paid < 3 {
		t.Error("that shows too little")
	}
}

// A leg that a broker has given up with its site is a claim for as long as it has that on
// record: not once its disk has forgotten it, but still if only its twin has gone.
func TestLost_AClaimThatIsForgottenIsNone(t *testing.T) {
	t.Parallel()
	leg := grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: 1}}
	facts := []agents.Fact{
		facts.TxBegun{Tx: leg.Tx, Job: "wave", Sites: []string{"ash"}, Legs: []grid.Leg{{Nodes: 2}}, Limits: []grid.Credits{5}},
		facts.TxDecided{Tx: leg.Tx, Job: "wave", Commit: true},
		facts.LegClosed{Leg: leg, Commit: true, Posted: 5},
		facts.LegDone{Leg: leg, State: grid.Lost, Refund: 5, Claim: true},
	}
	for _, kept := range []int{3, 4} {
		c, m := New(world.NewPlain(1, nil, sim.Options{})), newMirror("broker:vo1")
		for _, f := range facts {
			if err := m.apply(f); err != nil {
				t.Fatal(err)
			}
		}
		c.claimed[leg] = 1000
		m.cut(kept)
		c.forget(m.id, m, facts[3:])
		if _, claimed := c.claimed[leg]; claimed != (kept == 4) {
			t.Errorf("with %d facts left, the leg is a claim: %t", kept, claimed)
		}
	}
}
