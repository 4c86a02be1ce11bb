package broker

import (
	"fmt"
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

func TestLimits_JobsBudgetAfterTheQuotesOfItsOtherLegs(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 3_600_000), newFakeSite("south", 4, 7_200_000)
	for budget, want := range map[grid.Credits]string{
		1000: "[8 12]", // slack of 4 for each leg: 16 less 12
		15:   "[7 8]",  // the account leaves 3 beyond the quotes, the first leg's
	} {
		cfg := testConfig(north, south)
		cfg.Budget, cfg.BudgetLimit = budget*grid.Credit, 1000*grid.Credit
		n, s := newFakeSite("north", 4, 3_600_000), newFakeSite("south", 4, 7_200_000)
		w := newTestWorld(t, cfg, n, s)
		w.submit(0, testJob("both", 8, 1000*grid.Second, 16*grid.Credit))
		w.finish(t, 0)
		if got := fmt.Sprint(only[facts.TxBegun](w)[0].Limits); got != want {
			t.Errorf("with %v credits the limits are %s, want %s", budget, got, want)
		}
	}
}

func TestLimits_OperatorsBudgetLimitBoundsTheCycleNotTheLife(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 8, 3_600_000)
	cfg := testConfig(site)
	cfg.BudgetLimit = 5 * grid.Credit
	w := newTestWorld(t, cfg, site)
	for i := range 2 {
		w.submit(0, testJob(fmt.Sprint("j", i), 4, 1000*grid.Second, 9*grid.Credit))
	}
	w.Run(0)
	if v := w.job("j1"); v.State != grid.JobWaiting || v.Reason.Code != grid.LimitBudget {
		t.Errorf("j1 is %v: %v", v.State, v.Reason)
	}
	w.finish(t, 1000*sec)
	if v := w.job("j1"); v.State != grid.JobPlaced {
		t.Errorf("j1 is %v: %v after the next cycle", v.State, v.Reason)
	}
}

func TestLimits_JobThatNeverFitsDoesNotBlockThoseBehindIt(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 8, 3_600_000)
	cfg := testConfig(site)
	cfg.BudgetLimit = 5 * grid.Credit
	w := newTestWorld(t, cfg, site)
	for i, nodes := range []int{2, 7, 3, 1} {
		w.submit(0, testJob(fmt.Sprint("j", i), nodes, 1000*grid.Second, 9*grid.Credit))
	}
	w.finish(t, 0)
	for i, want := range []grid.JobState{grid.JobPlaced, grid.JobWaiting, grid.JobPlaced, grid.JobWaiting} {
		if v := w.job(fmt.Sprint("j", i)); v.State != want || want == grid.JobWaiting && v.Reason.Code != grid.LimitBudget {
			t.Errorf("%s is %v: %v, want %v", v.Name, v.State, v.Reason, want)
		}
	}
}

func TestLimits_AccountTakesThePlaceOfBStarWhereItHoldsLess(t *testing.T) {
	t.Parallel()
	// B* would allow the quick windows on south for all; the account would allow
	// one, but then one job would be left out.
	north, south := newFakeSite("north", 8, 3_600_000), newFakeSite("south", 8, 28_800_000)
	south.groups[0].Performance = 2 * grid.Unit
	cfg := testConfig(north, south)
	cfg.Minimize, cfg.MaxAlternatives, cfg.BudgetLimit = grid.GoalTime, 6, 100*grid.Credit
	cfg.Budget = 5 * grid.Credit
	w := newTestWorld(t, cfg, north, south)
	for i := range 3 {
		w.submit(0, testJob(fmt.Sprint("j", i), 1, 1000*grid.Second, 9*grid.Credit))
	}
	w.finish(t, 0)
	if c, _ := decisions(w); c != 3 || w.b.mem.Accounts.Left() != 2*grid.Credit {
		t.Errorf("%d jobs placed, %v credits left; want all 3 for 1 each", c, w.b.mem.Accounts.Left())
	}
}

func TestLimits_OperatorsTimeLimitBinds(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 8, 0)
	cfg := testConfig(site)
	cfg.TimeLimit = 1500 * grid.Second
	w := newTestWorld(t, cfg, site)
	for i := range 2 {
		w.submit(0, testJob(fmt.Sprint("j", i), 4, 1000*grid.Second, grid.Credit))
	}
	w.finish(t, 0)
	if v := w.job("j1"); v.State != grid.JobWaiting || v.Reason.Code != grid.LimitTime {
		t.Errorf("j1 is %v: %v", v.State, v.Reason)
	}
}

func TestQuotas_SelectionStaysWithinThem(t *testing.T) {
	t.Parallel()
	// The quick windows on south cost 4 each, those on north 1.
	north, south := newFakeSite("north", 8, 3_600_000), newFakeSite("south", 8, 28_800_000)
	south.groups[0].Performance = 2 * grid.Unit
	cfg := testConfig(north, south)
	cfg.Minimize, cfg.MaxAlternatives, cfg.BudgetLimit = grid.GoalTime, 6, 100*grid.Credit
	cfg.Quotas = map[string]grid.Credits{"ana": 5 * grid.Credit}
	w := newTestWorld(t, cfg, north, south)
	for i := range 3 {
		j := testJob(fmt.Sprint("j", i), 1, 1000*grid.Second, 9*grid.Credit)
		j.User = "ana"
		w.submit(0, j)
	}
	w.finish(t, 0)
	if c, _ := decisions(w); c != 3 {
		t.Errorf("%d jobs placed, want all 3 within the quota", c)
	}
	if got := w.b.mem.Accounts.UserLeft("ana"); got != 2*grid.Credit {
		t.Errorf("%v credits of the quota are left, want 2: a quick window would leave one job out", got)
	}
}

func TestSelection_ChosenOneIsTriedFirst(t *testing.T) {
	t.Parallel()
	// The budget covers one quick window. It saves more time on j1, though j0
	// is served first and could pay for it.
	north, south := newFakeSite("north", 8, 3_600_000), newFakeSite("south", 8, 28_800_000)
	south.groups[0].Performance = 2 * grid.Unit
	cfg := testConfig(north, south)
	cfg.Minimize, cfg.MaxAlternatives, cfg.BudgetLimit = grid.GoalTime, 6, 10*grid.Credit
	w := newTestWorld(t, cfg, north, south)
	w.submit(0, testJob("j0", 1, 1000*grid.Second, 9*grid.Credit), testJob("j1", 1, 2000*grid.Second, 9*grid.Credit))
	w.finish(t, 0)
	if a, b := w.job("j0").Last, w.job("j1").Last; a.Legs[0].Site != "north" || b.Legs[0].Site != "south" {
		t.Errorf("j0 is at %s, j1 at %s", a.Legs[0].Site, b.Legs[0].Site)
	}
}

func TestSelection_AfterARefusalTheNextBestIsTried(t *testing.T) {
	t.Parallel()
	for goal, want := range map[grid.Goal]string{
		grid.GoalCost:   "[cheap even quick]",
		grid.GoalTime:   "[quick even cheap]",
		grid.GoalFinish: "[quick even cheap]",
	} {
		var sites []*fakeSite
		for i, name := range []string{"cheap", "even", "quick"} {
			s := newFakeSite(name, 1, grid.Price(3_600_000<<(2*i)))
			s.groups[0].Performance = grid.Performance(i+1) * grid.Unit
			s.rule = onNth("Hold", 0, fakeAnswer{refuse: grid.Busy})
			sites = append(sites, s)
		}
		cfg := testConfig(sites...)
		cfg.Minimize, cfg.BudgetLimit, cfg.TimeLimit = goal, 100*grid.Credit, grid.Hour
		cfg.Horizon = 1000 * grid.Second // one window a site
		w := newTestWorld(t, cfg, sites...)
		w.submit(0, testJob("j", 1, 1000*grid.Second, 99*grid.Credit))
		w.finish(t, 0)
		var order []string
		for _, f := range only[facts.TxBegun](w) {
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
	south.groups[0].Performance = 2 * grid.Unit
	north.rule = onNth("Hold", 1, fakeAnswer{add: 3 * grid.Credit})
	cfg := testConfig(north, south)
	cfg.Minimize, cfg.MaxAlternatives, cfg.BudgetLimit = grid.GoalTime, 6, 10*grid.Credit
	w := newTestWorld(t, cfg, north, south)
	w.submit(0, testJob("j0", 1, 1000*grid.Second, 9*grid.Credit), testJob("j1", 1, 2000*grid.Second, 9*grid.Credit))
	w.finish(t, 0)
	if c, a := decisions(w); c != 2 || a != 0 || w.job("j1").Last.Legs[0].Site != "north" {
		t.Errorf("%d COMMIT, %d ABORT, j1 at %s; want j1 at north without a refusal", c, a, w.job("j1").Last.Legs[0].Site)
	}
}
