package rehearsal

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// Why there is no promise is said in a sentence, of one replay as of several.
func TestPromise_SaysHowManyHaveNotBegun(t *testing.T) {
	t.Parallel()
	for failed, want := range map[int]string{1: "1 of 15 replays has not begun", 2: "2 of 15 replays have not begun"} {
		known := make([]rehearsed, Replays)
		for i := range known {
			known[i].Outcome = Outcome{Begun: i >= failed, After: grid.Hour}
		}
		if _, why := promise(known, 0, 0); !strings.Contains(why, want) {
			t.Errorf("%d have not: %s", failed, why)
		}
	}
}
