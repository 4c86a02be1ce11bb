package torture

import (
	"testing"
)

// In a world with time-shared nodes, work is placed on them, refused where the deadlines of others
// need them, and given back.
func TestShares_OneSiteServesByDeadlines(t *testing.T) {
	t.Parallel()
	rows := map[string]int{}
	for _, seed := range []uint64{19, 99} { // the clusters of the first have journals
		r := Run(seed, Options{Alone: true})
		if r.Broken != nil {
			t.Errorf("seed %d: %v", seed, r.Broken)
		}
		for row, n := range r.Rows {
			rows[row] += n
		}
	}
	for row, least := range map[string]int{"S90": 10, "S91": 1, "S92": 1} {
		if rows[row] < least {
			t.Errorf("row %s is taken %d times, want %d", row, rows[row], least)
		}
	}
}
