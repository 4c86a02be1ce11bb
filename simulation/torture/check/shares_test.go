package check

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A node whose tasks need more than all of it is seen, whenever they came, and not once they have
// gone.
func TestDivided_DeadlinesNeedNoMoreThanANode(t *testing.T) {
	t.Parallel()
	id := func(n uint64) grid.LegID { return grid.LegID{Tx: grid.TxID{Broker: "vo1", Seq: n}} }
	task := func(n int64, work, deadline int64) facts.TasksPlaced {
		return facts.TasksPlaced{Group: "g1", Number: n, Leg: id(uint64(n)), What: grid.Leg{Work: grid.Duration(work)}, Run: grid.Duration(work), Deadline: grid.Time(deadline), Nodes: []int{0}}
	}
	over := facts.LockMoved{Leg: id(1), State: facts.LockReleased}
	local := task(1, 600, 1000)
	local.Leg, local.Job, local.What = grid.LegID{}, grid.LocalJob{ID: 7, Estimate: 600}, grid.Leg{}
	other := task(2, 500, 1000)
	other.Nodes = []int{1}
	both, beside := task(1, 100, 200), task(4, 400, 800)
	both.Nodes, beside.Nodes = []int{0, 1}, []int{1}
	overThere := facts.LockMoved{Leg: id(1), State: facts.LockEnded}
	for name, c := range map[string]struct {
		speed grid.Performance
		facts []dated
		words string
	}{
		"all of it":          {1000, []dated{{0, task(1, 600, 1000)}, {0, task(2, 400, 1000)}}, ""},
		"more":               {1000, []dated{{0, task(1, 600, 1000)}, {0, task(2, 401, 1000)}}, "need 1.001"},
		"another node":       {1000, []dated{{0, task(1, 600, 1000)}, {0, other}}, ""},
		"a faster one":       {2000, []dated{{0, task(1, 600, 1000)}, {0, task(2, 1400, 1000)}}, ""},
		"after some work":    {1000, []dated{{0, task(1, 600, 1000)}, {500, task(2, 400, 1000)}}, ""}, // 100 of 500 ms are needed
		"before some work":   {1000, []dated{{0, task(1, 600, 1000)}, {500, task(2, 401, 1000)}}, "need 1.002"},
		"after its end":      {1000, []dated{{0, task(1, 600, 1000)}, {600, task(2, 400, 1000)}}, ""},
		"after its release":  {1000, []dated{{0, task(1, 600, 1000)}, {10, over}, {20, task(2, 980, 1000)}}, ""},
		"beside a local job": {1000, []dated{{0, local}, {0, task(2, 401, 1000)}}, "need 1.001"},
		"after a local job":  {1000, []dated{{0, local}, {10, facts.JobEnded{Job: 7, Group: "g1"}}, {10, task(2, 990, 1000)}}, ""},
		"recorded late":      {1000, []dated{{0, task(1, 600, 1000)}, {900, func() agents.Fact { f := task(2, 401, 1000); f.When = 500; return f }()}}, "need 1.002"},
		// The end at 350 is that on node 1. On node 0 it was over at 199, and nothing is divided anew.
		"ended here first":      {1000, []dated{{0, both}, {0, task(2, 60, 1000)}, {0, task(3, 1300, 3000)}, {0, beside}, {350, overThere}, {500, task(5, 896, 2000)}}, ""},
		"a third, once one ran": {1000, []dated{{0, task(1, 100, 200)}, {0, task(2, 400, 1000)}, {200, task(3, 370, 800)}}, ""},
	} {
		d := newDivided("cluster:ash", []grid.Group{{Name: "g1", Performance: c.speed}})
		var err error
		for _, x := range c.facts {
			if e := d.take(x.at, x.fact); err == nil {
				err = e
			}
		}
		holds(t, name, err, c.words)
		if d.cut(1); len(d.log) != 1 || len(d.on) != 1 {
			t.Errorf("%s: %d facts and %d pieces of work are left", name, len(d.log), len(d.on))
		}
	}
}
