package shared

import (
	"syscall"
	"testing"

	"github.com/bourse-grid/bourse/simulation"
)

// One run of each setting: five days of a site of 64 nodes and a burst of 120 or 240 requests. In
// parts it may cost at most half more than in whole nodes. Measured is processor time, which a
// busy machine changes least.
func BenchmarkRun(b *testing.B) {
	for _, s := range settings {
		b.Run(s.name(), func(b *testing.B) {
			load := simulation.NewWorkloads()
			before := processor(b)
			for i := range b.N {
				if _, err := s.run(load, uint64(i%8)+1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((processor(b)-before)/float64(b.N), "cpu-ms/op")
		})
	}
}

// processor is the processor time of the program so far, in ms.
func processor(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Sec)*1e3 + float64(u.Utime.Usec)/1e3
}
