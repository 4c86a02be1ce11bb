package simulation

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
)

// A larger share adds jobs of parts and changes no other; every part is within its ranges.
func TestCompose_ALargerShareAddsJobsAndChangesNoOther(t *testing.T) {
	t.Parallel()
	drawn := func(share configs.Thousandths) []grid.Job {
		jobs := make([]grid.Job, 2000)
		for i := range jobs {
			jobs[i] = grid.Job{Name: fmt.Sprint("j", i), Request: grid.Request{Nodes: 8, Length: 100 * grid.Minute, MinPerformance: grid.Unit, MaxPrice: 1_000_000}, Run: 50 * grid.Minute}
		}
		compose(&configs.VOWorkload{Composed: configs.Composed{Share: share, Parts: configs.Range[int]{Lo: 2, Hi: 4}, Nodes: configs.Range[configs.Thousandths]{Lo: 250, Hi: 1000},
			Length: configs.Range[configs.Thousandths]{Lo: 100, Hi: 500}, Offset: configs.Range[configs.Thousandths]{Lo: 0, Hi: 200}, Apart: 500}}, jobs, 7)
		return jobs
	}
	few, many := drawn(200), drawn(500)
	n, m, apart, wide := 0, 0, 0, 0
	for i := range few {
		if few[i].Composed() {
			n++
			if !grid.SameParts(few[i].Parts, many[i].Parts) || few[i].Apart != many[i].Apart {
				t.Fatalf("%+v with a share of .2, %+v with .5", few[i].Parts, many[i].Parts)
			}
		}
		if !many[i].Composed() {
			continue
		}
		m++
		j := &many[i]
		if j.Apart {
			apart++
		}
		wide = max(wide, len(j.Parts))
		if bad := grid.CheckParts(&j.Request, 1000); bad != nil || !j.Whole() || len(j.Parts) > 4 {
			t.Fatalf("%v: %+v", bad, j)
		}
		for _, p := range j.Parts[1:] {
			if p.Nodes < 2 || p.Nodes > 8 || p.Length < 10*grid.Minute || p.Length > 50*grid.Minute || p.Offset > 20*grid.Minute || p.Run != p.Length/2 {
				t.Fatalf("%+v", p)
			}
		}
	}
	if n < 340 || n > 460 || m < 920 || m > 1080 || apart < m*4/10 || apart > m*6/10 || wide != 4 {
		t.Errorf("%d and %d of 2000 jobs have parts, at most %d, %d are apart", n, m, wide, apart)
	}
	if slices.ContainsFunc(drawn(0), func(j grid.Job) bool { return j.Composed() }) {
		t.Error("a share of 0 gives jobs parts")
	}
}

// A scenario draws them, places them, and keeps all invariants.
func TestCompose_AScenarioDrawsThem(t *testing.T) {
	t.Parallel()
	text := fmt.Sprintf(unlike, "amp", "cost") + "[broker.workload]\nmodel = \"uniform\"\njobs = 30\ndays = 1\nnodes = [2, 8]\nmax_price = [2.0, 4.0]\nparts_share = 0.5\nparts = [2, 3]\nparts_offset = [0.0, 0.5]\nparts_apart = 0.5\n"
	r, _ := simulated(t, text, 3)
	if b := r.Summary.Brokers[0].Jobs; b.Placed < 20 || b.CoAllocated < 3 {
		t.Errorf("%+v", b)
	}
	if _, err := configs.ParseScenario("test", []byte(fmt.Sprintf(unlike, "amp-literal", "cost")+"[broker.workload]\nmodel = \"uniform\"\njobs = 30\nparts_share = 0.5\n")); err == nil {
		t.Error("amp-literal does not search for jobs of parts")
	}
}

// A job that several sites share already is not given other parts.
func TestCompose_LeavesCoallocatedJobsAlone(t *testing.T) {
	t.Parallel()
	w := &configs.VOWorkload{Coallocated: []configs.Coallocated{{Sites: 2, Share: configs.One / 2}}}
	same := configs.Range[configs.Thousandths]{Lo: configs.One, Hi: configs.One}
	w.Composed = configs.Composed{Share: configs.One, Parts: configs.Range[int]{Lo: 3, Hi: 3}, Nodes: same, Length: same}
	jobs := make([]grid.Job, 100)
	for i := range jobs {
		jobs[i] = grid.Job{Request: grid.Request{Nodes: 4, Length: grid.Hour, MinPerformance: grid.Unit, MaxPrice: 1_000_000}}
	}
	coallocate(w, jobs, 1)
	compose(w, jobs, 1)
	sizes := map[int]int{}
	for i := range jobs {
		sizes[len(jobs[i].Parts)]++
	}
	if sizes[2] < 30 || sizes[3] < 30 || sizes[2]+sizes[3] != 100 {
		t.Errorf("jobs by their number of parts: %v", sizes)
	}
}
