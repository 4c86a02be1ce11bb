package simulation

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// manySites is a grid of sites that differ in size, speed, price and load by local users,
// and a VO that asks a number of them for offers in a cycle; 0: all.
func manySites(sites, asked int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("name = \"many-sites\"\nuntil = \"4d\"\n")
	for i := range sites {
		nodes, performance := 32<<r.IntN(3), 0.8+0.1*float64(r.IntN(8))
		fmt.Fprintf(&b, "[[site]]\nname = \"s%05d\"\npolicy = \"easy\"\npricing = \"adaptive\"\n[[site.group]]\nname = \"main\"\nnodes = %d\nperformance = %.1f\nprice = %.3f\n"+
			"[site.workload]\nmodel = \"uniform\"\ndays = 3\njobs = %d\nnodes = [1, 16]\nlength = [\"10m\", \"3h\"]\n",
			i, nodes, performance, performance*(0.7+0.9*r.Float64()), 2*nodes+r.IntN(4*nodes))
	}
	fmt.Fprintf(&b, "[[broker]]\nname = \"vo1\"\nbudget = 1e8\ncycle = \"30m\"\nhorizon = \"2d\"\nalgorithm = \"amp\"\nminimize = \"value\"\nmax_alternatives = 10\nmax_asked = %d\n"+
		"[broker.workload]\nmodel = \"uniform\"\ndays = 3\njobs = 2000\nnodes = [1, 64]\nlength = [\"10m\", \"6h\"]\n", asked)
	return b.String()
}

// The loss of a broker that asks only some of its sites in each cycle: a twentieth, a tenth, a
// fifth. The metric %lost is how much more its jobs lose, in cost and waiting, than if it asked
// all.
func BenchmarkSimulate_Asking(b *testing.B) {
	const sites = 1000
	lost := func(b *testing.B, asked int) float64 {
		sc := parsed(b, "many-sites.toml", manySites(sites, asked))
		sum := 0.0
		for seed := range uint64(3) {
			r, err := (&Simulation{Scenario: sc, Workloads: NewWorkloads()}).Run(seed+1, Record{})
			if err != nil {
				b.Fatal(err)
			}
			sum += float64(r.Summary.Brokers[0].Value.Total)
		}
		return sum
	}
	all := 0.0
	for _, asked := range []int{0, sites / 20, sites / 10, sites / 5} {
		b.Run(fmt.Sprintf("sites=%d/asked=%d", sites, asked), func(b *testing.B) {
			if testing.Short() {
				b.Skip("worlds of 1,000 sites take seconds")
			}
			x := 0.0
			for b.Loop() {
				x = lost(b, asked)
			}
			if asked == 0 {
				all = x
			}
			b.ReportMetric(100*(x/all-1), "%lost")
		})
	}
}
