package search

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// Least is the best of all windows, LeastOfOne the best of those of one group where there
// is one, search after search with one Finder: with a limit that is not the budget, groups
// that are not to be used, and where prices change a cap that holds at every instant.
func TestLeast_IsTheBestOfAllWindowsWithinTheLimit(t *testing.T) {
	t.Parallel()
	plain, err := grid.NewPriceCurve([]grid.PricePiece{{From: 2 * horizon, To: 3 * horizon, Factor: 500}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		groups, free := drawTariffs(t)
		curved := rapid.Bool().Draw(t, "curved")
		listed := slices.Clone(groups)
		for g := range groups {
			if !curved {
				groups[g].Curve, listed[g].Curve = plain, nil
			}
		}
		l := new(List)
		l.ResetFungible(listed, free, 0, horizon)
		f := NewFinder(l)
		for range 2 {
			r := drawTariffRequest(t)
			capped := curved && rapid.Bool().Draw(t, "capped")
			barred, left := make([]bool, len(groups)), slices.Clone(free)
			for g := range barred {
				if barred[g] = rapid.IntRange(0, 3).Draw(t, "barred") == 0; barred[g] {
					left[g] = grid.NewProfile(0, 0)
				}
			}
			w := Weights{Value: true, Urgency: grid.Credits(rapid.SampledFrom([]int{0, 30, 600}).Draw(t, "urgency")) * grid.Credit,
				Haste: grid.Credits(rapid.SampledFrom([]int{0, 30, 600}).Draw(t, "haste")) * grid.Credit}
			limit := grid.Credits(rapid.IntRange(0, 40).Draw(t, "limit")) * grid.Credit
			if curved {
				limit = grid.MaxBudget // what is best where its own cost passes the budget is not looked for
			}
			r.Budget = max(r.Budget, limit)
			rank := func(start grid.Time, time grid.Duration, cost grid.Credits) [4]int64 { // the least is best, ties included
				return [...]int64{int64(cost)*3600/1000 + int64(w.Urgency)/1_000_000*int64(start.Add(time)-r.Ready) + int64(w.Haste)/1_000_000*int64(time),
					int64(time), int64(cost), int64(start)}
			}
			before := func(x, y [4]int64) bool { return slices.Compare(x[:], y[:]) < 0 }
			none := [4]int64{math.MaxInt64}
			try := func(groups []grid.Group, free []grid.Profile) [4]int64 {
				least := none
				for at := r.Ready; at < horizon; at += quarter {
					windowsAt(nodesAt(groups, free, &r, at, capped), &r, func(c grid.Credits, d grid.Duration) {
						if s := rank(at, d, c); c <= limit && before(s, least) {
							least = s
						}
					})
				}
				return least
			}
			least, ofOne := try(groups, left), none
			for g := range groups {
				if s := try(groups[g:g+1], left[g:g+1]); before(s, ofOne) {
					ofOne = s
				}
			}
			q := f.Prepare(r, 0, barred)
			if capped {
				q.Cap()
			}
			x, ok := f.Least(q, w, limit)
			x.Parts = slices.Clone(x.Parts)
			y, okOfOne := f.LeastOfOne(q, w, limit)
			if ok != (least != none) || okOfOne != ok {
				t.Fatalf("found %v and %v, there is %v", ok, okOfOne, least)
			}
			if !ok {
				continue
			}
			asked := r
			asked.Budget = limit
			sound(t, groups, left, &asked, Best, &x)
			sound(t, groups, left, &asked, Best, &y)
			if s := rank(x.Start, x.Time, x.Cost); s[0] > least[0] || len(x.Parts) == 1 && before(ofOne, s) {
				t.Fatalf("%+v ranks %d, the least is %d, that of one group %d", x, s, least, ofOne)
			}
			switch s := rank(y.Start, y.Time, y.Cost); {
			case ofOne == none && s[0] != least[0]:
				t.Fatalf("%+v ranks %d, the least of several groups is %d", y, s, least)
			case ofOne != none && s != ofOne:
				t.Fatalf("%+v ranks %d, the least of one group is %d", y, s, ofOne)
			}
		}
	})
}

// Two nodes of one group from ten minutes on are as good as one each of two groups now
// where time is worth nothing, and no window at all can be better: no more is looked for.
// Of groups that are alike the first serves.
func TestLeast_OfEqualScoresItIsOneGroup(t *testing.T) {
	t.Parallel()
	var groups []grid.Group
	for _, name := range []string{"slow", "p", "q", "r"} {
		groups = append(groups, grid.Group{Site: "a", Name: name, Nodes: 2, Performance: grid.Unit, Price: 60e6})
	}
	groups[0].Performance = grid.Unit / 2 // does not suit
	later, one := grid.NewProfile(0, 1), grid.NewProfile(0, 1)
	later.Add(10*minute, horizon, 1)
	l := fungible(groups, []grid.Profile{grid.NewProfile(0, 2), one, later, later}, 0, horizon)
	r := grid.Request{Nodes: 2, Length: grid.Minute, MinPerformance: grid.Unit, MaxPrice: grid.MaxPrice, Budget: grid.MaxBudget, Deadline: grid.Never}
	f := NewFinder(l)
	w, ok := f.Least(f.Prepare(r, 0, nil), Weights{Value: true}, r.Budget)
	if !ok || len(w.Parts) != 1 || w.Parts[0].Group != 2 || w.Start != 10*minute {
		t.Errorf("%+v, want two nodes of q after ten minutes", w)
	}
	if w, ok = f.Least(f.Prepare(r, 0, nil), Weights{Value: true, Urgency: 1}, r.Budget); !ok || w.Start != 0 {
		t.Errorf("%+v, want a window now if time is worth anything", w)
	}
	r.OneSite = true // of each site the same window: the first site's
	for g := range groups {
		groups[g].Site = groups[g].Name
	}
	l.ResetFungible(groups, []grid.Profile{grid.NewProfile(0, 2), one, later, later}, 0, horizon)
	if w, why := f.Find(r, Best, Weights{Cost: 1}, 0); why.Refused() || w.Parts[0].Group != 2 {
		t.Errorf("%+v (%v), want q", w, why)
	}
}
