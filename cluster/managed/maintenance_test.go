package managed

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// A maintenance that began long before its cluster forgot it is asked for anew until there is an
// answer. It has no work that might begin again, and a slow manager does not make the site ask for
// something else each time.
func TestMaintenance_ThatHasBegun(t *testing.T) {
	t.Parallel()
	for _, force := range []bool{false, true} {
		both(t, func(t *testing.T, w *world) {
			w.wait(10 * grid.Minute)
			w.fault = func(agents.Command) fault { return fault{slow: 6 * grid.Second} }
			m := agents.ClusterHold{Leg: grid.LegID{Tx: grid.TxID{Seq: 1}}, What: what(2, w.now.Add(-5*grid.Minute), grid.Hour), Force: force, Again: true}
			h, tries := w.ask(m), 0
			for _, c := range w.given {
				if c.Verb == agents.Reserve {
					tries++
				}
			}
			if h.Refusal.Refused() || len(h.Nodes) != 2 || tries > 1 {
				t.Errorf("forced %t: %+v after %d tries", force, h, tries)
			}
		})
	}
}
