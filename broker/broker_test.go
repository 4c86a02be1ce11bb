package broker

import (
	"fmt"
	"strings"
	"testing"

	"bourse"
	"bourse/agents"
	"bourse/policy/selection"
)

const sec = bourse.Time(bourse.Second)

// at is how many messages of a kind a site got, from the trace.
func (w *testWorld) sent(what string) int {
	n := 0
	for _, line := range w.trace {
		if strings.Contains(line, what) {
			n++
		}
	}
	return n
}

func decisions(w *testWorld) (commits, aborts int) {
	for _, d := range only[bourse.TxDecided](w) {
		if d.Commit {
			commits++
		} else {
			aborts++
		}
	}
	return commits, aborts
}

func TestCycle_FiresAtMultiplesOfItsLengthPlusItsPhase(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	cfg := testConfig(site)
	cfg.Phase = 300 * bourse.Second
	w := newTestWorld(t, cfg, site)
	for _, at := range []bourse.Time{0, 400 * sec, 1300 * sec} {
		w.submit(at, testJob(fmt.Sprintf("j%d", at/sec), 1, bourse.Second, bourse.Credit))
	}
	w.finish(t, 5000*sec)
	var starts []bourse.Time
	for _, f := range only[bourse.TxBegun](w) {
		starts = append(starts, f.Legs[0].Start/sec)
	}
	// The last job comes in the instant of a cycle, whose alarm is there first.
	if want := []bourse.Time{300, 1300, 2300}; fmt.Sprint(starts) != fmt.Sprint(want) {
		t.Errorf("windows start at %v, want %v", starts, want)
	}
	if b := New(cfg); b.firstCycle(300*sec) != 300*sec || b.firstCycle(301*sec) != 1300*sec || b.firstCycle(0) != 300*sec || b.firstCycle(-5000*sec) != -4700*sec {
		t.Error("the first cycle is not the next multiple")
	}
}

func TestPhase_SpreadsBrokersOverTheCycle(t *testing.T) {
	t.Parallel()
	seen := map[bourse.Duration]bool{}
	for i := range 100 {
		p := Phase(fmt.Sprintf("vo%d", i), bourse.Hour)
		if p < 0 || p >= bourse.Hour {
			t.Fatalf("phase %v is outside the cycle", p)
		}
		seen[p] = true
	}
	if len(seen) < 95 {
		t.Errorf("100 names have %d phases", len(seen))
	}
	if got := Phase("vo1", 30*bourse.Minute); got != Phase("vo1", 30*bourse.Minute) || got == Phase("vo2", 30*bourse.Minute) {
		t.Errorf("phase of vo1 is %v", got)
	}
}

func TestCycle_SkippedWhenNothingWaits(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	w := newTestWorld(t, testConfig(site), site)
	w.finish(t, 10_000*sec)
	if len(w.trace) != 0 || w.b.Cycles() != 0 {
		t.Errorf("an idle broker said %q", w.trace)
	}
}

func TestCycle_AtOnceWhenTheBatchIsFull(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 8, 0)
	cfg := testConfig(site)
	cfg.BatchSize = 3
	w := newTestWorld(t, cfg, site)
	for i := range 4 {
		w.submit(bourse.Time(100+i)*sec, testJob(fmt.Sprint("j", i), 1, bourse.Second, bourse.Credit))
	}
	w.Run(999 * sec)
	if c := only[bourse.CycleClosed](w); len(c) != 1 || c[0].Batch != 3 || w.b.Waiting() != 1 {
		t.Errorf("cycles %+v, %d jobs wait; one cycle of the first 3 is wanted", c, w.b.Waiting())
	}
	w.finish(t, 2000*sec)
	if w.b.Waiting() != 0 {
		t.Errorf("%d jobs wait after the next cycle", w.b.Waiting())
	}
}

func TestCycle_LargeBatchIsCutAndFollowsInOrder(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 8, 0)
	cfg := testConfig(site)
	cfg.BatchSize, cfg.MaxAlternatives = 4, 1
	w := newTestWorld(t, cfg, site)
	never := testJob("never", 8, 20_000*bourse.Second, bourse.Credit)
	never.Priority = 9
	w.submit(1, never)
	for i := range 3 {
		w.submit(1, testJob(fmt.Sprint("a", i), 1, bourse.Second, bourse.Credit))
	}
	w.Run(sec)
	for i := range 3 {
		w.submit(2*sec, testJob(fmt.Sprint("b", i), 1, bourse.Second, bourse.Credit))
	}
	w.Run(999 * sec)
	if w.b.Waiting() != 4 {
		t.Fatalf("%d jobs wait", w.b.Waiting())
	}
	w.cfgBatch(2)
	w.finish(t, 1000*sec)
	var batches []int
	for _, c := range only[bourse.CycleClosed](w) {
		batches = append(batches, c.Batch)
	}
	if fmt.Sprint(batches) != "[4 2 2]" {
		t.Errorf("batches of %v jobs, want [4 2 2]", batches)
	}
}

func TestCycle_BoundedWorkReachesEverybodyInTurn(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 8, 0)
	cfg := testConfig(site)
	w := newTestWorld(t, cfg, site)
	w.b.cfg.MaxCycles = 1
	for i := range 5 {
		j := testJob(fmt.Sprint("never", i), 8, 20_000*bourse.Second, bourse.Credit)
		j.Priority = 9
		w.submit(1, j)
	}
	w.submit(1, testJob("last", 1, 4*bourse.Hour/2, bourse.Credit))
	w.Run(500 * sec)
	w.cfgBatch(2)
	for firing, want := range []JobState{Waiting, Waiting, Placed} {
		w.Run(bourse.Time(firing+1) * 1000 * sec)
		if v := w.job("last"); v.State != want {
			t.Errorf("after firing %d the last job is %v, want %v", firing+1, v.State, want)
		}
	}
	if c := only[bourse.CycleClosed](w); len(c) != 3 || c[0].Batch != 2 {
		t.Errorf("%d cycles: %+v", len(c), c)
	}
	w.check.rest()
}

// cfgBatch changes the batch size of a running broker.
func (w *testWorld) cfgBatch(n int) { w.b.cfg.BatchSize = n }

func TestCycle_NewOneDoesNotStartWhileOneIsUnderWay(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 8, 0)
	site.rule = onNth("Hold", 1, fakeAnswer{late: 15 * bourse.Second})
	cfg := testConfig(site)
	cfg.Cycle = 10 * bourse.Second
	w := newTestWorld(t, cfg, site)
	w.submit(0, testJob("slow", 1, bourse.Hour/10, bourse.Credit))
	w.submit(5*sec, testJob("next", 1, bourse.Hour/10, bourse.Credit))
	w.Run(12 * sec)
	if n := w.sent("OfferRequest"); n != 1 {
		t.Errorf("%d requests for offers while a cycle is under way", n)
	}
	w.Run(15 * sec)
	if n := w.sent("OfferRequest"); n != 2 || w.b.Waiting() != 0 {
		t.Errorf("%d requests for offers, %d jobs wait: the cycle due at 10 s did not follow", n, w.b.Waiting())
	}
	w.finish(t, 1000*sec)
}

func TestCycle_ServesByPriorityThenSubmissionThenName(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	cfg := testConfig(site)
	cfg.MaxAlternatives = 1
	w := newTestWorld(t, cfg, site)
	add := func(at bourse.Time, name string, priority int) {
		j := testJob(name, 4, 100*bourse.Second, bourse.Credit)
		j.Priority = priority
		w.submit(at, j)
	}
	add(1, "d", 0)
	add(2, "c", 0)
	add(2, "b", 0)
	add(3, "a", 7)
	w.finish(t, 5000*sec)
	var order []string
	for _, f := range only[bourse.TxBegun](w) {
		order = append(order, f.Job)
	}
	if fmt.Sprint(order) != "[a d b c]" {
		t.Errorf("served in order %v, want [a d b c]", order)
	}
}

func TestOffers_ThatMakeNoSenseCountAsAClosedSite(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*fakeSite){
		"no step":        func(s *fakeSite) { s.free[0] = nil },
		"more than all":  func(s *fakeSite) { s.free[0][0].Free = 99 },
		"times backward": func(s *fakeSite) { s.free[0] = bourse.Profile{{At: 5, Free: 1}, {At: 3, Free: 2}} },
		"performance 0":  func(s *fakeSite) { s.groups[0].Performance = 0 },
		"negative price": func(s *fakeSite) { s.groups[0].Price = -1 },
		"clock ahead":    func(s *fakeSite) { s.skew = 2*bourse.Second + 1 },
		"clock behind":   func(s *fakeSite) { s.skew = -2*bourse.Second - 1 },
		"closed":         func(s *fakeSite) { s.rule = onNth("OfferRequest", 0, fakeAnswer{refuse: bourse.NotAllowed}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := newFakeSite("north", 4, 0)
			site.busy[0] = nil
			spoil(site)
			w := newTestWorld(t, testConfig(site), site)
			w.submit(0, testJob("j", 1, bourse.Second, bourse.Credit))
			w.Run(0)
			if v := w.job("j"); v.State != Waiting || v.Reason.Code != bourse.NoOffer {
				t.Errorf("the job is %v: %v", v.State, v.Reason)
			}
		})
	}
}

func TestQuotes_OneMessageASiteForAllLegsThatAreNotClear(t *testing.T) {
	t.Parallel()
	north, south, west := newFakeSite("north", 4, 0), newFakeSite("south", 4, 0), newFakeSite("west", 4, 0)
	for _, s := range []*fakeSite{north, south} {
		s.busy[0].Add(0, 1000*sec, 3)
	}
	w := newTestWorld(t, testConfig(north, south, west), north, south, west)
	for i := range 3 {
		w.submit(0, testJob(fmt.Sprint("j", i), 4, 400*bourse.Second, bourse.Credit))
	}
	w.finish(t, 999*sec)
	if n := w.sent("-> north: QuoteRequest"); n != 1 {
		t.Errorf("%d requests for quotes to north", n)
	}
	if n := w.sent("-> west: QuoteRequest"); n != 0 {
		t.Errorf("%d requests for quotes to west, where all is clear", n)
	}
	// j0 to j2 have three alternatives each, three at each site: at north and
	// south those before 1000 s are contended.
	if c := only[bourse.CycleClosed](w)[0]; c.Quoted != 6 || c.Alternatives != 9 {
		t.Errorf("%d legs quoted of %d alternatives, want 6 of 9", c.Quoted, c.Alternatives)
	}
}

func TestQuotes_JobThatLosesAllSearchesOnceMoreOnWhatIsClear(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 3_600_000)
	site.busy[0].Add(0, 5000*sec, 4)
	site.rule = onNth("QuoteRequest", 0, fakeAnswer{add: 50 * bourse.Credit})
	w := newTestWorld(t, testConfig(site), site)
	w.submit(0, testJob("poor", 2, 1000*bourse.Second, 3*bourse.Credit))
	w.finish(t, 900*sec)
	v := w.job("poor")
	if v.State != Placed || v.Last.Legs[0].Start != 5000*sec || v.Last.Legs[0].Fare.Total() != 2*bourse.Credit {
		t.Errorf("the job is %v: %v, %+v; want it at 5000 s at its base price", v.State, v.Reason, v.Last)
	}
	if v.Last.Alternative <= w.b.cfg.MaxAlternatives {
		t.Errorf("alternative %d is one of the first search", v.Last.Alternative)
	}
}

func TestQuotes_ClearWindowsOfTheSecondSearchOverlapNoAlternative(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 3_600_000)
	site.busy[0].Add(0, 3000*sec, 4)
	site.rule = onNth("QuoteRequest", 0, fakeAnswer{add: 5 * bourse.Credit})
	cfg := testConfig(site)
	cfg.MaxAlternatives, cfg.BudgetLimit = 2, 100*bourse.Credit
	w := newTestWorld(t, cfg, site)
	// rich has two alternatives, from 3000 on, where all is clear; poor loses
	// both of its own and must not be given rich's.
	rich := testJob("rich", 4, 1000*bourse.Second, 20*bourse.Credit)
	rich.Ready = 3000 * sec
	w.submit(0, rich, testJob("poor", 1, 1000*bourse.Second, bourse.Credit))
	w.finish(t, 900*sec)
	if _, aborts := decisions(w); aborts > 0 || w.job("poor").Last.Legs[0].Start != 5000*sec {
		t.Errorf("%d refusals; poor is at %+v, want 5000 s", aborts, w.job("poor").Last)
	}
}

func TestQuotes_SilentSiteLosesTheAlternativesAndNoMore(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 0), newFakeSite("south", 4, 0)
	north.busy[0].Add(0, 20_000*sec, 4)
	north.rule = onNth("QuoteRequest", 0, fakeAnswer{silent: true})
	cfg := testConfig(north, south)
	cfg.MaxAlternatives, cfg.Lead = 1, bourse.Minute
	w := newTestWorld(t, cfg, north, south)
	w.submit(0, testJob("one", 4, 100*bourse.Second, bourse.Credit))
	w.Run(9 * sec)
	if w.job("one").State != Waiting {
		t.Fatal("placed before the wait was over")
	}
	w.finish(t, 100*sec)
	if v := w.job("one"); v.State != Placed || v.Last.Legs[0].Site != "south" {
		t.Errorf("the job is %v: %v", v.State, v.Reason)
	}
}

func TestTransaction_HeldAboveItsLimitIsCancelled(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 3_600_000)
	site.rule = onNth("Hold", 1, fakeAnswer{cheat: true, add: 90 * bourse.Credit})
	w := newTestWorld(t, testConfig(site), site)
	w.submit(0, testJob("one", 1, 1000*bourse.Second, 5*bourse.Credit))
	w.finish(t, 999*sec)
	if c, a := decisions(w); c != 1 || a != 1 {
		t.Errorf("%d COMMIT, %d ABORT; want one of each", c, a)
	}
	if got := w.b.ledger.Account("vo:vo1").Debit; got != bourse.Credit {
		t.Errorf("%v credits paid, want 1", got)
	}
}

func TestTransaction_GivesUpBeforeTheLimitOfTheHold(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 0), newFakeSite("south", 4, 0)
	south.rule = onNth("Hold", 1, fakeAnswer{late: 29 * bourse.Second})
	w := newTestWorld(t, testConfig(north, south), north, south)
	w.submit(0, testJob("both", 8, 100*bourse.Second, bourse.Credit))
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
		t.Errorf("%d COMMIT, %d ABORT; the next alternative is wanted", c, a)
	}
}

func TestPatience_IsTheGreaterOfBothTerms(t *testing.T) {
	t.Parallel()
	for limit, want := range map[bourse.Duration]bourse.Duration{
		30 * bourse.Second: 22 * bourse.Second, 15 * bourse.Minute: 718 * bourse.Second,
		4 * bourse.Second: 2 * bourse.Second, 0: 0,
	} {
		if got := patience(limit); got != want {
			t.Errorf("patience(%v) = %v, want %v", limit, got, want)
		}
	}
}

func TestTransaction_RefusedPrepareAbortsAllLegs(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 0), newFakeSite("south", 4, 0)
	south.rule = onNth("Prepare", 1, fakeAnswer{refuse: bourse.Unknown})
	w := newTestWorld(t, testConfig(north, south), north, south)
	w.submit(0, testJob("both", 8, 100*bourse.Second, bourse.Credit))
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
	w.submit(0, testJob("both", 8, 1000*bourse.Second, 99*bourse.Credit))
	w.Run(0)
	if a := w.b.ledger.Account("vo:vo1"); a.Debit != 4*bourse.Credit || a.PendingDebit != 4*bourse.Credit {
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
	site.rule = onNth("Confirm", 1, fakeAnswer{refuse: bourse.Expired})
	w := newTestWorld(t, testConfig(site), site)
	w.submit(0, testJob("one", 4, 1000*bourse.Second, 99*bourse.Credit))
	w.Run(1)
	if v := w.job("one"); v.State != Waiting || w.b.Waiting() != 1 || w.b.voLeft() != 1000*bourse.Credit {
		t.Errorf("the job is %v, %v credits left", v.State, w.b.voLeft())
	}
	w.finish(t, 1000*sec)
	if v := w.job("one"); v.State != Placed || w.b.voLeft() != 996*bourse.Credit {
		t.Errorf("the job is %v, %v credits left", v.State, w.b.voLeft())
	}
}

func TestTransaction_PendingMoneyCountsForTheNextBatch(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 8, 3_600_000)
	site.rule = onNth("Confirm", 0, fakeAnswer{silent: true})
	cfg := testConfig(site)
	cfg.Budget = 5 * bourse.Credit
	w := newTestWorld(t, cfg, site)
	w.submit(0, testJob("first", 4, 1000*bourse.Second, 9*bourse.Credit))
	w.submit(1, testJob("second", 4, 1000*bourse.Second, 9*bourse.Credit))
	w.Run(1000 * sec)
	if v := w.job("second"); v.State != Waiting || v.Reason.Code != bourse.NoMoney {
		t.Errorf("second is %v: %v; first's 4 credits are pending", v.State, v.Reason)
	}
	site.rule = nil
	w.finish(t, 1500*sec)
}

func TestTransaction_TriesOfACycleAreBounded(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	site.rule = onNth("Hold", 0, fakeAnswer{refuse: bourse.Busy})
	cfg := testConfig(site)
	cfg.MaxAlternatives, cfg.MaxTries = 10, 4
	w := newTestWorld(t, cfg, site)
	w.submit(0, testJob("one", 1, 1000*bourse.Second, bourse.Credit))
	w.finish(t, 0)
	if _, a := decisions(w); a != 4 {
		t.Errorf("%d tries, want 4", a)
	}
	if v := w.job("one"); v.State != Waiting || v.Reason.Code != bourse.Busy {
		t.Errorf("the job is %v: %v", v.State, v.Reason)
	}
}

func TestTransaction_LaterTriesGoSiteBySite(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 0), newFakeSite("south", 4, 0)
	north.rule = rules(onNth("Hold", 1, fakeAnswer{refuse: bourse.Busy}), onNth("Hold", 2, fakeAnswer{refuse: bourse.Busy}))
	w := newTestWorld(t, testConfig(north, south), north, south)
	w.submit(0, testJob("both", 8, 1000*bourse.Second, bourse.Credit))
	w.finish(t, 0)
	// The first try asks both, the second only north, the third north, then south.
	if n, s := w.sent("-> north: Hold"), w.sent("-> south: Hold"); n != 3 || s != 2 {
		t.Errorf("north was asked %d times, south %d times; want 3 and 2", n, s)
	}
	if n := w.sent("-> south: Cancel"); n != 1 {
		t.Errorf("south was told to cancel %d times, once it had been asked for nothing", n-1)
	}
}

func TestLimits_JobsBudgetAfterTheQuotesOfItsOtherLegs(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 3_600_000), newFakeSite("south", 4, 7_200_000)
	for budget, want := range map[bourse.Credits]string{
		1000: "[8 12]", // slack of 4 for each leg: 16 less 12
		15:   "[7 8]",  // the account leaves 3 beyond the quotes, the first leg's
	} {
		cfg := testConfig(north, south)
		cfg.Budget, cfg.BudgetLimit = budget*bourse.Credit, 1000*bourse.Credit
		n, s := newFakeSite("north", 4, 3_600_000), newFakeSite("south", 4, 7_200_000)
		w := newTestWorld(t, cfg, n, s)
		w.submit(0, testJob("both", 8, 1000*bourse.Second, 16*bourse.Credit))
		w.finish(t, 0)
		if got := fmt.Sprint(only[bourse.TxBegun](w)[0].Limits); got != want {
			t.Errorf("with %v credits the limits are %s, want %s", budget, got, want)
		}
	}
}

func TestLimits_OperatorsBudgetLimitBoundsTheCycleNotTheLife(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 8, 3_600_000)
	cfg := testConfig(site)
	cfg.BudgetLimit = 5 * bourse.Credit
	w := newTestWorld(t, cfg, site)
	for i := range 2 {
		w.submit(0, testJob(fmt.Sprint("j", i), 4, 1000*bourse.Second, 9*bourse.Credit))
	}
	w.Run(0)
	if v := w.job("j1"); v.State != Waiting || v.Reason.Code != bourse.LimitBudget {
		t.Errorf("j1 is %v: %v", v.State, v.Reason)
	}
	w.finish(t, 1000*sec)
	if v := w.job("j1"); v.State != Placed {
		t.Errorf("j1 is %v: %v after the next cycle", v.State, v.Reason)
	}
}

func TestLimits_JobThatNeverFitsDoesNotBlockThoseBehindIt(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 8, 3_600_000)
	cfg := testConfig(site)
	cfg.BudgetLimit = 5 * bourse.Credit
	w := newTestWorld(t, cfg, site)
	for i, nodes := range []int{2, 7, 3, 1} {
		w.submit(0, testJob(fmt.Sprint("j", i), nodes, 1000*bourse.Second, 9*bourse.Credit))
	}
	w.finish(t, 0)
	for i, want := range []JobState{Placed, Waiting, Placed, Waiting} {
		if v := w.job(fmt.Sprint("j", i)); v.State != want || want == Waiting && v.Reason.Code != bourse.LimitBudget {
			t.Errorf("%s is %v: %v, want %v", v.Name, v.State, v.Reason, want)
		}
	}
}

func TestLimits_AccountTakesThePlaceOfBStarWhereItHoldsLess(t *testing.T) {
	t.Parallel()
	// B* would allow the quick windows on south for all; the account would allow
	// one, but then one job would be left out.
	north, south := newFakeSite("north", 8, 3_600_000), newFakeSite("south", 8, 28_800_000)
	south.groups[0].Performance = 2 * bourse.Unit
	cfg := testConfig(north, south)
	cfg.Minimize, cfg.MaxAlternatives, cfg.BudgetLimit = selection.MinTime, 6, 100*bourse.Credit
	cfg.Budget = 5 * bourse.Credit
	w := newTestWorld(t, cfg, north, south)
	for i := range 3 {
		w.submit(0, testJob(fmt.Sprint("j", i), 1, 1000*bourse.Second, 9*bourse.Credit))
	}
	w.finish(t, 0)
	if c, _ := decisions(w); c != 3 || w.b.voLeft() != 2*bourse.Credit {
		t.Errorf("%d jobs placed, %v credits left; want all 3 for 1 each", c, w.b.voLeft())
	}
}

func TestLimits_OperatorsTimeLimitBinds(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 8, 0)
	cfg := testConfig(site)
	cfg.TimeLimit = 1500 * bourse.Second
	w := newTestWorld(t, cfg, site)
	for i := range 2 {
		w.submit(0, testJob(fmt.Sprint("j", i), 4, 1000*bourse.Second, bourse.Credit))
	}
	w.finish(t, 0)
	if v := w.job("j1"); v.State != Waiting || v.Reason.Code != bourse.LimitTime {
		t.Errorf("j1 is %v: %v", v.State, v.Reason)
	}
}

func TestQuotas_SelectionStaysWithinThem(t *testing.T) {
	t.Parallel()
	// The quick windows on south cost 4 each, those on north 1.
	north, south := newFakeSite("north", 8, 3_600_000), newFakeSite("south", 8, 28_800_000)
	south.groups[0].Performance = 2 * bourse.Unit
	cfg := testConfig(north, south)
	cfg.Minimize, cfg.MaxAlternatives, cfg.BudgetLimit = selection.MinTime, 6, 100*bourse.Credit
	cfg.Quotas = map[string]bourse.Credits{"ana": 5 * bourse.Credit}
	w := newTestWorld(t, cfg, north, south)
	for i := range 3 {
		j := testJob(fmt.Sprint("j", i), 1, 1000*bourse.Second, 9*bourse.Credit)
		j.User = "ana"
		w.submit(0, j)
	}
	w.finish(t, 0)
	if c, _ := decisions(w); c != 3 {
		t.Errorf("%d jobs placed, want all 3 within the quota", c)
	}
	if got := w.b.userLeft("ana"); got != 2*bourse.Credit {
		t.Errorf("%v credits of the quota are left, want 2: a quick window would leave one job out", got)
	}
}

func TestReasons_EveryJobNotPlacedSaysWhy(t *testing.T) {
	t.Parallel()
	base := func() bourse.Job { return testJob("j", 2, 1000*bourse.Second, 50*bourse.Credit) }
	for _, c := range []struct {
		name  string
		job   func() bourse.Job
		code  bourse.Code
		final bool
	}{
		{"larger than all sites", func() bourse.Job { j := base(); j.Nodes = 99; return j }, bourse.TooLarge, true},
		{"on one site larger than each", func() bourse.Job { j := base(); j.Nodes, j.OneSite = 8, true; return j }, bourse.TooLarge, true},
		{"too fast", func() bourse.Job { j := base(); j.MinPerformance = 9 * bourse.Unit; return j }, bourse.NoNode, true},
		{"without such nodes", func() bourse.Job { j := base(); j.Require.GPUs = 4; return j }, bourse.NoNode, true},
		{"too poor", func() bourse.Job { j := base(); j.Budget = 1; return j }, bourse.OverBudget, false},
		{"longer than the horizon", func() bourse.Job { j := base(); j.Length = 20_000 * bourse.Second; return j }, bourse.NoWindow, false},
		{"can not end in time", func() bourse.Job { j := base(); j.Deadline = 500 * sec; return j }, bourse.Expired, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			north, south := newFakeSite("north", 4, 3_600_000), newFakeSite("south", 6, 3_600_000)
			w := newTestWorld(t, testConfig(north, south), north, south)
			w.submit(0, c.job())
			w.finish(t, 3000*sec)
			v, p := w.job("j"), only[bourse.JobPostponed](w)
			if v.Reason.Code != c.code || v.Reason.Detail == "" {
				t.Errorf("%v: %v", v.Reason.Code, v.Reason)
			}
			if final := v.State == Abandoned; final != c.final || p[len(p)-1].Final != c.final {
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
	w.submit(0, testJob("j", 10, 100*bourse.Second, bourse.Credit))
	w.Run(900 * sec)
	if v := w.job("j"); v.State != Waiting || v.Reason.Code != bourse.TooLarge {
		t.Errorf("the job is %v: %v", v.State, v.Reason)
	}
	w.finish(t, 1000*sec)
	if v := w.job("j"); v.State != Placed {
		t.Errorf("the job is %v: %v once south answers", v.State, v.Reason)
	}
}

func TestReasons_DeadlinePassedWhileItWaited(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	w := newTestWorld(t, testConfig(site), site)
	j := testJob("j", 1, 100*bourse.Second, bourse.Credit)
	j.Deadline = 900 * sec
	w.submit(1, j)
	w.finish(t, 5000*sec)
	if v := w.job("j"); v.State != Abandoned || v.Reason.Code != bourse.Expired {
		t.Errorf("the job is %v: %v", v.State, v.Reason)
	}
	if n := w.sent("OfferRequest"); n != 0 {
		t.Errorf("%d requests for offers for a job that is too late", n)
	}
}

func TestSubmit_RefusesNonsenseWithAReason(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*bourse.Job){
		"no name":        func(j *bourse.Job) { j.Name = "" },
		"no nodes":       func(j *bourse.Job) { j.Nodes = 0 },
		"too many nodes": func(j *bourse.Job) { j.Nodes = maxNodes + 1 },
		"no length":      func(j *bourse.Job) { j.Length = 0 },
		"too long":       func(j *bourse.Job) { j.Length = bourse.MaxDuration + 1 },
		"no performance": func(j *bourse.Job) { j.MinPerformance = 0 },
		"debt":           func(j *bourse.Job) { j.Budget = -1 },
		"price":          func(j *bourse.Job) { j.MaxPrice = -1 },
		"run":            func(j *bourse.Job) { j.Run = -1 },
		"far ready":      func(j *bourse.Job) { j.Ready = bourse.MaxTime + 1 },
		"dear": func(j *bourse.Job) {
			j.Budget, j.MaxPrice, j.Nodes, j.Length = 0, bourse.MaxPrice, maxNodes, bourse.MaxDuration
		},
		"past deadline": func(j *bourse.Job) { j.Deadline = 5 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := newFakeSite("north", 4, 0)
			w := newTestWorld(t, testConfig(site), site)
			j := testJob("j", 1, bourse.Second, bourse.Credit)
			spoil(&j)
			w.submit(10, j)
			w.finish(t, 5000*sec)
			if r := only[bourse.SubmissionRefused](w); len(r) != 1 || !r[0].Reason.Refused() || w.b.Waiting() != 0 {
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
	var codes []bourse.Code
	for _, name := range []string{"a", "a", "b", "c"} {
		var out agents.Outbox
		b.Step(0, "client", agents.Submit{Job: testJob(name, 1, bourse.Second, bourse.Credit)}, &out)
		codes = append(codes, out.Sends[0].Message.(agents.SubmitReply).Reason.Code)
	}
	if want := []bourse.Code{bourse.None, bourse.Conflict, bourse.None, bourse.QueueFull}; fmt.Sprint(codes) != fmt.Sprint(want) {
		t.Errorf("answers %q, want %q", codes, want)
	}
}

func TestSubmit_FillsInBudgetOrPrice(t *testing.T) {
	t.Parallel()
	b := New(testConfig(newFakeSite("north", 4, 0)))
	var out agents.Outbox
	j := testJob("a", 2, bourse.Hour, 0)
	j.MaxPrice = 3_000_000
	b.Step(7, "", agents.Submit{Job: j}, &out)
	k := testJob("b", 2, bourse.Hour, 8*bourse.Credit)
	k.Deadline = 0
	b.Step(7, "", agents.Submit{Job: k}, &out)
	v, _ := b.Job("a")
	u, _ := b.Job("b")
	if v.Budget != 6*bourse.Credit || u.MaxPrice != 4_000_000 || u.Deadline != bourse.Never || u.Submit != 7 {
		t.Errorf("budget %v, price %v, deadline %v, submit %v", v.Budget, u.MaxPrice, u.Deadline, u.Submit)
	}
}

func TestSettle_WhatASiteGivesBackReachesTheBudgetAndTheQuota(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 3_600_000)
	site.rule = onNth("Settled", 0, fakeAnswer{back: bourse.Credit})
	cfg := testConfig(site)
	cfg.Quotas = map[string]bourse.Credits{"ana": 9 * bourse.Credit}
	w := newTestWorld(t, cfg, site)
	j := testJob("j", 4, 1000*bourse.Second, 9*bourse.Credit)
	j.User = "ana"
	w.submit(0, j)
	w.Run(0)
	if got := w.b.userLeft("ana"); got != 5*bourse.Credit {
		t.Errorf("%v credits of the quota are left after 4 were posted", got)
	}
	w.finish(t, 2000*sec)
	if got := w.b.userLeft("ana"); got != 6*bourse.Credit {
		t.Errorf("%v credits of the quota are left after 1 came back", got)
	}
	if got := w.b.voLeft(); got != 997*bourse.Credit {
		t.Errorf("%v credits of the budget are left", got)
	}
	if w.job("j").State != Done {
		t.Errorf("the job is %v", w.job("j").State)
	}
}

func TestHold_SaysWhatTheWorkReallyTakesOnThatGroup(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	site.groups[0].Performance = 2 * bourse.Unit
	var hold agents.Hold
	site.rule = func(m agents.Message) fakeAnswer {
		if h, ok := m.(agents.Hold); ok {
			hold = h
		}
		return fakeAnswer{}
	}
	w := newTestWorld(t, testConfig(site), site)
	j := testJob("j", 4, 1000*bourse.Second, bourse.Credit)
	j.Run = 600 * bourse.Second
	w.submit(0, j)
	w.finish(t, 0)
	if hold.Run != 300*bourse.Second || hold.What.Duration() != 500*bourse.Second || hold.For != 30*bourse.Second {
		t.Errorf("hold %+v", hold)
	}
}

func TestLead_NoWindowStartsBeforeAndLocksEndBeforeTheStart(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 0), newFakeSite("south", 4, 0)
	cfg := testConfig(north, south)
	cfg.Lead = 20 * bourse.Second
	var locks []bourse.Duration
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
	w.submit(0, testJob("both", 8, 1000*bourse.Second, bourse.Credit))
	w.finish(t, 30*sec)
	if v := w.job("both"); v.State != Placed || v.Last.Legs[0].Start != 20*sec {
		t.Errorf("the job is %v, %+v", v.State, v.Last)
	}
	if fmt.Sprint(locks) != "[20 20]" {
		t.Errorf("locks of %v s, want 20 each", locks)
	}
}

func TestCycle_AlarmOfAnEarlierOneDoesNotEndTheWait(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	site.rule = onNth("OfferRequest", 2, fakeAnswer{late: 8 * bourse.Second})
	cfg := testConfig(site)
	cfg.BatchSize, cfg.Lead = 1, bourse.Minute
	w := newTestWorld(t, cfg, site)
	w.submit(1*sec, testJob("a", 1, bourse.Second, bourse.Credit))
	w.submit(5*sec, testJob("b", 1, bourse.Second, bourse.Credit))
	w.finish(t, 14*sec)
	if v := w.job("b"); v.State != Placed {
		t.Errorf("b is %v: %v; its cycle's wait lasts until 15 s", v.State, v.Reason)
	}
}

func TestOffers_OfAnEarlierCycleAreIgnored(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	site.rule = rules(onNth("OfferRequest", 1, fakeAnswer{late: 20 * bourse.Second}), onNth("OfferRequest", 2, fakeAnswer{late: 8 * bourse.Second}))
	cfg := testConfig(site)
	cfg.BatchSize, cfg.Lead = 1, bourse.Minute
	w := newTestWorld(t, cfg, site)
	w.submit(1*sec, testJob("a", 1, bourse.Second, bourse.Credit))
	w.submit(15*sec, testJob("b", 1, bourse.Second, bourse.Credit))
	w.finish(t, 23*sec) // the first answer comes at 21 s, the second at 23 s
	if v := w.job("b"); v.State != Placed {
		t.Errorf("b is %v: %v", v.State, v.Reason)
	}
}

func TestQuotes_OfAnEarlierCycleAreIgnored(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 3_600_000)
	site.busy[0].Add(0, 20_000*sec, 4)
	site.rule = rules(onNth("QuoteRequest", 1, fakeAnswer{late: 20 * bourse.Second, refuse: bourse.Busy}),
		onNth("QuoteRequest", 2, fakeAnswer{late: 8 * bourse.Second}))
	cfg := testConfig(site)
	cfg.BatchSize, cfg.Lead = 1, bourse.Minute
	w := newTestWorld(t, cfg, site)
	w.submit(1*sec, testJob("a", 1, bourse.Second, bourse.Credit))
	w.submit(15*sec, testJob("b", 1, bourse.Second, bourse.Credit))
	w.finish(t, 23*sec)
	if v := w.job("b"); v.State != Placed {
		t.Errorf("b is %v: %v", v.State, v.Reason)
	}
}

func TestSelection_ChosenOneIsTriedFirst(t *testing.T) {
	t.Parallel()
	// The budget covers one quick window. It saves more time on j1, though j0
	// is served first and could pay for it.
	north, south := newFakeSite("north", 8, 3_600_000), newFakeSite("south", 8, 28_800_000)
	south.groups[0].Performance = 2 * bourse.Unit
	cfg := testConfig(north, south)
	cfg.Minimize, cfg.MaxAlternatives, cfg.BudgetLimit = selection.MinTime, 6, 10*bourse.Credit
	w := newTestWorld(t, cfg, north, south)
	w.submit(0, testJob("j0", 1, 1000*bourse.Second, 9*bourse.Credit), testJob("j1", 1, 2000*bourse.Second, 9*bourse.Credit))
	w.finish(t, 0)
	if a, b := w.job("j0").Last, w.job("j1").Last; a.Legs[0].Site != "north" || b.Legs[0].Site != "south" {
		t.Errorf("j0 is at %s, j1 at %s", a.Legs[0].Site, b.Legs[0].Site)
	}
}

func TestSelection_AfterARefusalTheNextBestIsTried(t *testing.T) {
	t.Parallel()
	for goal, want := range map[selection.Goal]string{
		selection.MinCost:   "[cheap even quick]",
		selection.MinTime:   "[quick even cheap]",
		selection.MinFinish: "[quick even cheap]",
	} {
		var sites []*fakeSite
		for i, name := range []string{"cheap", "even", "quick"} {
			s := newFakeSite(name, 1, bourse.Price(3_600_000<<(2*i)))
			s.groups[0].Performance = bourse.Performance(i+1) * bourse.Unit
			s.rule = onNth("Hold", 0, fakeAnswer{refuse: bourse.Busy})
			sites = append(sites, s)
		}
		cfg := testConfig(sites...)
		cfg.Minimize, cfg.BudgetLimit, cfg.TimeLimit = goal, 100*bourse.Credit, bourse.Hour
		cfg.Horizon = 1000 * bourse.Second // one window a site
		w := newTestWorld(t, cfg, sites...)
		w.submit(0, testJob("j", 1, 1000*bourse.Second, 99*bourse.Credit))
		w.finish(t, 0)
		var order []string
		for _, f := range only[bourse.TxBegun](w) {
			order = append(order, f.Sites[0])
		}
		if fmt.Sprint(order) != want {
			t.Errorf("%v: tried %v, want %s", goal, order, want)
		}
	}
}

func TestSelection_WhatBStarNoLongerCoversIsNotAskedFor(t *testing.T) {
	t.Parallel()
	// j0 binds 3 more than its quote, so B* no longer covers j1's quick window.
	north, south := newFakeSite("north", 8, 3_600_000), newFakeSite("south", 8, 28_800_000)
	south.groups[0].Performance = 2 * bourse.Unit
	north.rule = onNth("Hold", 1, fakeAnswer{add: 3 * bourse.Credit})
	cfg := testConfig(north, south)
	cfg.Minimize, cfg.MaxAlternatives, cfg.BudgetLimit = selection.MinTime, 6, 10*bourse.Credit
	w := newTestWorld(t, cfg, north, south)
	w.submit(0, testJob("j0", 1, 1000*bourse.Second, 9*bourse.Credit), testJob("j1", 1, 2000*bourse.Second, 9*bourse.Credit))
	w.finish(t, 0)
	if c, a := decisions(w); c != 2 || a != 0 || w.job("j1").Last.Legs[0].Site != "north" {
		t.Errorf("%d COMMIT, %d ABORT, j1 at %s; want j1 at north without a refusal", c, a, w.job("j1").Last.Legs[0].Site)
	}
}

func TestTransaction_RepeatsBackOffToFiveSeconds(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	site.rule = onNth("Confirm", 0, fakeAnswer{silent: true})
	w := newTestWorld(t, testConfig(site), site)
	w.submit(0, testJob("one", 1, 1000*bourse.Second, bourse.Credit))
	w.Run(30 * sec)
	// 0, 0.5, 1.5, 3.5, 7.5, 12.5, 17.5, 22.5, 27.5
	if n := w.sent("-> north: Confirm"); n != 9 {
		t.Errorf("told %d times in 30 s, want 9", n)
	}
}

func TestTransaction_HeldBeforeItWasAskedForIsIgnored(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 0), newFakeSite("south", 4, 0)
	north.rule = rules(onNth("Hold", 1, fakeAnswer{refuse: bourse.Busy}), onNth("Hold", 2, fakeAnswer{silent: true}))
	w := newTestWorld(t, testConfig(north, south), north, south)
	w.submit(0, testJob("both", 8, 1000*bourse.Second, bourse.Credit))
	w.Run(0)
	var out agents.Outbox
	w.b.Step(w.Now(), "site:south", agents.HeldReply{Leg: bourse.LegID{Tx: w.job("both").Last.ID, Leg: 1}}, &out)
	if len(out.Facts) > 0 {
		t.Errorf("it recorded %+v", out.Facts)
	}
	w.finish(t, 900*sec)
}

func TestSettle_NeverMoreThanWasBoundNorLessThanNothing(t *testing.T) {
	t.Parallel()
	for charged, want := range map[bourse.Credits]bourse.Credits{99 * bourse.Credit: 0, -bourse.Credit: 4 * bourse.Credit} {
		site := newFakeSite("north", 4, 3_600_000)
		site.rule = onNth("Settled", 0, fakeAnswer{silent: true, back: 4*bourse.Credit - charged})
		w := newTestWorld(t, testConfig(site), site)
		w.submit(0, testJob("one", 4, 1000*bourse.Second, 9*bourse.Credit))
		w.finish(t, 1000*sec)
		if d := only[bourse.LegDone](w); len(d) != 1 || d[0].Refund != want {
			t.Errorf("charged %v: %+v, want a refund of %v", charged, d, want)
		}
	}
}

func TestRun_TheSameMessagesGiveTheSameTrace(t *testing.T) {
	t.Parallel()
	var traces [2]string
	for i := range traces {
		var sites []*fakeSite
		for k := range 5 {
			s := newFakeSite(fmt.Sprint("s", k), 8, bourse.Price(1_000_000*(k+1)))
			s.busy[0].Add(bourse.Time(k)*1000*sec, 5000*sec, 5)
			s.rule = randomRule(uint64(k))
			sites = append(sites, s)
		}
		w := newTestWorld(t, testConfig(sites...), sites...)
		for k := range 40 {
			j := testJob(fmt.Sprint("j", k), 1+k*7%16, bourse.Duration(100+k*37%2000)*bourse.Second, 9*bourse.Credit)
			j.User = fmt.Sprint("u", k%3)
			w.submit(bourse.Time(k)*100*sec, j)
		}
		w.Run(8000 * sec)
		traces[i] = strings.Join(w.trace, "\n")
	}
	if traces[0] != traces[1] || len(traces[0]) < 10_000 {
		t.Errorf("two runs differ, or said little: %d and %d bytes", len(traces[0]), len(traces[1]))
	}
}

func TestStep_AnswersFromOthersOrTwiceChangeNothing(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 0), newFakeSite("south", 4, 0)
	w := newTestWorld(t, testConfig(north, south), north, south)
	w.submit(0, testJob("both", 8, 1000*bourse.Second, bourse.Credit))
	w.Run(0)
	leg := bourse.LegID{Tx: w.job("both").Last.ID}
	other := leg
	other.Tx.Nonce++
	far := leg
	far.Tx.Seq = 99
	for _, m := range []agents.Message{
		agents.Offers{Cycle: 1}, agents.Quotes{Ref: 1}, agents.HeldReply{Leg: leg}, agents.PreparedReply{Leg: leg},
		agents.RefusedReply{Leg: leg}, agents.ConfirmedReply{Leg: leg}, agents.CancelledReply{Leg: leg},
		agents.StartedNotice{Leg: leg}, agents.ConfirmedReply{Leg: other}, agents.SettledNotice{Leg: far},
		agents.HeldReply{Leg: bourse.LegID{Tx: leg.Tx, Leg: 7}},
	} {
		for _, from := range []agents.ID{"site:north", "site:south", "site:nobody"} {
			var out agents.Outbox
			w.b.Step(w.Now(), from, m, &out)
			if len(out.Facts)+len(out.Sends)+len(out.Alarms) > 0 {
				t.Errorf("%s from %s: %+v", m.Kind(), from, out)
			}
		}
	}
	w.check.rest()
}

func TestConfig_ErrorsNameTheKeyAndTheRemedy(t *testing.T) {
	t.Parallel()
	for key, spoil := range map[string]func(*Config){
		"name":             func(c *Config) { c.Name = "" },
		"cycle":            func(c *Config) { c.Cycle = 0 },
		"horizon":          func(c *Config) { c.Horizon = -1 },
		"hold":             func(c *Config) { c.Hold = 0 },
		"max_alternatives": func(c *Config) { c.MaxAlternatives = 0 },
		"batch_size":       func(c *Config) { c.BatchSize = 0 },
		"phase":            func(c *Config) { c.Phase = c.Cycle },
		"lead":             func(c *Config) { c.Lead = c.Horizon },
		"budget":           func(c *Config) { c.Budget = -1 },
		"budget_limit":     func(c *Config) { c.BudgetLimit = -2 },
		"time_limit":       func(c *Config) { c.TimeLimit = -2 },
		"twice":            func(c *Config) { c.Sites = []agents.ID{"site:a", "site:a"} },
		"site:NAME":        func(c *Config) { c.Sites = []agents.ID{"a"} },
	} {
		c := Defaults("vo1")
		spoil(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: error %v", key, err)
		}
	}
	if c := Defaults("vo1"); c.Validate() != nil {
		t.Error(c.Validate())
	}
}
