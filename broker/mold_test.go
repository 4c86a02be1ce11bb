package broker

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/choice"
)

// threeSizes is the worked case: 2 nodes for 3000 s, 4 for 2000 s or 8 for 1200 s,
// 6000, 8000 and 9600 node-seconds.
func threeSizes(deadline grid.Time) grid.Job {
	j := testJob("wave", 0, 0, 50*grid.Credit)
	j.Mold([]grid.Size{{Nodes: 2, Length: 3000 * grid.Second}, {Nodes: 4, Length: 2000 * grid.Second}, {Nodes: 8, Length: 1200 * grid.Second}})
	j.Deadline = deadline
	return j
}

func taken(w *testWorld) string {
	f := only[facts.TxBegun](w)
	if len(f) == 0 {
		return "nothing"
	}
	l := f[0].Legs[0]
	return fmt.Sprint(l.Nodes, " nodes for ", l.Duration())
}

// T* of the three sizes is 1000 + 666.666 + 400 s, so that the cheapest within it
// is that of 4 nodes.
func TestMoldable_SelectionChoosesAmongAllSizes(t *testing.T) {
	t.Parallel()
	for goal, want := range map[grid.Goal]string{
		grid.GoalTime: "8 nodes for 1200", grid.GoalFinish: "8 nodes for 1200", grid.GoalCost: "4 nodes for 2000",
	} {
		site := newFakeSite("north", 8, 3_600_000)
		cfg := testConfig(site)
		cfg.Minimize = goal
		w := newTestWorld(t, cfg, site)
		w.submit(0, threeSizes(grid.Never))
		w.finish(t, 0)
		if got := taken(w); got != want {
			t.Errorf("to minimise %v it takes %s, want %s", goal, got, want)
		}
	}
}

// One by one, the size is chosen first: of the available sizes, the one with the least R x
// fmol(R).
func TestMoldable_OneByOneTakesTheSizeOfLeastWorkThatFits(t *testing.T) {
	t.Parallel()
	for deadline, want := range map[grid.Time]string{
		grid.Never: "2 nodes for 3000", 2999 * sec: "4 nodes for 2000", 1200 * sec: "8 nodes for 1200", 1199 * sec: "nothing",
	} {
		site := newFakeSite("north", 8, 3_600_000)
		cfg := testConfig(site)
		cfg.Strategy = choice.Earliest
		w := newTestWorld(t, cfg, site)
		w.submit(0, threeSizes(deadline))
		w.Run(0)
		if got := taken(w); got != want {
			t.Errorf("with the deadline %v it takes %s, want %s", deadline, got, want)
		}
	}
}

// The real run time is the same share of the length in every size.
func TestMoldable_RunIsTheSameShareOfEverySize(t *testing.T) {
	t.Parallel()
	j := threeSizes(grid.Never)
	j.Run = 1500 * grid.Second // of 3000 s on 2 nodes
	for nodes, want := range map[int]grid.Duration{2: 1500 * grid.Second, 4: 1000 * grid.Second, 8: 600 * grid.Second} {
		if got := j.RunAt(j.SizeOn(nodes)); got != want {
			t.Errorf("on %d nodes it takes %v, want %v", nodes, got, want)
		}
	}
}

func TestMoldable_UnsoundSizesAreRefusedWithTheNumbers(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 8, 3_600_000)
	w := newTestWorld(t, testConfig(site), site)
	j := threeSizes(grid.Never)
	j.Sizes[2].Length = 2001 * grid.Second
	w.submit(0, j)
	w.Run(0)
	f := only[facts.SubmissionRefused](w)
	if len(f) != 1 || f[0].Reason.Detail != "sizes: 2000 seconds on 4 nodes but 2001 on 8; a length must not grow with the nodes" {
		t.Errorf("%+v", f)
	}
}

// A moldable job is placed wherever one of its sizes as a rigid job would be, the
// world being the same: whatever sites ask beside their base price, whatever lies
// there, and however the broker chooses.
func TestMoldable_IsPlacedWhereOneOfItsSizesWouldBe(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.IntRange(0, 1<<30).Draw(t, "world")
		strategy := rapid.SampledFrom([]choice.Strategy{choice.Batch, choice.Batch, choice.Earliest, choice.ShortestQueue}).Draw(t, "strategy")
		goal := rapid.SampledFrom([]grid.Goal{grid.GoalTime, grid.GoalCost, grid.GoalFinish}).Draw(t, "minimize")
		others := rapid.IntRange(0, 6).Draw(t, "others")
		job := moldableJob(t, "wave", 4)
		placed := func(r grid.Request) bool {
			draw := rapid.Custom(func(t *rapid.T) []*fakeSite { return randomSites(t) })
			sites := draw.Example(seed)
			for _, s := range sites {
				s.rule, s.lie, s.skew = nil, nil, 0
			}
			cfg := testConfig(sites...)
			cfg.Strategy, cfg.Minimize, cfg.MaxAlternatives = strategy, goal, 20
			w := newTestWorld(t, cfg, sites...)
			w.quiet = true
			for i := range others {
				w.submit(0, rapid.Custom(func(t *rapid.T) grid.Job { return randomJob(t, i) }).Example(seed+i))
			}
			w.Run(0)
			j := job
			j.Request = r
			w.submit(1000*sec, j)
			w.Run(1000 * sec)
			return w.job("wave").State == grid.JobPlaced
		}
		got := placed(job.Request)
		for _, z := range job.Preferred() {
			if rigid := placed(job.At(z)); rigid && !got {
				t.Fatalf("as a rigid job of %+v it is placed, as a moldable one of %+v it is not", z, job.Sizes)
			}
		}
	})
}

// moldableJob is a random job with up to a number of sizes.
func moldableJob(t *rapid.T, name string, most int) grid.Job {
	j := testJob(name, 0, 0, grid.Credits(rapid.IntRange(1, 60).Draw(t, "pays"))*grid.Credit)
	nodes, length := 0, grid.Duration(rapid.IntRange(1, 4000).Draw(t, "length"))*grid.Second
	var sizes []grid.Size
	for range rapid.IntRange(1, most).Draw(t, "sizes") {
		nodes += rapid.IntRange(1, 3).Draw(t, "more nodes")
		sizes = append(sizes, grid.Size{Nodes: nodes, Length: length})
		length -= grid.Duration(rapid.Int64Range(0, int64(length)/2).Draw(t, "less"))
	}
	j.Mold(sizes)
	if rapid.Bool().Draw(t, "has a deadline") {
		j.Deadline = grid.Time(rapid.IntRange(1001, 9000).Draw(t, "deadline")) * sec
	}
	return j
}
