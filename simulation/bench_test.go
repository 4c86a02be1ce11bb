package simulation

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/report"
)

// voScale is a world of alike sites of 1,000 nodes for 30 days: 10,000 local
// jobs and 1,000 VO jobs a site, one broker.
func voScale(sites int, goal string) string {
	var b strings.Builder
	b.WriteString("name = \"vo-scale\"\nuntil = \"30d\"\n")
	for i := range sites {
		fmt.Fprintf(&b, "[[site]]\nname = \"s%03d\"\npolicy = \"easy\"\n[[site.group]]\nname = \"main\"\nnodes = 1000\n"+
			"performance = %.2f\nprice = %.1f\n[site.workload]\nmodel = \"uniform\"\njobs = 10000\nnodes = [1, 100]\n",
			i, 1+0.25*float64(i%5), 1+0.2*float64(i%7))
	}
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
			sc, err := configs.ParseScenario("vo-scale.toml", []byte(voScale(x.sites, x.goal)))
			if err != nil {
				b.Fatal(err)
			}
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

// voYears is a world of five sites of 64 nodes, half used by jobs of their own, and a VO
// with 20 jobs a day, for so many years.
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
			sc, err := configs.ParseScenario("vo-years.toml", []byte(voYears(years)))
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				w, err := newWorld(sc, 1, NewWorkloads(), Record{})
				if err != nil {
					b.Fatal(err)
				}
				c := report.NewCollector(w.header(1), report.Options{})
				w.sim.After(c.Hook)
				var first, last float64
				for year := range years {
					w.sim.Run(bourse.Time(year+1) * 365 * bourse.Time(bourse.Day))
					if last = heap(); year == 0 {
						first = last
					}
				}
				if r, err := c.Finish(w.end(bourse.Time(sc.Until))); err != nil || r.Summary.Brokers[0].Jobs.Done < 6000*years {
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

// voOverload is a world whose VO asks for more than its sites have: alike sites of so
// many nodes that nobody else uses, two days, 1,000 jobs a site.
func voOverload(sites, nodes int) string {
	var b strings.Builder
	b.WriteString("name = \"vo-overload\"\nuntil = \"2d\"\n")
	for i := range sites {
		fmt.Fprintf(&b, "[[site]]\nname = \"s%03d\"\npolicy = \"easy\"\n[[site.group]]\nname = \"main\"\nnodes = %d\n"+
			"performance = %.2f\nprice = %.1f\n", i, nodes, 1+0.25*float64(i%5), 1+0.2*float64(i%7))
	}
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
			sc, err := configs.ParseScenario("vo-overload.toml", []byte(voOverload(x.sites, x.nodes)))
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				w, err := newWorld(sc, 1, NewWorkloads(), Record{})
				if err != nil {
					b.Fatal(err)
				}
				c := report.NewCollector(w.header(1), report.Options{})
				w.sim.After(c.Hook)
				until := bourse.Time(x.hours) * bourse.Time(bourse.Hour)
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
