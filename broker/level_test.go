package broker

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// A job that names no least performance may run on the slowest nodes that suit it. Which those
// are is on record with the job: the same submission gets the same, whatever sites are there by
// then.
func TestSubmit_WithoutAPerformanceTheSlowestSuitedNodesWill(t *testing.T) {
	t.Parallel()
	slow, fast := newFakeSite("slow", 4, 0), newFakeSite("fast", 4, 0)
	slow.groups[0].Performance, fast.groups[0].Performance, fast.groups[0].Machine = 800, 2*grid.Unit, grid.Machine{GPUs: 1}
	w := newTestWorld(t, testConfig(slow, fast), slow, fast)
	any := func(name string, gpus int) grid.Job {
		j := testJob(name, 2, grid.Hour, grid.Credit)
		j.MinPerformance, j.MaxPrice, j.Require.GPUs = 0, grid.Price(grid.Credit), gpus
		return j
	}
	w.submit(0, any("early", 0)) // nobody has answered yet
	w.Run(sec)
	w.Add("user:ana", &looker{})
	w.Post(2*sec, "user:ana", agents.SitesLook{})
	w.Run(10 * sec)
	slow.groups[0].Performance = 700 // by the time of the repeated submission
	w.submit(10*sec, any("late", 0), any("gpu", 1))
	w.submit(11*sec, any("late", 0))
	w.Run(12 * sec)
	for name, want := range map[string]grid.Performance{"early": grid.Unit, "late": 800, "gpu": grid.Unit} {
		if v, ok := w.b.Job(name); !ok || v.MinPerformance != want {
			t.Errorf("%s: %t, %v, want %v", name, ok, v.MinPerformance, want)
		}
	}
}
