package torture

import (
	"testing"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents/sim"
)

// Sites that are gone for long are lost, by silence and by an operator's word: legs
// are given up before, while and after they would have run, and when the sites are back,
// some were to be released and others had run. All invariants hold over that.
func TestTorture_SitesAreLostAndComeBack(t *testing.T) {
	t.Parallel()
	var lost, wished, claims, free, paid int
	for seed := uint64(1); seed < 36; seed++ {
		f, ok := drawLost(seed)
		if !ok {
			continue
		}
		w := newWorld(seed, []sim.Fault{f}, sim.Options{Snapshot: 40})
		c := newChecker(w)
		w.After(func(s *sim.Step) {
			for _, f := range s.Facts {
				switch f := f.(type) {
				case bourse.SiteLost:
					if lost++; f.Wish {
						wished++
					}
				case bourse.ClaimSettled:
					if f.Cost > 0 {
						paid++
					} else {
						free++
					}
				}
			}
		})
		if err := c.run(Options{}); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		claims += len(c.claimed)
	}
	t.Logf("%d times lost, %d by an operator's word; %d legs given up, %d of them cost nothing in the end and %d had run", lost, wished, claims, free, paid)
	if lost-wished < 3 || wished < 3 || free < 3 || paid < 3 {
		t.Error("that shows too little")
	}
}
