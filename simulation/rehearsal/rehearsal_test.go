package rehearsal

import (
	"math/rand/v2"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/gather"
)

// filled is a cluster that one job fills from 0 on, and behind which others wait.
func filled(nodes int, run grid.Duration, queue ...grid.LocalJob) *Machine {
	jobs := append([]grid.LocalJob{{ID: 1, Nodes: nodes, Submit: 0, Estimate: run, Run: run}}, queue...)
	m := NewMachine(100, jobs)
	m.Advance(0)
	return m
}

// A job starts now behind one that waits if it is over before that one's shadow time, or leaves it
// its nodes.
func TestMachine_StartsNowBehindTheFirstThatWaits(t *testing.T) {
	t.Parallel()
	m := filled(60, 2*grid.Hour, grid.LocalJob{ID: 2, Nodes: 80, Submit: 0, Estimate: grid.Hour, Run: grid.Hour})
	for _, c := range []struct {
		nodes int
		limit grid.Duration
		want  bool
	}{{41, grid.Minute, false}, {40, 2 * grid.Hour, true}, {40, 2*grid.Hour + 1, false}, {20, 9 * grid.Hour, true}, {21, 9 * grid.Hour, false}} {
		if got := m.startsNow(c.nodes, c.limit); got != c.want {
			t.Errorf("%d nodes for %s: %v", c.nodes, c.limit.Words(), got)
		}
		x := m.Copied() // as the queue itself has it
		p := x.submit(c.nodes, c.limit, 0)
		x.Advance(0)
		if got := p.begin == 0; got != c.want {
			t.Errorf("%d nodes for %s: the queue starts it: %v", c.nodes, c.limit.Words(), got)
		}
	}
}

// A pilot idles at the site with room until the other site's job is over, as far as it may; with a
// larger allowance the parts begin together.
func TestFollow_WaitsForTheOtherPartAsFarAsItMay(t *testing.T) {
	t.Parallel()
	gathered := func(waste int64) Outcome {
		o := gather.Order{Length: 3600, Waste: waste, Deadline: 6 * 3600, Parts: []gather.Part{{Nodes: 8, Cluster: 100}, {Nodes: 50, Cluster: 100}}}
		sites := []*Site{NewSite(filled(10, grid.Hour), 0, 8), NewSite(filled(60, grid.Hour), 0, 50)}
		return Follow(o, sites, rand.New(rand.NewPCG(1, 1)))
	}
	x := gathered(50_000)
	if !x.Begun || x.After < grid.Hour || x.After > grid.Hour+10*grid.Minute || x.Idle <= 0 || x.Idle > 5 {
		t.Errorf("%+v", x)
	}
	if x := gathered(10_000); x.Begun || x.Idle > 0 {
		t.Errorf("an allowance of less than a first grant is not refused: %+v", x)
	}
}

// Spread arrivals give the load that is wanted.
func TestTrace_HasTheLoadThatIsWanted(t *testing.T) {
	t.Parallel()
	x := Trace{Nodes: 10}
	for i := range int64(1000) {
		x.Jobs = append(x.Jobs, grid.LocalJob{ID: i, Nodes: 2, Submit: grid.Time(i) * grid.Time(grid.Minute), Estimate: grid.Hour, Run: 30 * grid.Minute})
	}
	log := x.Loaded(0.8)
	work := float64(len(log)) * 2 * float64(30*grid.Minute)
	if load := work / float64(log[len(log)-1].Submit) / 10; load < 0.79 || load > 0.81 {
		t.Errorf("a load of %v", load)
	}
}
