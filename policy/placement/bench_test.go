package placement

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// Sites of a thousand steps each: a cycle plans and chooses, with nothing quoted.
func BenchmarkPlace(b *testing.B) {
	for _, x := range []struct{ sites, jobs int }{{10, 20}, {100, 100}, {100, 1000}} {
		b.Run(fmt.Sprintf("sites=%d/jobs=%d", x.sites, x.jobs), func(b *testing.B) {
			m, jobs := benchMarket(x.sites), benchJobs(x.jobs)
			b.ReportAllocs()
			for b.Loop() {
				p := New(m, jobs, Unlimited)
				p.Choose(p.Plan(10))
			}
		})
	}
}

func benchMarket(sites int) *Market {
	r := rand.New(rand.NewPCG(1, 2))
	m := &Market{To: grid.Time(10 * grid.Day)}
	for s := range sites {
		free := grid.NewProfile(0, 128)
		for range 700 {
			from := grid.Time(r.Int64N(int64(9 * grid.Day)))
			to := from.Add(grid.Minute + grid.Duration(r.Int64N(int64(6*grid.Hour))))
			if k := free.Min(from, to); k > 0 {
				free.Add(from, to, -(1 + r.IntN(min(k, 32))))
			}
		}
		clear := free.Clone()
		if k := clear.Min(0, grid.Time(2*grid.Hour)); k > 0 {
			clear.Add(0, grid.Time(2*grid.Hour), -k)
		}
		m.Groups = append(m.Groups, grid.Group{Site: fmt.Sprint("s", s), Name: "main", Nodes: 128,
			Performance: grid.Performance(500 + 100*r.IntN(11)), Price: grid.Price(1+r.IntN(9)) * grid.Price(grid.Credit)})
		m.Admissible, m.Clear = append(m.Admissible, free), append(m.Clear, clear)
	}
	return m
}

func benchJobs(n int) []Job {
	r := rand.New(rand.NewPCG(3, 4))
	jobs := make([]Job, n)
	for i := range jobs {
		jobs[i] = Job{Seed: r.Uint64(), Goal: grid.GoalValue, Worth: grid.Credits(1+r.IntN(30)) * grid.Credit}
		jobs[i].Request = grid.Request{Nodes: 1 + r.IntN(64), Length: grid.Minute * grid.Duration(10+r.IntN(230)), MinPerformance: 500,
			Deadline: grid.Never, Budget: grid.MaxBudget}
	}
	return jobs
}
