package costart

import (
	"math/rand/v2"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/gather"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// filled is a cluster that one job fills from 0 on, and behind which others wait.
func filled(nodes int, run grid.Duration, queue ...grid.LocalJob) *machine {
	jobs := append([]grid.LocalJob{{ID: 1, Nodes: nodes, Submit: 0, Estimate: run, Run: run}}, queue...)
	m := newMachine(100, jobs)
	m.advance(0)
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
		x := m.copied() // as the queue itself has it
		p := x.submit(c.nodes, c.limit, 0)
		x.advance(0)
		if got := p.begin == 0; got != c.want {
			t.Errorf("%d nodes for %s: the queue starts it: %v", c.nodes, c.limit.Words(), got)
		}
	}
}

// A pilot idles at the site with room until the other site's job is over, as far as it may; with a
// larger allowance the parts begin together.
func TestFollow_WaitsForTheOtherPartAsFarAsItMay(t *testing.T) {
	t.Parallel()
	gathered := func(waste int64) outcome {
		o := gather.Order{Length: 3600, Waste: waste, Deadline: 6 * 3600, Parts: []gather.Part{{Nodes: 8, Cluster: 100}, {Nodes: 50, Cluster: 100}}}
		sites := []*site{{machine: filled(10, grid.Hour), nodes: 8}, {machine: filled(60, grid.Hour), nodes: 50}}
		return follow(o, sites, rand.New(rand.NewPCG(1, 1)))
	}
	x := gathered(50_000)
	if !x.begun || x.after < grid.Hour || x.after > grid.Hour+10*grid.Minute || x.idle <= 0 || x.idle > 5 {
		t.Errorf("%+v", x)
	}
	if x := gathered(10_000); x.begun || x.idle > 0 {
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
	log := x.loaded(0.8)
	work := float64(len(log)) * 2 * float64(30*grid.Minute)
	if load := work / float64(log[len(log)-1].Submit) / 10; load < 0.79 || load > 0.81 {
		t.Errorf("a load of %v", load)
	}
}

// A cell that lies apart says so, and whether so few published jobs lie so far off by chance.
func TestByChance_IsSaidOfWhatSoFewJobsCanBe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		paper, here, half float64
		said, want        string
	}{
		{70, 55.9, 4.4, "-14 points", "-14 points"},
		{70, 64, 5.7, "-6 points", "-6 points, by chance"},
		{100, 97, 1, "-3 points", "-3 points, by chance"},
		{100, 90, 1, "-10 points", "-10 points"},
		{70, 69, 1, "within 3 points", "within 3 points"},
	} {
		if got := byChance(evidence.Row{Paper: evidence.Figure(c.paper), Here: c.here, CI95: c.half, Verdict: c.said}).Verdict; got != c.want {
			t.Errorf("%g for %g: %q", c.here, c.paper, got)
		}
	}
}
