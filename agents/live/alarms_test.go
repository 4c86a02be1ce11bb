package live

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// Alarms come in the order of a stable sort by instant, and none comes before its instant
// or before an earlier turn of those set later.
func TestAlarms_ComeOutSortedAndOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var heap alarms
		var model []alarm
		seq, now := uint64(0), grid.Time(0)
		for range rapid.IntRange(1, 60).Draw(t, "turns") {
			for range rapid.IntRange(0, 5).Draw(t, "set") {
				seq++
				a := alarm{at: now + grid.Time(rapid.IntRange(-2, 5).Draw(t, "in")), seq: seq}
				heap.set(a)
				model = append(model, a)
			}
			now += grid.Time(rapid.IntRange(0, 3).Draw(t, "passes"))
			upto := seq - min(seq, uint64(rapid.IntRange(0, 3).Draw(t, "set after the ring")))
			var want []alarm
			model = slices.DeleteFunc(model, func(a alarm) bool {
				if a.at > now || a.seq > upto {
					return false
				}
				want = append(want, a)
				return true
			})
			slices.SortStableFunc(want, func(a, b alarm) int { return int(a.at - b.at) })
			if got := heap.due(now, upto); !slices.Equal(got, want) || len(heap) != len(model) {
				t.Fatalf("at %v, of the first %d: %v, want %v; %d left, want %d", now, upto, got, want, len(heap), len(model))
			}
		}
	})
}
