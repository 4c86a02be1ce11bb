package torture

import (
	"testing"

	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// In a world where all sites fall silent, brokers that hear nobody give nothing up, ask again although
// nothing is due, and answer no more of those who insist than may wait.
func TestSilence_OfAllSitesAtOnce(t *testing.T) {
	t.Parallel()
	rows, cut, insisted := map[string]int{}, 0, 0
	for _, seed := range []uint64{62, 78} {
		r := Run(seed, Options{Alone: true})
		if r.Broken != nil {
			t.Errorf("seed %d: %v", seed, r.Broken)
		}
		for row, n := range r.Rows {
			rows[row] += n
		}
		cut, insisted = cut+r.Struck[world.AllSilent], insisted+r.Struck[world.Insistence]
	}
	for _, row := range []string{"B109", "B113", "B117"} {
		if rows[row] == 0 {
			t.Errorf("row %s is not taken", row)
		}
	}
	if cut != 6 || insisted != 18 {
		t.Errorf("all sites fall silent %d times, and %d times many insist; want 6 and 18", cut, insisted)
	}
}
