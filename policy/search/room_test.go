package search

import (
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"pgregory.net/rapid"
)

// drawBatch draws groups of some sites, what is free on them over 200 minutes, and a batch:
// with budgets, deadlines, sizes, sites that are closed and prices that change.
func drawBatch(t *rapid.T) ([]grid.Group, []grid.Profile, []grid.Request, Options) {
	n := func(low, high int, what string) int { return rapid.IntRange(low, high).Draw(t, what) }
	var groups []grid.Group
	var free []grid.Profile
	for g := range n(1, 4, "groups") {
		groups = append(groups, grid.Group{Site: string(rune('a' + g/2)), Name: string(rune('p' + g)), Nodes: 8,
			Performance: grid.Performance(500 * n(1, 4, "performance")), Price: grid.Price(100_000 * n(0, 8, "price")), Machine: drawMachine(t)})
		p := grid.NewProfile(0, n(0, 8, "free"))
		for range n(0, 12, "steps") {
			at := minute * grid.Time(n(0, 190, "at"))
			p.Add(at, at.Add(grid.Minute*grid.Duration(n(1, 60, "for"))), n(-3, 3, "change"))
		}
		free = append(free, p)
	}
	if n(0, 5, "curved") == 0 {
		curve, err := grid.NewPriceCurve([]grid.PricePiece{{From: 50 * minute, To: 100 * minute, Factor: 500}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		groups[0].Curve = curve
	}
	o := Options{Algorithm: []Algorithm{AMP, AMP, ALP, Best}[n(0, 3, "algorithm")], MaxAlternatives: n(0, 4, "most"), Notice: minute * grid.Time(n(0, 20, "notice"))}
	jobs := make([]grid.Request, n(1, 40, "jobs"))
	o.Barred = make([][]bool, len(jobs))
	for i := range jobs {
		j := &jobs[i]
		*j = grid.Request{Nodes: n(1, 12, "nodes"), Length: grid.Minute * grid.Duration(n(1, 120, "length")), MinPerformance: grid.Performance(n(1, 1500, "min performance")),
			MaxPrice: grid.Price(100_000 * n(1, 8, "max price")), Budget: 5000 * grid.Credits(n(0, 400, "budget")), Ready: minute * grid.Time(n(0, 40, "ready")), Deadline: grid.Never, OneSite: n(0, 4, "one site") == 0}
		if n(0, 2, "late") > 0 {
			j.Deadline = minute * grid.Time(n(20, 220, "deadline"))
		}
		if n(0, 7, "tight") == 0 {
			j.Deadline = max(j.Ready, o.Notice).Add(groups[0].Performance.Runtime(j.Length))
		}
		if n(0, 4, "moldable") == 0 {
			j.Mold([]grid.Size{{Nodes: j.Nodes, Length: j.Length}, {Nodes: j.Nodes + 2, Length: j.Length/2 + 1}})
		}
		if n(0, 5, "picky") == 0 {
			j.Require = grid.Requirement(drawMachine(t))
		}
		if n(0, 5, "barred") == 0 {
			o.Barred[i] = make([]bool, len(groups))
			o.Barred[i][n(0, len(groups)-1, "barred group")] = true
		}
	}
	return groups, free, jobs, o
}

// drawMachine has one thing that not all machines have.
func drawMachine(t *rapid.T) grid.Machine {
	return []grid.Machine{{Memory: 1}, {Disk: 1}, {GPUs: 1}, {OS: "linux"}, {Arch: "arm"}, {Features: []string{"ib"}}, {Memory: 2, OS: "linux"}}[rapid.IntRange(0, 6).Draw(t, "machine")]
}

// A batch with bounds finds the same windows, leaves the same list and says the same of
// those who have none as one that scans for every job: with budgets, deadlines, sizes,
// sites that are closed, prices that change, and after nodes have been given back.
func TestBatch_BoundsChangeNothing(t *testing.T) {
	t.Parallel()
	spared, exact := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		groups, free, jobs, o := drawBatch(t)
		plain, quick := NewFinder(fungible(groups, free, 0, 200*minute)), NewFinder(fungible(groups, free, 0, 200*minute))
		plain.rooms.off = true
		for range 2 {
			want, got := plain.Batch(jobs, o), quick.Batch(jobs, o)
			if !reflect.DeepEqual(want, got) {
				t.Fatalf("with bounds\n%+v\nwithout\n%+v", got, want)
			}
			for i := range want.Reasons {
				q := quick.list.prepare(jobs[i], o.Algorithm, o.Notice)
				if q.tabulate(quick.list, nil); !quick.bounded(o.Algorithm) {
					continue
				}
				if q.suit = quick.suitOf(&q); q.suit.fastest == 0 {
					continue
				}
				if _, any := quick.soonest(&q); !any {
					spared++
				}
				if _, known := quick.mostFree(&q); known {
					exact++
				}
			}
			quick.list.renew()
			plain.list.renew()
			for g := range groups {
				if !reflect.DeepEqual(plain.list.levels[g].free, quick.list.levels[g].free) {
					t.Fatalf("group %d is left with %v, not %v", g, quick.list.levels[g].free, plain.list.levels[g].free)
				}
			}
			for _, f := range []*Finder{plain, quick} {
				f.list.Add(0, 5, 30*minute, 90*minute)
			}
		}
	})
	least := 50
	if testing.Short() { // a fifth of the cases
		least = 10
	}
	if spared < least || exact < least/10 {
		t.Errorf("only %d searches were spared, and %d reasons", spared, exact)
	}
}
