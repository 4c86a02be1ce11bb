package broker

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/search"
)

// threeSites is the worked case: 4 nodes for 1000 s cost 40 credits on "quick" at
// once, 20 on "short" from 1000 s on, whose queue is the shortest, and 4 on
// "cheap" from 3000 s on.
func threeSites() (quick, short, cheap *fakeSite) {
	site := func(name string, price int64, from grid.Time, queued grid.Duration) *fakeSite {
		s := newFakeSite(name, 8, grid.Price(price)*1_000_000)
		if s.queued = queued; from > 0 {
			s.free[0].Add(0, from, -8)
		}
		return s
	}
	return site("quick", 36, 0, 500*grid.Second), site("short", 18, 1000*sec, 100*grid.Second),
		site("cheap", 9, 3000*sec, 1000*grid.Second)
}

// where is the site and the start of each job that was placed.
func where(w *testWorld) map[string]string {
	at := map[string]string{}
	for _, f := range only[facts.TxBegun](w) {
		at[f.Job] = fmt.Sprint(f.Sites[0], " ", f.Legs[0].Start)
	}
	return at
}

func TestOneByOne_EachStrategyPicksWhatItSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		strategy choice.Strategy
		alpha    choice.Alpha
		want     string
	}{
		{choice.Earliest, 0, "quick 0"},
		{choice.ShortestQueue, 0, "short 1000"},
		{choice.ByPreference, 0, "quick 0"},
		{choice.ByPreference, choice.One / 2, "short 1000"}, // (20-10)/30 + 1000/3000 < 1
		{choice.ByPreference, choice.One, "cheap 3000"},
	} {
		quick, short, cheap := threeSites()
		cfg := testConfig(quick, short, cheap)
		cfg.Strategy, cfg.Alpha = c.strategy, c.alpha
		w := newTestWorld(t, cfg, quick, short, cheap)
		w.submit(0, testJob("wave", 4, 1000*grid.Second, 50*grid.Credit))
		w.Run(10)
		if got := where(w)["wave"]; got != c.want {
			t.Errorf("%v, alpha %v: placed at %q, want %q", c.strategy, c.alpha, got, c.want)
		}
	}
}

// By its queue's plan a site may be the better one though less work waits at another: there a job
// would start first that came last in the queue. Whose queue is full for good comes last.
func TestOneByOne_SoonestQueueGoesByThePlanAndNotByTheWork(t *testing.T) {
	t.Parallel()
	for strategy, want := range map[choice.Strategy]string{choice.Earliest: "quick 0", choice.ShortestQueue: "quick 0", choice.SoonestQueue: "short 1000"} {
		quick, short, cheap := threeSites()
		short.queued = 900 * grid.Second
		quick.busy[0].Add(0, 5000*sec, 8) // wide jobs wait there, and few
		cheap.busy[0].Add(0, grid.MaxTime, 8)
		cfg := testConfig(quick, short, cheap)
		cfg.Strategy = strategy
		w := newTestWorld(t, cfg, quick, short, cheap)
		w.submit(0, testJob("wave", 4, 1000*grid.Second, 50*grid.Credit))
		w.Run(10)
		if got := where(w)["wave"]; got != want {
			t.Errorf("%v: placed at %q, want %q", strategy, got, want)
		}
	}
}

func TestOneByOne_JobsGoAsTheyArriveAndSeeWhatTheOthersLeft(t *testing.T) {
	t.Parallel()
	quick, short, _ := threeSites()
	cfg := testConfig(quick, short)
	cfg.Strategy = choice.Earliest
	w := newTestWorld(t, cfg, quick, short)
	for _, name := range []string{"a", "b", "c"} {
		w.submit(10*sec, testJob(name, 4, 1000*grid.Second, 50*grid.Credit))
	}
	w.Run(10 * sec) // no multiple of the cycle
	want := map[string]string{"a": "quick 10", "b": "quick 10", "c": "short 1000"}
	if got := where(w); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("placed at %v, want %v", got, want)
	}
}

func TestOneByOne_WhatTheAdaptivePartMakesTooDearIsNotTaken(t *testing.T) {
	t.Parallel()
	quick, short, _ := threeSites()
	quick.busy[0].Add(0, 500*sec, 8) // clear from 500 s on
	quick.rule = onNth("QuoteRequest", 0, fakeAnswer{add: 11 * grid.Credit})
	cfg := testConfig(quick, short)
	cfg.Strategy = choice.Earliest
	w := newTestWorld(t, cfg, quick, short)
	w.submit(0, testJob("wave", 4, 1000*grid.Second, 50*grid.Credit))
	w.Run(10)
	if got := where(w)["wave"]; got != "quick 500" {
		t.Errorf("placed at %q, want at quick when its queue is through", got)
	}
}

func TestOneByOne_ARefusedHoldLeadsToTheNextPreferred(t *testing.T) {
	t.Parallel()
	quick, short, cheap := threeSites()
	quick.rule = onNth("Hold", 0, fakeAnswer{refuse: grid.Busy})
	cfg := testConfig(quick, short, cheap)
	cfg.Strategy = choice.Earliest
	w := newTestWorld(t, cfg, quick, short, cheap)
	w.submit(0, testJob("wave", 4, 1000*grid.Second, 50*grid.Credit))
	w.Run(10)
	if got := where(w)["wave"]; got != "short 1000" {
		t.Errorf("placed at %q, want at the next earliest, short 1000", got)
	}
}

func TestOneByOne_WhatNoGroupCanEverCarryIsRefusedForGood(t *testing.T) {
	t.Parallel()
	quick, short, cheap := threeSites()
	cfg := testConfig(quick, short, cheap)
	cfg.Strategy = choice.Earliest
	w := newTestWorld(t, cfg, quick, short, cheap)
	w.submit(0, testJob("wide", 9, 1000*grid.Second, 900*grid.Credit)) // two sites together could
	w.Run(10)
	list := only[facts.JobPostponed](w)
	if len(list) != 1 || list[0].Reason.Code != grid.TooLarge || !list[0].Final {
		t.Errorf("postponed %+v, want once, too-large, for good", list)
	}
}

func TestOneByOne_RandomIsSpreadOverTheSitesAndDrawsTheSameAgain(t *testing.T) {
	t.Parallel()
	run := func(draws uint64) (map[string]string, map[string]int) {
		var list []*fakeSite
		for _, name := range []string{"a", "b", "c"} {
			list = append(list, newFakeSite(name, 1000, 0))
		}
		cfg := testConfig(list...)
		cfg.Strategy, cfg.Draws = choice.Random, draws
		w := newTestWorld(t, cfg, list...)
		for i := range 90 {
			w.submit(0, testJob(fmt.Sprint("j", i), 1, 1000*grid.Second, grid.Credit))
		}
		w.Run(10)
		count := map[string]int{}
		for _, f := range only[facts.TxBegun](w) {
			count[f.Sites[0]]++
		}
		return where(w), count
	}
	first, count := run(1)
	for _, site := range []string{"a", "b", "c"} {
		if n := count[site]; n < 15 || n > 45 {
			t.Errorf("%s has %d of 90 jobs, want about 30", site, n)
		}
	}
	again, _ := run(1)
	if fmt.Sprint(first) != fmt.Sprint(again) {
		t.Error("the same seed draws other sites")
	}
	if other, _ := run(2); fmt.Sprint(first) == fmt.Sprint(other) {
		t.Error("another seed draws the same sites")
	}
}

// Whatever the strategy and the algorithm, a window obeys its job's request: under
// ALP the cap on each node's price, and its budget under all.
func TestOneByOne_KeepsTheCapAndTheBudgetUnderEveryStrategyAndAlgorithm(t *testing.T) {
	t.Parallel()
	for strategy := choice.Batch; strategy <= choice.Random; strategy++ {
		for _, algorithm := range []search.Algorithm{search.ALP, search.AMP, search.AMPLiteral, search.Best} {
			placed := 0
			rapid.Check(t, func(t *rapid.T) {
				var list []*fakeSite
				for i := range rapid.IntRange(1, 4).Draw(t, "sites") {
					list = append(list, newFakeSite(fmt.Sprint("s", i), rapid.IntRange(1, 6).Draw(t, "size"), grid.Price(rapid.IntRange(0, 10_000_000).Draw(t, "price"))))
				}
				cfg := testConfig(list...)
				cfg.Strategy, cfg.Algorithm, cfg.Alpha = strategy, algorithm, choice.Alpha(rapid.IntRange(0, int(choice.One)).Draw(t, "alpha"))
				w := newTestWorld(t, cfg, list...)
				w.quiet = true
				caps := map[string]grid.Price{}
				for i := range 5 {
					j := testJob(fmt.Sprint("j", i), rapid.IntRange(1, 6).Draw(t, "nodes"), 1000*grid.Second, grid.Credits(rapid.IntRange(1, 20).Draw(t, "pays"))*grid.Credit)
					j.MaxPrice = grid.Price(rapid.IntRange(1, 10_000_000).Draw(t, "cap"))
					caps[j.Name] = j.MaxPrice
					w.submit(0, j)
				}
				w.Run(10)
				for _, f := range only[facts.TxBegun](w) {
					placed++
					for i, name := range f.Sites {
						g := list[slices.IndexFunc(list, func(s *fakeSite) bool { return s.name == name })].groups[0]
						if algorithm == search.ALP && g.Price > caps[f.Job] {
							t.Fatalf("%s costs %v credits per node-hour at %s, its cap is %v", f.Job, g.Price, name, caps[f.Job])
						}
						if d := f.Legs[i].Duration(); d < g.Performance.Runtime(1000*grid.Second) {
							t.Fatalf("%s has %v", f.Job, d)
						}
					}
				}
				w.check.rest()
				w.check.reasons()
			})
			if placed == 0 {
				t.Errorf("%v, %v: no job was ever placed", strategy, algorithm)
			}
		}
	}
}

// Under ALP a window may cost more than its job's budget although each node's price
// is within the cap. Such a job waits; it used to stop the broker for good.
func TestCycle_AWindowWithinTheCapAndAboveTheBudgetIsNotTaken(t *testing.T) {
	t.Parallel()
	site := newFakeSite("quick", 8, 36_000_000)
	cfg := testConfig(site)
	cfg.Algorithm = search.ALP
	w := newTestWorld(t, cfg, site)
	j := testJob("wave", 4, 1000*grid.Second, 30*grid.Credit) // it costs 40
	j.MaxPrice = 100_000_000
	w.submit(0, j)
	w.Run(10)
	list := only[facts.JobPostponed](w)
	if len(list) != 1 || list[0].Reason.Code != grid.OverBudget || list[0].Final {
		t.Errorf("postponed %+v, want once, over-budget", list)
	}
}
