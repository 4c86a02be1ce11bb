package grid

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func drawRequest(t *rapid.T) Request {
	return Request{
		Nodes:          rapid.IntRange(1, 5000).Draw(t, "N"),
		Length:         Duration(rapid.Int64Range(1, int64(30*Day)).Draw(t, "L")),
		MinPerformance: Performance(rapid.Int64Range(1, 10_000).Draw(t, "P")),
		MaxPrice:       Price(rapid.Int64Range(0, 50_000_000).Draw(t, "C")),
	}
}

func TestDefaultBudget_OfTheWorkedExample(t *testing.T) {
	t.Parallel()
	// Two nodes for 80,000 s at 18 credits a node-hour.
	r := Request{Nodes: 2, Length: 80_000 * Second, MinPerformance: Unit, MaxPrice: 18_000_000}
	if got := r.DefaultBudget(); got != 800*Credit {
		t.Errorf("budget %v, want 800", got)
	}
}

// N parts on nodes of the least performance at the highest price cost the
// default budget to the micro-credit, whatever the rounding.
func TestDefaultBudget_AJobExactlyAtItsCapFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t)
		var sum Credits
		for range min(r.Nodes, 50) {
			sum = sum.Plus(Cost(r.MaxPrice, r.MinPerformance.Runtime(r.Length)))
		}
		if r.Nodes <= 50 && sum != r.DefaultBudget() {
			t.Fatalf("%+v: parts at the cap cost %v, the budget is %v", r, sum, r.DefaultBudget())
		}
		// A faster node at the same price never costs more.
		faster := r.MinPerformance + Performance(rapid.Int64Range(0, 5000).Draw(t, "faster"))
		if cost := Cost(r.MaxPrice, faster.Runtime(r.Length)).Times(r.Nodes); cost > r.DefaultBudget() {
			t.Fatalf("%+v: on nodes of %v it costs %v, the budget is %v", r, faster, cost, r.DefaultBudget())
		}
	})
}

// The price that a budget implies is the highest with price x time x nodes
// within the budget, each node's share rounded down to the micro-credit.
func TestPriceWithin_IsTheHighestThatTheBudgetPays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t)
		r.Budget = Credits(rapid.Int64Range(0, int64(1_000_000*Credit)).Draw(t, "S"))
		p, rt := r.PriceWithin(), r.MinPerformance.Runtime(r.Length)
		if cost := Cost(p, rt).Times(r.Nodes); cost > r.Budget {
			t.Fatalf("%+v: at price %v it costs %v", r, p, cost)
		}
		share := new(big.Int).Mul(big.NewInt(int64(r.Budget)/int64(r.Nodes)), big.NewInt(int64(Hour)))
		if next := new(big.Int).Mul(big.NewInt(int64(p)+1), big.NewInt(int64(rt))); next.Cmp(share) <= 0 {
			t.Fatalf("%+v: price %v is not the highest", r, p)
		}
	})
	r := Request{Nodes: 2, Length: 80_000 * Second, MinPerformance: Unit, Budget: 800 * Credit}
	if got := r.PriceWithin(); got != 18_000_000 {
		t.Errorf("800 credits for 2 nodes and 80,000 s imply a price of %v, want 18", got)
	}
}

func TestWindow_EndsWithItsLongestPart(t *testing.T) {
	t.Parallel()
	w := Window{Start: 150, Time: 80, Parts: []Part{{Count: 2, Start: 150, End: 230}, {Count: 3, Start: 150, End: 200}}}
	if w.End() != 230 || w.Nodes() != 5 {
		t.Errorf("the window ends at %v with %d nodes", w.End(), w.Nodes())
	}
}
