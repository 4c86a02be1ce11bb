package choice

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// figure1 holds the offers of the worked example of the paper's figure 1.
var figure1 = []pricing.Offer{
	{Start: 0}, {Start: 2000, Feasible: true, Additive: 6000}, {Start: 3000, Feasible: true, Additive: 8000},
	{Start: 4000, Feasible: true, Additive: 10000}, {Start: 5000, Feasible: true},
	{Start: 6000, Feasible: true}, {Start: 7000, Feasible: true},
}

func TestByAlpha_ZeroTakesTheEarliestAndOneTheFree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		alpha Alpha
		start grid.Time
	}{
		{0, 2000},
		{One * 499 / 1000, 2000}, // .499 x 6/10 < .501 x 3/5
		{One / 2, 2000},          // .5 x 6/10 = .5 x 3/5: a tie goes to the earliest
		{One * 501 / 1000, 5000}, // .501 x 6/10 > .499 x 3/5
		{One, 5000},              // several cost 0: the earliest of them
	} {
		if i := ByAlpha(figure1, c.alpha); i < 0 || figure1[i].Start != c.start {
			t.Errorf("alpha %v takes offer %d, want start %v", c.alpha, i, c.start)
		}
	}
}

// If the earliest start is free of charge, the other starts need not be priced.
func TestByAlpha_TheEarliestIsChosenWhereItIsFree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		offers := offersOf(t)
		slices.SortFunc(offers, func(x, y pricing.Offer) int { return cmp.Compare(x.Start, y.Start) })
		offers = slices.CompactFunc(offers, func(x, y pricing.Offer) bool { return x.Start == y.Start })
		first := EarliestWithin(offers, 0, 0, 0)
		if first < 0 {
			return
		}
		offers[first].Additive = 0
		if got := ByAlpha(offers, Alpha(rapid.Int64Range(0, int64(One)).Draw(t, "alpha"))); got != first {
			t.Fatalf("%d is chosen of %+v, want the earliest, %d", got, offers, first)
		}
	})
}

func TestByAlpha_NothingFeasibleIsNoChoice(t *testing.T) {
	t.Parallel()
	if i := ByAlpha([]pricing.Offer{{Start: 1}, {Start: 2}}, One/2); i != -1 {
		t.Errorf("chose %d", i)
	}
	if i := ByAlpha(nil, 0); i != -1 {
		t.Errorf("chose %d of nothing", i)
	}
}

func TestCheapestBefore_CountsTheEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		deadline grid.Time
		want     int
	}{{4999, -1}, {5000, 1}, {7000, 1}, {8000, 4}, {grid.Never, 4}} {
		if got := CheapestBefore(figure1, 3000, c.deadline); got != c.want {
			t.Errorf("deadline %v: offer %d, want %d", c.deadline, got, c.want)
		}
	}
}

func TestEarliestWithin_CountsBaseAndAdditive(t *testing.T) {
	t.Parallel()
	price := grid.Price(3600 * grid.Credit) // a credit for each node-second
	for _, c := range []struct {
		budget grid.Credits
		want   int
	}{{5, -1}, {6, 4}, {11, 4}, {12, 1}, {100, 1}} {
		if got := EarliestWithin(figure1, price, 6*grid.Credit, c.budget*grid.Credit); got != c.want {
			t.Errorf("budget %v: offer %d, want %d", c.budget, got, c.want)
		}
	}
}

func TestPareto_FigureOne(t *testing.T) {
	t.Parallel()
	if got := Pareto(nil, figure1); !slices.Equal(got, []int{1, 4}) {
		t.Errorf("Pareto list %v, want 1 and 4", got)
	}
}

// offersOf draws a list in any order, with ties and extremes.
func offersOf(t *rapid.T) []pricing.Offer {
	small := rapid.Int64Range(0, 6)
	f := rapid.OneOf(small, small, rapid.Int64Range(0, 1<<62), rapid.Just(int64(1<<63-1)))
	s := rapid.OneOf(small, small, rapid.Int64Range(-int64(grid.MaxTime), int64(grid.MaxTime)))
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) pricing.Offer {
		o := pricing.Offer{Start: grid.Time(s.Draw(t, "s")), Feasible: rapid.IntRange(0, 3).Draw(t, "ok") > 0}
		if o.Feasible {
			o.Additive = grid.Duration(f.Draw(t, "f"))
		}
		return o
	}), 0, 12).Draw(t, "offers")
}

// scoreOf is the paper's formula in fractions.
func scoreOf(offers []pricing.Offer, o pricing.Offer, alpha Alpha) *big.Rat {
	term := func(of func(pricing.Offer) int64) *big.Rat {
		var all []int64
		for _, x := range offers {
			if x.Feasible {
				all = append(all, of(x))
			}
		}
		low, high := big.NewInt(slices.Min(all)), big.NewInt(slices.Max(all))
		if low.Cmp(high) == 0 {
			return new(big.Rat)
		}
		x := big.NewInt(of(o))
		return new(big.Rat).SetFrac(x.Sub(x, low), high.Sub(high, low))
	}
	a := big.NewRat(int64(alpha), int64(One))
	x := term(func(o pricing.Offer) int64 { return int64(o.Additive) })
	y := term(func(o pricing.Offer) int64 { return int64(o.Start) })
	x.Mul(x, a)
	return x.Add(x, y.Mul(y, a.Sub(big.NewRat(1, 1), a)))
}

func TestByAlpha_EqualsTheFormulaInFractions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		offers := offersOf(t)
		alpha := rapid.OneOf(rapid.Just(Alpha(0)), rapid.Just(One), rapid.Just(One/2),
			rapid.Map(rapid.Int64Range(0, int64(One)), func(x int64) Alpha { return Alpha(x) })).Draw(t, "alpha")
		want := -1
		for i, o := range offers {
			if !o.Feasible {
				continue
			}
			if want >= 0 {
				c := scoreOf(offers, o, alpha).Cmp(scoreOf(offers, offers[want], alpha))
				if c > 0 || c == 0 && o.Start >= offers[want].Start {
					continue
				}
			}
			want = i
		}
		if got := ByAlpha(offers, alpha); got != want {
			t.Fatalf("alpha %v: offer %d, want %d of %v", alpha, got, want, offers)
		}
	})
}

func TestPareto_ExactlyTheOffersThatNoneBeats(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		offers := offersOf(t)
		var want []int
		for i, o := range offers {
			beaten := !o.Feasible
			for j, x := range offers {
				alike := x.Start == o.Start && x.Additive == o.Additive
				beaten = beaten || x.Feasible && x.Start <= o.Start && x.Additive <= o.Additive && (!alike || j < i)
			}
			if !beaten {
				want = append(want, i)
			}
		}
		slices.SortFunc(want, func(i, j int) int { return cmp.Compare(offers[i].Start, offers[j].Start) })
		if got := Pareto(nil, offers); !slices.Equal(got, want) {
			t.Fatalf("Pareto list %v, want %v of %v", got, want, offers)
		}
	})
}

// The choice of every rule is on the Pareto list, or equal in start and price to
// one that is, where all starts differ.
func TestChoices_AreOnTheParetoList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		offers := offersOf(t)
		slices.SortFunc(offers, func(x, y pricing.Offer) int { return cmp.Compare(x.Start, y.Start) })
		offers = slices.CompactFunc(offers, func(x, y pricing.Offer) bool { return x.Start == y.Start })
		front := Pareto(nil, offers)
		deadline := grid.Time(rapid.Int64Range(0, 20).Draw(t, "deadline"))
		for name, i := range map[string]int{
			"alpha 0":         ByAlpha(offers, 0),
			"alpha 1":         ByAlpha(offers, One),
			"alpha .3":        ByAlpha(offers, One*3/10),
			"cheapest before": CheapestBefore(offers, 3, deadline),
			"cheapest of all": CheapestBefore(offers, 3, grid.Never),
			"earliest of all": EarliestWithin(offers, 0, 0, 0),
			"within a budget": EarliestWithin(offers, grid.Price(grid.Hour), 1, 4),
		} {
			if i >= 0 && !slices.Contains(front, i) {
				t.Fatalf("%s: %d is not on the front %v of %v", name, i, front, offers)
			}
			if i >= 0 && !offers[i].Feasible {
				t.Fatalf("%s: %d is infeasible", name, i)
			}
		}
	})
}

func TestParseAlpha_ReadsZeroToOneWithSixDecimals(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]Alpha{"0": 0, "1": One, "1.0": One, "0.5": One / 2, ".25": One / 4, "0.000001": 1, "1e-3": One / 1000,
		"0.5" + strings.Repeat("0", 29): One / 2} {
		if got, err := ParseAlpha(s); err != nil || got != want {
			t.Errorf("ParseAlpha(%q) = %d, %v; want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "-0", "+0.5", "-0.5", "1.000001", "1.5", "0.0000005", "NaN", "1/2", "0.5" + strings.Repeat("0", 30)} {
		if got, err := ParseAlpha(s); err == nil {
			t.Errorf("ParseAlpha(%q) = %d", s, got)
		}
	}
}

func TestByAlpha_StartsMayLieBeforeZero(t *testing.T) {
	t.Parallel()
	offers := []pricing.Offer{{Start: -5, Feasible: true, Additive: 10}, {Start: 6, Feasible: true}}
	for alpha, want := range map[Alpha]int{0: 0, One: 1} {
		if got := ByAlpha(offers, alpha); got != want {
			t.Errorf("alpha %v: offer %d, want %d", alpha, got, want)
		}
	}
}

func TestChoices_OfOffersAlikeTheFirstStandsForAll(t *testing.T) {
	t.Parallel()
	alike := []pricing.Offer{{Start: 3}, {Start: 3, Feasible: true, Additive: 2}, {Start: 3, Feasible: true, Additive: 2}}
	for name, got := range map[string]int{"cheapest": CheapestBefore(alike, 1, 9), "earliest": EarliestWithin(alike, 0, 0, 0), "alpha": ByAlpha(alike, One/2)} {
		if got != 1 {
			t.Errorf("%s: offer %d, want 1", name, got)
		}
	}
}

// A score keeps all 192 bits of its products, at the bounds of prices and starts too.
func TestScore_IsTheSumOfItsProducts(t *testing.T) {
	t.Parallel()
	whole := func(words ...uint64) *big.Int { // the lowest first
		sum := new(big.Int)
		for _, w := range slices.Backward(words) {
			sum.Lsh(sum, 64).Add(sum, new(big.Int).SetUint64(w))
		}
		return sum
	}
	const top = 1<<64 - 1
	for _, w := range []weight{{0, 3}, {1<<20 - 1, top}, {1 << 19, top - 5}} {
		for _, x := range []uint64{0, 1, 1 << 62, 1<<63 - 1} {
			got := w.times(x).plus(w.times(1))
			want := whole(w.lo, w.hi)
			want.Mul(want, new(big.Int).Add(whole(x), big.NewInt(1)))
			if whole(got[:]...).Cmp(want) != 0 {
				t.Errorf("%v x %d + %v = %v, want %v", w, x, w, whole(got[:]...), want)
			}
		}
	}
}

func FuzzParseAlpha(f *testing.F) {
	for _, s := range []string{"0", "1", "0.5", "1.0", ".25", "1e-3", "0.0000001", "-0", "NaN", "1/2", "0x1p-2", "2", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAlpha(s)
		if err != nil {
			return
		}
		if a < 0 || a > One {
			t.Fatalf("ParseAlpha(%q) = %d", s, a)
		}
		if again, err := ParseAlpha(a.String()); err != nil || again != a {
			t.Fatalf("ParseAlpha(%q) = %v, then %v, %v", s, a, again, err)
		}
	})
}
