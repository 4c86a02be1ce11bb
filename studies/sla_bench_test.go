package studies

import (
	"testing"

	"github.com/bourse-grid/bourse/policy/sla"
	"github.com/bourse-grid/bourse/workload/workloadtest"
)

// An independent program takes 0.8 s on two cores for the 48 intervals of 15
// days of SDSC, 40,700 submissions, under EDF with windows of phi 100 %.
func BenchmarkSLA_SDSC48Intervals_EDF_Phi100(b *testing.B) {
	list := slaIntervals(workloadtest.SDSC(b, 0))
	jobs := 0
	for i := range list {
		jobs += len(list[i])
	}
	cells := []slaCell{{frequency: 100, order: sla.EDF, phi: 100, fix: sla.NeverFix}}
	b.ResetTimer()
	for range b.N {
		runSLAs(list, cells, SLAOptions{Seed: 1, Runs: 1})
	}
	b.ReportMetric(float64(len(list)), "intervals")
	b.ReportMetric(float64(jobs), "submissions")
}
