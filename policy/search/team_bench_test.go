package search

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
)

// teams draws jobs of as many parts over 100 groups, and beside each a job of one piece with
// as many nodes.
func teams(rng *rand.Rand, parts int, kind string) (composed, plain []grid.Request) {
	for range 20 {
		var list []grid.JobPart
		r := grid.Request{Deadline: grid.Never}
		nodes := 8 * parts
		one := grid.Request{Nodes: nodes, Length: grid.Duration(600_000 + rng.IntN(4*3600_000)),
			MinPerformance: grid.Performance(500 + rng.IntN(500)), MaxPrice: grid.Price(1_000_000 + rng.IntN(1_000_000)), Deadline: grid.Never}
		one.Budget = one.DefaultBudget()
		for i := range parts {
			p := grid.JobPart{Name: fmt.Sprint("p", i), Nodes: 4 + rng.IntN(9), Length: one.Length / grid.Duration(1+rng.IntN(3)), MinPerformance: one.MinPerformance, MaxPrice: one.MaxPrice}
			switch kind {
			case "own":
				for s := i; s < 100; s += parts {
					if len(p.Sites) < grid.MaxSites {
						p.Sites = append(p.Sites, fmt.Sprint("s", s))
					}
				}
			case "offsets":
				p.Offset = grid.Duration(i) * (one.Length / 4)
			}
			list = append(list, p)
		}
		r.Money(list, false, nil)
		composed, plain = append(composed, r), append(plain, one)
	}
	return composed, plain
}

// processed is the processor time that this process has had, which a busy machine does not
// stretch.
func processed() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		panic(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// BenchmarkTeam_Alternative is what an alternative of a job of parts costs, its taking
// included, in times what one of a job of one piece with as many nodes does: in pairs, over
// 100 groups of 100 steps.
func BenchmarkTeam_Alternative(b *testing.B) {
	groups, free := randomGroups(rand.New(rand.NewPCG(1, 2)), 100)
	by := []struct {
		name string
		a    Algorithm
		w    Weights
	}{{"amp", AMP, Weights{}}, {"cost", Best, Weights{Cost: 1000}}, {"value", Best, Weights{Value: true, Urgency: 10 * grid.Credit}}}
	for _, kind := range []string{"own", "same", "offsets"} {
		for parts := 2; parts <= 4; parts++ {
			composed, plain := teams(rand.New(rand.NewPCG(3, 4)), parts, kind)
			for _, x := range by {
				b.Run(fmt.Sprintf("%s/parts=%d/%s/groups=100x100", kind, parts, x.name), func(b *testing.B) {
					l := new(List)
					f := NewFinder(l)
					one := func(jobs []grid.Request) (time.Duration, int) {
						l.ResetFungible(groups, free, 0, grid.Time(7*grid.Day))
						l.Len()
						begin, found := processed(), 0
						for _, w := range f.Batch(jobs, Options{Algorithm: x.a, Weights: x.w, MaxAlternatives: 5}).Alternatives {
							found += len(w)
						}
						return processed() - begin, found
					}
					var spent [2]time.Duration
					var windows [2]int
					for b.Loop() {
						for k, jobs := range [][]grid.Request{composed, plain} {
							d, n := one(jobs)
							spent[k], windows[k] = spent[k]+d, windows[k]+n
						}
					}
					each := func(k int) float64 { return float64(spent[k].Nanoseconds()) / float64(max(windows[k], 1)) }
					b.ReportMetric(each(0)/each(1), "times-plain")
					b.ReportMetric(each(0)/1000, "us/alternative")
					b.ReportMetric(each(1)/1000, "us/plain")
					b.ReportMetric(float64(windows[0])/float64(b.N), "windows")
				})
			}
		}
	}
}
