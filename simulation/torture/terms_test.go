package torture

import (
	"testing"

	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// In a world with terms users are bounded, operators change that and pay in, and periods of the
// budget begin.
func TestTerms_BoundWhatUsersHave(t *testing.T) {
	t.Parallel()
	rows, granted := map[string]int{}, 0
	for _, seed := range []uint64{6, 38} { // the brokers of the second are held by replicas
		r := Run(seed, Options{})
		if r.Broken != nil {
			t.Errorf("seed %d: %v", seed, r.Broken)
		}
		for row, n := range r.Rows {
			rows[row] += n
		}
		granted += r.Struck[world.OperatorGrant]
	}
	for row, least := range map[string]int{"B140": 10, "B141": 20} {
		if rows[row] < least {
			t.Errorf("row %s is taken %d times, want %d", row, rows[row], least)
		}
	}
	if granted != 72 {
		t.Errorf("operators want something %d times, want 72", granted)
	}
}
