package broker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// after makes a job come after others.
func after(j grid.Job, gap grid.Duration, names ...string) grid.Job {
	j.After, j.Gap = grid.Dependencies(grid.IfDone, names...), gap
	return j
}

// window is the window of a placed job.
func (w *testWorld) window(name string) grid.Leg {
	v := w.job(name)
	if v.State != grid.JobPlaced && v.State != grid.JobDone {
		w.t.Fatalf("%s is %v: %v", name, v.State, v.Reason)
	}
	return v.Last.Legs[0].Leg
}

func TestWorkflow_AJobIsReadyWhenAllThatItComesAfterEndAndTheGapHasPassed(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 0), newFakeSite("south", 4, 0)
	w := newTestWorld(t, testConfig(north, south), north, south)
	w.submit(0, testJob("get", 4, 1000*grid.Second, grid.Credit), testJob("mesh", 2, 1700*grid.Second, grid.Credit),
		after(testJob("solve", 8, 500*grid.Second, grid.Credit), 60*grid.Second, "get", "mesh"),
		after(testJob("draw", 1, 100*grid.Second, grid.Credit), 0, "solve"))
	w.finish(t, 5000*sec)
	if got := w.window("solve"); got.Start != 1760*sec {
		t.Errorf("solve starts at %v, want 1760", got.Start)
	}
	if got := w.window("draw"); got.Start != 2260*sec {
		t.Errorf("draw starts at %v, want 2260", got.Start)
	}
	if n := len(only[facts.CycleClosed](w)); n != 3 {
		t.Errorf("%d cycles, want one for each step of the workflow:\n%s", n, strings.Join(w.trace, "\n"))
	}
	for _, name := range []string{"get", "mesh", "solve", "draw"} {
		if v := w.job(name); v.State != grid.JobDone {
			t.Errorf("%s is %v: %v", name, v.State, v.Reason)
		}
	}
}

func TestWorkflow_DeadlinesGoBackToThoseBefore(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	site.free[0].Add(0, 500*sec, -3) // a cheap wide window comes later
	w := newTestWorld(t, testConfig(site), site)
	last := after(testJob("last", 4, 400*grid.Second, grid.Credit), 100*grid.Second, "first")
	last.Deadline = 1499 * sec // so the first has to end by 999 s
	w.submit(0, testJob("first", 4, 500*grid.Second, grid.Credit), last)
	w.finish(t, 5000*sec)
	for _, name := range []string{"first", "last"} {
		if v := w.job(name); v.State <= grid.JobDone {
			t.Errorf("%s is %v, it cannot be in time", name, v.State)
		}
	}
	if why := w.job("first").Reason; !strings.Contains(why.String(), "what comes after it needs it to end by 999") && why.Code != grid.NoWindow {
		t.Errorf("the first waits because %v", why)
	}
}

func TestWorkflow_TheCancelledTakesThoseAfterItAndNobodyElse(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 8, 3_600_000)
	w := newTestWorld(t, testConfig(site), site)
	pay := 9 * grid.Credit
	w.submit(0, testJob("a", 1, 1000*grid.Second, pay), testJob("x", 1, 1000*grid.Second, pay),
		after(testJob("b", 1, 1000*grid.Second, pay), 0, "a"), after(testJob("c", 1, 1000*grid.Second, pay), 0, "b", "x"),
		after(testJob("y", 1, 1000*grid.Second, pay), 0, "x"))
	w.check.off = true // the fake site knows no Release
	w.Run(10 * sec)
	w.Post(10*sec, "broker:vo1", agents.JobCancel{Job: "a"})
	w.Run(11 * sec)
	for name, want := range map[string]grid.JobState{"a": grid.JobWithdrawn, "b": grid.JobAbandoned, "c": grid.JobAbandoned, "x": grid.JobPlaced, "y": grid.JobPlaced} {
		if v := w.job(name); v.State != want {
			t.Errorf("%s is %v: %v, want %v", name, v.State, v.Reason, want)
		}
	}
	if r := w.job("b").Reason; r.Code != grid.After || !strings.HasPrefix(r.Detail, "a, which it comes after") {
		t.Errorf("b: %v", r)
	}
	if r := w.job("c").Reason; !strings.HasPrefix(r.Detail, "b, which it comes after") {
		t.Errorf("c: %v", r)
	}
}

func TestSubmit_RefusesWhatCannotComeAfter(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 8, 0)
	w := newTestWorld(t, testConfig(site), site)
	add := func(code grid.Code, words string, j grid.Job) {
		t.Helper()
		w.submit(0, j)
		w.Run(0)
		r := only[facts.SubmissionRefused](w)
		if len(r) == 0 || r[len(r)-1].Job != j.Name || r[len(r)-1].Reason.Code != code || !strings.Contains(r[len(r)-1].Reason.Detail, words) {
			t.Errorf("%s: %+v", j.Name, r)
		}
	}
	short := func(name string) grid.Job { return testJob(name, 1, grid.Second, grid.Credit) }
	ana := short("anas")
	ana.User = "ana"
	large := testJob("large", 99, grid.Second, grid.Credit)
	w.submit(0, ana, large, short("mine"))
	w.Run(0)
	add(grid.Invalid, "self -> self is a loop", after(short("self"), 0, "self"))
	add(grid.Unknown, `"nobody"`, after(short("b"), 0, "nobody"))
	add(grid.Unknown, "of the same user", after(short("c"), 0, "anas"))
	add(grid.Invalid, `"mine" twice`, after(short("d"), 0, "mine", "mine"))
	add(grid.Invalid, "gap -0.001", after(short("e"), -1, "mine"))
	add(grid.After, "large, which it comes after, was abandoned", after(short("f"), 0, "large"))
	add(grid.Invalid, "101 jobs", after(short("g"), 0, make([]string, 101)...))
}

// TestWorkflow_RandomGraphs runs random workflows against sites that refuse, cheat, keep
// silent and answer late, with users who give jobs up. No window starts before those of
// its predecessors have ended, and no job runs after one that was given up.
func TestWorkflow_RandomGraphs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sites := randomSites(t)
		cfg := testConfig(sites...)
		cfg.BatchSize = rapid.IntRange(1, 4).Draw(t, "batch")
		cfg.MaxCycles = rapid.IntRange(1, 3).Draw(t, "cycles")
		cfg.Lead = grid.Duration(rapid.SampledFrom([]int{0, 60}).Draw(t, "lead")) * grid.Second
		w := newTestWorld(t, cfg, sites...)
		w.quiet = true
		var jobs []grid.Job
		at := grid.Time(0)
		for i := range rapid.IntRange(2, 9).Draw(t, "jobs") {
			j := randomJob(t, i)
			j.User = ""
			for k := range jobs {
				if rapid.IntRange(0, 3).Draw(t, "comes after") == 0 {
					j.After = append(j.After, grid.Dependency{Job: jobs[k].Name, On: rapid.SampledFrom(grid.Conditions()).Draw(t, "on")})
				}
			}
			j.Exit = rapid.SampledFrom([]int{0, 0, 3}).Draw(t, "exit")
			if len(j.After) > 0 {
				j.Gap = grid.Duration(rapid.SampledFrom([]int{0, 0, 300}).Draw(t, "gap")) * grid.Second
			}
			jobs = append(jobs, j)
			at = at.Add(grid.Duration(rapid.IntRange(0, 800).Draw(t, "later")) * grid.Second)
			w.submit(at, j)
		}
		gone := map[string]bool{}
		w.After(func(now grid.Time, id agents.ID, out *agents.Outbox) { comesAfter(w, jobs, gone, out) })
		for range rapid.IntRange(0, 2).Draw(t, "cancellations") {
			name := rapid.SampledFrom(jobs).Draw(t, "cancelled").Name
			w.Post(grid.Time(rapid.IntRange(0, 6000).Draw(t, "cancelled at"))*sec, "broker:vo1", agents.JobCancel{Job: name})
			w.check.off = true // what it knows of fake sites holds without Release
		}
		w.Run(30_000 * sec)
		for _, s := range sites {
			s.rule = nil
		}
		w.Run(90_000 * sec)
		again := New(cfg)
		for _, f := range w.facts {
			again.Replay(0, f)
		}
		for _, j := range jobs {
			if x := w.b.mem.Names[j.Name]; x != nil && x.State.Ended() && (x.State == grid.JobFailed) != (j.Exit != 0) {
				t.Fatalf("%s, whose work exits with %d, is %v", j.Name, j.Exit, x.State)
			}
			a, b := again.mem.Names[j.Name], w.b.mem.Names[j.Name]
			if (a == nil) != (b == nil) || a != nil && (a.State != b.State || a.Reason != b.Reason || a.Fresh != b.Fresh && b.State == grid.JobWaiting) {
				t.Fatalf("a replay of the facts gives another %s", j.Name)
			}
		}
	})
}

// hopeless says, beside the table of the conditions, whether nothing may be bought for a job
// on a condition: for now, or for ever.
func hopeless(w *testWorld, d grid.Dependency, gone bool) bool {
	state := w.b.mem.Names[d.Job].State
	gone = gone || state == grid.JobAbandoned
	switch d.On {
	case grid.IfDone:
		return gone || state == grid.JobFailed
	case grid.IfFailed:
		return state != grid.JobFailed
	}
	return false
}

// comesAfter holds the windows of a workflow against its jobs after each step.
func comesAfter(w *testWorld, jobs []grid.Job, gone map[string]bool, out *agents.Outbox) {
	for _, f := range out.Facts {
		switch f := f.(type) {
		case facts.JobCancelled:
			gone[f.Job] = true
		case facts.TxBegun:
			i := slices.IndexFunc(jobs, func(j grid.Job) bool { return j.Name == f.Job })
			for _, d := range jobs[i].After {
				if hopeless(w, d, gone[d.Job]) {
					w.t.Fatalf("%s is tried, and runs only if %v, which is %v", f.Job, d, w.b.mem.Names[d.Job].State)
				}
			}
		}
	}
	for i := range jobs {
		j := w.b.mem.Names[jobs[i].Name]
		if j == nil {
			continue
		}
		for _, d := range jobs[i].After {
			if p := w.b.mem.Names[d.Job]; j.State.Open() && hopeless(w, d, gone[d.Job]) && (d.On != grid.IfFailed || !p.State.Open()) {
				w.t.Fatalf("%s is %v, and runs only if %v, which is %v", j.Name, j.State, d, p.State)
			}
		}
		if j.State != grid.JobPlaced && !j.State.Ended() || len(j.Window()) == 0 || j.Window()[0].GivenUp() != grid.Kept {
			continue
		}
		for _, d := range jobs[i].After {
			p := w.b.mem.Names[d.Job]
			end, ok := p.Ends()
			if p.State.GivenUp() { // as may be for after_any alone
				continue
			}
			if !ok && j.State == grid.JobPlaced || ok && j.Starts() < end.Add(jobs[i].Gap) {
				w.t.Fatalf("%s starts at %v and comes after %s, which is %v and ends at %v", j.Name, j.Starts(), d.Job, p.State, end)
			}
		}
	}
}

func TestQueue_WhoIsDueAndGivenUpIsDueNoMore(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	cfg := testConfig(site)
	cfg.BatchSize, cfg.MaxCycles = 1, 1
	w := newTestWorld(t, cfg, site)
	for _, name := range []string{"a", "b", "c"} {
		w.submit(0, testJob(name, 4, 9000*grid.Second, grid.Credit))
	}
	w.Run(500 * sec)
	for _, name := range []string{"b", "c"} {
		w.Post(1000*sec, "broker:vo1", agents.JobCancel{Job: name})
	}
	w.Run(3000 * sec)
	if !w.b.mem.Queue.Idle() {
		t.Errorf("jobs are due, and nobody waits")
	}
}

func TestWorkflow_AnImageKeepsIt(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	w := newTestWorld(t, testConfig(site), site)
	w.submit(0, testJob("a", 4, 100*grid.Second, grid.Credit), after(testJob("b", 99, 100*grid.Second, grid.Credit), 0, "a"),
		testJob("c", 99, grid.Second, grid.Credit), testJob("d", 1, 1000*grid.Second, grid.Credit),
		after(testJob("e", 1, 100*grid.Second, grid.Credit), 500*grid.Second, "a", "d"))
	w.Run(200 * sec)
	again := New(w.b.mem.cfg)
	again.Replay(200*sec, w.b.Image())
	for _, j := range w.b.mem.Jobs {
		o := again.mem.Names[j.Name]
		x, xok := j.Follows()
		y, yok := o.Follows()
		if len(o.Needs()) != len(j.Needs()) || len(o.Feeds()) != len(j.Feeds()) || x != y || xok != yok || o.Ended != j.Ended {
			t.Errorf("%s: after %v %t, ended %v; was %v %t, %v", j.Name, y, yok, o.Ended, x, xok, j.Ended)
		}
	}
	if got := fmt.Sprint(again.Image()); got != fmt.Sprint(w.b.Image()) {
		t.Error("the image of an image is another")
	}
}
