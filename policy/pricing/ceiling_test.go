package pricing

import (
	"math/rand/v2"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// longState has a queue long enough for masks and paths.
func longState(r *rand.Rand, policy backfill.Policy, nodes, jobs int, span int64) *backfill.State {
	s := randomState(r, policy, nodes, 0, span)
	for i := range jobs {
		q := backfill.Queued{ID: int64(i), Nodes: 1 + r.IntN(nodes), Estimate: grid.Duration(1 + r.Int64N(40)), Weight: r.Int64N(3) * 500, Guarantee: grid.Never}
		s.Queue = append(s.Queue, q)
	}
	return s
}

// A price that is said to be within a bound is, in whatever order it is asked; some are
// said to be without being worked out.
func TestWithin_IsTrueOfThePrice(t *testing.T) {
	t.Parallel()
	book, alone := NewBook(), NewBook()
	spared, within, above := 0, 0, 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 16))
		policy := []backfill.Policy{backfill.EASY, backfill.EASY, backfill.EASY, backfill.FirstFit, backfill.FCFS, backfill.Conservative, backfill.Reserving(2)}[r.IntN(7)]
		s := longState(r, policy, 1+r.IntN(12), worthPaths+r.IntN(60), []int64{5, 40}[r.IntN(2)])
		book.Reset(s)
		alone.Reset(s)
		n, d := 1+r.IntN(s.Nodes), grid.Duration(1+r.Int64N(60))
		l := book.List(n, d, r.IntN(2) == 0)
		for _, i := range r.Perm(len(l.Offers())) {
			o := &l.Offers()[i]
			f, ok := alone.Additive(o.Start, n, d)
			if ok != o.Feasible {
				t.Fatalf("seed %d: feasible %v, want %v", seed, o.Feasible, ok)
			}
			most := f - 1
			if m := r.IntN(4); m > 0 {
				most = f * grid.Duration(m*m*m) // from the price itself
			}
			if got := l.Within(i, max(0, most)); got != (f <= max(0, most)) {
				t.Fatalf("seed %d, %v: %v is within %v: %v", seed, policy, f, most, got)
			}
			switch {
			case o.Additive == Unpriced:
				spared++
			case f <= most:
				within++
			default:
				above++
			}
			if r.IntN(4) == 0 && l.Price(i) != f {
				t.Fatalf("seed %d, %v: it costs %v, want %v", seed, policy, l.Price(i), f)
			}
		}
	}
	if spared < 500 || within < 500 || above < 500 {
		t.Errorf("%d bounded, %d worked out within, %d above", spared, within, above)
	}
}

// A price by itself does not stop at the bound of a list.
func TestWithin_LeavesNoBoundBehind(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 17))
	s := longState(r, backfill.EASY, 8, 100, 20)
	book, alone := NewBook(), NewBook()
	book.Reset(s)
	alone.Reset(s)
	l := book.List(5, 30, false)
	for i, o := range l.Offers() {
		l.Within(i, 1<<40)
		f, ok := book.Additive(o.Start, 5, 30)
		if want, feasible := alone.Additive(o.Start, 5, 30); f != want || ok != feasible {
			t.Fatalf("%v, %v by itself, want %v, %v", f, ok, want, feasible)
		}
	}
}
