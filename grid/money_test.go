package grid

import (
	"encoding/json"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestCost_RoundsHalfUpOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p    Price
		d    Duration
		want Credits
	}{
		{0, Hour, 0}, {1_000_000, 0, 0}, {1_000_000, Hour, Credit}, {18_000_000, 60_000 * Second, 300 * Credit},
		{1, Hour, 1}, {1, Hour / 2, 1}, {1, Hour/2 - 1, 0}, {3, Hour / 2, 2}, // half a micro-credit counts as one
		{1_000_000, 6 * Second, 1667}, // 6 node-seconds at one credit an hour
		{MaxPrice, MaxDuration, 2_777_777_777_777_777_778},
		{1<<32 - 1, 1<<32 + 1, 5_124_095_576_030}, // a product of 2^64 - 1: the rounding carries
		{math.MaxInt64, math.MaxInt64, MaxCredits}, {math.MaxInt64, Hour, MaxCredits}, {math.MaxInt64, Hour - 1, MaxCredits - 2_562_047_788_015},
	} {
		if got := Cost(c.p, c.d); got != c.want {
			t.Errorf("Cost(%d, %d ms) = %d, want %d", c.p, c.d, got, c.want)
		}
	}
}

// bounded is v, or MaxCredits where that does not fit.
func bounded(v *big.Int) Credits {
	if v.Cmp(big.NewInt(math.MaxInt64)) >= 0 {
		return MaxCredits
	}
	return Credits(v.Int64())
}

// corners are the amounts about which arithmetic goes wrong.
var corners = []int64{0, 1, 2, int64(Hour) / 2, int64(Hour), 1<<32 - 1, 1 << 32, 1<<32 + 1, math.MaxInt64 / 2, math.MaxInt64/2 + 1, math.MaxInt64 - 1, math.MaxInt64}

// amount draws a corner or else magnitudes evenly, not values.
func amount(t *rapid.T, name string) int64 {
	if rapid.Bool().Draw(t, name+" is a corner") {
		return rapid.SampledFrom(corners).Draw(t, name)
	}
	bits := rapid.IntRange(0, 63).Draw(t, name+" bits")
	return rapid.Int64Range(0, math.MaxInt64>>(63-bits)).Draw(t, name)
}

func TestCost_EqualsBigIntegers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, d := amount(t, "p"), amount(t, "d")
		product := new(big.Int).Mul(big.NewInt(p), big.NewInt(d))
		want := bounded(halfAway(new(big.Rat).SetFrac(product, big.NewInt(int64(Hour)))))
		if got := Cost(Price(p), Duration(d)); got != want {
			t.Fatalf("Cost(%d, %d) = %d, want %d", p, d, got, want)
		}
	})
}

func TestCredits_SumsAndProductsSaturate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := amount(t, "a"), amount(t, "b")
		if got, want := Credits(a).Plus(Credits(b)), bounded(new(big.Int).Add(big.NewInt(a), big.NewInt(b))); got != want {
			t.Fatalf("%d + %d = %d, want %d", a, b, got, want)
		}
		if got, want := Credits(a).Times(int(b)), bounded(new(big.Int).Mul(big.NewInt(a), big.NewInt(b))); got != want {
			t.Fatalf("%d x %d = %d, want %d", a, b, got, want)
		}
		c := amount(t, "c") + 1
		if c < 0 {
			c = math.MaxInt64
		}
		quotient := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
		if got, want := MulDiv(a, b, c), int64(bounded(quotient.Quo(quotient, big.NewInt(c)))); got != want {
			t.Fatalf("%d x %d / %d = %d, want %d", a, b, c, got, want)
		}
	})
	if MaxCredits.Plus(0) != MaxCredits || MaxCredits.Plus(1) != MaxCredits || MaxCredits.Times(1) != MaxCredits || MaxCredits.Times(0) != 0 {
		t.Error("what cannot be paid stays so")
	}
	if MaxCredits.String() != "unpayable" {
		t.Errorf("MaxCredits is shown as %q", MaxCredits)
	}
}

func TestMoney_IsReadWithinItsBounds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Credits{"0": 0, "1.000001": Credit + 1, "0.0000005": 1, "1e12": MaxBudget} {
		if got, err := ParseCredits(text); err != nil || got != want {
			t.Errorf("ParseCredits(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]Price{"0": 0, "2.5": 2_500_000, "1e6": MaxPrice} {
		if got, err := ParsePrice(text); err != nil || got != want {
			t.Errorf("ParsePrice(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "-0.000001", "1e13", "1000000000000.000001", "12 credits", "NaN"} {
		if got, err := ParseCredits(text); err == nil {
			t.Errorf("ParseCredits(%q) = %v, want an error", text, got)
		}
		if got, err := ParsePrice(text); err == nil {
			t.Errorf("ParsePrice(%q) = %v, want an error", text, got)
		}
	}
	if got, err := ParsePrice("1000000.000001"); err == nil {
		t.Errorf("a price above the bound is read as %v", got)
	}
}

func TestMoney_SurvivesJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := Fare{Base: Credits(rapid.Int64Range(0, int64(MaxBudget)).Draw(t, "base")), Additive: Credits(rapid.Int64Range(0, int64(Credit)).Draw(t, "additive"))}
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Fare
		if err := json.Unmarshal(b, &got); err != nil || got != want {
			t.Fatalf("%s is read as %v, %v", b, got, err)
		}
		p := Price(rapid.Int64Range(0, int64(MaxPrice)).Draw(t, "price"))
		var q Price
		if b, err = json.Marshal(p); err == nil {
			err = json.Unmarshal(b, &q)
		}
		if err != nil || q != p {
			t.Fatalf("%s is read as %v, %v", b, q, err)
		}
	})
}

func BenchmarkCost(b *testing.B) {
	p, d, sum := Price(1_234_567), Duration(9_876_543), Credits(0)
	for b.Loop() {
		sum += Cost(p, d)
		d ^= 1
	}
	if sum == 0 {
		b.Fatal("nothing was paid")
	}
}

func TestShare_RoundsHalfUpOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of          Credits
		thousandths int
		want        Credits
	}{
		{666_668, 100, 66_667}, {5, 100, 1}, {4, 100, 0}, {1_000_000, 0, 0},
		{1_000_000, 10_000, 10_000_000}, {MaxCredits - 1, 1000, MaxCredits - 1}, {MaxCredits - 1, 1001, MaxCredits},
	} {
		if got := c.of.Share(c.thousandths); got != c.want {
			t.Errorf("%d thousandths of %d: %d, want %d", c.thousandths, c.of, got, c.want)
		}
	}
}

// An amount or a price that was read is within its bounds, and is read the same from
// what it shows.
func FuzzParseCredits(f *testing.F) {
	for _, text := range []string{"0", "12.5", "1e3", "0.0000005", "-1", "9e18", "1000000000000", "1000000000000.000001", " 1", "0x1", "1_0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCredits(text)
		if again, wrong := ParseCredits(c.String()); c < 0 || c > MaxBudget || err == nil && (wrong != nil || again != c) || err != nil && c != 0 {
			t.Fatalf("%q is read as %v, %v; that as %v, %v", text, c, err, again, wrong)
		}
	})
}

func FuzzParsePrice(f *testing.F) {
	for _, text := range []string{"0", "3.6", "1e6", "0.0000004", "-0.1", "1e7", "1000000", "1000000.000001", "", "NaN"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePrice(text)
		if again, wrong := ParsePrice(p.String()); p < 0 || p > MaxPrice || err == nil && (wrong != nil || again != p) || err != nil && p != 0 {
			t.Fatalf("%q is read as %v, %v; that as %v, %v", text, p, err, again, wrong)
		}
	})
}
