package placement

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bourse-grid/bourse"
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
	m := &Market{To: bourse.Time(10 * bourse.Day)}
	for s := range sites {
		free := bourse.NewProfile(0, 128)
		for range 700 {
			from := bourse.Time(r.Int64N(int64(9 * bourse.Day)))
			to := from.Add(bourse.Minute + bourse.Duration(r.Int64N(int64(6*bourse.Hour))))
			if k := free.Min(from, to); k > 0 {
				free.Add(from, to, -(1 + r.IntN(min(k, 32))))
			}
		}
		clear := free.Clone()
		if k := clear.Min(0, bourse.Time(2*bourse.Hour)); k > 0 {
			clear.Add(0, bourse.Time(2*bourse.Hour), -k)
		}
		m.Groups = append(m.Groups, bourse.Group{Site: fmt.Sprint("s", s), Name: "main", Nodes: 128,
			Performance: bourse.Performance(500 + 100*r.IntN(11)), Price: bourse.Price(1+r.IntN(9)) * bourse.Price(bourse.Credit)})
		m.Admissible, m.Clear = append(m.Admissible, free), append(m.Clear, clear)
	}
	return m
}

func benchJobs(n int) []Job {
	r := rand.New(rand.NewPCG(3, 4))
	jobs := make([]Job, n)
	for i := range jobs {
		jobs[i] = Job{Seed: r.Uint64(), Goal: bourse.GoalValue, Worth: bourse.Credits(1+r.IntN(30)) * bourse.Credit}
		jobs[i].Request = bourse.Request{Nodes: 1 + r.IntN(64), Length: bourse.Minute * bourse.Duration(10+r.IntN(230)), MinPerformance: 500,
			Deadline: bourse.Never, Budget: bourse.MaxBudget}
	}
	return jobs
}
