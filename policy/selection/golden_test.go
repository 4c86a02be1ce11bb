package selection_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/selection"
)

// instance is a slot list, a batch, and the expected answers by algorithm. A
// unit of the paper's time is a second here.
type instance struct {
	Slots []struct {
		Node                    int
		Start, End, Perf, Price float64
	}
	Jobs []struct {
		N                                 int
		Budget, Length, MaxPrice, MinPerf float64
	}
	ALP, AMP, AMPGroup answer // AMP is amp-literal, AMPGroup is amp
}

// answer is what one algorithm finds and what selection makes of it.
type answer struct {
	Alts []([]struct {
		Start, T, Cost float64
		Nodes          []int
	})
	Feasible           bool
	TStar, BStar       float64
	MinTime, MinCost   []int
	E1T, E1C, E2T, E2C float64
}

// load returns the instances, and skips the test where there are none.
func load(t testing.TB) []instance {
	b, err := os.ReadFile("../../../shared/golden/slot-search.json")
	if os.IsNotExist(err) {
		t.Skip("the golden instances of slot search are not here")
	}
	var list []instance
	if err == nil {
		err = json.Unmarshal(b, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// problem returns the list and the requests of an instance.
func (in *instance) problem(t testing.TB) (*search.List, []grid.Request) {
	nodes := 0
	for _, s := range in.Slots {
		nodes = max(nodes, s.Node+1)
	}
	groups := make([]grid.Group, nodes)
	for i := range groups {
		groups[i].Name = fmt.Sprintf("node%d", i)
	}
	var slots []grid.Slot
	for _, s := range in.Slots {
		slots = append(slots, grid.Slot{Group: int32(s.Node), Count: 1, Start: grid.Time(s.Start * 1000), End: grid.Time(s.End * 1000),
			Performance: grid.Performance(s.Perf * 1000), Price: grid.Price(s.Price * 3600e6)})
	}
	l, err := search.Named(groups, slots)
	if err != nil {
		t.Fatal(err)
	}
	var jobs []grid.Request
	for _, j := range in.Jobs {
		jobs = append(jobs, grid.Request{Nodes: j.N, Length: grid.Duration(j.Length * 1000), MinPerformance: grid.Performance(j.MinPerf * 1000),
			MaxPrice: grid.Price(j.MaxPrice * 3600e6), Budget: grid.Credits(j.Budget * 1e6), Deadline: grid.Never})
	}
	return l, jobs
}

// answers pairs the answers with the algorithms.
func (in *instance) answers() map[search.Algorithm]*answer {
	return map[search.Algorithm]*answer{search.ALP: &in.ALP, search.AMPLiteral: &in.AMP, search.AMP: &in.AMPGroup}
}

// alternatives is what selection knows of windows.
func alternatives(r search.Result) [][]selection.Alternative {
	jobs := make([][]selection.Alternative, len(r.Alternatives))
	for j, windows := range r.Alternatives {
		for _, w := range windows {
			jobs[j] = append(jobs[j], selection.Alternative{Time: w.Time, Cost: w.Cost, End: w.End()})
		}
	}
	return jobs
}

func TestGolden_AlternativesOfEveryInstance(t *testing.T) {
	t.Parallel()
	for k, in := range load(t) {
		for a, want := range in.answers() {
			l, jobs := in.problem(t)
			r := search.Batch(l, jobs, search.Options{Algorithm: a})
			for j := range jobs {
				if len(r.Alternatives[j]) != len(want.Alts[j]) {
					t.Errorf("instance %d, %v, job %d: %d alternatives, want %d", k, a, j, len(r.Alternatives[j]), len(want.Alts[j]))
					continue
				}
				for i, w := range r.Alternatives[j] {
					g := want.Alts[j][i]
					var nodes []int
					for _, p := range w.Parts {
						nodes = append(nodes, int(p.Group))
					}
					slices.Sort(nodes)
					slices.Sort(g.Nodes)
					if !near(w.Start.Seconds(), g.Start) || !near(w.Time.Seconds(), g.T) || !near(w.Cost.Float(), g.Cost) || !slices.Equal(nodes, g.Nodes) {
						t.Errorf("instance %d, %v, job %d, alternative %d: %v, want %v", k, a, j, i, w, g)
					}
				}
			}
		}
	}
}

func TestGolden_SelectionOfEveryInstance(t *testing.T) {
	t.Parallel()
	var s selection.Selector
	for k, in := range load(t) {
		for a, want := range in.answers() {
			if !want.Feasible {
				continue
			}
			l, requests := in.problem(t)
			jobs := alternatives(search.Batch(l, requests, search.Options{Algorithm: a}))
			auto := selection.Limits{Time: selection.Auto, Cost: selection.Auto}
			e1, e2 := s.Select(jobs, selection.MinTime, auto), s.Select(jobs, selection.MinCost, auto)
			for _, x := range [][2]float64{
				{e1.Limits.Time.Seconds(), want.TStar}, {e1.Limits.Cost.Float(), want.BStar},
				{e1.Time.Seconds(), want.E1T}, {e1.Cost.Float(), want.E1C},
				{e2.Time.Seconds(), want.E2T}, {e2.Cost.Float(), want.E2C},
			} {
				if !near(x[0], x[1]) {
					t.Errorf("instance %d, %v: %v, want %v (of T*, B*, time and cost of min T, of min C)", k, a, x[0], x[1])
				}
			}
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < .01 }
