package managed

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

func TestBlind_UntilTheFirstLookAndAfterTheLast(t *testing.T) {
	t.Parallel()
	w := newWorld(config(true, "n1"))
	if !w.nodes.Blind(w.now) {
		t.Error("it sees before its first look")
	}
	w.wait(grid.Minute)
	if w.nodes.Blind(w.now) {
		t.Error("it is blind with a look of this minute")
	}
	if !w.nodes.Blind(w.now.Add(6 * grid.Minute)) {
		t.Error("it sees by a look that is six minutes old")
	}
}
