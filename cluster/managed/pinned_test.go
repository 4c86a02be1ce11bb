package managed

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Offers say how many nodes are free at each instant, and nodes do not change places: that as
// many are free at every instant of a window does not mean that so many are for all of it. Of
// batches that are planned on counts and held in order this says how many are refused. Each of
// them is told other starts, and has its nodes at the first. simulation/pinned has the same with a
// broker, which holds windows in the order in which they begin (decision 48).
//
// No profile of counts would be exact: which windows fit beside each other on nodes that are free
// at times of their own is the k-track assignment problem. One that is cut wherever a node's time
// ends and others' have begun is exact for the first window alone: of offers that are renewed 0.2 %
// were refused instead of 3.8 %, of batches 4.7 % instead of 5.2 %, and all waited 2 % longer.
func TestOffers_FewOfABatchAreRefusedBecauseNodesArePinned(t *testing.T) {
	t.Parallel()
	for name, renew := range map[string]bool{"batches of 20": false, "offers renewed after each sale": true} {
		tried, denied := 0, 0
		for seed := range uint64(20) {
			a, d, lost := batchOnCounts(seed, renew)
			tried, denied = tried+a, denied+d
			for _, l := range lost {
				t.Errorf("%s: seed %d: %d nodes from %v on are refused, and nothing else is offered that can be held", name, seed, l.Nodes, l.Start)
			}
		}
		t.Logf("%s: %d of %d windows are refused, %.1f %%", name, denied, tried, 100*float64(denied)/float64(tried))
		if denied*100 > 8*tried {
			t.Errorf("%s: %d of %d windows are refused; must be 8 %% at most", name, denied, tried)
		}
	}
}

// batchOnCounts plans windows on the counts that a cluster of 32 nodes shows and holds them,
// and returns how many there were, how many were refused, and which of these had no place where
// the refusal said that there is one.
func batchOnCounts(seed uint64, renew bool) (tried, denied int, lost []grid.Leg) {
	r := rand.New(rand.NewPCG(seed, 1))
	names := make([]string, 32)
	for i := range names {
		names[i] = fmt.Sprintf("n%02d", i)
	}
	cfg := config(false, names...)
	w := newWorld(cfg)
	for i := range names { // local jobs of one to three nodes, and a few reservations later
		if r.IntN(10) < 7 {
			end := w.now.Add(grid.Duration(1+r.IntN(480)) * grid.Minute)
			w.toy.jobs = append(w.toy.jobs, toyJob{ManagedJob: grid.ManagedJob{Number: fmt.Sprint(1000 + i), Name: "local", User: "eve", State: grid.ManagedRunning, Count: 1,
				Nodes: names[i : i+1], Start: w.now, Limit: end.Sub(w.now)}, limit: end})
		}
		if r.IntN(10) < 3 {
			at := w.now.Add(grid.Duration(500+r.IntN(600)) * grid.Minute)
			w.toy.reservations = append(w.toy.reservations, grid.ManagedReservation{Name: fmt.Sprint("theirs", i), Start: at, End: at.Add(grid.Duration(30+r.IntN(240)) * grid.Minute), Nodes: names[i : i+1]})
		}
	}
	w.wait(30 * grid.Second)
	free := func() grid.Profile { return w.nodes.Show(0).States[0].Free.Clone() }
	profile := free()
	for n := range uint64(20) {
		l := grid.Leg{Group: "main", Nodes: 1 + r.IntN(8)}
		long := grid.Duration(10+r.IntN(230)) * grid.Minute
		if !earliest(profile, &l, w.now.Add(grid.Minute), long) {
			continue
		}
		tried++
		if h := w.ask(agents.ClusterHold{Leg: leg(n + 1), What: l, User: "ana", Job: "job"}); h.Refusal.Refused() {
			denied++
			if !elsewhere(w, 1000+n, l, h.Instead) {
				lost = append(lost, l)
			}
		}
		if profile.Add(l.Start, l.End.Add(cfg.Limits.Padding), -l.Nodes); renew {
			profile = free()
		}
	}
	return tried, denied, lost
}

// elsewhere holds a leg at the first of other starts, and gives it back.
func elsewhere(w *world, n uint64, l grid.Leg, starts []grid.Time) bool {
	if len(starts) == 0 {
		return false
	}
	l.Start, l.End = starts[0], starts[0].Add(l.Duration())
	h := w.ask(agents.ClusterHold{Leg: leg(n), What: l, User: "ana", Job: "job"})
	w.release(n)
	return !h.Refusal.Refused()
}

// earliest finds the first window of a length in a profile.
func earliest(p grid.Profile, l *grid.Leg, from grid.Time, long grid.Duration) bool {
	try := func(at grid.Time) bool {
		l.Start, l.End = at, at.Add(long)
		return p.Min(l.Start, l.End) >= l.Nodes
	}
	if try(from) {
		return true
	}
	for _, s := range p {
		if s.At > from && try(s.At) {
			return true
		}
	}
	return false
}
