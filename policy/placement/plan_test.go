package placement

import (
	"fmt"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
)

// Where a credit weighs more, what the time is worth weighs that much less against it; a
// goal of time or finish insists as much as any.
func TestWeights_AreDividedByWhatACreditWeighs(t *testing.T) {
	t.Parallel()
	const worth = 3*grid.Credit + 6
	whole := func(x, by grid.Credits) grid.Credits { return x / by } // to the micro-credit
	for weight, by := range map[int64]grid.Credits{0: 1, 1000: 1, 2000: 2, 3000: 3} {
		p := &Placer{limits: Limits{Weight: weight}}
		for _, c := range []struct {
			goal grid.Goal
			want search.Weights
		}{
			{grid.GoalCost, search.Weights{Value: true}},
			{grid.GoalValue, search.Weights{Value: true, Urgency: whole(worth, by)}},
			{grid.GoalFinish, search.Weights{Value: true, Urgency: whole(insist, by)}},
			{grid.GoalTime, search.Weights{Value: true, Haste: whole(insist, by)}},
		} {
			if got := p.weights(&Job{Goal: c.goal, Worth: worth}); got != c.want {
				t.Errorf("goal %v, a credit weighs %d thousandths: %+v, want %+v", c.goal, weight, got, c.want)
			}
		}
	}
}

// An amount is weighed to the micro-credit: 1,999 of them at 4 credits each weigh 7,996.
func TestWeigh_ToTheMicroCredit(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		amount grid.Credits
		weight int64
		want   grid.Credits
	}{{1999, 0, 1999}, {1999, 1000, 1999}, {1999, 4000, 7996}, {999, 1500, 1498}, {grid.MaxCredits, 4000, grid.MaxCredits}} {
		if got := Weigh(x.amount, x.weight); got != x.want {
			t.Errorf("%d at %d thousandths weigh %d, want %d", int64(x.amount), x.weight, int64(got), int64(x.want))
		}
	}
}

// The first numbers of SplitMix64 from 0, as its authors' program prints them.
func TestMix_IsTheFinalizerOfSplitMix64(t *testing.T) {
	t.Parallel()
	state := uint64(0)
	for i, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f} {
		if state += golden; mix(state) != want {
			t.Errorf("number %d is %#x, want %#x", i, mix(state), want)
		}
	}
}

// Of hundreds of windows that differ in nothing that matters a plan has one, and looks no
// further; of fewer it does.
func TestPlan_GivesUpAmongHundredsOfCopies(t *testing.T) {
	t.Parallel()
	for copies, want := range map[int]int{maxTaken - 10: 2, maxTaken + 10: 1} {
		m := &Market{To: hour}
		for i := range copies + 1 {
			g := grid.Group{Site: "many", Name: fmt.Sprint("g", i), Nodes: 1, Performance: grid.Unit, Price: grid.Price(grid.Credit)}
			if i == copies {
				g.Site, g.Price = "dear", 2*g.Price
			}
			m.Groups = append(m.Groups, g)
			m.Admissible = append(m.Admissible, grid.NewProfile(0, 1))
		}
		m.Clear = m.Admissible
		list := New(m, []Job{asks(1)}, Unlimited).Plan(5)[0]
		if len(list) != want || list[0].Copies < min(copies, maxTaken)-1 {
			t.Errorf("of %d alike, and another: %+v, want %d", copies, list, want)
		}
	}
}

// Free nodes are counted from where a market begins to where it ends, each step for as long
// as it lasts.
func TestArea_IsOfEachStepForAsLongAsItLasts(t *testing.T) {
	t.Parallel()
	p := grid.Profile{{At: 0, Free: 5}, {At: 10, Free: 3}, {At: 15, Free: 0}, {At: 20, Free: 4}}
	for _, c := range []struct{ from, to, want grid.Time }{{0, 10, 50}, {0, 20, 65}, {4, 12, 36}, {15, 20, 0}, {12, 30, 49}, {25, 30, 20}} {
		if got := area(p, c.from, c.to); got != int64(c.want) {
			t.Errorf("over [%d, %d): %d, want %d", c.from, c.to, got, c.want)
		}
	}
}

// A regret is what a window loses beyond the best alone, never below 0, and none without a
// window.
func TestRegret_IsWhatIsLostBeyondTheBestAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		choice Choice
		want   grid.Credits
	}{
		{Choice{Placed: true, Window: Window{Loss: 7}, Alone: Window{Loss: 5}}, 2},
		{Choice{Placed: true, Window: Window{Loss: 5}, Alone: Window{Loss: 7}}, 0},
		{Choice{Window: Window{Loss: 7}, Alone: Window{Loss: 5}}, 0},
	} {
		if got := c.choice.Regret(); got != c.want {
			t.Errorf("%+v: %v, want %v", c.choice, got, c.want)
		}
	}
}

// A window that the supplies do not come to is none.
func TestFill_SaysWhenThereAreTooFew(t *testing.T) {
	t.Parallel()
	p := New(free(3), []Job{asks(1)}, Unlimited)
	for nodes, want := range map[int]bool{3: true, 4: false} {
		if parts, ok := p.fill([]supply{{count: 1, cost: 1, end: hour}, {count: 2, cost: 2, end: hour}}, nodes, 0); ok != want || len(parts) != 2 {
			t.Errorf("%d nodes of 3: %+v, %v", nodes, parts, ok)
		}
	}
}

// A window that is quoted spans the sites of its parts, and one without parts, of nodes that
// no market shows, one.
func TestQuoted_SpansItsSites(t *testing.T) {
	t.Parallel()
	p := New(free(1, 1), []Job{asks(2)}, Unlimited)
	for n, want := range []int{1, 1, 2} {
		w := grid.Window{Parts: []grid.Part{{Group: 0, Count: 1, End: hour}, {Group: 1, Count: 1, End: hour}}[:n]}
		if x := p.Quoted(0, 7, p.jobs[0].Preferred()[0], w, 5); x.Sites != want || x.Number != 7 || x.Price != 5 {
			t.Errorf("of %d parts: %+v, want %d sites", n, x, want)
		}
	}
}

// Windows are alike that start and end at one time, at one price, on the same sites.
func TestLike_TimesPriceAndSites(t *testing.T) {
	t.Parallel()
	x := Window{Window: grid.Window{Start: 5, Time: 10}, Price: 3, at: []int32{1, 2}}
	for name, change := range map[string]func(*Window){
		"as it is": func(*Window) {}, "earlier": func(w *Window) { w.Start, w.Time = 4, 11 }, "longer": func(w *Window) { w.Time = 11 },
		"dearer": func(w *Window) { w.Price = 4 }, "another site": func(w *Window) { w.at = []int32{1, 3} },
	} {
		y := x
		change(&y)
		if x.like(&y) != (name == "as it is") || y.like(&x) != x.like(&y) {
			t.Errorf("%s: alike %v", name, x.like(&y))
		}
	}
}

// Where some nodes cost more than their base price a plan also has the best window of those
// that do not.
func TestPlan_HasTheBestAtBasePrice(t *testing.T) {
	t.Parallel()
	m := free(1)
	m.Clear = []grid.Profile{{{At: 0, Free: 0}, {At: 5 * hour, Free: 1}}}
	list := New(m, []Job{asks(1)}, Unlimited).Plan(2)[0]
	if len(list) != 2 || list[0].Start != 0 || list[1].Start != 5*hour {
		t.Errorf("%+v, want one now and one where all is clear", list)
	}
}

// A job whose cap holds for each node waits until none is dearer; another pays.
func TestChoose_ACapHoldsForEachNodeIfTheJobSaysSo(t *testing.T) {
	t.Parallel()
	curve, err := grid.NewPriceCurve([]grid.PricePiece{{From: 0, To: hour, Factor: 2500}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	m := free(1)
	m.Groups[0].Curve = curve
	for capped, want := range map[bool]grid.Time{true: hour, false: 0} {
		j := asks(1)
		j.Worth, j.MaxPrice, j.Capped = 10*grid.Credit, grid.Price(2*grid.Credit), capped
		if c := New(m, []Job{j}, Unlimited).Choose(nil)[0]; !c.Placed || c.Window.Start != want {
			t.Errorf("capped %v: %+v, want it at %v", capped, c.Window, want)
		}
	}
}

// A window that is found has as many copies as there is room for beside it.
func TestPlan_CountsWhatThereIsRoomForBeside(t *testing.T) {
	t.Parallel()
	m := free(3, 12)
	m.To = hour
	m.Groups[1].Price *= 2
	if list := New(m, []Job{asks(3)}, Unlimited).Plan(5)[0]; len(list) != 2 || list[1].Copies != 3 {
		t.Errorf("%+v, want the second, of 3 nodes of 12, with 3 copies", list)
	}
}

// A job without money can still take nodes that cost nothing.
func TestChoose_WhatIsFreeOfChargeNeedsNoMoney(t *testing.T) {
	t.Parallel()
	for price, want := range map[grid.Price]bool{0: true, 1000: false} {
		m := free(1)
		m.Groups[0].Price = price
		if c := New(m, []Job{asks(1)}, Limits{Time: grid.MaxDuration}).Choose(nil)[0]; c.Placed != want {
			t.Errorf("at %v without money: placed %v", price, c.Placed)
		}
	}
}
