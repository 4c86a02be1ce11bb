package torture

import (
	"testing"
)

// In a narrow world bounds are reached, moves are many, and after a day and a half nobody
// remembers anything of it.
func TestNarrow_BoundsAreReachedAndAllIsForgotten(t *testing.T) {
	t.Parallel()
	rows := map[string]int{}
	for _, seed := range []uint64{7, 39} {
		r := Run(seed, Options{Alone: true})
		if r.Broken != nil {
			t.Errorf("seed %d: %v", seed, r.Broken)
		}
		for row, n := range r.Rows {
			rows[row] += n
		}
	}
	for row, least := range map[string]int{"S10": 5, "S57": 20, "S73": 50, "B125": 5, "B28": 5} {
		if rows[row] < least {
			t.Errorf("row %s is taken %d times, want %d", row, rows[row], least)
		}
	}
}
