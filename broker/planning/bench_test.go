package planning

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/selection"
)

// batchInput is a batch of jobs before 100 sites of 1,000 alike nodes: what is reserved
// changes some 30 times in two days, and half of the sites have queues in the way of the
// first hours.
func batchInput(jobs int) *Input {
	rng := rand.New(rand.NewPCG(1, 2))
	in := &Input{Cycle: 1, Horizon: bourse.Time(2 * bourse.Day), Terms: Terms{Minimize: bourse.GoalTime,
		BudgetLimit: selection.Auto, TimeLimit: selection.Auto, MaxAlternatives: 10}}
	during := func(most bourse.Duration) (from, to bourse.Time) {
		from = bourse.Time(rng.Int64N(int64(2 * bourse.Day)))
		return from, from.Add(bourse.Minute + bourse.Duration(rng.Int64N(int64(most))))
	}
	for i := range 100 {
		g := agents.GroupOffer{Group: bourse.Group{Name: "main", Nodes: 1000, Performance: 1000 + 250*bourse.Performance(i%5), Price: 1_000_000 + 200_000*bourse.Price(i%7)}}
		g.Admissible = bourse.NewProfile(0, g.Group.Nodes)
		for range 15 {
			from, to := during(8 * bourse.Hour)
			g.Admissible.Add(from, to, -min(g.Admissible.Min(from, to), 1+rng.IntN(300)))
		}
		g.Clear = g.Admissible.Clone()
		if i%2 == 0 {
			end := bourse.Time(bourse.Duration(1+rng.IntN(6)) * bourse.Hour)
			g.Clear.Add(0, end, -g.Clear.Min(0, end))
		}
		in.Sites = append(in.Sites, Site{Name: fmt.Sprintf("s%03d", i), Answer: Usable, Groups: []agents.GroupOffer{g}})
	}
	for i := range jobs {
		j := Job{Name: fmt.Sprint("j", i), Deadline: bourse.Never, Request: bourse.Request{Nodes: 1 + rng.IntN(16),
			Length: 10*bourse.Minute + bourse.Duration(rng.Int64N(int64(4*bourse.Hour))), MinPerformance: bourse.Performance(500 + rng.IntN(500)),
			MaxPrice: bourse.Price(1_600_000 + rng.IntN(1_600_000)), Deadline: bourse.Never}}
		j.Request.Budget = j.Request.DefaultBudget()
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

// atBase quotes each leg at its base price, and a hundredth more.
func atBase(d *Draft) *Quotes {
	q := &Quotes{Sites: make([][]bourse.Quote, len(d.Wanted)), Left: bourse.MaxBudget}
	for site := range d.Wanted {
		for _, base := range d.Wanted[site].base {
			q.Sites[site] = append(q.Sites[site], bourse.Quote{Fare: bourse.Fare{Base: base.Base, Additive: base.Base / 100}})
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

func benchPlan(b *testing.B, jobs int) {
	in := batchInput(jobs)
	in.Terms.Algorithm = search.AMP
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
