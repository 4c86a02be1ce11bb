package planning

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
)

// In a queue a job comes after all that waits there, whatever it would pay for a window; it
// runs on one site, and no deadline counts.
func TestQueued_BeginsWhenTheQueueIsServed(t *testing.T) {
	t.Parallel()
	hour := grid.Time(grid.Hour)
	site := func(name string, nodes int, clear ...grid.Step) Site {
		return Site{Name: name, Answer: Usable, Groups: []agents.GroupOffer{{Group: grid.Group{Name: "main", Nodes: nodes, Performance: grid.Unit, Price: grid.Price(grid.Credit)},
			Admissible: grid.Profile{{At: 0, Free: nodes}}, Clear: clear}}}
	}
	in := &Input{Horizon: 20 * hour, Terms: Terms{Algorithm: search.AMP}, Sites: []Site{
		site("north", 4, grid.Step{At: 0, Free: 1}, grid.Step{At: 5 * hour, Free: 4}),
		site("south", 4, grid.Step{At: 0, Free: 2}, grid.Step{At: 7 * hour, Free: 4}),
	}}
	for nodes, want := range map[int]*Queued{
		1: {"north", 0, 2 * hour}, 2: {"south", 0, 2 * hour}, 3: {"north", 5 * hour, 7 * hour}, 5: nil,
	} {
		j := &Job{Name: "a", Request: grid.Request{Nodes: nodes, Length: 2 * grid.Hour, MinPerformance: grid.Unit, Deadline: hour}}
		in.Jobs = []Job{*j}
		got := new(Planner).queued(in, j)
		if (got == nil) != (want == nil) || got != nil && (got.Start != want.Start || got.End != want.End || nodes > 1 && got.Site != want.Site) {
			t.Errorf("%d nodes: %+v, want %+v", nodes, got, want)
		}
	}
	j := &Job{Request: grid.Request{Parts: make([]grid.JobPart, 2)}}
	if got := new(Planner).queued(in, j); got != nil {
		t.Errorf("a job of parts: %+v", got)
	}
}
