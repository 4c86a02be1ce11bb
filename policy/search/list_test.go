package search

import (
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// Slots of a node that touch are one if their price and performance are one; a gap, another
// price, performance or node keeps them apart.
func TestNamed_MergesWhatTouches(t *testing.T) {
	t.Parallel()
	nodes := []grid.Group{{Name: "a"}, {Name: "b"}}
	slot := func(node int32, start, end grid.Time, price grid.Price, speed grid.Performance) grid.Slot {
		return grid.Slot{Group: node, Count: 1, Start: start, End: end, Price: price, Performance: speed}
	}
	l, err := Named(nodes, []grid.Slot{slot(0, 20, 30, 1, 5), slot(0, 0, 10, 1, 5), slot(1, 30, 40, 1, 5), slot(0, 10, 20, 1, 5),
		slot(0, 31, 40, 1, 5), slot(0, 40, 50, 2, 5), slot(0, 50, 60, 2, 6), slot(1, 40, 41, 1, 5)})
	want := []grid.Slot{slot(0, 0, 30, 1, 5), slot(1, 30, 41, 1, 5), slot(0, 31, 40, 1, 5), slot(0, 40, 50, 2, 5), slot(0, 50, 60, 2, 6)}
	if err != nil || !slices.Equal(slotsOf(l), want) || l.Len() != len(want) {
		t.Errorf("%v, want %v (%v)", slotsOf(l), want, err)
	}
}

// A slot that cannot be is named, and nothing is left of the list.
func TestNamed_TellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	nodes := []grid.Group{{Name: "a"}}
	good := grid.Slot{Count: 1, Start: 0, End: 10, Performance: 1}
	for want, do := range map[string]func(s *grid.Slot){
		"":                                      func(s *grid.Slot) { s.Count, s.Start = 0, 10; s.End = 11 },
		"slots[1]: node -1 is none of the 1":    func(s *grid.Slot) { s.Group = -1 },
		"slots[1]: node 1 is none of the 1":     func(s *grid.Slot) { s.Group = 1 },
		"slots[1]: end 0.02 is not after start": func(s *grid.Slot) { s.Start, s.End = 20, 20 },
		"slots[1]: performance 0 is not above":  func(s *grid.Slot) { s.Performance = 0 },
		"slots[1]: price -0.000001 is below 0":  func(s *grid.Slot) { s.Price = -1 },
		"slots[1]: 2 nodes share a name":        func(s *grid.Slot) { s.Count = 2 },
		"slots":                                 func(s *grid.Slot) { s.Start, s.End = 9, 20 }, // overlaps
	} {
		bad := good
		bad.Start, bad.End = 10, 20
		do(&bad)
		var l List
		err := l.ResetNamed(nodes, []grid.Slot{good, bad})
		if (err == nil) != (want == "") || err != nil && (!strings.HasPrefix(err.Error(), want) || l.Len() > 0) {
			t.Errorf("%v, %d slots, want %q", err, l.Len(), want)
		}
	}
}

// A request that makes no sense is a panic.
func TestFind_MisuseIsAPanic(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(r *grid.Request){
		"no nodes": func(r *grid.Request) { r.Nodes = 0 }, "no length": func(r *grid.Request) { r.Length = 0 },
		"no performance": func(r *grid.Request) { r.MinPerformance = 0 }, "a budget below 0": func(r *grid.Request) { r.Budget = -1 },
	} {
		r := grid.Request{Nodes: 1, Length: 1, MinPerformance: 1, Deadline: grid.Never}
		f := NewFinder(fungible([]grid.Group{{Nodes: 1, Performance: 1}}, []grid.Profile{grid.NewProfile(0, 1)}, 0, horizon))
		if _, why := f.Find(r, AMP, Weights{}, 0); why.Refused() {
			t.Fatal(why)
		}
		do(&r)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is taken", name)
				}
			}()
			f.Find(r, AMP, Weights{}, 0)
		}()
	}
}

// A Finder uses the memory of a batch again in the next one, and in a batch that of jobs
// that are searched for no more.
func TestBatch_MemoryIsUsedAgain(t *testing.T) {
	t.Parallel()
	var groups []grid.Group
	var free []grid.Profile
	for range 100 {
		groups = append(groups, grid.Group{Name: "g", Nodes: 2, Performance: grid.Unit, Price: 60e6})
		free = append(free, grid.NewProfile(0, 2))
	}
	served := grid.Request{Nodes: 1, Length: grid.Minute, MinPerformance: grid.Unit, Budget: grid.MaxBudget, Deadline: grid.Never}
	dear := served
	dear.Budget = 0
	l := new(List)
	f := NewFinder(l)
	tables := func(r grid.Request, n int) int {
		l.ResetFungible(groups, free, 0, horizon)
		f.Batch(slices.Repeat([]grid.Request{r}, n), Options{Algorithm: AMP, MaxAlternatives: 2})
		room := 0
		for _, c := range f.tables.chunks {
			room += cap(c)
		}
		if room < f.tables.lent {
			t.Errorf("%d are lent of %d", f.tables.lent, room)
		}
		return room
	}
	if n := tables(dear, 500); n > someFits {
		t.Errorf("jobs that are refused one after the other have tables of %d", n)
	}
	first := tables(served, 200)
	if first < 200*len(groups) {
		t.Errorf("200 jobs that are served have tables of %d", first)
	}
	for range 5 {
		if n := tables(served, 200); n != first {
			t.Fatalf("tables have grown from %d to %d", first, n)
		}
	}
}
