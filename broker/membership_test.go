package broker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

func TestMembership_SitesJoinAndLeaveWhileItRuns(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 3_600_000), newFakeSite("south", 4, 3_600_000)
	w := newTestWorld(t, testConfig(north), north, south)
	w.submit(0, testJob("both", 8, 100*grid.Second, 99*grid.Credit))
	w.Run(500 * sec)
	if v := w.job("both"); v.State != grid.JobAbandoned {
		t.Errorf("8 nodes of a site of 4: %v", v.State)
	}
	w.Post(500*sec, "broker:vo1", agents.SiteJoined{Site: "site:south"})
	w.Post(500*sec, "broker:vo1", agents.SiteJoined{Site: "site:south"})
	w.Post(500*sec, "broker:vo1", agents.SiteJoined{Site: "nonsense"})
	w.submit(600*sec, testJob("wide", 8, 5000*grid.Second, 99*grid.Credit))
	w.Run(1100 * sec)
	if v := w.job("wide"); v.State != grid.JobPlaced || len(v.Last.Legs) != 2 {
		t.Errorf("with south the job is %v", v.State)
	}
	w.Post(1200*sec, "broker:vo1", agents.SiteLeft{Site: "site:south"})
	w.submit(1300*sec, testJob("late", 1, 100*grid.Second, 99*grid.Credit))
	w.trace = nil
	w.finish(t, 9000*sec)
	if n := w.sent("-> south: OfferRequest"); n > 0 {
		t.Errorf("south has left and is asked for offers %d times", n)
	}
	if v := w.job("wide"); v.State != grid.JobDone {
		t.Errorf("what a site owes that has left stands: %v", v.State)
	}
	joined := 0
	for _, f := range w.facts {
		if strings.HasPrefix(f.Kind(), "site-") {
			joined++
		}
	}
	if joined != 2 {
		t.Errorf("%d facts of membership, want 2", joined)
	}
}

// A cycle does not wait for the answers of a site that has left since. If the site comes
// back before the cycle is over, its answers are not accepted.
func TestMembership_ACycleGoesOnWithoutASiteThatLeaves(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"OfferRequest", "QuoteRequest"} {
		north, south := newFakeSite("north", 4, 0), newFakeSite("south", 4, 0)
		for _, s := range []*fakeSite{north, south} {
			s.busy[0] = grid.NewProfile(0, 4) // all has a price that is asked for
		}
		south.rule = onNth(kind, 1, fakeAnswer{late: 9 * grid.Second})
		cfg := testConfig(north, south)
		cfg.Lead = grid.Minute
		w := newTestWorld(t, cfg, north, south)
		w.submit(1, testJob("one", 2, 100*grid.Second, 99*grid.Credit))
		w.Run(1000 * sec)
		w.Post(1002*sec, "broker:vo1", agents.SiteLeft{Site: "site:south"})
		w.Post(1003*sec, "broker:vo1", agents.SiteJoined{Site: "site:south"})
		w.Run(1003 * sec)
		if v := w.job("one"); v.State != grid.JobPlaced || v.Last.Legs[0].Site != "north" {
			t.Errorf("%s: a second after south has left the job is %v, %v, %v", kind, v.State, v.Reason, v.Last)
		}
		w.finish(t, 9000*sec)
	}
}

// A site that comes while a cycle gathers offers may have what a job needs. So the job is
// not given up for lack of it.
func TestMembership_NothingIsFinalWhenASiteComesDuringTheCycle(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 0), newFakeSite("south", 4, 0)
	north.rule = onNth("OfferRequest", 1, fakeAnswer{late: 5 * grid.Second})
	cfg := testConfig(north, south)
	cfg.Sites, cfg.Lead = cfg.Sites[:1], grid.Minute
	w := newTestWorld(t, cfg, north, south)
	w.submit(1, testJob("both", 8, 100*grid.Second, 99*grid.Credit))
	w.Run(1000 * sec)
	w.Post(1002*sec, "broker:vo1", agents.SiteJoined{Site: "site:south"})
	w.finish(t, 9000*sec)
	if v := w.job("both"); v.State != grid.JobDone {
		t.Errorf("8 nodes of two sites of 4, of which one came late: %v, %v", v.State, v.Reason)
	}
}

// Nor does it ask a site that has left to hold anything: each alternative there
// would have to be waited for.
func TestMembership_ASiteThatHasLeftIsNotAskedToHold(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 2*grid.Price(grid.Credit)), newFakeSite("south", 16, 0)
	south.rule = func(m agents.Message) fakeAnswer { return fakeAnswer{silent: m.Kind() == "Hold"} }
	cfg := testConfig(north, south)
	cfg.Lead, cfg.Minimize, cfg.MaxAlternatives = grid.Minute, grid.GoalCost, 8
	w := newTestWorld(t, cfg, north, south)
	w.submit(1, testJob("one", 4, 100*grid.Second, 99*grid.Credit))
	w.Run(1000 * sec)
	w.Post(1001*sec, "broker:vo1", agents.SiteLeft{Site: "site:south"})
	w.finish(t, 9000*sec)
	var tried []string
	for _, f := range only[facts.TxBegun](w) {
		tried = append(tried, f.Sites...)
	}
	if fmt.Sprint(tried) != "[south north]" {
		t.Errorf("tries at %v; south leaves during the first, so that north is next", tried)
	}
}

// A message without sense is counted and changes nothing.
func TestStep_CountsWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	b := New(testConfig(newFakeSite("north", 4, 0)))
	var out agents.Outbox
	b.Step(0, "", agents.Started{Nonce: 1}, &out)
	out.Reset()
	for _, m := range []agents.Message{agents.Hold{}, agents.OfferRequest{}, agents.Held{}, agents.SubmitReply{}, agents.Inquire{}} {
		b.Step(0, "site:nobody", m, &out)
	}
	if b.Stray() != 5 || len(out.Facts)+len(out.Sends)+len(out.Alarms) > 0 {
		t.Errorf("%d counted, %+v", b.Stray(), out)
	}
}

func TestSkew_ASiteWhoseClockIsOffIsNamed(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	site.skew = 2001
	w := newTestWorld(t, testConfig(site), site)
	w.submit(0, testJob("j", 1, grid.Second, grid.Credit))
	w.finish(t, 0)
	if c := only[facts.CycleClosed](w)[0]; len(c.Skewed) != 1 || c.Skewed[0] != "north" {
		t.Errorf("skewed %q", c.Skewed)
	}
	if v := w.job("j"); !strings.Contains(v.Reason.String(), "clock of north") {
		t.Errorf("the job is told %q", v.Reason)
	}
}

// A federation that comes up all at once is named site by site: a job that needs
// them all, and comes between the first and the last, is not given up.
func TestMembership_NoJobIsGivenUpWhileSitesStillJoin(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 3_600_000), newFakeSite("south", 4, 3_600_000)
	cfg := testConfig()
	cfg.Cycle = 2 * grid.Second
	w := newTestWorld(t, cfg, north, south)
	w.Post(10*sec, "broker:vo1", agents.SiteJoined{Site: "site:north"})
	w.submit(11*sec, testJob("both", 8, 100*grid.Second, 99*grid.Credit))
	w.submit(11*sec, testJob("more", 9, 100*grid.Second, 99*grid.Credit))
	w.Run(15 * sec)
	if v := w.job("both"); v.State != grid.JobWaiting {
		t.Fatalf("one site of two has joined a second ago, and a job for both is %v: %v", v.State, v.Reason)
	}
	w.Post(20*sec, "broker:vo1", agents.SiteJoined{Site: "site:south"})
	w.Run(1500 * sec)
	if v := w.job("both"); v.State != grid.JobPlaced && v.State != grid.JobDone {
		t.Errorf("both sites have joined, and a job for both is %v: %v", v.State, v.Reason)
	}
	if v := w.job("more"); v.State != grid.JobAbandoned {
		t.Errorf("a job for more than all sites is %v long after the last has joined", v.State)
	}
}
