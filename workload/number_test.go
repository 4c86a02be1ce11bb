package workload

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestNumber_AgreesWithRationals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[-+]?([0-9]{1,14}(\.[0-9]{0,3})?|0\.[0-9]{1,17}|[0-9]{1,5}\.[0-9]{1,12})(e[-+]?[0-2])?`).Draw(t, "text")
		n, ok := parseNumber([]byte(text))
		if !ok {
			t.Fatalf("%q is refused", text)
		}
		want, _ := new(big.Rat).SetString(text)
		if got, _ := new(big.Rat).SetString(n.String()); got.Cmp(want) != 0 {
			t.Fatalf("%q became %v", text, n)
		}
		if again, ok := parseNumber([]byte(n.String())); !ok || again != n {
			t.Fatalf("%v of %q became %v", n, text, again)
		}
		if got := n.Millis(); got != rounded(want, 1000) {
			t.Fatalf("%q is %d ms", text, got)
		}
		if got := n.Whole(); got != rounded(want, 1) {
			t.Fatalf("%q is about %d", text, got)
		}
		limit := rapid.Int64Range(0, 1e10).Draw(t, "limit")
		if n.beyond(limit) != (new(big.Rat).Abs(want).Cmp(new(big.Rat).SetInt64(limit)) > 0) {
			t.Fatalf("%q beyond %d: %v", text, limit, n.beyond(limit))
		}
	})
}

// rounded returns x times f, rounded half away from zero, the nearest int64
// where it does not fit.
func rounded(x *big.Rat, f int64) int64 {
	y := new(big.Rat).Mul(new(big.Rat).Abs(x), new(big.Rat).SetInt64(f))
	y.Add(y, big.NewRat(1, 2))
	q := new(big.Int).Quo(y.Num(), y.Denom())
	if x.Sign() < 0 {
		q.Neg(q)
	}
	switch {
	case q.IsInt64():
		return q.Int64()
	case x.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

func TestNumber_LongDecimalsAreRounded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0.12345678901234567":             "0.12345678901234567",
		"12345.678901234567":              "12345.678901234567",
		"9.99999999999999999999":          "10.000000000000000",
		"1.00000000000000005":             "1.0000000000000001",
		"-0.3333333333333333333333333333": "-0.33333333333333333",
		"1e-40":                           "0",
		"0.0":                             "0.0",
		"1e16":                            "10000000000000000",
	} {
		if n, ok := parseNumber([]byte(text)); !ok || n.String() != want {
			t.Errorf("%s became %v, want %s", text, n, want)
		}
	}
	for _, text := range []string{"", "-", "+", ".", "e5", "1e", "1e17", "123456789012345678", "1e999999999999", "0x10", "1_000", "Inf", "--1", "1e+-1"} {
		if n, ok := parseNumber([]byte(text)); ok {
			t.Errorf("%q became %v", text, n)
		}
	}
}

func TestNumber_Bounds(t *testing.T) {
	t.Parallel()
	if n := Int(maxMantissa - 1); n.Millis() != math.MaxInt64 || Int(1-maxMantissa).Millis() != math.MinInt64 {
		t.Errorf("%v is %d ms", n, n.Millis())
	}
	for _, ms := range []int64{0, 1, -1, 10, 250, -1500, 1000, 123456} {
		if n := Millis(ms); n.Millis() != ms {
			t.Errorf("%d ms became %v", ms, n)
		}
	}
	if s := Millis(-250).String(); s != "-0.25" {
		t.Error(s)
	}
	defer func() {
		if recover() == nil {
			t.Error("18 digits are packed")
		}
	}()
	Int(maxMantissa)
}
