package selection

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse"
)

// A trail that drops what leads nowhere after every job gives the choice of one that
// keeps all, and is the shorter one.
func TestTrail_DroppingChangesNoChoice(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 0))
		jobs := make([][]Alternative, 5+r.IntN(60))
		for j := range jobs {
			for range r.IntN(8) {
				quick := 1 + r.Int64N(1000)
				jobs[j] = append(jobs[j], Alternative{Time: bourse.Duration(quick), Cost: bourse.Credits(2_000_000/(quick+200) + r.Int64N(1000)),
					End: bourse.Time(quick)})
			}
		}
		for _, g := range []Goal{MinTime, MinCost} {
			whole, short := Selector{maximum: 500}, Selector{maximum: 500}
			whole.stages.back.least, short.stages.back.least = 1<<30, 1
			want, got := whole.Select(jobs, g, Limits{Auto, Auto}), short.Select(jobs, g, Limits{Auto, Auto})
			if !slices.Equal(got.Chosen, want.Chosen) || got.Reason != want.Reason {
				t.Fatalf("seed %d, %v: chose %v (%v), want %v (%v)", seed, g, got.Chosen, got.Reason, want.Chosen, want.Reason)
			}
			if a, b := whole.stages.back.kept, short.stages.back.kept; len(jobs) > 20 && want.Chosen != nil && b > a {
				t.Errorf("seed %d, %v: kept %d, all are %d", seed, g, b, a)
			}
		}
	}
}
