package pricing

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// A trial that goes on as another start of its list did comes to the price that it has by
// itself, where there is no other; some do go on so.
func TestOffers_PricesOfALongQueueAreThoseOfSingleStarts(t *testing.T) {
	t.Parallel()
	book, alone := NewBook(), NewBook()
	met, prices := 0, 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 6))
		policy := []backfill.Policy{backfill.EASY, backfill.FirstFit, backfill.FCFS, backfill.Reserving(2)}[r.IntN(4)]
		s := randomState(r, policy, 8, 0, []int64{5, 40}[r.IntN(2)])
		for i := range worthPaths + r.IntN(60) {
			q := backfill.Queued{ID: int64(i), Nodes: 1 + r.IntN(8), Estimate: grid.Duration(1 + r.Int64N(40)), Weight: 1000, Guarantee: grid.Never}
			s.Queue = append(s.Queue, q)
		}
		book.Reset(s)
		alone.Reset(s)
		n, d := 1+r.IntN(8), grid.Duration(1+r.Int64N(60))
		for _, o := range book.Offers(n, d, r.IntN(2) == 0) {
			f, ok := alone.Additive(o.Start, n, d)
			if ok != o.Feasible || f != o.Additive {
				t.Fatalf("seed %d, %v: %d nodes for %v at %v cost %v, %v; by itself %v, %v", seed, policy, n, d, o.Start, o.Additive, o.Feasible, f, ok)
			}
			if f > 0 {
				prices++
			}
		}
		met += book.paths.met
		if o := book.offers[len(book.offers)/2]; o.Feasible && o.Additive > 0 {
			if f, _, _ := naiveHarm(s, naivePlan(s), o.Start, n, d); f != o.Additive {
				t.Fatalf("seed %d, %v: at %v it costs %v, want %v", seed, policy, o.Start, o.Additive, f)
			}
		}
		if f, ok := book.Additive(s.Now, n, d); ok && book.paths.on {
			t.Fatalf("a price by itself, %v, follows the paths of a list", f)
		}
	}
	if met < 100 || prices < 1000 {
		t.Errorf("%d of %d trials met another", met, prices)
	}
}

// The size that is counted is at least the real one, and less than half as much again.
func TestSize_IsWhatIsTaken(t *testing.T) {
	t.Parallel()
	const many = 1000
	for i, bytes := range []uintptr{unsafe.Sizeof(grid.Step{}), 8, unsafe.Sizeof(grid.Time(0)), unsafe.Sizeof(passed{})} {
		var n [4]int
		n[i] = many
		if got, want := size(n[0], n[1], n[2], n[3])*16, int(bytes)*many; got < want || 2*got > 3*want {
			t.Errorf("%v take %d bytes, counted as %d", n, want, got)
		}
	}
}

// A list of trials takes so much memory at most, however long the queue, and a book gives
// it back with the next state; where trials meet no others none are noted.
func TestOffers_TakeSoMuchMemoryAtMost(t *testing.T) {
	t.Parallel()
	kept := func(p *paths) int { return 16 * size(cap(p.steps), cap(p.words), cap(p.times), cap(p.passed)) }
	for _, policy := range []backfill.Policy{backfill.FCFS, backfill.EASY} {
		r := rand.New(rand.NewPCG(1, 7))
		s := &backfill.State{Nodes: 4, Policy: policy, Free: grid.NewProfile(0, 4)}
		for i := range 1500 {
			s.Queue = append(s.Queue, backfill.Queued{ID: int64(i), Nodes: 1 + r.IntN(4), Estimate: grid.Duration(1 + r.IntN(1_000_000)), Weight: 1000, Guarantee: grid.Never})
		}
		book, alone := NewBook(), NewBook()
		book.Reset(s)
		alone.Reset(s)
		for i, o := range book.Offers(3, 12_345, false) {
			if i%50 != 0 {
				continue
			}
			if f, ok := alone.Additive(o.Start, 3, 12_345); ok != o.Feasible || f != o.Additive {
				t.Fatalf("%v: at %v it costs %v, %v; by itself %v, %v", policy, o.Start, o.Additive, o.Feasible, f, ok)
			}
		}
		if n := kept(&book.paths); n > 2*16*pathRoom {
			t.Errorf("%v: a book keeps %d bytes", policy, n)
		}
		if book.Reset(s); kept(&book.paths) > 16*pathsKept {
			t.Errorf("%v: a book keeps %d bytes of the list before", policy, kept(&book.paths))
		}
	}
}
