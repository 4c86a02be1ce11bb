package selection_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/search/papercase"
	"github.com/bourse-grid/bourse/policy/selection"
)

// The rows of the table of Toporkov et al., section 5, as its reading in
// papercase reproduces them: means over the counted cycles, per job.
func TestPaperTable(t *testing.T) {
	t.Parallel()
	const cycles = 3000
	rng := rand.New(rand.NewPCG(7, 8))
	auto := selection.Limits{Time: selection.Auto, Cost: selection.Auto}
	algorithms := []search.Algorithm{search.ALP, search.AMPLiteral}
	var c papercase.Case
	var s selection.Selector
	l := new(search.List)
	f := search.NewFinder(l)
	var counted, jobs, slots, faster float64
	var found, time1, cost1, time2, cost2 [2]float64
	for range cycles {
		c.Draw(rng)
		var batch [2][][]selection.Alternative
		complete := true
		for k, a := range algorithms {
			if err := l.ResetNamed(c.Nodes, c.Slots); err != nil {
				t.Fatal(err)
			}
			batch[k] = alternatives(f.Batch(c.Jobs, search.Options{Algorithm: a}))
			for _, list := range batch[k] {
				complete = complete && len(list) > 0
			}
		}
		if !complete {
			continue
		}
		n := float64(len(c.Jobs))
		counted, jobs, slots = counted+1, jobs+n, slots+float64(len(c.Slots))
		var quick [2]float64
		for k := range batch {
			total := 0
			for _, list := range batch[k] {
				total += len(list)
			}
			a, b := s.Select(batch[k], selection.MinTime, auto), s.Select(batch[k], selection.MinCost, auto)
			found[k] += float64(total) / n
			quick[k] = a.Time.Seconds() / n
			time1[k] += quick[k]
			cost1[k] += a.Cost.Float() / n
			time2[k] += b.Time.Seconds() / n
			cost2[k] += b.Cost.Float() / n
		}
		if quick[1] < quick[0] {
			faster++
		}
	}
	for _, row := range []struct {
		name              string
		got, want, within float64
	}{
		{"counted of 25,000", counted / cycles * 25000, 8566, .06},
		{"jobs per batch", jobs / counted, 4.19, .03},
		{"slots", slots / counted, 135.1, .01},
		{"alternatives, ALP", found[0] / counted, 6.94, .05},
		{"alternatives, AMP", found[1] / counted, 34.17, .03},
		{"share of cycles in which AMP is quicker", faster / counted, 1, .005},
		{"min T, time, ALP", time1[0] / counted, 59.85, .02},
		{"min T, time, AMP", time1[1] / counted, 38.09, .02},
		{"min T, cost, ALP", cost1[0] / counted, 310.6, .03},
		{"min T, cost, AMP", cost1[1] / counted, 371.5, .03},
		{"min C, cost, ALP", cost2[0] / counted, 307.3, .03},
		{"min C, cost, AMP", cost2[1] / counted, 336.0, .03},
		{"min C, time, ALP", time2[0] / counted, 60.90, .02},
		{"min C, time, AMP", time2[1] / counted, 51.38, .02},
	} {
		t.Logf("%-42s %9.2f, table %9.2f", row.name, row.got, row.want)
		if row.got < row.want*(1-row.within) || row.got > row.want*(1+row.within) {
			t.Errorf("%s: %.2f, want %.2f within %.0f %%", row.name, row.got, row.want, 100*row.within)
		}
	}
}

// cycles does cycles of the paper's experiment one after the other.
type cycles struct {
	list   search.List
	finder *search.Finder
	s      selection.Selector
}

func newCycles() *cycles {
	d := new(cycles)
	d.finder = search.NewFinder(&d.list)
	return d
}

// cycle is a whole one: ALP and AMP, each with T*, B*, min T and min C.
func (d *cycles) cycle(b *testing.B, c *papercase.Case) {
	auto := selection.Limits{Time: selection.Auto, Cost: selection.Auto}
	for _, a := range []search.Algorithm{search.ALP, search.AMPLiteral} {
		if err := d.list.ResetNamed(c.Nodes, c.Slots); err != nil {
			b.Error(err)
			return
		}
		batch := alternatives(d.finder.Batch(c.Jobs, search.Options{Algorithm: a}))
		d.s.Select(batch, selection.MinTime, auto)
		d.s.Select(batch, selection.MinCost, auto)
	}
}

func BenchmarkCycle_Paper(b *testing.B) {
	cases := make([]papercase.Case, 200)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range cases {
		cases[i].Draw(rng)
	}
	d := newCycles()
	for i := 0; b.Loop(); i++ {
		d.cycle(b, &cases[i%len(cases)])
	}
}

// The paper's whole experiment, drawing included, on all cores.
func BenchmarkCycles_Paper25000(b *testing.B) {
	if testing.Short() {
		b.Skip("takes some ten seconds")
	}
	for b.Loop() {
		var workers sync.WaitGroup
		n := runtime.GOMAXPROCS(0)
		for w := range n {
			workers.Go(func() {
				d, rng := newCycles(), rand.New(rand.NewPCG(1, uint64(w)))
				var c papercase.Case
				for range 25_000 / n {
					c.Draw(rng)
					d.cycle(b, &c)
				}
			})
		}
		workers.Wait()
	}
}

// BenchmarkSelect_Batch selects for a batch as large as a broker's.
func BenchmarkSelect_70Jobs10Alternatives(b *testing.B) { benchSelect(b, 70) }

func BenchmarkSelect_1000Jobs10Alternatives(b *testing.B)  { benchSelect(b, 1000) }
func BenchmarkSelect_10000Jobs10Alternatives(b *testing.B) { benchSelect(b, 10000) }

func benchSelect(b *testing.B, n int) {
	rng := rand.New(rand.NewPCG(1, 2))
	jobs := make([][]selection.Alternative, n)
	for j := range jobs {
		scale := 1 + rng.Float64()*9
		for i := range 10 {
			quick := .3 + rng.Float64()
			jobs[j] = append(jobs[j], selection.Alternative{Time: grid.Duration(scale * quick * 1e6), Cost: grid.Credits(scale * (.5 + rng.Float64()) / quick * 1e7),
				End: grid.Time(float64(i) * 1e6 * scale)})
		}
	}
	auto := selection.Limits{Time: selection.Auto, Cost: selection.Auto}
	for _, g := range []selection.Goal{selection.MinTime, selection.MinCost, selection.MinFinish} {
		b.Run(g.String(), func(b *testing.B) {
			var s selection.Selector
			b.ReportAllocs()
			for b.Loop() {
				if s.Select(jobs, g, auto).Grid && n < 1000 {
					b.Fatal("grid")
				}
			}
		})
	}
}
