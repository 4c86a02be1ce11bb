package simulation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// tenThousand is a world of alike sites of 1,000 nodes, 333 local jobs and 3.3 VO jobs a
// site and day, whose broker asks 400 sites in a cycle.
func tenThousand(sites, days int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name = \"ten-thousand\"\nuntil = \"%dd\"\n", days)
	alikeSites(&b, sites, 5, 1000, localJobs(10_000*days/30))
	fmt.Fprintf(&b, "[[broker]]\nname = \"vo1\"\nbudget = 1e9\ncycle = \"30m\"\nhorizon = \"2d\"\nalgorithm = \"amp\"\n"+
		"minimize = \"time\"\nmax_alternatives = 10\nbatch_size = 100000\nmax_asked = 400\n[broker.workload]\nmodel = \"uniform\"\njobs = %d\n", 100*sites*days/30)
	return b.String()
}

// The largest world, summary only: 10^8 local and 10^6 VO jobs in 30 days; and shorter ones
// of the same density. The log has what is in memory after each day. What has been
// simulated by then differs from site to site, since clusters wait until they are spoken to.
func BenchmarkSimulate_TenThousandSites(b *testing.B) {
	const sites = 10_000
	for _, days := range []int{1, 4, 30} {
		b.Run(fmt.Sprintf("sites=%d/nodes=%d/days=%d", sites, 1000*sites, days), func(b *testing.B) {
			if testing.Short() {
				b.Skip("a day of 10,000 sites takes a minute")
			}
			sc := parsed(b, "ten-thousand.toml", tenThousand(sites, days))
			for b.Loop() {
				w, c := collected(b, sc)
				for day := range days {
					w.sim.Run(grid.Time(day+1) * grid.Time(grid.Day))
					b.Logf("day %d: %.0f MB, %d steps", day+1, heap(), w.sim.Steps())
				}
				r, err := c.Finish(w.end(grid.Time(sc.Until)))
				if err != nil {
					b.Fatal(err)
				}
				if placed := r.Summary.Brokers[0].Jobs.Placed; placed < 3*sites*days {
					b.Fatalf("only %d jobs placed", placed)
				}
			}
		})
	}
}
