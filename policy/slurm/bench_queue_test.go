package slurm

import (
	"math/rand/v2"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// waiting500 is the queue of a machine of 1,000 nodes: as many jobs run as it holds, 500 wait, and a
// job of 256 nodes comes last.
func waiting500() (*Config, []Job) {
	c, drawn := month(2000, 0.95)
	c.Priority.FairShare = 0
	now := grid.Time(10 * grid.Day)
	r := rand.New(rand.NewPCG(7, 1))
	var jobs []Job
	idle, node := 1000, 0
	for i := range drawn {
		j := drawn[i]
		j.Started, j.Eligible = grid.Never, now.Add(-grid.Hour)
		j.Limit, j.Run = min(j.Limit, 2*grid.Day), min(j.Run, 2*grid.Day)
		switch {
		case idle > 0 && j.Nodes <= idle:
			j.Started, j.On = now.Add(-grid.Duration(r.Int64N(int64(j.Run)))), NewSet(1000)
			j.On.addRange(node, node+j.Nodes)
			node, idle = node+j.Nodes, idle-j.Nodes
			j.Submit = j.Started
		case len(jobs) < 1000:
			j.Submit, j.Priority = now.Add(-grid.Hour), int64(1000-len(jobs))+1000
		}
		jobs = append(jobs, j)
		waits := 0
		for k := range jobs {
			if jobs[k].Started > now {
				waits++
			}
		}
		if waits == 500 {
			break
		}
	}
	last := job(1<<40, 0, 256, 86400, 86400)
	last.Submit, last.Started, last.Priority, last.Assoc = now, grid.Never, 1, -1
	return c, append(jobs, last)
}

// One draw of a forecast: until the last of 500 waiting jobs starts.
func BenchmarkStartOf_1000Nodes_500Wait(b *testing.B) {
	c, jobs := waiting500()
	now := grid.Time(10 * grid.Day)
	var at grid.Time
	for b.Loop() {
		at = Resume(c, jobs, now).StartOf(len(jobs)-1, now.Add(60*grid.Day), func() (Job, bool) { return Job{}, false })
	}
	b.ReportMetric(float64(at.Sub(now))/float64(grid.Hour), "h")
}
