package broker

import (
	"fmt"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

func TestReasons_EveryJobNotPlacedSaysWhy(t *testing.T) {
	t.Parallel()
	base := func() grid.Job { return testJob("j", 2, 1000*grid.Second, 50*grid.Credit) }
	for _, c := range []struct {
		name  string
		job   func() grid.Job
		code  grid.Code
		final bool
	}{
		{"larger than all sites", func() grid.Job { j := base(); j.Nodes = 99; return j }, grid.TooLarge, true},
		{"on one site larger than each", func() grid.Job { j := base(); j.Nodes, j.OneSite = 8, true; return j }, grid.TooLarge, true},
		{"too fast", func() grid.Job { j := base(); j.MinPerformance = 9 * grid.Unit; return j }, grid.NoNode, true},
		{"without such nodes", func() grid.Job { j := base(); j.Require.GPUs = 4; return j }, grid.NoNode, true},
		{"too poor", func() grid.Job { j := base(); j.Budget = 1; return j }, grid.OverBudget, false},
		{"longer than the horizon", func() grid.Job { j := base(); j.Length = 20_000 * grid.Second; return j }, grid.TooLong, true},
		{"can not end in time", func() grid.Job { j := base(); j.Deadline = 500 * sec; return j }, grid.Expired, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			north, south := newFakeSite("north", 4, 3_600_000), newFakeSite("south", 6, 3_600_000)
			w := newTestWorld(t, testConfig(north, south), north, south)
			w.submit(0, c.job())
			w.finish(t, 3000*sec)
			v, p := w.job("j"), only[facts.JobPostponed](w)
			if v.Reason.Code != c.code || v.Reason.Detail == "" {
				t.Errorf("%v: %v", v.Reason.Code, v.Reason)
			}
			if final := v.State == grid.JobAbandoned; final != c.final || p[len(p)-1].Final != c.final {
				t.Errorf("final is %t", final)
			}
			if c.final && len(p) != 1 {
				t.Errorf("postponed %d times", len(p))
			}
		})
	}
}

func TestReasons_NothingIsFinalWhileASiteIsSilent(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 0), newFakeSite("south", 6, 0)
	south.rule = onNth("OfferRequest", 1, fakeAnswer{silent: true})
	w := newTestWorld(t, testConfig(north, south), north, south)
	w.submit(0, testJob("j", 10, 100*grid.Second, grid.Credit))
	w.Run(900 * sec)
	if v := w.job("j"); v.State != grid.JobWaiting || v.Reason.Code != grid.TooLarge {
		t.Errorf("the job is %v: %v", v.State, v.Reason)
	}
	w.finish(t, 2000*sec) // the second cycle does not wait for it, but hears of it
	if v := w.job("j"); v.State != grid.JobPlaced {
		t.Errorf("the job is %v: %v once south answers", v.State, v.Reason)
	}
}

func TestReasons_DeadlinePassedWhileItWaited(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	w := newTestWorld(t, testConfig(site), site)
	j := testJob("j", 1, 100*grid.Second, grid.Credit)
	j.Deadline = 900 * sec
	w.submit(1, j)
	w.finish(t, 5000*sec)
	if v := w.job("j"); v.State != grid.JobAbandoned || v.Reason.Code != grid.Expired {
		t.Errorf("the job is %v: %v", v.State, v.Reason)
	}
	if n := w.sent("OfferRequest"); n != 0 {
		t.Errorf("%d requests for offers for a job that is too late", n)
	}
}

func TestSubmit_RefusesNonsenseWithAReason(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*grid.Job){
		"no name":        func(j *grid.Job) { j.Name = "" },
		"no nodes":       func(j *grid.Job) { j.Nodes = 0 },
		"too many nodes": func(j *grid.Job) { j.Nodes = planning.MaxNodes + 1 },
		"no length":      func(j *grid.Job) { j.Length = 0 },
		"too long":       func(j *grid.Job) { j.Length = grid.MaxDuration + 1 },
		"no performance": func(j *grid.Job) { j.MinPerformance = -1 },
		"debt":           func(j *grid.Job) { j.Budget = -1 },
		"price":          func(j *grid.Job) { j.MaxPrice = -1 },
		"run":            func(j *grid.Job) { j.Run = -1 },
		"far ready":      func(j *grid.Job) { j.Ready = grid.MaxTime + 1 },
		"dear": func(j *grid.Job) {
			j.Budget, j.MaxPrice, j.Nodes, j.Length = 0, grid.MaxPrice, planning.MaxNodes, grid.MaxDuration
		},
		"past deadline": func(j *grid.Job) { j.Deadline = 5 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := newFakeSite("north", 4, 0)
			w := newTestWorld(t, testConfig(site), site)
			j := testJob("j", 1, grid.Second, grid.Credit)
			spoil(&j)
			w.submit(10, j)
			w.finish(t, 5000*sec)
			if r := only[facts.SubmissionRefused](w); len(r) != 1 || !r[0].Reason.Refused() || w.b.Waiting() != 0 {
				t.Errorf("refusals %+v", r)
			}
			if len(w.trace) != 1 {
				t.Errorf("more came of it: %q", w.trace)
			}
		})
	}
}

func TestSubmit_BoundsTheQueueAndAnswersTheClient(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	cfg := testConfig(site)
	cfg.MaxQueue = 2
	b := New(cfg)
	var codes []grid.Code
	for _, x := range []struct {
		name  string
		nodes int
	}{{"a", 1}, {"a", 1}, {"a", 2}, {"b", 1}, {"c", 1}, {"a", 1}} {
		var out agents.Outbox
		b.Step(0, "client", agents.Submit{Job: testJob(x.name, x.nodes, grid.Second, grid.Credit)}, &out)
		codes = append(codes, out.Sends[0].Message.(agents.SubmitReply).Reason.Code)
	}
	if want := []grid.Code{grid.None, grid.None, grid.Conflict, grid.None, grid.QueueFull, grid.None}; fmt.Sprint(codes) != fmt.Sprint(want) {
		t.Errorf("answers %q, want %q", codes, want)
	}
}

func TestSubmit_FillsInBudgetOrPrice(t *testing.T) {
	t.Parallel()
	b := New(testConfig(newFakeSite("north", 4, 0)))
	var out agents.Outbox
	j := testJob("a", 2, grid.Hour, 0)
	j.MaxPrice = 3_000_000
	b.Step(7, "", agents.Submit{Job: j}, &out)
	k := testJob("b", 2, grid.Hour, 8*grid.Credit)
	k.Deadline = 0
	b.Step(7, "", agents.Submit{Job: k}, &out)
	v, _ := b.Job("a")
	u, _ := b.Job("b")
	if v.Budget != 6*grid.Credit || u.MaxPrice != 4_000_000 || u.Deadline != grid.Never || u.Submit != 7 {
		t.Errorf("budget %v, price %v, deadline %v, submit %v", v.Budget, u.MaxPrice, u.Deadline, u.Submit)
	}
}
