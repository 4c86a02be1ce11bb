package pricing

import (
	"testing"

	"pgregory.net/rapid"
)

// A set holds every job up to a value, and no other where each value has its row.
func TestRanks_HoldEveryJobUpToAValue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(1, 40), 1, 200).Draw(t, "values")
		rows := rapid.IntRange(1, 250).Draw(t, "rows")
		words := (len(values) + 63) / 64
		var r ranks
		for range 2 { // the second time in used memory
			r.make(len(values), words, rows, func(i int) int64 { return values[i] })
		}
		if len(r.values) > rows && len(values) > rows {
			t.Fatalf("%d rows, want %d at most", len(r.values), rows)
		}
		for v := range int64(42) {
			set := r.upTo(v, words)
			for pos, x := range values {
				has := set != nil && set[pos>>6]>>(pos&63)&1 == 1
				if x <= v && !has || x > v && has && !r.coarse {
					t.Fatalf("up to %d: job %d of %d is in: %v (coarse %v)", v, pos, x, has, r.coarse)
				}
			}
		}
	})
}
