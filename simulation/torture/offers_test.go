package torture

import (
	"testing"
)

// In a world in which owners are asked to shift legs, some accept, some decline, and some say
// nothing in time.
func TestOffers_OwnersAreAskedAndAnswer(t *testing.T) {
	t.Parallel()
	rows := map[string]int{}
	for _, seed := range []uint64{8, 24} {
		r := Run(seed, Options{Alone: true})
		if r.Broken != nil {
			t.Errorf("seed %d: %v", seed, r.Broken)
		}
		for row, n := range r.Rows {
			rows[row] += n
		}
	}
	for row, least := range map[string]int{"S87": 10, "S88": 1, "S89": 20, "B74": 5, "B75": 2, "B76": 1, "B77": 1} {
		if rows[row] < least {
			t.Errorf("row %s is taken %d times, want %d", row, rows[row], least)
		}
	}
}
