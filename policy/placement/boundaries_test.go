package placement

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

const hour = grid.Time(grid.Hour)

// free is a market of a day in which all is free and clear; sites have so many nodes,
// at a credit an hour each.
func free(nodes ...int) *Market {
	m := &Market{To: grid.Time(grid.Day)}
	for i, n := range nodes {
		m.Groups = append(m.Groups, grid.Group{Site: fmt.Sprint("s", i), Name: "main", Nodes: n, Performance: grid.Unit, Price: grid.Price(grid.Credit)})
		m.Admissible = append(m.Admissible, grid.NewProfile(0, n))
	}
	m.Clear = m.Admissible
	return m
}

// asks is a job of so many nodes for an hour, of the goal value.
func asks(nodes int) Job {
	return Job{Goal: grid.GoalValue, Worth: grid.Credit, User: "ana",
		Request: grid.Request{Nodes: nodes, Length: grid.Hour, MinPerformance: grid.Unit, Deadline: grid.Never, Budget: grid.MaxBudget}}
}

// sites are those of a choice, by group.
func sites(c Choice) (list []int32) {
	for _, p := range c.Window.Parts {
		list = append(list, p.Group)
	}
	return list
}

// A window beside which others are delayed must be better by a twentieth than one at
// base price, and not than another that is quoted.
func TestWindow_BeatsByATwentiethWhereItDelaysOthers(t *testing.T) {
	t.Parallel()
	part := grid.Window{Parts: []grid.Part{{Cost: 4}}}
	for _, c := range []struct {
		loss, price grid.Credits
		other       int
		want        bool
	}{
		{990, 4, 0, true}, {1000, 4, 0, false}, // at base price
		{990, 5, 0, false}, {953, 5, 0, false}, {952, 5, 0, true}, // 952 + 47 < 1000
		{990, 5, 1, true}, {1000, 5, 1, false},
	} {
		w, o := Window{Window: part, Price: c.price, Loss: c.loss}, Window{Window: part, Price: 4, Loss: 1000, Number: c.other}
		if got := w.beats(&o); got != c.want {
			t.Errorf("a loss of %d at %d against 1000, number %d: %t", c.loss, c.price, c.other, got)
		}
	}
}

func TestChoice_BehindIsMoreThanATwentiethWorseThanAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		placed bool
		loss   grid.Credits
		wait   Wait
		want   bool
	}{{true, 100, None, false}, {true, 105, None, false}, {true, 106, None, true}, {false, 200, None, false}, {false, 0, TooFar, false}, {false, 0, Crowded, true}} {
		x := Choice{Placed: c.placed, Window: Window{Loss: c.loss}, Alone: Window{Loss: 100}, Wait: c.wait}
		if got := x.Behind(); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

// Of a site's groups the smallest that has all the nodes serves, else the largest; of
// two alike the first.
func TestFitter_TheSmallestThatHasAllElseTheLargest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b int
		want bool
	}{{5, 8, true}, {8, 5, false}, {4, 5, true}, {5, 4, false}, {4, 3, true}, {3, 4, false}, {3, 2, true}, {2, 3, false}, {5, 5, false}, {3, 3, false}} {
		if got := fitter(c.a, c.b, 4); got != c.want {
			t.Errorf("of 4 nodes %d serve better than %d: %t", c.a, c.b, got)
		}
	}
}

// A site has named a higher price for the very places of a window, in whatever order:
// not for others, nor for less.
func TestDearer_IsAboutTheSamePlacesAtTheSameTime(t *testing.T) {
	t.Parallel()
	x := grid.Part{Group: 1, Count: 2, Start: hour, End: 2 * hour}
	y := grid.Part{Group: 3, Count: 1, Start: hour, End: 2 * hour}
	found := Window{Window: grid.Window{Start: hour, Parts: []grid.Part{x, y}}, Price: 10}
	with := func(change func(*Window)) Window {
		w := Window{Window: grid.Window{Start: hour, Parts: []grid.Part{y, x}}, Price: 11}
		change(&w)
		return w
	}
	for name, c := range map[string]struct {
		w    Window
		want bool
	}{
		"dearer":          {with(func(*Window) {}), true},
		"as dear":         {with(func(w *Window) { w.Price = 10 }), false},
		"at another time": {with(func(w *Window) { w.Start = 0 }), false},
		"another group":   {with(func(w *Window) { w.Parts[0].Group = 2 }), false},
		"more nodes":      {with(func(w *Window) { w.Parts[0].Count = 2 }), false},
		"later":           {with(func(w *Window) { w.Parts[0].Start++ }), false},
		"longer":          {with(func(w *Window) { w.Parts[0].End++ }), false},
		"fewer parts":     {with(func(w *Window) { w.Parts = w.Parts[:1] }), false},
	} {
		p := &Placer{quoted: [][]Window{{c.w}}}
		if got := p.dearer(0, &found); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// Windows alike are one, which counts its copies; what differs is added while there is
// room for it.
func TestDistinct_CountsCopies(t *testing.T) {
	t.Parallel()
	at := func(start grid.Time, copies int) Window {
		return Window{Window: grid.Window{Start: start, Parts: []grid.Part{{End: start + 1}}}, Copies: copies}
	}
	var list []Window
	for _, w := range []Window{at(1, 0), at(2, 3), at(1, 0), at(2, 4), at(3, 0)} {
		list = distinct(list, w, 2)
	}
	if len(list) != 2 || list[0].Copies != 1 || list[1].Copies != 8 {
		t.Errorf("%+v; want one copy of the first and eight of the second", list)
	}
	if tooMany(make([]grid.Part, maxTaken)) || !tooMany(make([]grid.Part, maxTaken+1)) {
		t.Errorf("%d parts are not too many, one more is", maxTaken)
	}
}

// One node has a window for the job in each hour.
func TestPlan_GoesOnUntilThereAreAsManyAsWereAskedFor(t *testing.T) {
	t.Parallel()
	list := New(free(1), []Job{asks(1)}, Unlimited).Plan(3)[0]
	for i, w := range list {
		if w.Start != grid.Time(i)*hour {
			t.Errorf("alternative %d starts at %v", i, w.Start)
		}
	}
	if len(list) != 3 {
		t.Errorf("%d alternatives, want 3", len(list))
	}
}

// A slot that was considered for one job is still there for the next one.
func TestPlan_EachJobIsAloneOnTheMarket(t *testing.T) {
	t.Parallel()
	p := New(free(1), []Job{asks(1), asks(1)}, Unlimited)
	if list := p.Plan(3); !reflect.DeepEqual(list[0], list[1]) || len(p.Plan(3)[1]) != 3 {
		t.Errorf("of two jobs alike the first has\n%+v, the second\n%+v", list[0], list[1])
	}
}

// Of two sites that are as good each is taken by about half of the jobs, as their seeds
// draw it: when windows are planned and when they are chosen.
func TestTies_AreDrawnFromTheJobsSeed(t *testing.T) {
	t.Parallel()
	var planned, chosen [2]int
	for seed := range uint64(200) {
		j := asks(1)
		j.Seed = mix(seed)
		p := New(free(2, 2), []Job{j}, Unlimited)
		planned[p.Plan(1)[0][0].Parts[0].Group]++
		chosen[New(free(2, 2), []Job{j}, Unlimited).Choose(nil)[0].Window.Parts[0].Group]++
	}
	for name, n := range map[string][2]int{"planned": planned, "chosen": chosen} {
		if n[0] < 70 || n[1] < 70 {
			t.Errorf("%s: %v of 200 at the one and the other", name, n)
		}
	}
}

// The site with the larger share free is taken, wherever it stands, also for a window
// that ends at the job's deadline and where the market does, and for a job that keeps to
// one site.
func TestChoose_TheFreerSiteUpToTheDeadline(t *testing.T) {
	t.Parallel()
	for freer := range 2 {
		for _, one := range []bool{false, true} {
			for _, end := range []struct{ due, to grid.Time }{{grid.Never, 2 * hour}, {hour, 2 * hour}, {grid.Never, hour}} {
				m := free(4, 4)
				m.To = end.to
				busy := m.Admissible[1-freer].Clone()
				busy.Add(0, hour, -2)
				m.Admissible[1-freer] = busy
				m.Clear = m.Admissible
				j := asks(2)
				j.Deadline, j.OneSite = end.due, one
				if got := sites(New(m, []Job{j}, Unlimited).Choose(nil)[0]); !slices.Equal(got, []int32{int32(freer)}) {
					t.Errorf("due at %v, market to %v, one site %t: at %v, the freer one is %d", end.due, end.to, one, got, freer)
				}
			}
		}
	}
}

// The parts of a window are in the order of their groups, whichever is the cheapest.
func TestChoose_PartsAreInTheOrderOfGroups(t *testing.T) {
	t.Parallel()
	m := free(1, 1, 1)
	m.Groups[0].Price *= 3
	m.Groups[1].Price *= 2
	if got := sites(New(m, []Job{asks(3)}, Unlimited).Choose(nil)[0]); !slices.Equal(got, []int32{0, 1, 2}) {
		t.Errorf("parts of groups %v", got)
	}
}

// A quoted window is taken at a price of all that its job has, and for all of the time
// that the batch has, and not for more.
func TestChoose_AQuoteMayTakeAllThatIsLeft(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		price grid.Credits
		time  grid.Duration
		want  bool
	}{{5, grid.Hour, true}, {6, grid.Hour, false}, {5, grid.Hour - 1, false}} {
		m := free(1)
		m.Clear = []grid.Profile{grid.NewProfile(0, 0)} // nothing is at base price
		j := asks(1)
		j.Budget = 5 * grid.Credit
		p := New(m, []Job{j}, Limits{Cost: grid.MaxCredits, Time: c.time})
		w := grid.Window{Time: grid.Hour, Parts: []grid.Part{{Count: 1, End: hour, Cost: grid.Credit}}}
		if got := p.Choose([][]Window{{p.Quoted(0, 1, j.Preferred()[0], w, c.price*grid.Credit)}})[0]; got.Placed != c.want {
			t.Errorf("at %d of 5 credits, in %v: placed %t", c.price, c.time, got.Placed)
		}
	}
}

// The jobs of a user together stay within the quota, and do not count against another user's.
func TestChoose_AQuotaIsOfAllJobsOfItsUser(t *testing.T) {
	t.Parallel()
	jobs := []Job{asks(1), asks(1), asks(1)}
	jobs[2].User = "ben"
	limits := Unlimited
	limits.Users = map[string]grid.Credits{"ana": grid.Credit * 3 / 2, "ben": grid.Credit}
	placed := map[string]int{}
	for i, c := range New(free(4), jobs, limits).Choose(nil) {
		if c.Placed {
			placed[jobs[i].User]++
		}
	}
	if placed["ana"] != 1 || placed["ben"] != 1 {
		t.Errorf("%v are placed; ana has money for one of her two, ben for his", placed)
	}
}

// A job whose window starts after Latest waits, and is refused as too far ahead.
func TestChoose_WhatStartsAfterLatestWaits(t *testing.T) {
	t.Parallel()
	m := free(1)
	m.Admissible = []grid.Profile{{{At: 0, Free: 0}, {At: 2 * hour, Free: 1}}}
	m.Clear = m.Admissible
	for latest, want := range map[grid.Time]Wait{0: None, 2*hour - 1: TooFar, 2 * hour: None} {
		j := asks(1)
		j.Latest = latest
		c := New(m, []Job{j}, Unlimited).Choose(nil)[0]
		if c.Wait != want || c.Placed != (want == None) {
			t.Errorf("latest %v: placed %t, waits for %v", latest, c.Placed, c.Wait)
		}
		if want != None && c.Left.Start != 2*hour {
			t.Errorf("latest %v: leaves a window at %v, want that at %v", latest, c.Left.Start, 2*hour)
		}
	}
}

// A Placer that is asked again, with more money or less, finds what a new one does: the
// dear nodes are free at once, the cheap ones later.
func TestAgain_WithOtherLimitsIsAsFromTheBeginning(t *testing.T) {
	t.Parallel()
	m := free(1, 1)
	m.Groups[0].Price *= 10
	m.Admissible = []grid.Profile{m.Admissible[0], {{At: 0, Free: 0}, {At: 5 * hour, Free: 1}}}
	m.Clear = m.Admissible
	j := asks(1)
	j.Worth = 100 * grid.Credit
	at := func(p *Placer) grid.Time { return p.Choose(nil)[0].Window.Start }
	for _, costs := range [][2]grid.Credits{{1, 20}, {20, 1}, {20, 10}, {20, 9}, {1, 1}} {
		limits := func(c grid.Credits) Limits { return Limits{Cost: c * grid.Credit, Time: grid.MaxDuration} }
		p := New(m, []Job{j}, limits(costs[0]))
		at(p)
		if got, want := at(p.Again(limits(costs[1]))), at(New(m, []Job{j}, limits(costs[1]))); got != want {
			t.Errorf("with %d credits after %d: starts at %v, from the beginning at %v", costs[1], costs[0], got, want)
		}
	}
}

// The exchange goes on as long as it gains: eight times the same two jobs, each pair
// with sites of its own.
func TestChoose_ExchangeGoesOnWhileItGains(t *testing.T) {
	t.Parallel()
	const pairs = 8
	m := free(slices.Repeat([]int{4}, 2*pairs)...)
	var jobs []Job
	for k := range pairs {
		m.Groups[2*k+1].Price *= 10
		short, long := asks(1), asks(4)
		long.Length = 4 * grid.Hour
		for i, j := range []*Job{&short, &long} {
			j.Worth = grid.Credits(30-i) * grid.Credit
			j.Barred = slices.Repeat([]bool{true}, 2*pairs)
			j.Barred[2*k], j.Barred[2*k+1] = false, false
			jobs = append(jobs, *j)
		}
	}
	c := New(m, jobs, Unlimited).Choose(nil)
	for k := range pairs {
		if short, long := sites(c[2*k]), sites(c[2*k+1]); short[0] != int32(2*k+1) || long[0] != int32(2*k) || c[2*k+1].Window.Start != 0 {
			t.Errorf("pair %d: the short job on %v, the long one on %v at %v; want the long one on the cheap nodes at once", k, short, long, c[2*k+1].Window.Start)
		}
	}
}
