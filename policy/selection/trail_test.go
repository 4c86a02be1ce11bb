package selection

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// A trail that drops what leads nowhere after every job gives the choice of one that
// keeps all, and is the shorter one.
func TestTrail_DroppingChangesNoChoice(t *testing.T) {
	t.Parallel()
	all, left := 0, 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 0))
		jobs := make([][]Alternative, 5+r.IntN(60))
		for j := range jobs {
			for range r.IntN(8) {
				quick := 1 + r.Int64N(1000)
				jobs[j] = append(jobs[j], Alternative{Time: grid.Duration(quick), Cost: grid.Credits(2_000_000/(quick+200) + r.Int64N(1000)),
					End: grid.Time(quick)})
			}
		}
		for _, g := range []Goal{MinTime, MinCost} {
			whole, short := Selector{maximum: 500}, Selector{maximum: 500}
			whole.stages.back.least, short.stages.back.least = 1<<30, 1
			want, got := whole.Select(jobs, g, Limits{Auto, Auto}), short.Select(jobs, g, Limits{Auto, Auto})
			if !slices.Equal(got.Chosen, want.Chosen) || got.Reason != want.Reason {
				t.Fatalf("seed %d, %v: chose %v (%v), want %v (%v)", seed, g, got.Chosen, got.Reason, want.Chosen, want.Reason)
			}
			all, left = all+origins(t, &whole), left+origins(t, &short)
		}
	}
	if left > all*9/10 {
		t.Errorf("%d are kept of %d", left, all)
	}
}

// origins is how many a selector has kept.
func origins(t *testing.T, s *Selector) (n int) {
	t.Helper()
	for _, stage := range s.stages.back.stages {
		n += len(stage)
	}
	if n != s.stages.back.kept {
		t.Errorf("%d are kept, %d are counted", n, s.stages.back.kept)
	}
	return n
}
