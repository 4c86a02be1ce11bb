package pricing

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

func TestShare_BaseTimesShareHoursTimesOnePlusUrgency(t *testing.T) {
	t.Parallel()
	const price = grid.Price(2 * grid.Credit)
	for _, c := range []struct {
		name           string
		price          grid.Price
		n              int
		d, left        grid.Duration
		u              int
		base, additive grid.Credits
	}{
		{"half of a node each", price, 3, grid.Hour, 2 * grid.Hour, 1000, 6 * grid.Credit, 3 * grid.Credit},
		{"a whole node", price, 3, grid.Hour, grid.Hour, 1000, 6 * grid.Credit, 6 * grid.Credit},
		{"more than a node, which nobody can have", price, 3, grid.Hour, grid.Minute, 1000, 6 * grid.Credit, 6 * grid.Credit},
		{"urgency is free", price, 3, grid.Hour, grid.Hour, 0, 6 * grid.Credit, 0},
		{"ten hours to go", price, 1, grid.Hour, 10 * grid.Hour, 500, 2 * grid.Credit, grid.Credit / 10},
		{"beyond all money", grid.MaxPrice, 1 << 20, grid.MaxDuration, grid.MaxDuration, MaxUrgency, grid.MaxCredits, grid.MaxCredits},
	} {
		if f := Share(c.price, c.n, c.d, c.left, c.u); f.Base != c.base || f.Additive != c.additive {
			t.Errorf("%s: %v and %v, want %v and %v", c.name, f.Base, f.Additive, c.base, c.additive)
		}
	}
}

// Against fractions of any size; and a later deadline never costs more.
func TestShare_EqualsFractions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 1000).Draw(rt, "n")
		d := grid.Duration(rapid.Int64Range(1, int64(grid.MaxDuration)/1_000_000).Draw(rt, "d"))
		left := grid.Duration(rapid.Int64Range(1, int64(grid.MaxDuration)).Draw(rt, "left"))
		u := rapid.IntRange(0, MaxUrgency).Draw(rt, "u")
		p := grid.Price(rapid.Int64Range(0, 1_000_000_000).Draw(rt, "price"))
		f := Share(p, n, d, left, u)
		v := new(big.Int).Mul(big.NewInt(int64(d)), big.NewInt(int64(min(d, left))))
		v.Mul(v, big.NewInt(int64(u)))
		by := new(big.Int).Mul(big.NewInt(int64(left)), big.NewInt(1000))
		v.Add(v, by).Sub(v, big.NewInt(1)).Div(v, by)
		if want := grid.Cost(p, grid.Duration(v.Int64()*int64(n))); f.Additive != want {
			rt.Fatalf("adds %v, want %v", f.Additive, want)
		}
		if later := Share(p, n, d, left+1, u); later.Total() > f.Total() {
			rt.Fatalf("%v by %v, %v a millisecond later", f, left, later)
		}
	})
}
