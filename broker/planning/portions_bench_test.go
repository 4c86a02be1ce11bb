package planning

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
)

// A plan of jobs of 1 to 8 GPUs of a node at sites that sell eighths of nodes, in times one of the
// same jobs in whole nodes, by processor time in turns; it may be 1.5 at most.
func BenchmarkPlan_PartsOfNodes(b *testing.B) {
	for _, jobs := range []int{100, 1000} {
		for _, goal := range []grid.Goal{grid.GoalTime, grid.GoalCost, grid.GoalValue} {
			b.Run(fmt.Sprintf("jobs=%d/%v", jobs, goal), func(b *testing.B) {
				var spent, placed [2]float64
				for b.Loop() {
					for slices, k := range []int{1, 8} {
						in := portioned(jobs, k)
						in.Terms.Algorithm, in.Terms.Minimize = search.AMP, goal
						before := processor(b)
						p := new(Planner)
						d := p.Plan(in)
						o := p.Choose(d, atBase(d))
						spent[slices] += processor(b) - before
						placed[slices] = float64(len(o.Jobs) - len(d.Postponed) - len(o.Postponed))
					}
				}
				b.ReportMetric(spent[0]/float64(b.N), "whole-ms/op")
				b.ReportMetric(spent[1]/float64(b.N), "parts-ms/op")
				b.ReportMetric(spent[1]/spent[0], "times")
				b.ReportMetric(placed[0], "whole-placed")
				b.ReportMetric(placed[1], "parts-placed")
			})
		}
	}
}

// portioned is a batch of jobs that ask for GPUs of one to three nodes, before sites that divide
// their nodes into so many slices. A job pays as much for its share as it would for all.
func portioned(jobs, slices int) *Input {
	in, rng := batchInput(jobs), rand.New(rand.NewPCG(3, 4))
	for i := range in.Sites {
		g := &in.Sites[i].Groups[0].Group
		g.Slices, g.Cores, g.Machine.GPUs = slices, 64, 8
	}
	for i := range in.Jobs {
		r := &in.Jobs[i].Request
		gpus := []int{1, 1, 1, 2, 4, 8}[rng.IntN(6)]
		if r.Nodes, r.Portion.GPUs = 1, gpus; rng.IntN(10) == 0 {
			r.Nodes = 2 + rng.IntN(2)
		}
		if slices > 1 {
			r.MaxPrice = r.MaxPrice * grid.Price(gpus) / 8
		}
		r.Budget = r.DefaultBudget()
	}
	return in
}

// processor is the processor time of the program so far, in ms.
func processor(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Sec)*1e3 + float64(u.Utime.Usec)/1e3
}
