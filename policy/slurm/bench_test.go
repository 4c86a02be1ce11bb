package slurm

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// month is a month of a machine of 1,000 nodes: 100 users of 10 accounts, that many jobs
// with limits of half an hour to two days, and that load.
func month(jobs int, load float64) (*Config, []Job) {
	r := rand.New(rand.NewPCG(5, 1))
	c := cluster(1000)
	c.Priority.Multifactor = true
	c.Priority.Age, c.Priority.FairShare, c.Priority.Size = 1000, 10_000, 1000
	c.Assocs = []Assoc{{Parent: -1, Limits: NoLimits()}}
	for range 10 {
		c.Assocs = append(c.Assocs, Assoc{Account: "a", Shares: 10, Limits: NoLimits()})
	}
	for u := range 100 {
		c.Assocs = append(c.Assocs, Assoc{Parent: 1 + u%10, User: "u", Shares: 1, Limits: NoLimits()})
	}
	limits := []int{30, 60, 120, 240, 480, 720, 1440, 2880}
	list := make([]Job, jobs)
	work := 0.0
	for i := range list {
		wide := min(512, 1<<int(r.ExpFloat64()/0.35))
		limit := limits[r.IntN(len(limits))] * 60
		run := 1 + int(float64(limit)*r.Float64()*r.Float64())
		list[i] = job(int64(i+1), r.IntN(30*86400), wide, run, limit)
		list[i].User = r.IntN(100)
		list[i].Assoc = 11 + list[i].User
		work += float64(wide * run)
	}
	f := 1000 * 30 * 86400 * load / work
	for i := range list {
		list[i].Run = grid.Duration(float64(list[i].Run/1000)*f)*1000 + grid.Second
		list[i].Limit = grid.Duration(float64(list[i].Limit/60_000)*f)*60_000 + grid.Minute
	}
	slices.SortStableFunc(list, func(a, b Job) int { return compare(a.Submit, b.Submit) })
	return c, list
}

func benchmarkMonth(b *testing.B, load float64) {
	c, jobs := month(30_000, load)
	for b.Loop() {
		t := New(c, jobs, Options{})
		t.Run()
		if t.Outcome(len(jobs)-1).Start >= grid.Never {
			b.Fatal("the last job does not start")
		}
	}
}

func BenchmarkTwin_Month_1000Nodes_30000Jobs_Load80(b *testing.B) { benchmarkMonth(b, 0.8) }
func BenchmarkTwin_Month_1000Nodes_30000Jobs_Load95(b *testing.B) { benchmarkMonth(b, 0.95) }
