package search

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// A plain slice that is sorted after each change is the naive twin of the chunks.
func TestSlotList_EqualsASortedSlice(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	var list slotList
	for round := range 3 { // the memory is used again
		var want []slot
		draw := func() slot {
			start := grid.Time(r.IntN(40))
			return slot{start: start, end: start + 1 + grid.Time(r.IntN(1000)), tie: r.Int64N(1 << 40), class: int32(r.IntN(9)), count: 1}
		}
		for range r.IntN(3) * 500 {
			want = append(want, draw())
		}
		slices.SortFunc(want, func(a, b slot) int { return a.compare(b) })
		list.fill(want)
		want = slices.Clone(want)
		for step := range 3000 {
			if grow := step < 1500; len(want) == 0 || grow && r.IntN(4) > 0 || !grow && r.IntN(4) == 0 {
				s := draw()
				i, _ := slices.BinarySearchFunc(want, s, func(a, b slot) int { return a.compare(b) })
				want = slices.Insert(want, i, s)
				list.insert(s)
			} else {
				i := r.IntN(len(want))
				list.remove(list.find(want[i]))
				want = slices.Delete(want, i, i+1)
			}
			if step%100 == 0 || len(want) < 3 {
				checkChunks(t, &list, want)
			}
		}
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
}

func checkChunks(t *testing.T, l *slotList, want []slot) {
	t.Helper()
	var got []slot
	for _, c := range l.chunks {
		if len(c.slots) == 0 || len(c.slots) > chunkSize {
			t.Fatalf("a chunk of %d slots", len(c.slots))
		}
		for _, s := range c.slots {
			if s.end > c.maxEnd {
				t.Fatalf("a slot ends at %v, in a chunk where none ends after %v", s.end, c.maxEnd)
			}
		}
		got = append(got, c.slots...)
	}
	if !slices.Equal(got, want) || l.n != len(want) {
		t.Fatalf("%d slots, or in another order or others than %d", l.n, len(want))
	}
}

// Whatever is taken and given back, within a list and beyond its ends, with what the
// groups keep around a window: the list is the one made anew from what is free.
func TestList_IsTheOneMadeAnewAfterChanges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		groups, free := drawGroups(t)
		for g := range groups {
			groups[g].Padding = grid.Duration(rapid.IntRange(0, 2).Draw(t, "padding")) * tick
		}
		from, to := grid.Time(rapid.IntRange(0, 5).Draw(t, "list from"))*instant, 20*instant
		l := fungible(groups, free, from, to)
		for range rapid.IntRange(1, 12).Draw(t, "changes") {
			g := rapid.IntRange(0, len(groups)-1).Draw(t, "group")
			s := grid.Time(rapid.IntRange(0, 25).Draw(t, "from")) * instant
			e := s + grid.Time(rapid.IntRange(1, 8).Draw(t, "for"))*instant
			n := rapid.SampledFrom([]int{-2, -1, 1, 2}).Draw(t, "nodes")
			l.Add(int32(g), n, s, e)
			free[g].Add(max(0, s.Add(-groups[g].Padding)), e.Add(groups[g].Padding), n)
			if !slices.Equal(l.Free(int32(g)), free[g]) {
				t.Fatalf("%v is free, want %v", l.Free(int32(g)), free[g])
			}
			if rapid.Bool().Draw(t, "look") {
				if fresh := fungible(groups, free, from, to); !slices.Equal(slotsOf(l), slotsOf(fresh)) || l.Len() != fresh.Len() {
					t.Fatalf("after a change by %d over [%v, %v) the list is\n%v, made anew\n%v", n, s, e, slotsOf(l), slotsOf(fresh))
				}
			}
		}
	})
}

// The bound of a length rises where more nodes are free at once for so long than at any
// start before.
func TestStaircase_IsTheMostThatAnyStartHadBefore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		groups, free := drawGroups(t)
		l := fungible(groups, free, 0, 30*instant)
		length := grid.Duration(rapid.IntRange(1, 10).Draw(t, "length")) * tick
		var want []grid.Step
		most := 0
		for at := grid.Time(0); at < 30*instant; at += instant {
			n := 0
			for g := range groups {
				if end := at.Add(groups[g].Performance.Runtime(length)); end <= 30*instant {
					n += max(0, free[g].Min(at, end))
				}
			}
			if n > most {
				most, want = n, append(want, grid.Step{At: at, Free: n})
			}
		}
		f := NewFinder(l)
		for range 2 { // with memory that was used
			if got := f.staircase(nil, length); !slices.Equal(got, want) {
				t.Fatalf("for %v %v, want %v", length, got, want)
			}
		}
	})
}
