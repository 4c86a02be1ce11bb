package invariant

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A window is held to all that its job asks for, and the repair of a part of one to
// what is left of that.
func TestWindow_ObeysAllThatItsJobAsksFor(t *testing.T) {
	t.Parallel()
	groups := map[string]grid.Group{
		"north/main": {Site: "north", Name: "main", Nodes: 8, Performance: grid.Unit, Price: 2_000_000},
		"south/main": {Site: "south", Name: "main", Nodes: 8, Performance: 2 * grid.Unit, Price: 3_000_000},
	}
	whole := func() Window {
		return Window{
			Asks: grid.Request{Nodes: 6, Length: 100 * grid.Second, MinPerformance: grid.Unit, MaxPrice: 3_000_000,
				Budget: 10 * grid.Credit, Ready: 50_000, Deadline: 300_000},
			Sites: []string{"north", "south"}, Cost: 10 * grid.Credit,
			Legs: []grid.Leg{{Group: "main", Nodes: 4, Start: 100_000, End: 200_000}, {Group: "main", Nodes: 2, Start: 100_000, End: 150_000}},
			Group: func(site, group string) (grid.Group, bool) {
				g, ok := groups[site+"/"+group]
				return g, ok
			},
			PriceCap: true,
		}
	}
	dearFrom := func(at grid.Time) func(site, group string) (grid.Group, bool) { // twice the price at north
		curve, err := grid.PriceCurveOf([]grid.PricePiece{{From: at, Factor: 2000}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return func(site, group string) (grid.Group, bool) {
			g, ok := groups[site+"/"+group]
			if site == "north" {
				g.Curve = curve
			}
			return g, ok
		}
	}
	repair := func(w *Window) {
		w.Repairs, w.At, w.Nodes, w.Sites, w.Legs = true, w.Legs[0].Start, 4, w.Sites[:1], w.Legs[:1]
		w.Cost, w.Spent, w.Penalties = 4*grid.Credit, 7*grid.Credit, grid.Credit
	}
	for _, c := range []struct {
		word string
		by   func(*Window)
	}{
		{"", func(*Window) {}},
		{"parts start at 100 and 101", func(w *Window) { w.Legs[1].Start = 101_000 }},
		{"outside ready 101", func(w *Window) { w.Asks.Ready = 101_000 }},
		{"deadline 199", func(w *Window) { w.Asks.Deadline = 199_000 }},
		{"one site was asked for", func(w *Window) { w.Asks.OneSite = true }},
		{"", func(w *Window) { w.Asks.OneSite, w.Sites[1] = true, "north"; w.Legs[1].End = 200_000 }},
		{"no group odd at south", func(w *Window) { w.Legs[1].Group = "odd" }},
		{"too short", func(w *Window) { w.Legs[1].End = 149_000 }},
		{"performance 1 of north", func(w *Window) { w.Asks.MinPerformance = 1100 }},
		{"north lacks", func(w *Window) { w.Asks.Require.GPUs = 1 }},
		{"above the cap 2.5", func(w *Window) { w.Asks.MaxPrice = 2_500_000 }},
		{"", func(w *Window) { w.Asks.MaxPrice, w.PriceCap = 2_500_000, false }},
		{"price 4 of north is above the cap 3", func(w *Window) { w.Group = dearFrom(199_999) }},
		{"", func(w *Window) { w.Group = dearFrom(200_000) }},
		{"6 nodes instead of 7", func(w *Window) { w.Asks.Nodes = 7 }},
		{"", func(w *Window) {
			w.Asks.Nodes, w.Asks.Sizes = 7, []grid.Size{{Nodes: 7, Length: 50 * grid.Second}, {Nodes: 6, Length: 100 * grid.Second}}
		}},
		{"too short", func(w *Window) {
			w.Asks.Nodes, w.Asks.Sizes = 7, []grid.Size{{Nodes: 7, Length: 50 * grid.Second}, {Nodes: 6, Length: 101 * grid.Second}}
		}},
		{"costs 10.000001, its budget is 10", func(w *Window) { w.Cost++ }},
		{"a share of 90", func(w *Window) { w.Legs[1].Work = 90 * grid.Second }},
		{"", repair},
		{"4 nodes instead of 3", func(w *Window) { repair(w); w.Nodes = 3 }},
		{"costs 11, its budget is 10", func(w *Window) { repair(w); w.Penalties = 0 }},
		{"too short", func(w *Window) { repair(w); w.Legs[0].End = 199_000 }},
		{"", func(w *Window) { w.Group, w.Asks.Require.GPUs = nil, 1 }}, // what groups have is not known
	} {
		w := whole()
		c.by(&w)
		if err := w.Obeys(); (err == nil) != (c.word == "") || err != nil && !strings.Contains(err.Error(), c.word) {
			t.Errorf("%v, want %q", err, c.word)
		}
	}
}

// The repair of a part of a window must fit the window's nodes and what is left of the
// budget. After a failed move a job asks for what it had asked for before.
func TestAudit_RepairsAndMovesAreHeldToTheirJob(t *testing.T) {
	t.Parallel()
	lost := step{vo1, 8, facts.LegDone{Leg: leg(one, 1), State: grid.Lost, Refund: fare.Total()}}
	fix := func(by func(*facts.TxBegun)) []step {
		f := begun(two, "north")
		f.Repairs = leg(one, 1)
		by(&f)
		return append(append([]step{wanted(func(r *grid.Request) { r.Budget = 2*fare.Total() + 1 })}, smooth[:12]...), lost,
			step{vo1, 9, f}, step{vo1, 10, priced(two, 0)}, step{vo1, 11, decision(two, true)})
	}
	other := grid.Request{Nodes: 4, Budget: 10 * grid.Credit, Deadline: 200_000}
	moves := func(after ...step) []step {
		f := begun(two, "north")
		f.Request = other
		third := begun(grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 7, Seq: 3}, "north", "south")
		list := append([]step{wanted(func(*grid.Request) {}), {vo1, 1, f}, {vo1, 2, priced(two, 0)}, {vo1, 3, decision(two, true)}}, after...)
		return append(list, step{vo1, 5, third}, step{vo1, 6, priced(third.Tx, 0)}, step{vo1, 6, priced(third.Tx, 1)}, step{vo1, 7, decision(third.Tx, true)})
	}
	for name, c := range map[string]struct {
		word  string
		steps []step
	}{
		"a repair":       {"", fix(func(*facts.TxBegun) {})},
		"of other nodes": {"3 nodes instead of 4", fix(func(f *facts.TxBegun) { f.Legs[0].Nodes = 3 })},
		"dearer than the rest": {"its budget is", func() []step {
			l := fix(func(*facts.TxBegun) {})
			l[13].fact = facts.LegDone{Leg: leg(one, 1), State: grid.Lost}
			return l
		}()},
		"the job asks for the move's": {"8 nodes instead of 4", moves()},
		"a move taken back":           {"", moves(step{vo1, 4, facts.TxReversed{Tx: two, Job: "wave"}})},
	} {
		found, _ := run(nil, 1, c.steps...)
		said := ""
		for _, f := range found {
			if f.Invariant == "I9" {
				said = f.What
			}
		}
		if (said == "") != (c.word == "") || !strings.Contains(said, c.word) {
			t.Errorf("%s: found %+v, want %q", name, found, c.word)
		}
	}
}
