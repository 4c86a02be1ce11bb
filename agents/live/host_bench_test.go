package live

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/grid"
)

// onDisk returns a folder on a real disk.
func onDisk(b *testing.B) *journal.Folder {
	b.Helper()
	d, err := journal.OpenFolder(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = d.Close() })
	return d
}

// disks are those that a host is measured on.
var disks = []struct {
	name string
	open func(*testing.B) journal.Disk
}{
	{"memory", func(*testing.B) journal.Disk { return &journal.Memory{} }},
	{"folder", func(b *testing.B) journal.Disk { return onDisk(b) }},
}

// One asker after the other: a fact, a sync and an answer each.
func BenchmarkAsk(b *testing.B) {
	for _, d := range disks {
		for _, askers := range []int{1, 16, 256} {
			b.Run(fmt.Sprintf("disk=%s/askers=%d", d.name, askers), func(b *testing.B) {
				h, _ := hosting(b, d.open(b), Options{})
				defer stop(b, h)
				var mu sync.Mutex
				took := make([]time.Duration, 0, b.N)
				b.ResetTimer()
				var group sync.WaitGroup
				for a := range askers {
					group.Go(func() {
						for i := a; i < b.N; i += askers {
							begun := time.Now()
							if _, err := h.Ask(b.Context(), "user:ana", toy, put{1}); err != nil {
								b.Error(err)
								return
							}
							d := time.Since(begun)
							mu.Lock()
							took = append(took, d)
							mu.Unlock()
						}
					})
				}
				group.Wait()
				b.StopTimer()
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
				b.ReportMetric(float64(only(h).Syncs)/float64(b.N), "syncs/op")
			})
		}
	}
}

// Messages one after the other, each with a fact: what one actor takes a second.
func BenchmarkStep(b *testing.B) {
	for _, d := range disks {
		for _, m := range []agents.Message{word{"x"}, put{1}} {
			b.Run("disk="+d.name+"/"+m.Kind(), func(b *testing.B) {
				h, p := hosting(b, d.open(b), Options{Mailbox: 4096})
				defer stop(b, h)
				_ = h.View(b.Context(), toy, func(grid.Time, agents.Agent) {
					p.heard = make([]string, 0, b.N+1)
					p.times = make([]grid.Time, 0, b.N+1)
				})
				b.ResetTimer()
				for range b.N {
					for h.Tell("cluster:none", toy, m) != nil {
						time.Sleep(50 * time.Microsecond) // its mailbox is full
					}
				}
				_ = h.View(b.Context(), toy, func(grid.Time, agents.Agent) {})
			})
		}
	}
}
