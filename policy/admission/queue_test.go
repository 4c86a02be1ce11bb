package admission

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// naiveEDF plays a list of jobs on n nodes of performance 1, a millisecond after
// the other, and tells what happens to whom.
func naiveEDF(n int, open bool, jobs []Job, arrivals []grid.Time, runs []grid.Duration) []string {
	story := make([]string, len(jobs))
	var waiting, running []int
	ends := make([]grid.Time, len(jobs))
	free := n
	for now := grid.Time(0); now < 20_000; now++ {
		running = slices.DeleteFunc(running, func(i int) bool {
			if ends[i] != now {
				return false
			}
			free += jobs[i].Nodes
			story[i] += fmt.Sprintf(" ended %d", now)
			return true
		})
		for i := range jobs {
			if arrivals[i] == now {
				waiting = append(waiting, i)
			}
		}
		for len(waiting) > 0 {
			head := 0
			for k := range waiting {
				if jobs[waiting[k]].Deadline < jobs[waiting[head]].Deadline {
					head = k
				}
			}
			i := waiting[head]
			if jobs[i].Nodes > free {
				break
			}
			waiting = slices.Delete(waiting, head, head+1)
			if !open && now.Add(jobs[i].Estimate) > jobs[i].Deadline {
				story[i] += fmt.Sprintf(" dropped %d", now)
				continue
			}
			free -= jobs[i].Nodes
			ends[i] = now.Add(runs[i])
			running = append(running, i)
			story[i] += fmt.Sprintf(" started %d", now)
		}
	}
	return story
}

func TestQueue_EqualsTheNaiveTwinThatWalksThroughEveryMillisecond(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		control := rapid.SampledFrom([]Control{EDF, EDFOpen}).Draw(rt, "control")
		n := rapid.IntRange(1, 5).Draw(rt, "nodes")
		server := nodes(t, control, n)
		var jobs []Job
		var arrivals []grid.Time
		var runs []grid.Duration
		now := grid.Time(0)
		for range rapid.IntRange(1, 25).Draw(rt, "jobs") {
			now += grid.Time(rapid.IntRange(0, 30).Draw(rt, "pause"))
			arrivals = append(arrivals, now)
			jobs = append(jobs, Job{ID: int64(len(jobs)), Nodes: rapid.IntRange(1, n).Draw(rt, "n"),
				Estimate: grid.Duration(rapid.IntRange(1, 60).Draw(rt, "estimate")),
				Deadline: now + grid.Time(rapid.IntRange(1, 300).Draw(rt, "deadline"))})
			runs = append(runs, grid.Duration(rapid.IntRange(1, 60).Draw(rt, "run")))
		}
		got := make([]string, len(jobs))
		note := func(list []Event) {
			for _, e := range list {
				got[e.Job] += fmt.Sprintf(" %s %d", [...]string{"started", "ended", "dropped"}[e.Kind], server.Now())
			}
			if err := server.Audit(); err != nil {
				rt.Fatal(err)
			}
		}
		for i := 0; i < len(jobs) || server.Next() < grid.Never; {
			next := server.Next()
			if i < len(jobs) {
				next = min(next, arrivals[i])
			}
			note(server.Advance(next))
			for ; i < len(jobs) && arrivals[i] == next; i++ {
				if d := server.Arrive(jobs[i], runs[i]); d.Reason.Refused() {
					rt.Fatal(d.Reason)
				}
			}
			note(server.Pass())
		}
		if want := naiveEDF(n, control == EDFOpen, jobs, arrivals, runs); !slices.Equal(got, want) {
			rt.Fatalf("%q, want %q", got, want)
		}
	})
}

func TestQueue_EndTakesAJobAwayWhereverItStands(t *testing.T) {
	t.Parallel()
	server, story := nodes(t, EDF, 1), map[int64]string{}
	for id := int64(1); id <= 3; id++ {
		server.Arrive(Job{ID: id, Nodes: 1, Estimate: s(10), Deadline: at(100 * id)}, s(10))
	}
	until(t, server, at(5), story)
	for _, id := range []int64{1, 2} { // one runs, one waits
		if !server.End(id) {
			t.Errorf("job %d is not there", id)
		}
	}
	if server.End(1) || server.End(77) {
		t.Error("what is not there is taken away")
	}
	until(t, server, at(50), story)
	if story[1] != "starts 0" || story[2] != "" || story[3] != "starts 5, ends 15" {
		t.Errorf("%v", story)
	}
}
