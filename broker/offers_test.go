package broker

import (
	"fmt"
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

func TestOffers_ThatMakeNoSenseCountAsAClosedSite(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*fakeSite){
		"no step":        func(s *fakeSite) { s.free[0] = nil },
		"more than all":  func(s *fakeSite) { s.free[0][0].Free = 99 },
		"times backward": func(s *fakeSite) { s.free[0] = grid.Profile{{At: 5, Free: 1}, {At: 3, Free: 2}} },
		"performance 0":  func(s *fakeSite) { s.groups[0].Performance = 0 },
		"negative price": func(s *fakeSite) { s.groups[0].Price = -1 },
		"clock ahead":    func(s *fakeSite) { s.skew = 2*grid.Second + 1 },
		"clock behind":   func(s *fakeSite) { s.skew = -2*grid.Second - 1 },
		"closed":         func(s *fakeSite) { s.rule = onNth("OfferRequest", 0, fakeAnswer{refuse: grid.NotAllowed}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := newFakeSite("north", 4, 0)
			site.busy[0] = nil
			spoil(site)
			w := newTestWorld(t, testConfig(site), site)
			w.submit(0, testJob("j", 1, grid.Second, grid.Credit))
			w.Run(0)
			if v := w.job("j"); v.State != grid.JobWaiting || v.Reason.Code != grid.NoOffer {
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
		w.submit(0, testJob(fmt.Sprint("j", i), 4, 400*grid.Second, grid.Credit))
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
	if c := only[facts.CycleClosed](w)[0]; c.Quoted != 6 || c.Alternatives != 9 {
		t.Errorf("%d legs quoted of %d alternatives, want 6 of 9", c.Quoted, c.Alternatives)
	}
}

func TestQuotes_JobThatLosesAllSearchesOnceMoreOnWhatIsClear(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 3_600_000)
	site.busy[0].Add(0, 5000*sec, 4)
	site.rule = onNth("QuoteRequest", 0, fakeAnswer{add: 50 * grid.Credit})
	w := newTestWorld(t, testConfig(site), site)
	w.submit(0, testJob("poor", 2, 1000*grid.Second, 3*grid.Credit))
	w.finish(t, 900*sec)
	v := w.job("poor")
	if v.State != grid.JobPlaced || v.Last.Legs[0].Start != 5000*sec || v.Last.Legs[0].Fare.Total() != 2*grid.Credit {
		t.Errorf("the job is %v: %v, %+v; want it at 5000 s at its base price", v.State, v.Reason, v.Last)
	}
	if v.Last.Alternative <= w.b.mem.cfg.MaxAlternatives {
		t.Errorf("alternative %d is one of the first search", v.Last.Alternative)
	}
}

func TestQuotes_ClearWindowsOfTheSecondSearchOverlapNoAlternative(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 3_600_000)
	site.busy[0].Add(0, 3000*sec, 4)
	site.rule = onNth("QuoteRequest", 0, fakeAnswer{add: 5 * grid.Credit})
	cfg := testConfig(site)
	cfg.MaxAlternatives, cfg.BudgetLimit = 2, 100*grid.Credit
	w := newTestWorld(t, cfg, site)
	// rich has two alternatives, from 3000 on, where all is clear; poor loses
	// both of its own and must not be given rich's.
	rich := testJob("rich", 4, 1000*grid.Second, 20*grid.Credit)
	rich.Ready = 3000 * sec
	w.submit(0, rich, testJob("poor", 1, 1000*grid.Second, grid.Credit))
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
	cfg.MaxAlternatives, cfg.Lead = 1, grid.Minute
	w := newTestWorld(t, cfg, north, south)
	w.submit(0, testJob("one", 4, 100*grid.Second, grid.Credit))
	w.Run(9 * sec)
	if w.job("one").State != grid.JobWaiting {
		t.Fatal("placed before the wait was over")
	}
	w.finish(t, 100*sec)
	if v := w.job("one"); v.State != grid.JobPlaced || v.Last.Legs[0].Site != "south" {
		t.Errorf("the job is %v: %v", v.State, v.Reason)
	}
}

// A request, or its answer, that is lost costs half a second and not all of the
// wait, whether it is for offers or for quotes.
func TestRequests_OneThatIsLostIsSaidAgain(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"OfferRequest", "QuoteRequest"} {
		north, south := newFakeSite("north", 4, 0), newFakeSite("south", 4, 0)
		north.busy[0].Add(0, 20_000*sec, 4)
		north.rule = onNth(kind, 1, fakeAnswer{lost: true})
		cfg := testConfig(north, south)
		w := newTestWorld(t, cfg, north, south)
		w.submit(0, testJob("both", 8, 100*grid.Second, grid.Credit))
		w.Run(sec - 1)
		if v := w.job("both"); v.State != grid.JobPlaced {
			t.Errorf("one %s was lost: after a second the job is %v: %v", kind, v.State, v.Reason)
		}
		w.finish(t, 9000*sec)
	}
}

func TestOffers_OfAnEarlierCycleAreIgnored(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	site.rule = rules(onNth("OfferRequest", 1, fakeAnswer{late: 20 * grid.Second}), onNth("OfferRequest", 2, fakeAnswer{late: 8 * grid.Second}))
	cfg := testConfig(site)
	cfg.BatchSize, cfg.Lead = 1, grid.Minute
	w := newTestWorld(t, cfg, site)
	w.submit(1*sec, testJob("a", 1, grid.Second, grid.Credit))
	w.submit(15*sec, testJob("b", 1, grid.Second, grid.Credit))
	w.finish(t, 23*sec) // the first answer comes at 21 s, the second at 23 s
	if v := w.job("b"); v.State != grid.JobPlaced {
		t.Errorf("b is %v: %v", v.State, v.Reason)
	}
}

func TestQuotes_OfAnEarlierCycleAreIgnored(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 3_600_000)
	site.busy[0].Add(0, 20_000*sec, 4)
	site.rule = rules(onNth("QuoteRequest", 1, fakeAnswer{late: 20 * grid.Second, refuse: grid.Busy}),
		onNth("QuoteRequest", 2, fakeAnswer{late: 8 * grid.Second}))
	cfg := testConfig(site)
	cfg.BatchSize, cfg.Lead = 1, grid.Minute
	w := newTestWorld(t, cfg, site)
	w.submit(1*sec, testJob("a", 1, grid.Second, grid.Credit))
	w.submit(15*sec, testJob("b", 1, grid.Second, grid.Credit))
	w.finish(t, 23*sec)
	if v := w.job("b"); v.State != grid.JobPlaced {
		t.Errorf("b is %v: %v", v.State, v.Reason)
	}
}
