package simulation

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
)

// alikeSites writes a number of sites that differ in speed and price alone, each with the
// given local work. Their numbers have the given digits.
func alikeSites(b *strings.Builder, sites, digits, nodes int, work string) {
	for i := range sites {
		fmt.Fprintf(b, "[[site]]\nname = \"s%0*d\"\npolicy = \"easy\"\n[[site.group]]\nname = \"main\"\nnodes = %d\n"+
			"performance = %.2f\nprice = %.1f\n%s", digits, i, nodes, 1+0.25*float64(i%5), 1+0.2*float64(i%7), work)
	}
}

// localJobs is the workload of a site whose own users submit a number of jobs.
func localJobs(jobs int) string {
	return fmt.Sprintf("[site.workload]\nmodel = \"uniform\"\njobs = %d\nnodes = [1, 100]\n", jobs)
}

// parsed is a benchmark's scenario.
func parsed(b *testing.B, name, text string) *configs.Scenario {
	b.Helper()
	sc, err := configs.ParseScenario(name, []byte(text))
	if err != nil {
		b.Fatal(err)
	}
	return sc
}

// collected is a world of a scenario, and what collects its summary.
func collected(b *testing.B, sc *configs.Scenario) (*world, *report.Collector) {
	b.Helper()
	w, err := newWorld(sc, 1, NewWorkloads(), Record{})
	if err != nil {
		b.Fatal(err)
	}
	c := report.NewCollector(w.header(1), report.Options{})
	w.sim.After(c.Hook)
	return w, c
}

// voScale is a world of alike sites of 1,000 nodes for 30 days: 10,000 local
// jobs and 1,000 VO jobs a site, one broker.
func voScale(sites int, goal string) string {
	var b strings.Builder
	b.WriteString("name = \"vo-scale\"\nuntil = \"30d\"\n")
	alikeSites(&b, sites, 3, 1000, localJobs(10_000))
	fmt.Fprintf(&b, "[[broker]]\nname = \"vo1\"\nbudget = 1e8\ncycle = \"30m\"\nhorizon = \"2d\"\nalgorithm = \"amp\"\n"+
		"minimize = %q\nmax_alternatives = 10\nbatch_size = 100000\n[broker.workload]\nmodel = \"uniform\"\njobs = %d\n", goal, 1000*sites)
	return b.String()
}

// A whole simulation, summary only. The largest is the stated scale of a VO:
// 10^6 local jobs, 10^5 VO jobs, 1,440 cycles.
func BenchmarkSimulate_VO(b *testing.B) {
	for _, x := range []struct {
		sites int
		goal  string
	}{{10, "time"}, {10, "value"}, {100, "time"}, {100, "value"}} {
		b.Run(fmt.Sprintf("goal=%s/sites=%d/nodes=%d/local=%d/jobs=%d", x.goal, x.sites, 1000*x.sites, 10_000*x.sites, 1000*x.sites), func(b *testing.B) {
			if x.sites == 100 && testing.Short() {
				b.Skip("the large world is left out with -short")
			}
			sc := parsed(b, "vo-scale.toml", voScale(x.sites, x.goal))
			for b.Loop() {
				s := &Simulation{Scenario: sc, Workloads: NewWorkloads()}
				r, err := s.Run(1, Record{})
				if err != nil {
					b.Fatal(err)
				}
				if placed := r.Summary.Brokers[0].Jobs.Placed; placed < 900*x.sites {
					b.Fatalf("only %d jobs placed", placed)
				}
			}
		})
	}
}

// voYears is a world of five sites of 64 nodes, half used by local jobs, and a VO with 20
// jobs a day, for a number of years.
func voYears(years int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name = \"vo-years\"\nuntil = \"%dd\"\n", 365*years)
	for i := range 5 {
		fmt.Fprintf(&b, "[[site]]\nname = \"s%d\"\npolicy = \"easy\"\n[[site.group]]\nname = \"main\"\nnodes = 64\nprice = %.1f\n"+
			"[site.workload]\nmodel = \"uniform\"\nload = 0.5\n", i, 1+0.2*float64(i))
	}
	fmt.Fprintf(&b, "[[broker]]\nname = \"vo1\"\nbudget = 1e9\ncycle = \"1h\"\nhorizon = \"2d\"\nalgorithm = \"amp\"\n"+
		"max_alternatives = 5\n[broker.workload]\nmodel = \"uniform\"\njobs = %d\n", 20*365*years)
	return b.String()
}

// A long simulation, summary only: what it has in memory after each year.
func BenchmarkSimulate_Years(b *testing.B) {
	for _, years := range []int{1, 4, 10} {
		b.Run(fmt.Sprintf("years=%d", years), func(b *testing.B) {
			if years > 1 && testing.Short() {
				b.Skip("the long runs are left out with -short")
			}
			sc := parsed(b, "vo-years.toml", voYears(years))
			for b.Loop() {
				w, c := collected(b, sc)
				var first, last float64
				for year := range years {
					w.sim.Run(grid.Time(year+1) * 365 * grid.Time(grid.Day))
					if last = heap(); year == 0 {
						first = last
					}
				}
				if r, err := c.Finish(w.end(grid.Time(sc.Until))); err != nil || r.Summary.Brokers[0].Jobs.Done < 6000*years {
					b.Fatal(err)
				}
				b.ReportMetric(first, "MB-after-the-first")
				b.ReportMetric(last, "MB-after-the-last")
			}
		})
	}
}

// heap is what is in memory, in megabytes.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

// voOverload is a world whose VO asks for more than its sites have: alike sites that
// nobody else uses, two days, 1,000 jobs a site.
func voOverload(sites, nodes int) string {
	var b strings.Builder
	b.WriteString("name = \"vo-overload\"\nuntil = \"2d\"\n")
	alikeSites(&b, sites, 3, nodes, "")
	fmt.Fprintf(&b, "[[broker]]\nname = \"vo1\"\nbudget = 1e8\ncycle = \"30m\"\nhorizon = \"1d\"\nalgorithm = \"amp\"\n"+
		"minimize = \"time\"\nmax_alternatives = 10\nbatch_size = 100000\n[broker.workload]\nmodel = \"uniform\"\njobs = %d\n", 1000*sites)
	return b.String()
}

// A VO whose jobs ask for twice what the grid has: most of a cycle is spent on those
// that it cannot place. Of the large world there are also the first hours alone.
func BenchmarkSimulate_VOAboveCapacity(b *testing.B) {
	for _, x := range []struct{ sites, nodes, hours int }{{10, 50, 48}, {100, 50, 6}, {100, 50, 48}} {
		b.Run(fmt.Sprintf("sites=%d/nodes=%d/jobs=%d/hours=%d", x.sites, x.nodes*x.sites, 1000*x.sites, x.hours), func(b *testing.B) {
			if testing.Short() {
				b.Skip("a world above capacity takes seconds")
			}
			sc := parsed(b, "vo-overload.toml", voOverload(x.sites, x.nodes))
			for b.Loop() {
				w, c := collected(b, sc)
				until := grid.Time(x.hours) * grid.Time(grid.Hour)
				w.sim.Run(until)
				r, err := c.Finish(w.end(until))
				if err != nil {
					b.Fatal(err)
				}
				if placed := r.Summary.Brokers[0].Jobs.Placed; placed > 950*x.sites {
					b.Fatalf("%d jobs placed: that is not above capacity", placed)
				}
			}
		})
	}
}
