package admission

import (
	"math/rand/v2"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// loaded is a server of 128 nodes in the midst of work: jobs of the sizes and
// spans of the SDSC trace, as many as the control takes.
func loaded(b *testing.B, c Control) (*Shares, []Job) {
	b.Helper()
	server := nodes(b, c, 128)
	r := rand.New(rand.NewPCG(1, 2))
	draw := func(id int64) (Job, grid.Duration) {
		estimate := grid.Duration(1+r.Int64N(300)) * grid.Minute
		return Job{ID: id, Nodes: 1 << r.IntN(7), Estimate: estimate,
			Deadline: server.Now().Add(estimate * grid.Duration(12+r.IntN(60)) / 10)}, estimate * grid.Duration(1+r.IntN(10)) / 10
	}
	for id := int64(0); id < 3000; id++ {
		to := server.Now() + grid.Time(r.Int64N(int64(4*grid.Minute)))
		for server.Next() <= to {
			server.Advance(server.Next())
		}
		server.Advance(to)
		j, run := draw(id)
		server.Arrive(j, run)
	}
	server.Advance(min(server.Next(), server.Now()+1000) - 1)
	list := make([]Job, 256)
	for i := range list {
		list[i], _ = draw(int64(i) + 10_000)
	}
	return server.(*Shares), list
}

// A decision on 128 nodes. An independent program takes 13 us for Libra and 99 us
// for LibraRisk by the letter.
func BenchmarkDecision_128Nodes(b *testing.B) {
	for _, c := range []Control{Libra, LibraRisk, LibraRiskSigma} {
		b.Run(c.String(), func(b *testing.B) {
			server, list := loaded(b, c)
			tasks := 0
			for i := range server.nodes {
				tasks += len(server.nodes[i].tasks)
			}
			taken := 0
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if d := server.Try(list[i%len(list)]); !d.Reason.Refused() {
					taken++
				}
			}
			b.ReportMetric(float64(tasks)/128, "tasks/node")
			b.ReportMetric(100*float64(taken)/float64(b.N), "%taken")
		})
	}
}
