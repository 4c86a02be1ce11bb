package placement

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// The parts of a window that a search has found are chosen anew, but its start, its length
// and its cost stay, and all of its nodes are free.
func TestSettle_KeepsStartLengthAndCost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawMarket(t, 6)
		jobs := drawJobs(t, 4)
		p := New(m, jobs, Unlimited)
		for i := range jobs {
			j := &jobs[i]
			j.OneSite = rapid.Bool().Draw(t, "one site")
			z := j.Preferred()[0]
			q := p.query(i, 0, z)
			p.ties.Draw(j.Seed)
			found, ok := p.all.find.Least(q, p.weights(j), j.Budget)
			if !ok {
				continue
			}
			x, y := p.window(j, z, found), p.window(j, z, p.settle(j, q, z, p.all, found))
			if x.Start != y.Start || x.Time != y.Time || x.Cost != y.Cost || x.Nodes() != y.Nodes() || !p.all.holds(y.Parts) || j.OneSite && y.Sites > 1 {
				t.Fatalf("job %+v: found %+v, settled as %+v", j, x, y)
			}
		}
	})
}

// Which of two sites that differ is taken hangs on what they are, not on their order.
func TestTies_OfSitesThatDifferHangOnWhatTheyAre(t *testing.T) {
	t.Parallel()
	small := 0
	for seed := range uint64(40) {
		j := asks(1)
		j.Seed = mix(seed)
		a := sites(New(free(2, 4), []Job{j}, Unlimited).Choose(nil)[0])[0]
		b := sites(New(free(4, 2), []Job{j}, Unlimited).Choose(nil)[0])[0]
		if a != 1-b {
			t.Fatalf("seed %d: of 2 and 4 nodes the site %d is taken, of 4 and 2 the site %d", seed, a, b)
		}
		if a == 0 {
			small++
		}
	}
	if small == 0 || small == 40 {
		t.Errorf("the smaller site is taken by %d of 40 jobs", small)
	}
}

// Sites are listed once and in order, whatever the order of the parts.
func TestSitesOf_AreInOrder(t *testing.T) {
	t.Parallel()
	p := New(free(1, 1, 1), nil, Unlimited)
	if got := p.sitesOf([]grid.Part{{Group: 2}, {Group: 0}, {Group: 2}, {Group: 1}}); !slices.Equal(got, []int32{0, 1, 2}) {
		t.Errorf("%v", got)
	}
}

// The rest of a window comes from a site that serves it already, else from one that has
// all of it, else from the one that has most.
func TestBetter_WhoServesAlreadyThenWhoHasAllThenWhoHasMost(t *testing.T) {
	t.Parallel()
	p := New(free(8, 8), []Job{asks(1)}, Unlimited)
	for _, c := range []struct {
		total map[int32]int
		used  map[int32]bool
		want  int32 // -1: what the job draws
	}{
		{map[int32]int{0: 1, 1: 9}, map[int32]bool{0: true}, 0},
		{map[int32]int{0: 4, 1: 3}, nil, 0},
		{map[int32]int{0: 3, 1: 2}, nil, 0},
		{map[int32]int{0: 4, 1: 9}, nil, -1},
		{map[int32]int{0: 2, 1: 2}, nil, -1},
	} {
		want := c.want
		if want < 0 && p.prefers(0, 1) {
			want = 0
		} else if want < 0 {
			want = 1
		}
		if got := p.better(0, 1, c.total, c.used, 4); got != (want == 0) || p.better(1, 0, c.total, c.used, 4) == got {
			t.Errorf("4 nodes of %v, serving %v: the first is better: %v, want site %d", c.total, c.used, got, want)
		}
	}
}

// A site gives what its smallest supply has that has all, wherever in the list that is.
func TestFromSite_TakesTheFittest(t *testing.T) {
	t.Parallel()
	p := New(free(1), nil, Unlimited)
	for _, counts := range [][]int{{2, 1, 3}, {3, 2, 1}, {1, 3, 2}} {
		var list []supply
		for g, n := range counts {
			list = append(list, supply{group: int32(g), count: n})
		}
		p.fromSite(list, 0, 2, func(x *supply, n int) {
			if counts[x.group] != 2 || n != 2 {
				t.Errorf("of %v: %d nodes of the one with %d", counts, n, counts[x.group])
			}
			x.count -= n
		})
	}
}

// The dearer nodes that a window still needs come from a site that serves it already.
func TestFill_StaysWhereItServesAlready(t *testing.T) {
	t.Parallel()
	p := New(free(3, 2), []Job{asks(3)}, Unlimited)
	for seed := range uint64(20) {
		p.ties.Draw(mix(seed))
		list := []supply{{group: 0, count: 1, cost: 1}, {group: 1, site: 1, count: 2, cost: 2}, {group: 2, count: 2, cost: 2}}
		if parts, ok := p.fill(list, 3, 0); !ok || len(parts) != 2 || parts[0].Group != 0 || parts[1].Group != 2 {
			t.Errorf("seed %d: %+v, want the groups 0 and 2, of one site", seed, parts)
		}
	}
}

// Of windows of one job the one that loses less comes first, then the one of fewer sites,
// then the one that ends sooner, then the one that starts sooner.
func TestBefore_LossThenSitesThenEndThenStart(t *testing.T) {
	t.Parallel()
	window := func(loss grid.Credits, sites int, end, start grid.Time) Window {
		return Window{Loss: loss, Sites: sites, Window: grid.Window{Start: start, Time: end.Sub(start)}}
	}
	list := []Window{window(1, 3, 30, 20), window(2, 1, 30, 20), window(2, 2, 10, 9), window(2, 2, 20, 5), window(2, 2, 20, 6)}
	for a := range list {
		for b := range list {
			if got := list[a].before(&list[b]); got != (a < b) {
				t.Errorf("%+v before %+v: %v", list[a], list[b], got)
			}
		}
	}
}

// A permutation is an order: of any two alike sites the same comes first, whichever is named
// first, and of three the first of the first two.
func TestCompare_IsAnOrder(t *testing.T) {
	t.Parallel()
	const n = 6
	p := New(free(1, 1, 1, 1, 1, 1), []Job{asks(1)}, Unlimited)
	for seed := range uint64(50) {
		p.ties.Draw(mix(seed))
		first := 0
		for a := range int32(n) {
			before := 0
			for b := range int32(n) {
				x, y := p.ties.Compare(a, b), p.ties.Compare(b, a)
				if x != -y || (x == 0) != (a == b) {
					t.Fatalf("seed %d: %d and %d compare as %d and as %d", seed, a, b, x, y)
				}
				if x < 0 {
					before++
				}
			}
			first |= 1 << before
		}
		if first != 1<<n-1 {
			t.Fatalf("seed %d: the sites are in no order", seed)
		}
	}
}
