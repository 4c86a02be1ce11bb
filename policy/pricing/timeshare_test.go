package pricing

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse"
)

func TestShare_BaseTimesShareHoursTimesOnePlusUrgency(t *testing.T) {
	t.Parallel()
	const price = bourse.Price(2 * bourse.Credit)
	for _, c := range []struct {
		name           string
		price          bourse.Price
		n              int
		d, left        bourse.Duration
		u              int
		base, additive bourse.Credits
	}{
		{"half of a node each", price, 3, bourse.Hour, 2 * bourse.Hour, 1000, 6 * bourse.Credit, 3 * bourse.Credit},
		{"a whole node", price, 3, bourse.Hour, bourse.Hour, 1000, 6 * bourse.Credit, 6 * bourse.Credit},
		{"more than a node, which nobody can have", price, 3, bourse.Hour, bourse.Minute, 1000, 6 * bourse.Credit, 6 * bourse.Credit},
		{"urgency is free", price, 3, bourse.Hour, bourse.Hour, 0, 6 * bourse.Credit, 0},
		{"ten hours to go", price, 1, bourse.Hour, 10 * bourse.Hour, 500, 2 * bourse.Credit, bourse.Credit / 10},
		{"beyond all money", bourse.MaxPrice, 1 << 20, bourse.MaxDuration, bourse.MaxDuration, MaxUrgency, bourse.MaxCredits, bourse.MaxCredits},
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
		d := bourse.Duration(rapid.Int64Range(1, int64(bourse.MaxDuration)/1_000_000).Draw(rt, "d"))
		left := bourse.Duration(rapid.Int64Range(1, int64(bourse.MaxDuration)).Draw(rt, "left"))
		u := rapid.IntRange(0, MaxUrgency).Draw(rt, "u")
		p := bourse.Price(rapid.Int64Range(0, 1_000_000_000).Draw(rt, "price"))
		f := Share(p, n, d, left, u)
		v := new(big.Int).Mul(big.NewInt(int64(d)), big.NewInt(int64(min(d, left))))
		v.Mul(v, big.NewInt(int64(u)))
		by := new(big.Int).Mul(big.NewInt(int64(left)), big.NewInt(1000))
		v.Add(v, by).Sub(v, big.NewInt(1)).Div(v, by)
		if want := bourse.Cost(p, bourse.Duration(v.Int64()*int64(n))); f.Additive != want {
			rt.Fatalf("adds %v, want %v", f.Additive, want)
		}
		if later := Share(p, n, d, left+1, u); later.Total() > f.Total() {
			rt.Fatalf("%v by %v, %v a millisecond later", f, left, later)
		}
	})
}
