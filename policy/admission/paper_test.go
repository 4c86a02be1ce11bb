package admission

import (
	"math"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// s is a span of so many seconds, at an instant.
func s(seconds int64) grid.Duration { return grid.Duration(seconds) * grid.Second }
func at(seconds int64) grid.Time    { return grid.Time(seconds * 1000) }

// nodes is a server of so many nodes of performance 1.
func nodes(t testing.TB, c Control, n int, change ...func(*Options)) Server {
	t.Helper()
	opt := Options{Control: c, Nodes: make([]grid.Performance, n)}
	for i := range opt.Nodes {
		opt.Nodes[i] = grid.Unit
	}
	for _, f := range change {
		f(&opt)
	}
	server, err := New(opt, 0)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// until runs a server up to an instant and notes what happens to whom and when.
func until(t testing.TB, server Server, to grid.Time, story map[int64]string) {
	t.Helper()
	note := func(list []Event) {
		for _, e := range list {
			word := [...]string{"starts", "ends", "dropped"}[e.Kind]
			if story[e.Job] != "" {
				word = story[e.Job] + ", " + word
			}
			story[e.Job] = word + " " + server.Now().String()
		}
	}
	for note(server.Pass()); ; {
		now := min(server.Next(), to)
		note(server.Advance(now))
		note(server.Pass())
		if err := server.Audit(); err != nil {
			t.Fatal(err)
		}
		if now == to && server.Next() > to {
			return
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestDeadlineDelay_OfTheWorkedCases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ delay, remaining, want float64 }{{20, 5, 5}, {20, 10, 3}, {0, 1, 1}, {0, 1e9, 1}, {0, -7, 1}} {
		if got := deadlineDelay(c.delay, c.remaining); got != c.want {
			t.Errorf("deadline_delay(%v, %v) = %v, want %v", c.delay, c.remaining, got, c.want)
		}
	}
}

func TestRisk_IsTheStandardDeviation(t *testing.T) {
	t.Parallel()
	if got := risk([]float64{5, 3}); got != 1 {
		t.Errorf("sigma of {5, 3} = %v, want 1", got)
	}
	if got := risk([]float64{4}); got != 0 {
		t.Errorf("sigma of {4} = %v, want 0", got)
	}
}

func TestPredict_TheWorkedCases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                     string
		tasks                    []outlook
		delays, deadlineDelays   []float64
		sigma                    float64
		risk, sigmaRule, theRule bool // whether the last task fits by the letter, and by the rule in O(1)
	}{
		{"one of two is late", []outlook{{60, 100, 0}, {90, 150, 0}}, []float64{20, 0}, []float64{1.2, 1}, .1, true, false, false},
		{"twice the same", []outlook{{60, 100, 0}, {60, 100, 0}}, []float64{20, 20}, []float64{1.2, 1.2}, 0, false, true, false},
		{"late alone", []outlook{{150, 100, 0}}, []float64{50}, []float64{1.5}, 0, false, true, true},
	} {
		predict(c.tasks)
		var list []float64
		for i := range c.tasks {
			d := c.tasks[i].delay()
			list = append(list, deadlineDelay(d, c.tasks[i].deadline))
			if !near(d, c.delays[i]) || !near(list[i], c.deadlineDelays[i]) {
				t.Errorf("%s: task %d has delay %v and deadline delay %v, want %v and %v", c.name, i, d, list[i], c.delays[i], c.deadlineDelays[i])
			}
		}
		if got := risk(list); !near(got, c.sigma) {
			t.Errorf("%s: sigma = %v, want %v", c.name, got, c.sigma)
		}
		for control, want := range map[Control]bool{LibraRiskSigma: c.sigmaRule, LibraRisk: c.theRule} {
			if got := lastFits(t, control, c.tasks); got != want {
				t.Errorf("%s: %v accepts the last: %v, want %v", c.name, control, got, want)
			}
		}
	}
}

// lastFits puts all tasks but the last onto a node, whatever the control says to
// them, and asks it about the last.
func lastFits(t testing.TB, c Control, tasks []outlook) bool {
	t.Helper()
	shares := nodes(t, c, 1).(*Shares)
	n := &shares.nodes[0]
	for i, o := range tasks[:len(tasks)-1] {
		n.add(task{job: int64(i), deadline: grid.Time(o.deadline), estimate: o.estimate, work: math.Inf(1)})
	}
	n.divide()
	last := tasks[len(tasks)-1]
	d := shares.Try(Job{ID: 99, Nodes: 1, Estimate: grid.Duration(last.estimate), Deadline: grid.Time(last.deadline)})
	return !d.Reason.Refused()
}

// One node; A (at 0, run 10, estimate 200, deadline 100), B (at 1, run 10,
// estimate 20, deadline 100).
func TestControls_WhoIsTakenWhenAnEstimateOvershoots(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		control Control
		a, b    string
	}{
		{Libra, "", "ends 11"},
		{LibraRisk, "ends 10", ""},
		{LibraRiskSigma, "ends 10", ""},
		{EDF, "dropped 0", "starts 1, ends 11"},
		{EDFOpen, "starts 0, ends 10", "starts 10, ends 20"},
	} {
		server, story := nodes(t, c.control, 1), map[int64]string{}
		a := server.Arrive(Job{ID: 1, Nodes: 1, Estimate: s(200), Deadline: at(100)}, s(10))
		until(t, server, at(1), story)
		b := server.Arrive(Job{ID: 2, Nodes: 1, Estimate: s(20), Deadline: at(101)}, s(10))
		until(t, server, at(200), story)
		if story[1] != c.a || story[2] != c.b {
			t.Errorf("%v: A %q, B %q, want %q and %q", c.control, story[1], story[2], c.a, c.b)
		}
		if c.control.TimeShared() && (a.Reason.Refused() != (c.a == "") || b.Reason.Refused() != (c.b == "")) {
			t.Errorf("%v: A %v, B %v", c.control, a.Reason, b.Reason)
		}
	}
}

func TestLibraRisk_RefusesALoneLateJobIfTold(t *testing.T) {
	t.Parallel()
	for _, c := range []Control{LibraRisk, LibraRiskSigma} {
		server := nodes(t, c, 1, func(o *Options) { o.RefuseLoneLate = true })
		if d := server.Try(Job{ID: 1, Nodes: 1, Estimate: s(200), Deadline: at(100)}); d.Reason.Code != grid.NoShare {
			t.Errorf("%v takes a job whose estimate lies beyond its deadline", c)
		}
		if d := server.Try(Job{ID: 1, Nodes: 1, Estimate: s(100), Deadline: at(100)}); d.Reason.Refused() {
			t.Errorf("%v refuses one that just fits: %v", c, d.Reason)
		}
	}
}

// A job of 61 s that was estimated at 10 s, beside one of 1000 s that needs a tenth of the node:
// from the first division after its estimate on it waits for the long one to end, or with bare
// shares has nine tenths of the node.
func TestShares_AnOverrunStarvesUnlessOthersDropToTheirBareShares(t *testing.T) {
	t.Parallel()
	for bare, want := range map[bool][2]grid.Time{false: {at(1040), at(1075)}, true: {at(75), at(90)}} {
		server := nodes(t, LibraRisk, 1, func(o *Options) { o.OverrunBare = bare })
		story := map[int64]string{}
		server.Arrive(Job{ID: 1, Nodes: 1, Estimate: s(10), Deadline: at(100)}, s(61))
		server.Arrive(Job{ID: 2, Nodes: 1, Estimate: s(1000), Deadline: at(10_000)}, s(1000))
		until(t, server, at(30), story)
		server.Arrive(Job{ID: 3, Nodes: 1, Estimate: s(1), Deadline: at(130)}, s(1))
		for server.Next() < grid.Never && story[1] == "" {
			until(t, server, server.Next(), story)
		}
		if end := server.Now(); story[1] == "" || end < want[0] || end > want[1] {
			t.Errorf("bare %v: it ended at %v (%q), want between %v and %v", bare, end, story[1], want[0], want[1])
		}
	}
}

func TestLibra_TakesTheFullestNodeThatSuits(t *testing.T) {
	t.Parallel()
	server := nodes(t, Libra, 4)
	arrive := func(id int64, n int, estimate int64, want ...int) {
		t.Helper()
		d := server.Arrive(Job{ID: id, Nodes: n, Estimate: s(estimate), Deadline: at(100)}, s(1000))
		if len(d.Nodes) != len(want) {
			t.Fatalf("job %d: %+v, want nodes %v", id, d, want)
		}
		for i := range want {
			if d.Nodes[i] != want[i] {
				t.Fatalf("job %d: nodes %v, want %v", id, d.Nodes, want)
			}
		}
	}
	arrive(1, 2, 30, 0, 1) // all are empty: by number
	arrive(2, 1, 50, 0)    // .3, .3, 0, 0: the fullest, ties by number
	arrive(3, 2, 60, 1, 2) // .8, .3, 0, 0: the first is too full
	arrive(4, 1, 20, 0)    // .8, .9, .6, 0: exactly 1
	arrive(5, 4, 1)        // node 0 is full
	if d := server.Try(Job{ID: 5, Nodes: 4, Estimate: s(20), Deadline: at(100)}); d.Short != 2 || d.Reason.Code != grid.NoShare {
		t.Errorf("%+v, want 2 nodes short", d)
	}
}

func TestLibraRisk_TakesTheFirstNodesWithoutRisk(t *testing.T) {
	t.Parallel()
	for _, c := range []Control{LibraRisk, LibraRiskSigma} {
		server := nodes(t, c, 4)
		server.Arrive(Job{ID: 1, Nodes: 1, Estimate: s(60), Deadline: at(100)}, s(60))
		d := server.Arrive(Job{ID: 2, Nodes: 2, Estimate: s(90), Deadline: at(150)}, s(60)) // node 0 would be at risk
		if len(d.Nodes) != 2 || d.Nodes[0] != 1 || d.Nodes[1] != 2 {
			t.Errorf("%v: %+v, want nodes 1 and 2", c, d)
		}
		if d = server.Try(Job{ID: 3, Nodes: 4, Estimate: s(60), Deadline: at(140)}); d.Short != 3 || !strings.Contains(d.Reason.Detail, "1 of 4 nodes") {
			t.Errorf("%v: %+v, want 3 nodes short", c, d)
		}
	}
}

func TestEDF_TheHeadBlocksUntilItsNodesAreFree(t *testing.T) {
	t.Parallel()
	server, story := nodes(t, EDF, 2), map[int64]string{}
	arrive := func(id int64, n int, estimate, deadline, run int64) {
		t.Helper()
		if d := server.Arrive(Job{ID: id, Nodes: n, Estimate: s(estimate), Deadline: at(deadline)}, s(run)); d.Reason.Refused() {
			t.Fatal(d.Reason)
		}
	}
	arrive(1, 1, 10, 1000, 50)
	until(t, server, 0, story)
	arrive(2, 2, 10, 30, 10) // the earliest deadline, and cannot make it: known only at 50
	arrive(3, 1, 10, 900, 10)
	arrive(4, 1, 10, 59, 10) // would make it now, not at 50
	arrive(5, 1, 10, 60, 10) // just makes it
	until(t, server, at(1000), story)
	for id, want := range map[int64]string{1: "starts 0, ends 50", 2: "dropped 50", 3: "starts 50, ends 60", 4: "dropped 50", 5: "starts 50, ends 60"} {
		if story[id] != want {
			t.Errorf("job %d %s, want %s", id, story[id], want)
		}
	}
}

func TestNode_PastItsEstimateATaskGetsIdleCapacityOnly(t *testing.T) {
	t.Parallel()
	server, story := nodes(t, Libra, 1), map[int64]string{}
	server.Arrive(Job{ID: 1, Nodes: 1, Estimate: s(10), Deadline: at(100)}, s(30))
	until(t, server, at(20), story)                                                // used up at 10, runs on alone
	server.Arrive(Job{ID: 2, Nodes: 1, Estimate: s(5), Deadline: at(70)}, s(7))    // a share of .1
	server.Arrive(Job{ID: 3, Nodes: 1, Estimate: s(40), Deadline: at(120)}, s(24)) // a share of .4
	until(t, server, at(200), story)
	// 2 and 3 have rates of .2 and .8 and 1 has none: 3 ends first, at 50. By then
	// 2 has done 6 and is past its estimate. 1 and 2 share what is left, 10 and 1,
	// equally: 2 ends at 52 and 1 at 61.
	for id, want := range map[int64]string{1: "ends 61", 2: "ends 52", 3: "ends 50"} {
		if story[id] != want {
			t.Errorf("job %d %s, want %s", id, story[id], want)
		}
	}
}

func TestServer_NodesDifferInPerformance(t *testing.T) {
	t.Parallel()
	faster := func(o *Options) { o.Nodes = []grid.Performance{500, 2000, 1000} }
	shares, story := nodes(t, LibraRisk, 1, faster), map[int64]string{}
	shares.Arrive(Job{ID: 1, Nodes: 3, Estimate: s(60), Deadline: at(200)}, s(60)) // 120, 30, 60 of 200
	for i, want := range []float64{.6, .15, .3} {
		x := shares.(*Shares)
		if got := x.nodes[i].shares(x.now); !near(got, want) {
			t.Errorf("node %d has shares of %v, want %v", i, got, want)
		}
	}
	until(t, shares, at(300), story)
	if story[1] != "ends 120" { // with its last task
		t.Errorf("job 1 %s, want ends 120", story[1])
	}
	queue := nodes(t, EDF, 1, faster)
	queue.Arrive(Job{ID: 1, Nodes: 1, Estimate: s(60), Deadline: at(30)}, s(60)) // the fastest
	queue.Arrive(Job{ID: 2, Nodes: 2, Estimate: s(60), Deadline: at(119)}, s(60))
	queue.Arrive(Job{ID: 3, Nodes: 2, Estimate: s(60), Deadline: at(120)}, s(50))
	story = map[int64]string{}
	until(t, queue, at(300), story)
	for id, want := range map[int64]string{1: "starts 0, ends 30", 2: "dropped 0", 3: "starts 0, ends 100"} {
		if story[id] != want {
			t.Errorf("job %d %s, want %s", id, story[id], want)
		}
	}
}
