package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// unit is the paper's unit of time in tests; prices are then per unit and node.
const unit = grid.Second

func price(perUnit float64) grid.Price { return grid.Price(perUnit*3600*1e6 + .5) }

// paperExample is the layout of section 4 of Toporkov et al.
func paperExample(t testing.TB) (*List, []grid.Request) {
	prices := []float64{5, 4, 1, 5, 3, 12}
	var nodes []grid.Group
	for i := range prices {
		nodes = append(nodes, grid.Group{Name: fmt.Sprintf("cpu%d", i+1)})
	}
	var slots []grid.Slot
	for _, s := range [][3]int{{1, 0, 60}, {2, 0, 60}, {4, 0, 260}, {6, 0, 370}, {1, 150, 400}, {2, 150, 600},
		{5, 360, 600}, {3, 450, 600}, {6, 510, 600}, {4, 570, 600}} {
		slots = append(slots, grid.Slot{Group: int32(s[0] - 1), Count: 1, Start: at(s[1]), End: at(s[2]),
			Performance: grid.Unit, Price: price(prices[s[0]-1])})
	}
	l, err := Named(nodes, slots)
	if err != nil {
		t.Fatal(err)
	}
	job := func(n, length, budget int, c float64) grid.Request {
		return grid.Request{Nodes: n, Length: grid.Duration(length) * unit, MinPerformance: grid.Unit,
			MaxPrice: price(c), Budget: grid.Credits(budget) * grid.Credit, Deadline: grid.Never}
	}
	return l, []grid.Request{job(2, 80, 800, 5), job(3, 30, 900, 10), job(2, 50, 300, 3)}
}

func at(units int) grid.Time { return grid.Time(units) * grid.Time(unit) }

// lines prints windows as "J1 150-230 {1,4} 800", nodes sorted.
func lines(r Result) []string {
	var out []string
	for j, windows := range r.Alternatives {
		for _, w := range windows {
			var nodes []string
			for _, p := range w.Parts {
				nodes = append(nodes, fmt.Sprint(p.Group+1))
			}
			slices.Sort(nodes)
			out = append(out, fmt.Sprintf("J%d %v-%v {%s} %v", j+1, w.Start, w.End(), strings.Join(nodes, ","), w.Cost))
		}
	}
	return out
}

func TestPaperExample_Section4(t *testing.T) {
	t.Parallel()
	want := map[Algorithm][]string{
		AMPLiteral: {"J1 150-230 {1,4} 800", "J1 230-310 {1,2} 720", "J1 310-390 {1,2} 720",
			"J2 0-30 {1,2,4} 420", "J2 30-60 {2,4,6} 630", "J2 550-580 {3,5,6} 480",
			"J3 450-500 {3,5} 200", "J3 500-550 {2,3} 250"},
		AMP: {"J1 150-230 {2,4} 720", "J1 230-310 {1,2} 720", "J1 310-390 {1,2} 720",
			"J2 0-30 {1,2,4} 420", "J2 30-60 {1,2,4} 420", "J2 550-580 {2,3,5} 240",
			"J3 450-500 {3,5} 200", "J3 500-550 {3,5} 200"},
		ALP: {"J1 150-230 {1,4} 800", "J1 230-310 {1,2} 720", "J1 310-390 {1,2} 720",
			"J2 0-30 {1,2,4} 420", "J2 30-60 {1,2,4} 420", "J2 550-580 {2,3,5} 240",
			"J3 450-500 {3,5} 200", "J3 500-550 {3,5} 200"},
	}
	for a, w := range want {
		l, jobs := paperExample(t)
		r := Batch(l, jobs, Options{Algorithm: a})
		got := lines(r)
		if !slices.Equal(got, w) {
			t.Errorf("%v: got %q, want %q", a, got, w)
		}
		if r.Passes != 3 {
			t.Errorf("%v: %d passes, want 3", a, r.Passes)
		}
	}
}
