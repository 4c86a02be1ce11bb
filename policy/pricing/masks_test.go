package pricing

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// Of a queue so long that a row holds several sizes, who is smaller than the largest of the
// smallest row is found too where no more nodes than that are free.
func TestFill_TheSmallestJobOfALongQueueIsFound(t *testing.T) {
	t.Parallel()
	free := grid.NewProfile(0, 3)
	free.Add(0, 1000, -2)
	s := &backfill.State{Nodes: 3, Policy: backfill.EASY, Free: free, Running: []backfill.Running{{ID: 1, Nodes: 2, End: 1000}}}
	for i := range maxRows + 50 {
		q := backfill.Queued{ID: int64(i + 2), Nodes: 2, Estimate: 3, Weight: 1000, Guarantee: grid.Never}
		switch i {
		case 0:
			q.Nodes = 3 // waits for all
		case maxRows + 49:
			q.Nodes = 1
		}
		s.Queue = append(s.Queue, q)
	}
	b := NewBook()
	b.Reset(s)
	if f, ok := b.Additive(0, 1, 5); f != 5 || !ok || !b.short.coarse {
		t.Errorf("5 ms on the only free node cost %v (%v): only the last job may start, 5 ms later; rows of several: %v", f, ok, b.short.coarse)
	}
}

// Of jobs of many sizes and estimates, the first that may fit is not after the first that
// does, and where each size is a group of its own and each estimate a row it is that.
func TestMasks_FindTheFirstThatFits(t *testing.T) {
	t.Parallel()
	found, none := 0, 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 18))
		sizes := []int{6, 40, 200}[r.IntN(3)]
		s := randomState(r, backfill.EASY, 200, 0, 30)
		for i := range 40 + r.IntN(1500) {
			s.Queue = append(s.Queue, backfill.Queued{ID: int64(i), Nodes: 1 + r.IntN(sizes), Estimate: grid.Duration(1 + r.IntN(3000)), Weight: 1000, Guarantee: grid.Never})
		}
		b := NewBook()
		b.Reset(s)
		for range 30 {
			w := &b.trial
			b.resume(w, &b.marks[r.IntN(len(b.marks))])
			for at := w.at; r.IntN(2) == 0; at += grid.Time(r.IntN(500)) {
				w.take(at, at.Add(grid.Duration(1+r.IntN(2000))), 1)
			}
			b.masks.begin(b, w)
			for pos := range s.Queue { // some more have started
				if r.IntN(3) == 0 {
					w.rem[pos>>6] &^= 1 << (pos & 63)
				}
			}
			from := 0
			for pos := range s.Queue {
				q := &s.Queue[pos]
				if !w.waits(int32(pos)) || !fits(w.free[w.lo:], w.at.Add(q.Estimate), q.Nodes) {
					continue
				}
				got := b.firstFit(w, from)
				if got > pos || got < from || got < pos && sizes <= maxGroups && !b.short.coarse {
					t.Fatalf("seed %d: from %d on job %d fits first, not %d", seed, from, pos, got)
				}
				from, found = pos+1, found+1
			}
			if got := b.firstFit(w, from); got < len(s.Queue) && sizes <= maxGroups && !b.short.coarse {
				t.Fatalf("seed %d: from %d on no job fits, but %d", seed, from, got)
			}
			none++
		}
	}
	if found < 1000 {
		t.Errorf("%d jobs fitted in %d states", found, none)
	}
}

// A set holds every job up to a value, and no other where each value has its row.
func TestRanks_HoldEveryJobUpToAValue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(1, 40), 1, 200).Draw(t, "values")
		rows := rapid.IntRange(1, 250).Draw(t, "rows")
		words := (len(values) + 63) / 64
		var r ranks
		for range 2 { // the second time in used memory
			r.make(len(values), words, rows, func(i int) int64 { return values[i] })
		}
		if len(r.values) > rows && len(values) > rows {
			t.Fatalf("%d rows, want %d at most", len(r.values), rows)
		}
		for v := range int64(42) {
			set := r.upTo(v, words)
			for pos, x := range values {
				has := set != nil && set[pos>>6]>>(pos&63)&1 == 1
				if x <= v && !has || x > v && has && !r.coarse {
					t.Fatalf("up to %d: job %d of %d is in: %v (coarse %v)", v, pos, x, has, r.coarse)
				}
			}
		}
	})
}
