package costart

import (
	"math/rand/v2"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/gather"
	"github.com/bourse-grid/bourse/simulation/manager"
	"github.com/bourse-grid/bourse/simulation/rehearsal"
	"github.com/bourse-grid/bourse/workload"
)

// rehearsed are others' jobs of two clusters of 32 nodes, over four days at a load of 0.8.
func rehearsed(t *testing.T, seed uint64) map[string][]grid.LocalJob {
	t.Helper()
	local := map[string][]grid.LocalJob{}
	for k, name := range []string{"north", "south"} {
		jobs, err := workload.Lublin{Nodes: 32, Load: 0.8, Seed: seed + uint64(k)*1000}.Until(4 * grid.Day)
		if err != nil {
			t.Fatal(err)
		}
		for i := range jobs { // as a manager has them: limits of whole minutes
			jobs[i].ID, jobs[i].Estimate = int64(i+1), (jobs[i].Estimate+grid.Minute-1)/grid.Minute*grid.Minute
		}
		local[name] = jobs
	}
	return local
}

// The study of co-starts and forecasts replay clusters and follow the rules, without agents. A broker, sites and
// managed clusters, with messages that take time and looks that are old, have the parts of a job begin at
// about the same time as these do.
func TestStudy_AgentsBeginWhenARehearsalDoes(t *testing.T) {
	t.Parallel()
	const zero = grid.Day
	near := 0
	for _, seed := range []uint64{1, 2} {
		local := rehearsed(t, seed)
		o := gather.Order{Length: 3600, Waste: 50_000, Deadline: 2 * 86_400, Parts: []gather.Part{{Nodes: 2, Cluster: 32}, {Nodes: 3, Cluster: 32}}}
		var at []*rehearsal.Site
		for i, name := range []string{"north", "south"} {
			m := rehearsal.NewMachine(32, local[name])
			m.Advance(grid.Time(zero))
			at = append(at, rehearsal.NewSite(m, grid.Time(zero), o.Parts[i].Nodes))
		}
		there := rehearsal.Follow(o, at, rand.New(rand.NewPCG(seed, 1)))

		x := worldOf(t, 32, manager.Options{Punctual: true}, local)
		x.run(zero)
		x.length = grid.Hour
		x.submitAs("wave", grid.Gather{Waste: 50_000, Deadline: 2 * grid.Day})
		x.run(grid.Minute)
		here := grid.Minute
		for ; x.job("wave").State.Queued(); here += grid.Minute {
			x.run(grid.Minute)
		}
		t.Logf("seed %d: rehearsed %v after %s, here %v after %s", seed, there.Begun, there.After.Words(), x.job("wave").State, here.Words())
		if open := x.job("wave").State.Open(); open == there.Begun && (!open || max(here-there.After, there.After-here) <= 5*grid.Minute) {
			near++
		}
	}
	if near < 2 {
		t.Errorf("%d of 2 jobs begin at the same time", near)
	}
}
