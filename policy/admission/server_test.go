package admission

import (
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

func TestParseControl_ReadsWhatStringShows(t *testing.T) {
	t.Parallel()
	for c := Libra; c <= EDFOpen; c++ {
		if got, err := ParseControl(c.String()); err != nil || got != c {
			t.Errorf("%v reads as %v, %v", c, got, err)
		}
	}
	if _, err := ParseControl("libra-risk"); err == nil || !strings.Contains(err.Error(), `"libra-risk" is unknown; must be libra, librarisk`) {
		t.Error(err)
	}
}

func TestNew_RefusesOptionsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	unit := []grid.Performance{grid.Unit}
	for _, c := range []struct {
		opt  Options
		want string
	}{
		{Options{}, "0 nodes: must be 1 to 1048576"},
		{Options{Nodes: make([]grid.Performance, MaxNodes+1)}, "1048577 nodes"},
		{Options{Nodes: []grid.Performance{grid.Unit, 0}}, "node 1 has performance 0: must be above 0 and up to 1000"},
		{Options{Nodes: []grid.Performance{grid.MaxPerformance + 1}}, "node 0 has performance 1000.001"},
		{Options{Nodes: unit, Tasks: -1}, "bounds of -1 tasks"},
		{Options{Nodes: unit, Queue: -5}, "-5 jobs that wait"},
	} {
		if _, err := New(c.opt, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestNew_AndCheckTakeWhatIsAtTheirBounds(t *testing.T) {
	t.Parallel()
	many := slices.Repeat([]grid.Performance{grid.MaxPerformance}, MaxNodes)
	if server, err := New(Options{Control: EDF, Nodes: many}, 0); err != nil || server == nil {
		t.Errorf("%d nodes: %v, %v", len(many), server, err)
	}
	last := Job{Nodes: 1, Estimate: grid.MaxDuration, Deadline: 2 * grid.MaxTime}
	if err := last.Check(last.Deadline - 1); err != nil {
		t.Error(err)
	}
}

func TestArrive_RefusesWhatMakesNoSenseWithItsFigures(t *testing.T) {
	t.Parallel()
	for c := Libra; c <= EDFOpen; c++ {
		server := nodes(t, c, 2)
		server.Advance(at(50))
		for _, x := range []struct {
			job  Job
			code grid.Code
			want string
		}{
			{Job{Nodes: 0, Estimate: s(1), Deadline: at(60)}, grid.Invalid, "nodes = 0: must be 1 or more"},
			{Job{Nodes: 1, Estimate: 0, Deadline: at(60)}, grid.Invalid, "estimate 0: must be above 0"},
			{Job{Nodes: 1, Estimate: -s(3), Deadline: at(60)}, grid.Invalid, "estimate -3: must be above 0"},
			{Job{Nodes: 1, Estimate: grid.MaxDuration + 1, Deadline: at(60)}, grid.Invalid, "up to 10000000000 s"},
			{Job{Nodes: 1, Estimate: s(1), Deadline: at(50)}, grid.Invalid, "deadline 50: must be after now, 50"},
			{Job{Nodes: 1, Estimate: s(1), Deadline: grid.Never}, grid.Invalid, "deadline never: must be at most"},
			{Job{Nodes: 3, Estimate: s(1), Deadline: at(60)}, grid.TooLarge, "the job needs 3 nodes, there are 2"},
		} {
			d := server.Arrive(x.job, s(1))
			if d.Reason.Code != x.code || !strings.Contains(d.Reason.Detail, x.want) || d.Nodes != nil {
				t.Errorf("%v: %+v, want %s with %q", c, d, x.code, x.want)
			}
		}
		if server.Pass(); server.Next() != grid.Never {
			t.Errorf("%v: a refused job is there", c)
		}
	}
}

func TestArrive_KeepsItsBounds(t *testing.T) {
	t.Parallel()
	job := func(id int64) Job { return Job{ID: id, Nodes: 1, Estimate: 1, Deadline: at(1000)} }
	for _, c := range []Control{Libra, LibraRisk, LibraRiskSigma} {
		server := nodes(t, c, 1, func(o *Options) { o.Tasks = 2 })
		server.Arrive(job(1), s(1))
		server.Arrive(job(2), s(1))
		if d := server.Arrive(job(3), s(1)); d.Reason.Code != grid.NoShare || d.Short != 1 {
			t.Errorf("%v: a third task: %+v", c, d)
		}
	}
	server := nodes(t, EDF, 1, func(o *Options) { o.Queue = 2 })
	server.Arrive(job(1), s(1))
	server.Arrive(job(2), s(1))
	if d := server.Arrive(job(3), s(1)); d.Reason.Code != grid.QueueFull || !strings.Contains(d.Reason.Detail, "2 jobs wait") {
		t.Errorf("a third waits: %+v", d)
	}
	server.Pass() // one starts
	if d := server.Arrive(job(3), s(1)); d.Reason.Refused() {
		t.Errorf("there is room again: %+v", d)
	}
}

func TestTry_LeavesNoTrace(t *testing.T) {
	t.Parallel()
	for c := Libra; c <= EDFOpen; c++ {
		server := nodes(t, c, 2)
		if d := server.Try(Job{ID: 1, Nodes: 2, Estimate: s(60), Deadline: at(100)}); d.Reason.Refused() || c.TimeShared() != (len(d.Nodes) == 2) {
			t.Errorf("%v: %+v", c, d)
		}
		if server.Pass(); server.Next() != grid.Never || server.End(1) {
			t.Errorf("%v: the job is there", c)
		}
	}
}

func TestServer_PanicsAtWhatItsOwnerMustNotDo(t *testing.T) {
	t.Parallel()
	for c := Libra; c <= EDFOpen; c++ {
		for name, wrong := range map[string]func(Server){
			"back":        func(x Server) { x.Advance(at(4)) },
			"beyond":      func(x Server) { x.Advance(at(16)) },
			"the same id": func(x Server) { x.Arrive(Job{ID: 1, Nodes: 1, Estimate: s(1), Deadline: at(100)}, s(1)) },
			"a run of 0":  func(x Server) { x.Arrive(Job{ID: 2, Nodes: 1, Estimate: s(1), Deadline: at(100)}, 0) },
			"a run of 1e9": func(x Server) {
				x.Arrive(Job{ID: 2, Nodes: 1, Estimate: s(1), Deadline: at(100)}, grid.MaxDuration+1)
			},
		} {
			server := nodes(t, c, 1)
			server.Advance(at(5))
			server.Arrive(Job{ID: 1, Nodes: 1, Estimate: s(10), Deadline: at(100)}, s(10))
			server.Pass()
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v, %s: no panic", c, name)
					}
				}()
				wrong(server)
			}()
		}
	}
}

// Runs of unknown length, on the slowest of nodes beside the most urgent of neighbours,
// are longer than a Time can hold. Only End ends them.
func TestShares_AnEndThatIsNotKnownIsNever(t *testing.T) {
	t.Parallel()
	server := nodes(t, LibraRisk, 1, func(o *Options) { o.Nodes[0] = 1 })
	server.Arrive(Job{ID: 1, Nodes: 1, Estimate: 1, Deadline: grid.MaxTime}, grid.MaxDuration)
	server.Arrive(Job{ID: 2, Nodes: 1, Estimate: grid.Millisecond, Deadline: 1001}, grid.MaxDuration)
	if err := server.Audit(); err != nil {
		t.Fatal(err)
	}
	if !server.End(1) || !server.End(2) || server.End(2) || server.Next() != grid.Never {
		t.Error("both were there, and nothing is left")
	}
}

// The work that rounding leaves of a job is done, even if a division among the others falls
// into its last sliver and its share is gone: it does not wait for idle capacity.
func TestShares_ASliverOfWorkDoesNotOutliveItsDeadline(t *testing.T) {
	t.Parallel()
	server, err := New(Options{Control: Libra, Nodes: []grid.Performance{1100}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	ended := map[int64]grid.Time{}
	advance := func(to grid.Time) {
		for next := server.Next(); next <= to; next = server.Next() {
			for _, e := range server.Advance(next) {
				ended[e.Job] = next
			}
		}
		server.Advance(to)
	}
	for i, j := range []struct {
		at, due grid.Time
		run     grid.Duration
	}{{0, 8139, 8137}, {912, 10357, 10}, {1850, 5829, 1}, {5366, 5370, 1}, {5448, 5778, 93}} {
		advance(j.at)
		if d := server.Arrive(Job{ID: int64(i + 1), Nodes: 1, Estimate: j.run, Deadline: j.due}, j.run); d.Reason.Refused() {
			t.Fatalf("job %d: %v", i+1, d.Reason)
		}
	}
	advance(20_000)
	if ended[3] == 0 || ended[3] > 5829 {
		t.Errorf("job 3 ends at %d ms, due at 5829", ended[3])
	}
}

// A sum of shares may exceed 1 by the tolerance for rounding, and by no more.
func TestTry_ASumIsWithinItsBoundUpToTheTolerance(t *testing.T) {
	t.Parallel()
	for _, c := range []Control{Libra, LibraRisk} {
		server := nodes(t, c, 1, func(o *Options) { o.RefuseLoneLate = true })
		const billion = 1_000_000_000
		for over, refused := range []bool{false, false, true} {
			j := Job{ID: 1, Nodes: 1, Estimate: grid.Duration(billion + over), Deadline: billion}
			if d := server.Try(j); d.Reason.Refused() != refused {
				t.Errorf("%v: a share of 1 and %d billionths: %+v, want refused: %v", c, over, d, refused)
			}
		}
	}
}

// The audit of a server notices each thing that must never be.
func TestAudit_SaysWhatMustNeverBe(t *testing.T) {
	t.Parallel()
	full := func(c Control) Server { // jobs 1 and 2 have a node each
		server := nodes(t, c, 2)
		for id := range int64(2) {
			server.Arrive(Job{ID: id + 1, Nodes: 1, Estimate: s(6), Deadline: at(10)}, s(6))
		}
		server.Pass()
		server.Advance(at(1))
		if err := server.Audit(); err != nil {
			t.Fatal(err)
		}
		return server
	}
	for want, spoil := range map[string]func(*Shares){
		"a task of job 1 should have left node 0": func(x *Shares) { x.nodes[0].tasks[0].end = x.now },
		"node 0 works at a rate of 1.":            func(x *Shares) { x.nodes[0].tasks[0].rate += 1e-8 },
		"node 1 works at a rate of 0.9":           func(x *Shares) { x.nodes[1].tasks[0].rate -= 1e-8 },
		"node 0 has shares of 1.":                 func(x *Shares) { x.nodes[0].at, x.nodes[0].total = x.now, 1.000001 },
		"nodes have tasks of 2 jobs, 1 run":       func(x *Shares) { delete(x.jobs, 2) },
		"job 2 has 1 tasks, 2 are left":           func(x *Shares) { x.jobs[2].left++ },
	} {
		x := full(Libra).(*Shares)
		if spoil(x); x.Audit() == nil || !strings.Contains(x.Audit().Error(), want) {
			t.Errorf("%v, want %q", x.Audit(), want)
		}
	}
	for want, spoil := range map[string]func(*Queue){
		"job 1 should have ended at 1, now is 1": func(x *Queue) { x.running[0].end = x.now },
		"of job 2 runs 2 tasks":                  func(x *Queue) { x.running[1].nodes = x.running[0].nodes },
		"of job 1 runs 1 tasks":                  func(x *Queue) { x.busy[x.running[0].nodes[0]] = false },
		"0 nodes are free, 1 are counted":        func(x *Queue) { x.free++ },
		"3 jobs known, 0 wait, 2 run":            func(x *Queue) { x.ids[3] = struct{}{} },
	} {
		x := full(EDF).(*Queue)
		if spoil(x); x.Audit() == nil || !strings.Contains(x.Audit().Error(), want) {
			t.Errorf("%v, want %q", x.Audit(), want)
		}
	}
}
