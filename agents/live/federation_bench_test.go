package live

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
)

// folders returns folders on a real disk, one for each agent.
func folders(b *testing.B) func(agents.ID) journal.Disk {
	b.Helper()
	root := b.TempDir()
	var open []*journal.Folder
	b.Cleanup(func() {
		for _, d := range open {
			_ = d.Close()
		}
	})
	return func(id agents.ID) journal.Disk {
		d, err := journal.OpenFolder(filepath.Join(root, strings.ReplaceAll(string(id), ":", "-")))
		if err != nil {
			b.Fatal(err)
		}
		open = append(open, d)
		return d
	}
}

// One job after the other, from its submission until all its legs are confirmed
// and the broker's record of it is on the disk: 5 sites, a journal on a real disk
// for each of the 11 agents, all on this machine.
func BenchmarkFederation(b *testing.B) {
	for _, legs := range []int{1, 5} {
		b.Run(fmt.Sprintf("legs=%d", legs), func(b *testing.B) {
			g := federate(b, 5, 64, folders(b))
			jobs, stop := g.confirmed(b)
			defer stop()
			took := make([]time.Duration, 0, b.N)
			nodes := map[int]int{1: 1, 5: 320}[legs]
			run := 0
			for b.Loop() {
				run++
				begun := time.Now()
				g.submit(b, fmt.Sprintf("job%d", run), nodes)
				select {
				case <-jobs:
				case <-time.After(time.Minute):
					b.Fatal("a job is not confirmed within a minute")
				}
				took = append(took, time.Since(begun))
			}
			b.StopTimer()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// Five-leg jobs in a stream, each batch planned together: what a broker and its
// five sites commit in a second.
func BenchmarkFederation_Stream(b *testing.B) {
	g := federate(b, 5, 64, folders(b))
	jobs, stop := g.confirmed(b)
	defer stop()
	const open = 16 // submitted and not yet confirmed
	b.ResetTimer()
	done := 0
	for i := range b.N {
		g.submit(b, fmt.Sprintf("job%d", i), 320)
		for ; i-done >= open; done++ {
			<-jobs
		}
	}
	for ; done < b.N; done++ {
		<-jobs
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}
