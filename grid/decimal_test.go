package grid

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// halfAway rounds a rational half away from zero.
func halfAway(r *big.Rat) *big.Int {
	num := new(big.Int).Abs(r.Num())
	num.Mul(num, big.NewInt(2)).Add(num, r.Denom())
	num.Quo(num, new(big.Int).Mul(r.Denom(), big.NewInt(2)))
	if r.Sign() < 0 {
		num.Neg(num)
	}
	return num
}

// exactly is the value of a decimal text times factor x 10^digits, rounded by
// another arithmetic than the one under test.
func exactly(t interface{ Fatalf(string, ...any) }, text string, factor int64, digits int) *big.Int {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q was read, but is no number", text)
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	return halfAway(r.Mul(r, new(big.Rat).SetInt(unit.Mul(unit, big.NewInt(factor)))))
}

func checkDecimal(t interface{ Fatalf(string, ...any) }, text string, factor, digits int) {
	got, err := parseMultiple(text, factor, digits)
	if err != nil {
		return
	}
	if want := exactly(t, text, int64(factor), digits); want.Cmp(big.NewInt(got)) != 0 {
		t.Fatalf("parseMultiple(%q, %d, %d) = %d, want %v", text, factor, digits, got, want)
	}
}

func TestDecimal_RoundsHalfAwayFromZeroOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want int64
	}{
		{"18", 18000}, {"-0.5", -500}, {"1.7e3", 1_700_000}, {"0.0005", 1}, {"0.00049999", 0}, {"-0.0005", -1},
		{"-0.0004", 0}, {".5", 500}, {"5.", 5000}, {"+2", 2000}, {"1E-3", 1}, {"5e-4", 1}, {"4e-5", 0}, {"9e-400", 0},
		{"0e400", 0}, {"000.0010", 1}, {"9e14", 900_000_000_000_000_000}, {"12.3454", 12345}, {"12.3455", 12346},
		{"0.9999", 1000}, {"0." + strings.Repeat("0", 500) + "1", 0},
	} {
		if got, err := parseDecimal(c.text, 3); err != nil || got != c.want {
			t.Errorf("parseDecimal(%q, 3) = %d, %v; want %d", c.text, got, err, c.want)
		}
	}
}

func TestDecimal_RefusesWhatIsNoFiniteNumber(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ", "-", "+", ".", "e5", "1e", "1e+", "1.2.3", "1,5", "0x10", "1_000", "NaN", "Inf", "-inf", "1 ", " 1", "--1",
		"1e5.0", "١", "1e99999999999999999999", "1e401", "1e400", "9223372036854775.808", "99999999999999999999",
		"-" + strings.Repeat("9", 400),
	} {
		if got, err := parseDecimal(text, 3); err == nil {
			t.Errorf("parseDecimal(%q, 3) = %d, want an error", text, got)
		}
	}
}

func TestDecimal_EqualsARationalOnEveryText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[+-]?[0-9]{0,14}(\.[0-9]{0,20})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "text")
		factor := rapid.SampledFrom([]int{1, 60, 3600, 86400}).Draw(t, "factor")
		checkDecimal(t, text, factor, rapid.IntRange(0, 9).Draw(t, "digits"))
	})
}

func TestDecimal_ReadsBackWhatItWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64Range(-math.MaxInt64/2, math.MaxInt64/2).Draw(t, "v")
		digits := rapid.SampledFrom([]int{0, 3, 6}).Draw(t, "digits")
		text := formatDecimal(v, digits)
		if got, err := parseDecimal(text, digits); err != nil || got != v {
			t.Fatalf("%d with %d decimals is written %q and read as %d, %v", v, digits, text, got, err)
		}
		if strings.Contains(text, ".") && strings.HasSuffix(text, "0") {
			t.Fatalf("%d is written %q, with a decimal too many", v, text)
		}
	})
	for v, want := range map[int64]string{0: "0", -1: "-0.001", 1500: "1.5", math.MinInt64: "-9223372036854775.808", math.MaxInt64: "9223372036854775.807"} {
		if got := formatDecimal(v, 3); got != want {
			t.Errorf("formatDecimal(%d, 3) = %q, want %q", v, got, want)
		}
	}
}

func TestDecimal_ReadsEveryNumberThatATOMLReaderDecodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v    any
		want Credits
	}{{int64(18), 18 * Credit}, {1.05, 1_050_000}, {1e6, 1_000_000 * Credit}, {0.1 + 0.2, 300_000}, {1e-9, 0}} {
		var got Credits
		if err := got.UnmarshalTOML(c.v); err != nil || got != c.want {
			t.Errorf("%v is read as %v, %v; want %v", c.v, got, err, c.want)
		}
	}
	for _, v := range []any{math.NaN(), math.Inf(1), "18", true, nil, int64(-1), 1e300} {
		var got Credits
		if err := got.UnmarshalTOML(v); err == nil {
			t.Errorf("%v (%T) is read as %v, want an error", v, v, got)
		}
	}
}

func FuzzDecimal(f *testing.F) {
	for _, text := range []string{"18", "-0.5", "1.7e3", "0.0005", "1e-400", "9223372036854775.807", "0.5001", "00000000000000000000000000001"} {
		f.Add(text, uint8(3), uint8(1))
	}
	factors := []int{1, 60, 3600, 86400}
	f.Fuzz(func(t *testing.T, text string, digits, factor uint8) {
		if len(text) < 1000 {
			checkDecimal(t, text, factors[int(factor)%len(factors)], int(digits)%10)
		}
	})
}
