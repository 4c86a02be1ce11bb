package planning

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/selection"
)

// batchInput is a batch of jobs before 100 sites of 1,000 alike nodes: what is reserved
// changes some 30 times in two days, and half of the sites have queues in the way of the
// first hours.
func batchInput(jobs int) *Input {
	rng := rand.New(rand.NewPCG(1, 2))
	in := &Input{Cycle: 1, Horizon: grid.Time(2 * grid.Day), Terms: Terms{Minimize: grid.GoalTime,
		BudgetLimit: selection.Auto, TimeLimit: selection.Auto, MaxAlternatives: 10}}
	during := func(most grid.Duration) (from, to grid.Time) {
		from = grid.Time(rng.Int64N(int64(2 * grid.Day)))
		return from, from.Add(grid.Minute + grid.Duration(rng.Int64N(int64(most))))
	}
	for i := range 100 {
		g := agents.GroupOffer{Group: grid.Group{Name: "main", Nodes: 1000, Performance: 1000 + 250*grid.Performance(i%5), Price: 1_000_000 + 200_000*grid.Price(i%7)}}
		g.Admissible = grid.NewProfile(0, g.Group.Nodes)
		for range 15 {
			from, to := during(8 * grid.Hour)
			g.Admissible.Add(from, to, -min(g.Admissible.Min(from, to), 1+rng.IntN(300)))
		}
		g.Clear = g.Admissible.Clone()
		if i%2 == 0 {
			end := grid.Time(grid.Duration(1+rng.IntN(6)) * grid.Hour)
			g.Clear.Add(0, end, -g.Clear.Min(0, end))
		}
		in.Sites = append(in.Sites, Site{Name: fmt.Sprintf("s%03d", i), Answer: Usable, Groups: []agents.GroupOffer{g}})
	}
	for i := range jobs {
		j := Job{Name: fmt.Sprint("j", i), Deadline: grid.Never, Request: grid.Request{Nodes: 1 + rng.IntN(16),
			Length: 10*grid.Minute + grid.Duration(rng.Int64N(int64(4*grid.Hour))), MinPerformance: grid.Performance(500 + rng.IntN(500)),
			MaxPrice: grid.Price(1_600_000 + rng.IntN(1_600_000)), Deadline: grid.Never}}
		j.Request.Budget = j.Request.DefaultBudget()
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

// atBase quotes each leg at its base price, and a hundredth more.
func atBase(d *Draft) *Quotes {
	q := &Quotes{Sites: make([][]grid.Quote, len(d.Wanted)), Left: grid.MaxBudget}
	for site := range d.Wanted {
		for _, base := range d.Wanted[site].base {
			q.Sites[site] = append(q.Sites[site], grid.Quote{Fare: grid.Fare{Base: base.Base, Additive: base.Base / 100}})
		}
	}
	return q
}

// A whole plan: search, quotes and choice of a batch, up to 10 alternatives a job.
func BenchmarkPlan_1000Jobs100Sites(b *testing.B) { benchPlan(b, 1000) }
func BenchmarkPlan_10000Jobs100Sites(b *testing.B) {
	if testing.Short() {
		b.Skip("takes some five seconds")
	}
	benchPlan(b, 10_000)
}

// The same of 100 jobs of three unlike parts each, one of them later, a third of the jobs
// apart and a third together, with the alternatives that a broker looks for.
func BenchmarkPlan_100JobsOf3Parts100Sites(b *testing.B) {
	for _, a := range []search.Algorithm{search.AMP, search.Best} {
		b.Run(a.String(), func(b *testing.B) {
			in := batchInput(100)
			for i := range in.Jobs {
				j := &in.Jobs[i].Request
				part := func(name string, nodes int, share, offset grid.Duration) grid.JobPart {
					return grid.JobPart{Name: name, Nodes: nodes, Length: j.Length / share, Offset: offset, MinPerformance: j.MinPerformance, MaxPrice: j.MaxPrice}
				}
				j.Apart, j.Together = i%3 == 1, i%3 == 2
				j.Money([]grid.JobPart{part("a", j.Nodes, 1, 0), part("b", 1+j.Nodes/2, 2, 0), part("c", 2, 4, j.Length/4)}, false, nil)
			}
			in.Terms.Algorithm, in.Terms.Minimize, in.Terms.MaxAlternatives = a, grid.GoalValue, 20
			if a == search.Best {
				in.Terms.Weights = search.Weights{Time: 1000, Cost: 1000}
			}
			benchInput(b, in)
		})
	}
}

func benchPlan(b *testing.B, jobs int) {
	in := batchInput(jobs)
	in.Terms.Algorithm = search.AMP
	benchInput(b, in)
}

func benchInput(b *testing.B, in *Input) {
	b.ReportAllocs()
	var d *Draft
	var o *Outcome
	for b.Loop() {
		p := new(Planner)
		d = p.Plan(in)
		o = p.Choose(d, atBase(d))
	}
	legs := 0
	for i := range d.Jobs {
		for k := range d.Jobs[i].Alternatives {
			legs += len(d.Jobs[i].Alternatives[k].Legs)
		}
	}
	b.ReportMetric(float64(o.Alternatives), "alternatives")
	b.ReportMetric(float64(legs), "legs")
	b.ReportMetric(float64(len(d.Postponed)+len(o.Postponed)), "postponed")
}
