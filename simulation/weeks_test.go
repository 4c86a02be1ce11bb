package simulation

import (
	"math"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/weeks"
	"github.com/bourse-grid/bourse/workload"
	"github.com/bourse-grid/bourse/workload/workloadtest"
)

// Intervals of another program.
func TestDifferences_AreThoseOfAnotherProgram(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		trace          string
		nodes          int
		second         string
		wait, slowdown Paired
		waits, slow    float64 // half widths
	}{
		{"KTH-SP2-1996-2.1-cln.swf.gz", 100, "conservative",
			Paired{First: 6419.027901, Second: 7040.518755, Difference: 621.490855, Weeks: 48, Lag: 0.226936},
			Paired{First: 86.397739, Second: 89.872684, Difference: 3.474945, Weeks: 48, Lag: -0.016426}, 532.82465, 7.936629},
		{"SDSC-SP2-1998-4.2-cln.swf.gz", 128, "easy-sjbf",
			Paired{First: 20576.23748, Second: 20404.992875, Difference: -171.244605, Weeks: 105, Lag: 0.222882},
			Paired{First: 88.541082, Second: 82.953194, Difference: -5.587887, Weeks: 105, Lag: -0.025888}, 1447.7007, 10.551494},
	} {
		t.Run(x.trace, func(t *testing.T) {
			t.Parallel()
			trace, err := workload.Open(workloadtest.Shared(t, "traces", x.trace), workload.Options{})
			if err != nil {
				t.Fatal(err)
			}
			jobs, _ := trace.Jobs(workload.JobOptions{})
			a := replay(t, jobs, ReplayOptions{Nodes: x.nodes, Policy: ordered(t, "easy", "", "")})
			b := replay(t, jobs, ReplayOptions{Nodes: x.nodes, Policy: ordered(t, x.second, "", "")})
			wait, slowdown, _ := Differences(a, b)
			checkPaired(t, wait, x.wait, x.waits)
			checkPaired(t, slowdown, x.slowdown, x.slow)
		})
	}
}

func checkPaired(t *testing.T, got, want Paired, half float64) {
	t.Helper()
	near := func(a, b float64) bool { return math.Abs(a-b) <= 2e-6 }
	if !near(got.First, want.First) || !near(got.Second, want.Second) || !near(got.Difference, want.Difference) || got.Weeks != want.Weeks ||
		!near(got.Lag, want.Lag) || got.CI95 == nil || !near(*got.CI95, half) {
		t.Errorf("got %+v, want %+v ± %v", got, want, half)
	}
}

// By hand: in each of eight weeks two jobs, the second of which waits longer by the week's
// number; without the last week there is no interval. A job that ran in one alone is left out.
func TestDifferences_ByHand(t *testing.T) {
	t.Parallel()
	build := func(n int) (a, b *Replay) {
		a, b = &Replay{Nodes: 1}, &Replay{Nodes: 1}
		for w := range n {
			for k := range 3 {
				j := grid.LocalJob{Submit: grid.Time(w) * grid.Time(2*weeks.Span)}
				o := Outcome{Job: j, Start: j.Submit + 1000, End: j.Submit + 101_000}
				a.Outcomes = append(a.Outcomes, o)
				switch k {
				case 1:
					o.Start, o.End = o.Start+grid.Time(w)*1000, o.End+grid.Time(w)*1000
				case 2:
					o.Start, o.End = grid.Never, grid.Never
				}
				b.Outcomes = append(b.Outcomes, o)
			}
		}
		return a, b
	}
	wait, _, n := Differences(build(8))
	// Differences 0..7 over 16 jobs: r = 28/16; e = 0..7 less 3.5, whose squares sum to 42 and
	// whose neighbours' products to 26.25. t(.975, 7) = 2.364624.
	want := 2.3646242510103 * math.Sqrt(8./7*42) / 16 * math.Sqrt((1+.625)/(1-.625))
	if n != 16 || wait.First != 1 || wait.Second != 2.75 || wait.Difference != 1.75 || wait.Weeks != 8 || wait.Lag != .625 || math.Abs(*wait.CI95-want) > 1e-9 {
		t.Errorf("%d jobs: %+v, half width %v, want %v", n, wait, *wait.CI95, want)
	}
	if wait, _, _ = Differences(build(7)); wait.CI95 != nil || wait.Weeks != 7 {
		t.Errorf("seven weeks: %+v", wait)
	}
}
