package grid

import (
	"fmt"
	"math"
	"math/bits"
)

// Credits is an amount of money in millionths of a credit.
type Credits int64

// Price is what one node costs for one hour, in millionths of a credit.
type Price int64

const (
	// Credit is one credit.
	Credit Credits = 1_000_000
	// MaxCredits is the result of a sum or product that does not fit. It is more than
	// any budget, so it is never affordable and never posted to an account.
	MaxCredits Credits = math.MaxInt64
	// MaxPrice bounds every price read from outside: a million credits a node-hour.
	MaxPrice Price = 1_000_000_000_000
	// MaxBudget bounds every amount read from outside: 10^12 credits.
	MaxBudget Credits = 1_000_000_000_000 * Credit
)

// Cost is what one node at price p costs for d, rounded half up once. All products of a
// price and a time are computed here. p and d must not be negative. A product beyond int64
// is MaxCredits.
func Cost(p Price, d Duration) Credits {
	const hour = uint64(Hour)
	hi, lo := bits.Mul64(uint64(p), uint64(d))
	lo, carry := bits.Add64(lo, hour/2, 0)
	hi += carry
	if hi == 0 {
		return Credits(lo / hour) // the common case: no division in 128 bits
	}
	if hi >= hour {
		return MaxCredits
	}
	q, _ := bits.Div64(hi, lo, hour)
	if q >= uint64(MaxCredits) {
		return MaxCredits
	}
	return Credits(q)
}

// Plus adds two amounts that are not negative; a sum beyond int64 is MaxCredits.
func (c Credits) Plus(d Credits) Credits {
	if c > MaxCredits-d {
		return MaxCredits
	}
	return c + d
}

// Times multiplies an amount that is not negative by n >= 0; a product beyond
// int64 is MaxCredits.
func (c Credits) Times(n int) Credits {
	hi, lo := bits.Mul64(uint64(c), uint64(n))
	if hi > 0 || lo >= uint64(MaxCredits) {
		return MaxCredits
	}
	return Credits(lo)
}

// Over is the amount x all / part, rounded down. None may be negative, and part must be
// above 0. A result that does not fit is MaxCredits.
func (c Credits) Over(all, part int64) Credits { return Credits(MulDiv(int64(c), all, part)) }

// Share is the given thousandths of the amount, rounded half up once. Neither may be
// negative. A result that does not fit is MaxCredits.
func (c Credits) Share(thousandths int) Credits {
	hi, lo := bits.Mul64(uint64(c), uint64(thousandths))
	lo, carry := bits.Add64(lo, 500, 0)
	if hi += carry; hi >= 1000 {
		return MaxCredits
	}
	q, _ := bits.Div64(hi, lo, 1000)
	return Credits(min(q, uint64(MaxCredits)))
}

// String shows the amount in credits with no more decimals than it needs.
func (c Credits) String() string {
	if c == MaxCredits {
		return "unpayable"
	}
	return formatDecimal(int64(c), 6)
}

// Float returns the amount in credits, for reports.
func (c Credits) Float() float64 { return float64(c) / float64(Credit) }

// String shows the price in credits per node-hour.
func (p Price) String() string { return formatDecimal(int64(p), 6) }

// Float returns the price in credits per node-hour, for reports.
func (p Price) Float() float64 { return float64(p) / 1e6 }

// ParseCredits reads an amount in credits, 0 to MaxBudget.
func ParseCredits(s string) (Credits, error) {
	v, err := parseDecimal(s, 6)
	switch {
	case err == errTooLarge, err == nil && (v < 0 || Credits(v) > MaxBudget):
		return 0, fmt.Errorf("amount %q is outside 0..%v credits", s, MaxBudget)
	case err != nil:
		return 0, fmt.Errorf("amount %q %w; must be 0..%v credits", s, err, MaxBudget)
	}
	return Credits(v), nil
}

// ParsePrice reads a price in credits per node-hour, 0 to MaxPrice.
func ParsePrice(s string) (Price, error) {
	v, err := parseDecimal(s, 6)
	switch {
	case err == errTooLarge, err == nil && (v < 0 || Price(v) > MaxPrice):
		return 0, fmt.Errorf("price %q is outside 0..%v credits per node-hour", s, MaxPrice)
	case err != nil:
		return 0, fmt.Errorf("price %q %w; must be 0..%v credits per node-hour", s, err, MaxPrice)
	}
	return Price(v), nil
}

// MarshalJSON writes credits.
func (c Credits) MarshalJSON() ([]byte, error) { return appendDecimal(nil, int64(c), 6), nil }

// UnmarshalJSON reads what MarshalJSON writes, including MaxCredits.
func (c *Credits) UnmarshalJSON(b []byte) (err error) {
	if string(b) == maxCreditsText {
		*c = MaxCredits
		return nil
	}
	*c, err = ParseCredits(string(b))
	return err
}

// maxCreditsText is MaxCredits as MarshalJSON writes it.
var maxCreditsText = formatDecimal(int64(MaxCredits), 6)

// UnmarshalTOML reads credits.
func (c *Credits) UnmarshalTOML(v any) error {
	s, err := decimalText(v)
	if err == nil {
		*c, err = ParseCredits(s)
	}
	return err
}

// MarshalJSON writes credits per node-hour.
func (p Price) MarshalJSON() ([]byte, error) { return appendDecimal(nil, int64(p), 6), nil }

// UnmarshalJSON reads credits per node-hour.
func (p *Price) UnmarshalJSON(b []byte) (err error) {
	*p, err = ParsePrice(string(b))
	return err
}

// UnmarshalTOML reads credits per node-hour.
func (p *Price) UnmarshalTOML(v any) error {
	s, err := decimalText(v)
	if err == nil {
		*p, err = ParsePrice(s)
	}
	return err
}

// MulDiv is a x b / c in 128 bits, rounded down, at most the largest int64. a and b must not
// be negative, and c must be above 0. A share of a whole number is taken with it: whoever
// divides first loses up to c - 1 of a, times b.
func MulDiv(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi >= uint64(c) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(min(q, math.MaxInt64))
}
