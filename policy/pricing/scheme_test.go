package pricing

import (
	"math"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// A base is n x p x d: 3 nodes for 2 hours at a quarter of a credit an hour cost 1.5,
// and what no number of node-milliseconds holds costs all that there is.
func TestBase_IsNodesByTimeByPrice(t *testing.T) {
	t.Parallel()
	if got := Base(grid.Price(grid.Credit)/4, 3, 2*grid.Hour); got.String() != "1.5" {
		t.Errorf("3 nodes for 2 hours at 0.25 cost %v, want 1.5", got)
	}
	for _, x := range []struct {
		n    int
		d    grid.Duration
		want grid.Duration
	}{
		{1, math.MaxInt64, math.MaxInt64},
		{2, 1 << 61, 1 << 62},
		{2, 1 << 62, math.MaxInt64}, // 2^63, the first that does not fit
		{4, 1 << 62, math.MaxInt64}, // 2^64, of which the lower word is 0
	} {
		if got := nodeTime(x.n, x.d); got != x.want {
			t.Errorf("%d nodes for %d ms are %d node-ms, want %d", x.n, int64(x.d), int64(got), int64(x.want))
		}
	}
}
