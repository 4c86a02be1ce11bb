package broker

import (
	"fmt"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

func TestTransaction_HeldAboveItsLimitIsCancelled(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 3_600_000)
	site.rule = onNth("Hold", 1, fakeAnswer{cheat: true, add: 90 * grid.Credit})
	w := newTestWorld(t, testConfig(site), site)
	w.submit(0, testJob("one", 1, 1000*grid.Second, 5*grid.Credit))
	w.finish(t, 999*sec)
	if c, a := decisions(w); c != 1 || a != 1 {
		t.Errorf("%d COMMIT, %d ABORT; want one of each", c, a)
	}
	if got := w.b.mem.Accounts.Ledger().Account("vo:vo1").Debit; got != grid.Credit {
		t.Errorf("%v credits paid, want 1", got)
	}
}

func TestTransaction_GivesUpBeforeTheLimitOfTheHold(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 0), newFakeSite("south", 4, 0)
	south.rule = onNth("Hold", 1, fakeAnswer{late: 29 * grid.Second})
	w := newTestWorld(t, testConfig(north, south), north, south)
	w.submit(0, testJob("both", 8, 100*grid.Second, grid.Credit))
	w.Run(21_999)
	if _, a := decisions(w); a != 0 {
		t.Error("gave up too early")
	}
	w.Run(22_000) // 0.8 x 30 s - 2 s
	if _, a := decisions(w); a != 1 {
		t.Error("did not give up in time")
	}
	w.finish(t, 999*sec)
	if c, a := decisions(w); c != 1 || a != 1 {
		t.Errorf("%d COMMIT, %d ABORT; want the next alternative", c, a)
	}
}

func TestTransaction_RefusedPrepareAbortsAllLegs(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 0), newFakeSite("south", 4, 0)
	south.rule = onNth("Prepare", 1, fakeAnswer{refuse: grid.Expired})
	w := newTestWorld(t, testConfig(north, south), north, south)
	w.submit(0, testJob("both", 8, 100*grid.Second, grid.Credit))
	w.finish(t, 900*sec)
	if c, a := decisions(w); c != 1 || a != 1 {
		t.Errorf("%d COMMIT, %d ABORT", c, a)
	}
}

func TestTransaction_DecisionIsRepeatedUntilAcknowledged(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 3_600_000), newFakeSite("south", 4, 3_600_000)
	south.rule = rules(onNth("Confirm", 1, fakeAnswer{silent: true}), onNth("Confirm", 2, fakeAnswer{silent: true}))
	w := newTestWorld(t, testConfig(north, south), north, south)
	w.submit(0, testJob("both", 8, 1000*grid.Second, 99*grid.Credit))
	w.Run(0)
	if a := w.b.mem.Accounts.Ledger().Account("vo:vo1"); a.Debit != 4*grid.Credit || a.PendingDebit != 4*grid.Credit {
		t.Errorf("posted %v, pending %v; want 4 of each while south is silent", a.Debit, a.PendingDebit)
	}
	w.Run(10 * sec)
	if n := w.sent("-> south: Confirm"); n != 3 {
		t.Errorf("south was told %d times", n)
	}
	if n := w.sent("-> north: Confirm"); n != 1 {
		t.Errorf("north was told %d times", n)
	}
	w.check.rest()
}

func TestTransaction_SingleLegThatExpiredBeforeConfirmIsTriedAnew(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 3_600_000)
	site.rule = onNth("Confirm", 1, fakeAnswer{refuse: grid.Expired})
	w := newTestWorld(t, testConfig(site), site)
	w.submit(0, testJob("one", 4, 1000*grid.Second, 99*grid.Credit))
	w.Run(1)
	if v := w.job("one"); v.State != grid.JobWaiting || w.b.Waiting() != 1 || w.b.mem.Accounts.Left() != 1000*grid.Credit {
		t.Errorf("the job is %v, %v credits left", v.State, w.b.mem.Accounts.Left())
	}
	w.finish(t, 1000*sec)
	if v := w.job("one"); v.State != grid.JobPlaced || w.b.mem.Accounts.Left() != 996*grid.Credit {
		t.Errorf("the job is %v, %v credits left", v.State, w.b.mem.Accounts.Left())
	}
}

func TestTransaction_PendingMoneyCountsForTheNextBatch(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 8, 3_600_000)
	site.rule = onNth("Confirm", 0, fakeAnswer{silent: true})
	cfg := testConfig(site)
	cfg.Budget = 5 * grid.Credit
	w := newTestWorld(t, cfg, site)
	w.submit(0, testJob("first", 4, 1000*grid.Second, 9*grid.Credit))
	w.submit(1, testJob("second", 4, 1000*grid.Second, 9*grid.Credit))
	w.Run(1000 * sec)
	if v := w.job("second"); v.State != grid.JobWaiting || v.Reason.Code != grid.NoMoney {
		t.Errorf("second is %v: %v; first's 4 credits are pending", v.State, v.Reason)
	}
	site.rule = nil
	w.finish(t, 1500*sec)
}

func TestTransaction_TriesOfACycleAreBounded(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	site.rule = onNth("Hold", 0, fakeAnswer{refuse: grid.Busy})
	cfg := testConfig(site)
	cfg.MaxAlternatives, cfg.MaxTries = 10, 4
	w := newTestWorld(t, cfg, site)
	w.submit(0, testJob("one", 1, 1000*grid.Second, grid.Credit))
	w.finish(t, 0)
	if _, a := decisions(w); a != 4 {
		t.Errorf("%d tries, want 4", a)
	}
	if v := w.job("one"); v.State != grid.JobWaiting || v.Reason.Code != grid.Busy {
		t.Errorf("the job is %v: %v", v.State, v.Reason)
	}
}

func TestTransaction_LaterTriesGoSiteBySite(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 0), newFakeSite("south", 4, 0)
	north.rule = rules(onNth("Hold", 1, fakeAnswer{refuse: grid.Busy}), onNth("Hold", 2, fakeAnswer{refuse: grid.Busy}))
	w := newTestWorld(t, testConfig(north, south), north, south)
	w.submit(0, testJob("both", 8, 1000*grid.Second, grid.Credit))
	w.finish(t, 0)
	// The first try asks both, the second only north, the third north, then south.
	if n, s := w.sent("-> north: Hold"), w.sent("-> south: Hold"); n != 3 || s != 2 {
		t.Errorf("north was asked %d times, south %d times; want 3 and 2", n, s)
	}
	// South held the first try after north had refused: that is cancelled again.
	if n := w.sent("-> south: Cancel"); n != 2 {
		t.Errorf("south was told to cancel %d times, want 2", n)
	}
}

func TestHold_SaysWhatTheWorkReallyTakesOnThatGroup(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	site.groups[0].Performance = 2 * grid.Unit
	var hold agents.Hold
	site.rule = func(m agents.Message) fakeAnswer {
		if h, ok := m.(agents.Hold); ok {
			hold = h
		}
		return fakeAnswer{}
	}
	w := newTestWorld(t, testConfig(site), site)
	j := testJob("j", 4, 1000*grid.Second, grid.Credit)
	j.Run = 600 * grid.Second
	w.submit(0, j)
	w.finish(t, 0)
	if hold.Run != 300*grid.Second || hold.What.Duration() != 500*grid.Second || hold.For != 30*grid.Second {
		t.Errorf("hold %+v", hold)
	}
}

func TestLead_NoWindowStartsBeforeAndLocksEndBeforeTheStart(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 0), newFakeSite("south", 4, 0)
	cfg := testConfig(north, south)
	cfg.Lead = 20 * grid.Second
	var locks []grid.Duration
	north.rule = func(m agents.Message) fakeAnswer {
		switch m := m.(type) {
		case agents.Hold:
			locks = append(locks, m.For)
		case agents.Prepare:
			locks = append(locks, m.For)
		}
		return fakeAnswer{}
	}
	w := newTestWorld(t, cfg, north, south)
	w.submit(0, testJob("both", 8, 1000*grid.Second, grid.Credit))
	w.finish(t, 30*sec)
	if v := w.job("both"); v.State != grid.JobPlaced || v.Last.Legs[0].Start != 20*sec {
		t.Errorf("the job is %v, %+v", v.State, v.Last)
	}
	if fmt.Sprint(locks) != "[20 20]" {
		t.Errorf("locks of %v s, want 20 each", locks)
	}
}

func TestTransaction_RepeatsBackOffToFiveSeconds(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	site.rule = onNth("Confirm", 0, fakeAnswer{silent: true})
	w := newTestWorld(t, testConfig(site), site)
	w.submit(0, testJob("one", 1, 1000*grid.Second, grid.Credit))
	w.Run(30 * sec)
	// 0, 0.5, 1.5, 3.5, 7.5, 12.5, 17.5, 22.5, 27.5
	if n := w.sent("-> north: Confirm"); n != 9 {
		t.Errorf("told %d times in 30 s, want 9", n)
	}
}

func TestTransaction_HeldBeforeItWasAskedForIsIgnored(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 0), newFakeSite("south", 4, 0)
	north.rule = rules(onNth("Hold", 1, fakeAnswer{refuse: grid.Busy}), onNth("Hold", 2, fakeAnswer{silent: true}))
	w := newTestWorld(t, testConfig(north, south), north, south)
	w.submit(0, testJob("both", 8, 1000*grid.Second, grid.Credit))
	w.Run(0)
	var out agents.Outbox
	w.b.Step(w.Now(), "site:south", agents.Held{Leg: grid.LegID{Tx: w.job("both").Last.ID, Leg: 1}}, &out)
	if len(out.Facts) > 0 {
		t.Errorf("it recorded %+v", out.Facts)
	}
	w.finish(t, 900*sec)
}
