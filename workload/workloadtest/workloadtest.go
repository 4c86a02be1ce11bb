// Package workloadtest gives tests jobs: of a real trace, where it lies beside the
// checkout, and drawn ones. Only tests import it.
package workloadtest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/workload"
)

// Shared finds a file in the folder shared beside the checkout, or skips the test.
func Shared(tb testing.TB, path ...string) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for ; filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	file := filepath.Join(append([]string{dir, "..", "shared"}, path...)...)
	if _, err := os.Stat(file); err != nil {
		tb.Skipf("the file %s is absent: %v", filepath.Join(path...), err)
	}
	return file
}

// SDSC is the first span of the trace SDSC-SP2, or skips the test.
func SDSC(tb testing.TB, span grid.Duration) []grid.LocalJob {
	tb.Helper()
	t, err := workload.Open(Shared(tb, "traces", "SDSC-SP2-1998-4.2-cln.swf.gz"), workload.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	jobs, _ := t.Jobs(workload.JobOptions{Span: span})
	return jobs
}

// Drawn draws n jobs for so many nodes, whose sizes are mostly powers of two, whose runs spread
// over three decades and whose estimates are a few times the run.
func Drawn(n, nodes int, load float64, seed uint64) []grid.LocalJob {
	r := rand.New(rand.NewPCG(seed, 0))
	jobs := make([]grid.LocalJob, n)
	var at grid.Time
	var work float64
	for i := range jobs {
		size := 1 << r.IntN(7)
		if r.IntN(4) == 0 {
			size = 1 + r.IntN(nodes)
		}
		run := grid.Duration(1+r.IntN(10)) * grid.Minute
		for range r.IntN(4) {
			run *= 3
		}
		j := grid.LocalJob{ID: int64(i + 1), Submit: at, Nodes: min(size, nodes), Run: run, Estimate: run * grid.Duration(1+r.IntN(4))}
		jobs[i] = j
		work += float64(j.Nodes) * float64(run)
		at = grid.Time(work / (load * float64(nodes)))
	}
	return jobs
}
