package backfill

import (
	"cmp"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"

	"pgregory.net/rapid"
)

// The jobs in the way, found by a walk over the instants and by one over all that hold nodes.
func TestInTheWay_IsWhoseEndBringsEnough(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := func(low, high int, what string) int { return rapid.IntRange(low, high).Draw(t, what) }
		s := State{Now: 5, Nodes: n(1, 12, "nodes"), Free: grid.NewProfile(5, 0), Sure: grid.NewProfile(5, 0)}
		s.Free[0].Free, s.Sure[0].Free = s.Nodes, s.Nodes
		for id := range n(0, 4, "running") {
			r := Running{ID: int64(id), Nodes: n(1, 3, "holds"), Start: grid.Time(n(4, 5, "since")), End: grid.Time(n(6, 12, "until"))}
			if n(0, 2, "predicted") == 0 {
				r.Limit = grid.Time(n(4, 15, "limit"))
			}
			s.Running = append(s.Running, r)
			s.Free.Add(5, r.End, -r.Nodes)
			s.Sure.Add(5, r.Last(), -r.Nodes)
		}
		for id := range n(0, 4, "reserved") {
			start := n(0, 12, "from")
			r := Reserved{ID: int64(id), Nodes: n(1, 3, "takes"), Start: grid.Time(start), End: grid.Time(max(6, start+n(1, 5, "for")))}
			s.Reserved = append(s.Reserved, r)
			s.Take(max(5, r.Start), r.End, r.Nodes)
		}
		if n(0, 4, "unexplained") == 0 {
			s.Take(5, grid.Never, 1)
		}
		slices.SortFunc(s.Running, func(a, b Running) int { return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.ID, b.ID)) })
		slices.SortFunc(s.Reserved, compareReserved)
		if n(0, 1, "plain") == 0 {
			s.Sure = nil
			for i := range s.Running {
				s.Running[i].Limit = 0
			}
		}
		start, nodes, d := grid.Time(n(5, 16, "start")), n(1, s.Nodes, "N"), grid.Duration(n(1, 8, "d"))
		want, busy := inTheWay(&s, start, nodes, d)
		got, ok := s.InTheWay(start, nodes, d)
		if ok != busy || got != want {
			t.Fatalf("%d nodes over [%v, %v): %+v, %t, want %+v, %t in\n%+v", nodes, start, start.Add(d), got, ok, want, busy, s)
		}
		if why := s.Refusal(start, nodes, d); why.Refused() != busy {
			t.Fatal(why)
		}
	})
}

// Of two that take their nodes from the same instant on, 4 nodes need the end of the first
// alone: of jobs that start now, and of reservations that begin later.
func TestInTheWay_IsTheFirstToEndOfThoseThatBeginTogether(t *testing.T) {
	t.Parallel()
	jobs := State{Now: 5, Nodes: 8, Free: grid.NewProfile(5, 8), Running: []Running{{ID: 1, Nodes: 4, Start: 5, End: 10}, {ID: 2, Nodes: 4, Start: 5, End: 20}}}
	jobs.Free.Add(5, 10, -4)
	jobs.Free.Add(5, 20, -4)
	if got, ok := jobs.InTheWay(5, 4, 5); !ok || got != (Block{At: 5, ID: 1, Nodes: 4, Until: 10}) {
		t.Errorf("of jobs %+v, %t is in the way", got, ok)
	}
	reserved := State{Now: 5, Nodes: 8, Free: grid.NewProfile(5, 8), Reserved: []Reserved{{ID: 1, Nodes: 4, Start: 8, End: 10}, {ID: 2, Nodes: 4, Start: 8, End: 20}}}
	reserved.Take(8, 10, 4)
	reserved.Take(8, 20, 4)
	if got, ok := reserved.InTheWay(6, 4, 5); !ok || got != (Block{At: 8, Reserved: true, ID: 1, Nodes: 4, Until: 10}) {
		t.Errorf("of reservations %+v, %t is in the way", got, ok)
	}
}

// inTheWay is InTheWay by trying every instant.
func inTheWay(s *State, start grid.Time, n int, d grid.Duration) (Block, bool) {
	for at := start; at < start.Add(d); at++ {
		free := s.Firm().At(at)
		if free >= n {
			continue
		}
		k := Block{At: at, Free: free}
		var holders []Block
		for _, r := range s.Running {
			if at < r.Last() {
				holders = append(holders, Block{at, free, false, r.ID, r.Nodes, r.Last()})
			}
		}
		for _, r := range s.Reserved {
			if r.Start <= at && at < r.End {
				holders = append(holders, Block{at, free, true, r.ID, r.Nodes, r.End})
			}
		}
		slices.SortStableFunc(holders, func(a, b Block) int { return cmp.Compare(a.Until, b.Until) })
		for i, h := range holders {
			if free >= n {
				break
			}
			if i == 0 || holders[i-1].Until < h.Until {
				k = h
				for _, x := range holders {
					if x.Until == h.Until {
						free += x.Nodes
					}
				}
			}
		}
		return k, true
	}
	return Block{}, false
}

// The number of a reservation is its cluster's own; nothing is said of what nobody holds.
func TestRefusal_Words(t *testing.T) {
	t.Parallel()
	s := State{Now: 5, Nodes: 4, Free: grid.NewProfile(5, 4), Reserved: []Reserved{{ID: 7, Nodes: 3, Start: 8, End: 20}}}
	s.Take(8, 20, 3)
	for _, c := range []struct {
		start grid.Time
		nodes int
		d     grid.Duration
		want  string
	}{
		{5, 4, 3, ""}, {6, 4, 3, "1 free at 0.008, 4 needed: a reservation holds 3 until 0.02"}, {19, 1, 5, ""}, {20, 4, 1, ""},
		{5, 5, 1, "5 nodes are asked, the group has 4"}, {4, 1, 1, "start 0.004 lies before now, 0.005"},
	} {
		if why := s.Refusal(c.start, c.nodes, c.d); why.Detail != c.want {
			t.Errorf("%d nodes from %v for %v: %q, want %q", c.nodes, c.start, c.d, why.Detail, c.want)
		}
	}
	s.Free.Add(30, 40, -4)
	if why := s.Refusal(35, 1, 1); why.Detail != "0 free at 0.035, 1 needed" {
		t.Error(why)
	}
}
