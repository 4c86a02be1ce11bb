package managed

import (
	"testing"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// A maintenance that began long before its cluster forgot it is asked for anew until there is an
// answer. It has no work that might begin again, and a slow manager does not make the site ask for
// something else each time.
func TestMaintenance_ThatHasBegun(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		w.wait(10 * bourse.Minute)
		w.fault = func(agents.Command) fault { return fault{slow: 6 * bourse.Second} }
		h := w.ask(agents.ClusterHold{Leg: leg(1), What: what(2, w.now.Add(-5*bourse.Minute), bourse.Hour), Force: true, Again: true})
		if h.Refusal.Refused() || len(h.Nodes) != 2 || w.count(1, agents.Reserve) > 1 {
			t.Errorf("%+v after %d commands", h, w.count(1, agents.Reserve))
		}
	})
}
