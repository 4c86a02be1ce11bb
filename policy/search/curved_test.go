package search

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// The worlds of these tests are so small that every quarter of a minute can be tried:
// nodes come free, prices change and parts end on halves of minutes.
const (
	minute  = grid.Time(grid.Minute)
	quarter = minute / 4
	horizon = 24 * minute
)

// drawTariffs draws a few groups with what is free on them, and a price that changes.
func drawTariffs(t *rapid.T) ([]grid.Group, []grid.Profile) {
	var groups []grid.Group
	var free []grid.Profile
	for g := range rapid.IntRange(1, 3).Draw(t, "groups") {
		x := grid.Group{Name: fmt.Sprint("g", g), Site: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "site"), Nodes: 3,
			Performance: grid.Performance(rapid.SampledFrom([]int{500, 1000, 2000}).Draw(t, "performance")),
			Price:       grid.Price(rapid.IntRange(0, 4).Draw(t, "price")) * 60e6}
		var pieces []grid.PricePiece
		for at := rapid.IntRange(-3, 3).Draw(t, "first"); at < 30; {
			end := at + rapid.IntRange(1, 6).Draw(t, "piece")
			pieces = append(pieces, grid.PricePiece{From: grid.Time(at) * minute, To: grid.Time(end) * minute,
				Factor: rapid.SampledFrom([]int{0, 333, 500, 1000, 2500}).Draw(t, "factor")})
			at = end + rapid.IntRange(0, 5).Draw(t, "plain")
		}
		var err error
		if x.Curve, err = grid.NewPriceCurve(pieces, 0); err != nil {
			t.Fatal(err)
		}
		p := grid.NewProfile(0, rapid.IntRange(0, 3).Draw(t, "free"))
		for at := 0; ; {
			if at += rapid.IntRange(1, 9).Draw(t, "later"); at >= 24 {
				break
			}
			if n := rapid.IntRange(0, 3).Draw(t, "free"); n != p[len(p)-1].Free {
				p = append(p, grid.Step{At: grid.Time(at) * minute, Free: n})
			}
		}
		groups, free = append(groups, x), append(free, p)
	}
	return groups, free
}

func drawTariffRequest(t *rapid.T) grid.Request {
	r := grid.Request{Nodes: rapid.IntRange(1, 4).Draw(t, "N"), Length: grid.Duration(rapid.IntRange(1, 6).Draw(t, "L")) * grid.Minute,
		MinPerformance: grid.Performance(rapid.SampledFrom([]int{500, 1000}).Draw(t, "P")),
		MaxPrice:       grid.Price(rapid.IntRange(0, 6).Draw(t, "C")) * 60e6, Deadline: grid.Never, OneSite: rapid.Bool().Draw(t, "one site"),
		Budget: grid.Credits(rapid.IntRange(0, 40).Draw(t, "S")) * grid.Credit}
	if rapid.Bool().Draw(t, "bounded") {
		r.Ready = grid.Time(rapid.IntRange(0, 8).Draw(t, "ready")) * minute
		r.Deadline = r.Ready + grid.Time(rapid.IntRange(1, 20).Draw(t, "room"))*minute
	}
	return r
}

// server is one node that could serve a request from some start on.
type server struct {
	site string
	cost grid.Credits
	time grid.Duration
}

// nodesAt are all of them at t; capped: no node is dearer than the cap at any time.
func nodesAt(groups []grid.Group, free []grid.Profile, r *grid.Request, t grid.Time, capped bool) (list []server) {
	for g := range groups {
		x := &groups[g]
		rt := x.Performance.Runtime(r.Length)
		end := t.Add(rt)
		if x.Performance < r.MinPerformance || t < r.Ready || end > min(r.Deadline, horizon) {
			continue
		}
		dear, cost := false, int64(0)
		for at := t; at < end; at++ { // the price at every millisecond, were it not for the time that takes
			next := min(x.Curve.Next(at), end)
			dear = dear || int64(x.Price)*int64(x.Curve.At(at)) > int64(r.MaxPrice)*1000
			cost += int64(next-at) * int64(x.Curve.At(at)) * int64(x.Price)
			at = next - 1
		}
		if capped && dear {
			continue
		}
		for range free[g].Min(t, end) {
			list = append(list, server{x.Site, grid.Credits((cost + 500*int64(grid.Hour)) / (1000 * int64(grid.Hour))), rt})
		}
	}
	return list
}

// windowsAt calls yield for the cost and the time of every window at t.
func windowsAt(list []server, r *grid.Request, yield func(cost grid.Credits, time grid.Duration)) {
	var take func(i, left int, site string, cost grid.Credits, time grid.Duration)
	take = func(i, left int, site string, cost grid.Credits, time grid.Duration) {
		if left == 0 {
			yield(cost, time)
			return
		}
		for ; i < len(list); i++ {
			if r.OneSite && site != "" && site != list[i].site {
				continue
			}
			take(i+1, left-1, list[i].site, cost+list[i].cost, max(time, list[i].time))
		}
	}
	take(0, r.Nodes, "", 0, 0)
}

// affordable reports whether a window at t keeps the bound of an algorithm.
func affordable(groups []grid.Group, free []grid.Profile, r *grid.Request, a Algorithm, t grid.Time) bool {
	found := false
	windowsAt(nodesAt(groups, free, r, t, a == ALP), r, func(c grid.Credits, _ grid.Duration) { found = found || a == ALP || c <= r.Budget })
	return found
}

// sound checks that a window is what it says: its nodes free, its cost the sum over its
// parts' pieces, within the bounds.
func sound(t *rapid.T, groups []grid.Group, free []grid.Profile, r *grid.Request, a Algorithm, w *grid.Window) {
	sum, nodes, seen := grid.Credits(0), 0, map[int32]bool{}
	for _, p := range w.Parts {
		g := &groups[p.Group]
		if seen[p.Group] {
			t.Fatalf("two parts of one group in %+v", *w)
		}
		seen[p.Group] = true
		cost := g.Cost(p.Start, p.End).Times(int(p.Count))
		sum, nodes = sum+cost, nodes+int(p.Count)
		switch {
		case p.Count < 1, p.Cost != cost, p.Start != w.Start, p.End.Sub(p.Start) != g.Performance.Runtime(r.Length), free[p.Group].Min(p.Start, p.End) < int(p.Count):
			t.Fatalf("part %+v of %+v", p, *w)
		case a == ALP && g.Dearest(p.Start, p.End) > r.MaxPrice:
			t.Fatalf("a node of %+v costs %v, the cap is %v", p, g.Dearest(p.Start, p.End), r.MaxPrice)
		case r.OneSite && g.Site != groups[w.Parts[0].Group].Site:
			t.Fatalf("two sites in %+v", *w)
		}
	}
	if sum != w.Cost || nodes != r.Nodes || a != ALP && w.Cost > r.Budget || w.Start < r.Ready || w.End() > min(r.Deadline, horizon) {
		t.Fatalf("window %+v, for %+v", *w, *r)
	}
}

func TestCurved_AMPAndALPFindTheEarliestStartWithinTheBound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		groups, free := drawTariffs(t)
		r := drawTariffRequest(t)
		a := rapid.SampledFrom([]Algorithm{AMP, ALP, AMPLiteral}).Draw(t, "algorithm")
		l := new(List)
		l.ResetFungible(groups, free, 0, horizon)
		w, why := NewFinder(l).Find(r, a, Weights{}, 0)
		until := horizon
		if !why.Refused() {
			sound(t, groups, free, &r, a, &w)
			if until = w.Start; until > r.Ready && affordable(groups, free, &r, a, until-1) {
				t.Fatalf("%v finds %v, and a millisecond earlier there is a window too", a, w.Start)
			}
		}
		for at := grid.Time(0); at < until; at += quarter {
			if affordable(groups, free, &r, a, at) {
				t.Fatalf("%v finds %+v (%v), and at %v there is a window too", a, w, why, at)
			}
		}
	})
}

func TestCurved_BestFindsTheLeast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		groups, free := drawTariffs(t)
		r := drawTariffRequest(t)
		if len(groups) > 1 {
			r.Budget = grid.MaxBudget // what is best where its own cost passes the budget is not looked for
		}
		w := Weights{Value: true, Urgency: grid.Credits(rapid.SampledFrom([]int{0, 30, 600}).Draw(t, "urgency")) * grid.Credit}
		l := new(List)
		l.ResetFungible(groups, free, 0, horizon)
		f := NewFinder(l)
		score := func(start grid.Time, time grid.Duration, cost grid.Credits) int64 { // in credits x ms
			return int64(cost)*3600/1000 + int64(w.Urgency)/1_000_000*int64(start.Add(time)-r.Ready)
		}
		rank := func(start grid.Time, time grid.Duration, cost grid.Credits) []int64 { // the least is best, ties included
			return []int64{score(start, time, cost), int64(time), int64(cost), int64(start)}
		}
		var least, ofOne []int64 // of all windows, and of those of one group
		try := func(groups []grid.Group, free []grid.Profile, least *[]int64) {
			for at := r.Ready; at < horizon; at += quarter {
				windowsAt(nodesAt(groups, free, &r, at, false), &r, func(c grid.Credits, d grid.Duration) {
					if s := rank(at, d, c); c <= r.Budget && (*least == nil || slices.Compare(s, *least) < 0) {
						*least = s
					}
				})
			}
		}
		try(groups, free, &least)
		for g := range groups {
			try(groups[g:g+1], free[g:g+1], &ofOne)
		}
		any := least != nil
		x, why := f.Find(r, Best, w, 0)
		y, ok := f.Least(f.Prepare(r, 0, nil), w, r.Budget)
		if any == why.Refused() || ok != any {
			t.Fatalf("found %v and %v, there is one: %v (%v)", !why.Refused(), ok, any, why)
		}
		if !any {
			return
		}
		sound(t, groups, free, &r, Best, &x)
		sound(t, groups, free, &r, Best, &y)
		if s := rank(x.Start, x.Time, x.Cost); slices.Compare(s, least) > 0 {
			t.Fatalf("%+v ranks %d, the least is %d", x, s, least)
		}
		if s := rank(y.Start, y.Time, y.Cost); s[0] > least[0] || len(y.Parts) == 1 && slices.Compare(s, ofOne) > 0 {
			t.Fatalf("%+v ranks %d, the least is %d, that of one group %d", y, s, least, ofOne)
		}
	})
}

// A curve that is 1 as far as anybody looks goes through the other search, to the same
// windows.
func TestCurved_OfFactorOneFindsWhatIsFoundWithoutACurve(t *testing.T) {
	t.Parallel()
	later, err := grid.NewPriceCurve([]grid.PricePiece{{From: 2 * horizon, To: 3 * horizon, Factor: 500}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		groups, free := drawTariffs(t)
		r := drawTariffRequest(t)
		plain := slices.Clone(groups)
		for g := range groups {
			groups[g].Curve, plain[g].Curve = later, nil
		}
		w := Weights{Value: true, Urgency: 30 * grid.Credit}
		var found [2][]string
		for i, list := range [][]grid.Group{plain, groups} {
			l := new(List)
			l.ResetFungible(list, free, 0, horizon)
			f := NewFinder(l)
			for _, a := range []Algorithm{AMP, ALP, Best} {
				x, why := f.Find(r, a, w, 0)
				if a != Best { // of equally cheap nodes it is left to their order which are taken, under ALP of all
					x.Time = 0
				}
				if a == ALP {
					x.Cost = 0
				}
				found[i] = append(found[i], fmt.Sprint(a, x.Start, x.Time, x.Cost, why))
			}
			x, ok := f.Least(f.Prepare(r, 0, nil), w, r.Budget)
			found[i] = append(found[i], fmt.Sprint(ok, x.Start, x.Time, x.Cost))
		}
		if !slices.Equal(found[0], found[1]) {
			t.Fatalf("without a curve %v\nwith one of factor 1 %v", found[0], found[1])
		}
	})
}

// A batch without deadlines has alternatives in the dear hours and in the cheap ones,
// although all nodes are free all along.
func TestCurved_EverySecondAlternativeOfAMPIsTheCheapest(t *testing.T) {
	t.Parallel()
	night, err := grid.NewPriceCurve([]grid.PricePiece{{From: 12 * minute, To: 18 * minute, Factor: 250}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	groups := []grid.Group{{Name: "main", Site: "north", Nodes: 8, Performance: grid.Unit, Price: 60e6, Curve: night}}
	l := new(List)
	l.ResetFungible(groups, []grid.Profile{grid.NewProfile(0, 8)}, 0, horizon)
	r := grid.Request{Nodes: 2, Length: 4 * grid.Minute, MinPerformance: grid.Unit, MaxPrice: grid.MaxPrice, Budget: 100 * grid.Credit, Deadline: grid.Never}
	got := Batch(l, []grid.Request{r}, Options{Algorithm: AMP, MaxAlternatives: 4})
	var starts []grid.Time
	for _, w := range got.Alternatives[0] {
		starts = append(starts, w.Start)
	}
	if want := []grid.Time{0, 12 * minute, 0, 12 * minute}; !slices.Equal(starts, want) {
		t.Errorf("alternatives start at %v, want %v", starts, want)
	}
	if a := got.Alternatives[0]; len(a) > 1 && (a[0].Cost != 8*grid.Credit || a[1].Cost != 2*grid.Credit) {
		t.Errorf("they cost %v and %v, want 8 and 2", a[0].Cost, a[1].Cost)
	}
}

// Where prices change, a window of several groups that are quick is found after one of a
// group that is slow and cheap, which is free all the while.
func TestBest_QuickGroupsTogetherWherePricesChange(t *testing.T) {
	t.Parallel()
	curve, err := grid.NewPriceCurve([]grid.PricePiece{{From: 10 * minute, To: 11 * minute, Factor: 500}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var groups []grid.Group
	var free []grid.Profile
	for i, performance := range []grid.Performance{1000, 2000, 2000} {
		g := grid.Group{Name: fmt.Sprint(i), Site: "a", Nodes: 3, Performance: performance, Price: grid.Price(i+1) * 10e6, Curve: curve}
		p := grid.NewProfile(0, 3)
		if i > 0 { // later, a node
			p = grid.Profile{{At: 0, Free: 0}, {At: 5 * minute, Free: 1}}
		}
		groups, free = append(groups, g), append(free, p)
	}
	r := grid.Request{Nodes: 2, Length: 4 * grid.Minute, MinPerformance: 1000, MaxPrice: 100e6, Budget: 100 * grid.Credit, Deadline: grid.Never}
	w, why := NewFinder(fungible(groups, free, 0, horizon)).Find(r, Best, Weights{Time: 1000}, 0)
	if why.Refused() || w.Time != 2*grid.Minute || w.Start != 9*minute || len(w.Parts) != 2 {
		t.Errorf("%+v (%v), want 2 minutes on the two quick groups, from minute 9 on, when it is cheapest", w, why)
	}
}
