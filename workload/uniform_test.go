package workload

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

func TestUniform_JobsAreInBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := Uniform{Nodes: rapid.IntRange(1, 300).Draw(t, "nodes"), Seed: rapid.Uint64().Draw(t, "seed")}
		span := grid.Duration(rapid.IntRange(1, 1_000_000_000).Draw(t, "span"))
		jobs, err := m.Over(rapid.IntRange(1, 300).Draw(t, "jobs"), span)
		if err != nil {
			t.Fatal(err)
		}
		checkJobsInOrder(t, jobs, min(m.Nodes, 16))
		for _, j := range jobs {
			if j.Submit >= grid.Time(span) || j.Run < 10*grid.Minute || j.Run > 4*grid.Hour {
				t.Fatalf("job %+v over %v", j, span)
			}
		}
	})
}

func TestUniform_LoadIsMetInExpectation(t *testing.T) {
	t.Parallel()
	m := Uniform{Nodes: 100, Load: 0.6, Seed: 3}
	jobs, err := m.Jobs(50_000)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "load of 50,000 jobs", offeredLoad(jobs, 100), 0.6, 0.01)
	if jobs, err = m.Until(300 * grid.Day); err != nil {
		t.Fatal(err)
	}
	near(t, "load of 300 days", offeredLoad(jobs, 100), 0.6, 0.01)
}

func TestUniform_LengthsAreLogUniform(t *testing.T) {
	t.Parallel()
	jobs, err := Uniform{Nodes: 64, Seed: 1}.Over(40_000, 10*grid.Day)
	if err != nil {
		t.Fatal(err)
	}
	runs := make([]float64, len(jobs))
	nodes, submit := 0.0, 0.0
	for i, j := range jobs {
		runs[i] = j.Run.Seconds()
		nodes += float64(j.Nodes) / float64(len(jobs))
		submit += j.Submit.Seconds() / float64(len(jobs))
	}
	slices.Sort(runs)
	near(t, "median run", runs[len(runs)/2], math.Sqrt(600*14400), 60)
	near(t, "mean nodes", nodes, 8.5, 0.1)
	near(t, "mean submit", submit, 5*86400, 3000)
}

func TestUniform_RefusesWhatItCannotDraw(t *testing.T) {
	t.Parallel()
	for _, m := range []Uniform{{}, {Nodes: 4, MaxNodes: 5}, {Nodes: 4, MinNodes: 3, MaxNodes: 2}, {Nodes: 4, MinRun: -1},
		{Nodes: 4, MinRun: 5 * grid.Hour}, {Nodes: 4, MaxRun: 49 * grid.Hour}, {Nodes: 4, MinNodes: -1}} {
		if _, err := m.Over(10, grid.Day); err == nil {
			t.Errorf("%+v draws jobs", m)
		}
	}
	for _, load := range []float64{0, -1, math.NaN(), math.Inf(1), 1e-300} {
		if _, err := (Uniform{Nodes: 4, Load: load}).Jobs(10); err == nil {
			t.Errorf("load %v draws jobs", load)
		}
	}
	if _, err := (Uniform{Nodes: 4, Load: 1e300}).Until(grid.Day); err == nil {
		t.Error("load 1e300 draws jobs")
	}
}

func TestVO_JobsAreWithinTheirKeys(t *testing.T) {
	t.Parallel()
	v := VO{Terms: Terms{MeanPrice: 2_000_000, Horizon: 7 * grid.Day, Seed: 4}, Count: 500, Until: grid.Day}
	jobs, err := v.Jobs()
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	last := grid.Time(0)
	for _, j := range jobs {
		if j.Submit < last || j.Submit >= grid.Time(grid.Day) || j.Ready != j.Submit || j.Deadline != j.Submit.Add(7*grid.Day) ||
			j.Nodes < 1 || j.Nodes > 16 || j.Length < 10*grid.Minute || j.Length > 4*grid.Hour || j.Run != j.Length ||
			j.MinPerformance < 500 || j.MinPerformance > 1000 || j.MaxPrice < 2_000_000 || j.MaxPrice > 4_000_000 ||
			j.Budget != j.DefaultBudget() || names[j.Name] {
			t.Fatalf("%+v", j)
		}
		names[j.Name], last = true, j.Submit
	}
	v.MaxNodes = 4
	few, err := v.Jobs()
	if err != nil {
		t.Fatal(err)
	}
	for i := range few {
		if few[i].Nodes > 4 {
			t.Fatalf("%+v", few[i])
		}
		few[i].Nodes, few[i].Budget = jobs[i].Nodes, jobs[i].Budget
		if !equalJobs(few[i], jobs[i]) {
			t.Fatalf("the key of the nodes changed more of %+v than its nodes: %+v", jobs[i], few[i])
		}
	}
}

func equalJobs(a, b grid.Job) bool {
	return a.Name == b.Name && a.User == b.User && a.Submit == b.Submit && a.Run == b.Run && a.Nodes == b.Nodes &&
		a.Length == b.Length && a.MinPerformance == b.MinPerformance && a.MaxPrice == b.MaxPrice &&
		a.Budget == b.Budget && a.Ready == b.Ready && a.Deadline == b.Deadline
}

func TestTerms_ATraceBecomesVOJobs(t *testing.T) {
	t.Parallel()
	local := []grid.LocalJob{
		{ID: 7, Submit: 5000, Run: 60_000, Estimate: 90_000, Nodes: 3, User: 12},
		{ID: 7, Submit: 6000, Run: 0, Estimate: 90_000, Nodes: 1, User: -1},
	}
	jobs, err := Terms{MeanPrice: 1_000_000, PriceFrom: 1.5, PriceTo: 1.5, MinPerformance: 1000}.Jobs(local)
	if err != nil {
		t.Fatal(err)
	}
	j := jobs[0]
	if j.Name != "job7" || j.User != "user12" || j.Submit != 5000 || j.Length != 90_000 || j.Run != 60_000 ||
		j.Nodes != 3 || j.MaxPrice != 1_500_000 || j.Deadline != grid.Never || j.MinPerformance != 1000 {
		t.Errorf("%+v", j)
	}
	if j = jobs[1]; j.Name != "job7.2" || j.User != "" || j.Run != 1 {
		t.Errorf("%+v", j)
	}
	for _, bad := range []Terms{{PriceFrom: 3}, {PriceTo: math.NaN()}, {MinPerformance: 2000}, {MeanPrice: -1}, {Horizon: -1}, {MeanPrice: grid.MaxPrice}} {
		if _, err := bad.Jobs(local); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	if _, err := (Terms{}).Jobs([]grid.LocalJob{{ID: 1, Nodes: 1}}); err == nil {
		t.Error("a job without an estimate is taken")
	}
}

func TestInOrder_IsASort(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{0, 1, 999, 1000, 2500}).Draw(t, "numbers")
		below := rapid.Int64Range(1, 10_000_000_000).Draw(t, "below")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		list := make([]grid.Time, n)
		for i := range list {
			list[i] = grid.Time(r.Int64N(below))
		}
		want := slices.Sorted(slices.Values(list))
		if got := inOrder(list, below); !slices.Equal(got, want) {
			t.Fatalf("%d numbers below %d are in another order", n, below)
		}
	})
}

func BenchmarkInOrder_10000(b *testing.B) {
	const n, below = 10_000, 30 * 86_400
	r := rand.New(rand.NewPCG(1, 2))
	drawn := make([]grid.Time, n)
	for i := range drawn {
		drawn[i] = grid.Time(r.Int64N(below))
	}
	list := make([]grid.Time, n)
	for b.Loop() {
		copy(list, drawn)
		inOrder(list, below)
	}
}
