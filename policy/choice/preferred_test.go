package choice

import (
	"math/rand/v2"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// busy is a state in which some jobs run, some nodes are reserved and many jobs wait.
func busy(r *rand.Rand, policy backfill.Policy, jobs int) *backfill.State {
	const nodes = 16
	s := &backfill.State{Nodes: nodes, Policy: policy, Free: grid.NewProfile(0, nodes)}
	for i, left := int64(0), nodes; left > 0; i++ {
		n, end := 1+r.IntN(left), grid.Time(1+r.IntN(300))
		s.Running = append(s.Running, backfill.Running{ID: -1 - i, Nodes: n, End: end})
		s.Free.Add(0, end, -n)
		left -= n
	}
	for i := range int64(r.IntN(4)) {
		start := grid.Time(300 + 40*i)
		x := backfill.Reserved{ID: -100 - i, Nodes: 1 + r.IntN(nodes), Start: start, End: start + grid.Time(1+r.IntN(40))}
		s.Reserved = append(s.Reserved, x)
		s.Free.Add(x.Start, x.End, -x.Nodes)
	}
	widest := 1 + r.IntN(nodes)
	for i := range int64(jobs) {
		s.Queue = append(s.Queue, backfill.Queued{ID: i, Nodes: 1 + r.IntN(widest), Estimate: grid.Duration(1 + r.IntN(60)), Weight: 1000, Guarantee: grid.Never})
	}
	return s
}

// Preferred chooses what ByAlpha does with all prices known, with fewer of them.
func TestPreferred_IsWhatByAlphaChooses(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 16))
	policies := []backfill.Policy{backfill.EASY, backfill.EASY, backfill.EASY, backfill.FCFS, backfill.FirstFit, backfill.Conservative, backfill.Reserving(2)}
	some, all := pricing.NewBook(), pricing.NewBook()
	chosen := map[bool]int{}
	unpriced, offered := 0, 0
	for i := range 300 {
		s := busy(r, policies[i%len(policies)], r.IntN(150))
		n, d := 1+r.IntN(s.Nodes), grid.Duration(1+r.IntN(100))
		alpha := []Alpha{0, 1, One / 10, One / 2, One / 2, One * 9 / 10, One - 1, One, Alpha(r.Int64N(int64(One)))}[r.IntN(9)]
		some.Reset(s)
		all.Reset(s)
		list, offers := some.List(n, d, r.IntN(2) == 0), []pricing.Offer(nil)
		got := Preferred(list, alpha)
		for _, o := range list.Offers() {
			f, ok := all.Additive(o.Start, n, d)
			offers = append(offers, pricing.Offer{Start: o.Start, Feasible: ok, Additive: f})
			if offered++; o.Additive == pricing.Unpriced {
				unpriced++
			} else if o.Additive != f {
				t.Fatalf("state %d: a price of %v is noted as %v", i, f, o.Additive)
			}
		}
		if want := ByAlpha(offers, alpha); got != want {
			t.Fatalf("state %d, %v, alpha %v: %d %+v, want %d %+v", i, s.Policy, alpha, got, offers[got], want, offers[want])
		}
		chosen[offers[got].Additive > 0]++
	}
	if unpriced < offered/4 || chosen[true] < 30 || chosen[false] < 30 {
		t.Errorf("%d of %d without a price; chosen with a price and free: %v", unpriced, offered, chosen)
	}
}

func TestPreferred_NothingFeasible(t *testing.T) {
	t.Parallel()
	s := &backfill.State{Nodes: 4, Policy: backfill.EASY, Free: grid.NewProfile(0, 4)}
	b := pricing.NewBook()
	b.Reset(s)
	if i := Preferred(b.List(5, 10, false), One/2); i != -1 {
		t.Errorf("chose %d", i)
	}
}
