package broker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// manySites are sites of 4 nodes, each dearer than the one before it.
func manySites(n int) []*fakeSite {
	list := make([]*fakeSite, n)
	for i := range list {
		list[i] = newFakeSite(fmt.Sprintf("s%02d", i), 4, grid.Price(i+1)*1_000_000)
	}
	return list
}

// asked lists which sites were asked for offers at each instant.
func asked(w *testWorld) map[string]map[string]bool {
	at := map[string]map[string]bool{}
	for _, line := range w.trace {
		when, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		if _, site, ok := strings.Cut(what, "-> "); ok && strings.Contains(site, ": OfferRequest") {
			if at[when] == nil {
				at[when] = map[string]bool{}
			}
			at[when][site[:strings.Index(site, ":")]] = true
		}
	}
	return at
}

// No cycle asks more sites than it may; all are asked in turn, and once they are known
// the job goes to the cheapest.
func TestAsking_SomeSitesEachCycleAllInTurn(t *testing.T) {
	t.Parallel()
	sites := manySites(20)
	cfg := testConfig(sites...)
	cfg.MaxAsked, cfg.Minimize = 4, grid.GoalCost
	w := newTestWorld(t, cfg, sites...)
	for i := range 30 {
		w.submit(grid.Time(i)*1000*sec+1, testJob(fmt.Sprintf("j%02d", i), 2, 100*grid.Second, 99*grid.Credit))
	}
	w.finish(t, 40_000*sec)
	all := map[string]bool{}
	for when, some := range asked(w) {
		if len(some) > 4 {
			t.Errorf("at %s %d sites are asked", when, len(some))
		}
		for site := range some {
			all[site] = true
		}
	}
	if len(all) != 20 {
		t.Errorf("%d of 20 sites were ever asked", len(all))
	}
	for i := range 30 {
		v := w.job(fmt.Sprintf("j%02d", i))
		if v.State != grid.JobDone {
			t.Fatalf("job %d is %v: %v", i, v.State, v.Reason)
		}
		if i >= 20 && v.Last.Legs[0].Site != "s00" {
			t.Errorf("job %d goes to %s, which is not the cheapest", i, v.Last.Legs[0].Site)
		}
	}
}

// A job that only one site can serve gets its window there. A job that none can serve is
// abandoned once all sites have been asked, and not before.
func TestAsking_TheOnlySiteIsFoundAndTheImpossibleIsGivenUp(t *testing.T) {
	t.Parallel()
	sites := manySites(20)
	sites[17].groups[0].Machine.GPUs = 4
	cfg := testConfig(sites...)
	cfg.MaxAsked = 4
	w := newTestWorld(t, cfg, sites...)
	some, none := testJob("some", 2, 100*grid.Second, 99*grid.Credit), testJob("none", 2, 100*grid.Second, 99*grid.Credit)
	some.Require.GPUs, none.Require.GPUs = 4, 5
	w.submit(1, some, none)
	w.Run(1001 * sec)
	if v := w.job("none"); !v.State.Open() {
		t.Errorf("it is given up when 4 of 20 sites were asked: %v", v.Reason)
	}
	w.finish(t, 40_000*sec)
	if v := w.job("some"); v.State != grid.JobDone || v.Last.Legs[0].Site != "s17" {
		t.Errorf("the job is %v: %v", v.State, v.Reason)
	}
	if v := w.job("none"); v.State != grid.JobAbandoned || v.Reason.Code != grid.NoNode {
		t.Errorf("what no site can serve is %v: %v", v.State, v.Reason)
	}
}

// A broker that may ask as many sites as there are does what one does that has no
// bound.
func TestAsking_ABoundThatDoesNotBindChangesNothing(t *testing.T) {
	t.Parallel()
	run := func(most int) string {
		sites := manySites(6)
		cfg := testConfig(sites...)
		cfg.MaxAsked = most
		w := newTestWorld(t, cfg, sites...)
		for i := range 12 {
			w.submit(grid.Time(i)*500*sec+1, testJob(fmt.Sprintf("j%02d", i), 1+i%6, 700*grid.Second, 99*grid.Credit))
		}
		w.finish(t, 40_000*sec)
		return strings.Join(w.trace, "\n")
	}
	if run(0) != run(6) {
		t.Error("with six sites and at most six asked it does something else")
	}
	if run(0) == run(2) {
		t.Error("with at most two asked it does the same")
	}
}

// A modification is served from the offers of some of the sites. The site that has the job now is
// among them.
func TestAsking_AModificationAsksNoMoreThanACycle(t *testing.T) {
	t.Parallel()
	sites := manySites(20)
	cfg := testConfig(sites...)
	cfg.MaxAsked, cfg.Minimize = 5, grid.GoalCost
	w := newTestWorld(t, cfg, sites...)
	var j grid.Job
	for i := range 8 { // they meet the sites
		j = testJob(fmt.Sprintf("j%02d", i), 4, 1000*grid.Second, 99*grid.Credit)
		j.Ready = 15_000 * sec
		w.submit(grid.Time(i)*1000*sec+1, j)
	}
	w.Run(9000 * sec)
	at := w.job(j.Name).Last.Legs[0].Site
	w.trace = nil
	j.Request.Ready = 16_500 * sec
	w.Post(9500*sec, "broker:vo1", agents.JobModify{Job: j.Name, Request: j.Request})
	w.Run(9600 * sec)
	some := asked(w)["9500"]
	if len(some) < 5 || len(some) > 6 || !some[at] {
		t.Errorf("the job is at %s, and for its modification are asked %v", at, some)
	}
	if v := w.job(j.Name); v.Last.Legs[0].Start < 16_500*sec {
		t.Errorf("it starts at %v: %v", v.Last.Legs[0].Start, v.Reason)
	}
}
