// Package choice picks one of the start times that a site offers for a
// reservation: by a preference between price and start (Singh, Kesselman and
// Deelman, section 4), the cheapest by a deadline, the earliest within a
// budget, or all that no other offer beats.
//
// It prices nothing and sends nothing. Infeasible offers are never chosen. Every
// comparison is exact: no division, no floats.
package choice

import (
	"cmp"
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"strconv"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// Alpha is the preference of a user, in millionths: 0 wants the earliest start at any
// cost, One the least price at any time.
type Alpha int64

// One is alpha = 1.
const One Alpha = 1_000_000

// ParseAlpha reads a number from 0 to 1 with at most six decimals.
func ParseAlpha(s string) (Alpha, error) {
	bad := fmt.Errorf("alpha %q is not a number from 0 to 1 with at most six decimals, such as 0.5", s)
	if len(s) == 0 || len(s) > 32 || s[0] == '+' || s[0] == '-' {
		return 0, bad
	}
	if _, err := strconv.ParseFloat(s, 64); err != nil {
		return 0, bad
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return 0, bad
	}
	r.Mul(r, big.NewRat(int64(One), 1))
	if !r.IsInt() || r.Sign() < 0 || r.Cmp(big.NewRat(int64(One), 1)) > 0 {
		return 0, bad
	}
	return Alpha(r.Num().Int64()), nil
}

// String shows alpha as the number that ParseAlpha reads.
func (a Alpha) String() string { return grid.Credits(a).String() }

// ByAlpha returns the index of the feasible offer with the least
//
//	alpha (f - fmin)/(fmax - fmin) + (1 - alpha) (s - smin)/(smax - smin)
//
// over the feasible offers, -1 if there is none. A term of range 0 counts 0;
// ties go to the earliest start, then to the first in the list. alpha is from 0
// to One. It costs two walks over the list.
func ByAlpha(offers []pricing.Offer, alpha Alpha) int {
	f, s := ranges(offers)
	p := prefer(f, s, alpha)
	best, least := -1, score{}
	for i := range offers {
		o := &offers[i]
		if !o.Feasible {
			continue
		}
		x := p.score(int64(o.Additive), int64(o.Start))
		c := -1
		if best >= 0 {
			if c = x.compare(least); c == 0 {
				c = cmp.Compare(o.Start, offers[best].Start)
			}
		}
		if c < 0 {
			best, least = i, x
		}
	}
	return best
}

// CheapestBefore returns the index of the feasible offer with the least additive
// part among those that end by the deadline when they last d, -1 if there is
// none. Ties go to the earliest start.
func CheapestBefore(offers []pricing.Offer, d grid.Duration, deadline grid.Time) int {
	return least(offers,
		func(o *pricing.Offer) bool { return o.Start.Add(d) <= deadline },
		func(x, y *pricing.Offer) int {
			return cmp.Or(cmp.Compare(x.Additive, y.Additive), cmp.Compare(x.Start, y.Start))
		})
}

// EarliestWithin returns the index of the earliest feasible offer whose whole
// cost, base and additive part at the group's price, is within the budget; -1
// if there is none. Ties go to the cheapest.
func EarliestWithin(offers []pricing.Offer, price grid.Price, base, budget grid.Credits) int {
	return least(offers,
		func(o *pricing.Offer) bool { return base.Plus(grid.Cost(price, o.Additive)) <= budget },
		func(x, y *pricing.Offer) int {
			return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(x.Additive, y.Additive))
		})
}

// Pareto appends to list the indices of the feasible offers that no other one
// beats. One offer beats another if it starts no later and costs no more, and one of
// the two strictly. Of offers with the same start and cost only the first in the list
// is kept. The result is in order of start, so each offer is cheaper than the one before.
func Pareto(list []int, offers []pricing.Offer) []int {
	from := len(list)
	for i := range offers {
		if offers[i].Feasible {
			list = append(list, i)
		}
	}
	all := list[from:]
	slices.SortFunc(all, func(i, j int) int {
		x, y := &offers[i], &offers[j]
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(x.Additive, y.Additive), cmp.Compare(i, j))
	})
	kept := 0
	for _, i := range all {
		if kept == 0 || offers[i].Additive < offers[all[kept-1]].Additive {
			all[kept] = i
			kept++
		}
	}
	return list[:from+kept]
}

// least returns the first of the least feasible offers that are eligible, or -1.
func least(offers []pricing.Offer, eligible func(*pricing.Offer) bool, compare func(x, y *pricing.Offer) int) int {
	best := -1
	for i := range offers {
		o := &offers[i]
		if o.Feasible && eligible(o) && (best < 0 || compare(o, &offers[best]) < 0) {
			best = i
		}
	}
	return best
}

// extent is the least and the greatest of some numbers.
type extent struct{ low, high int64 }

func (e extent) width() uint64 { return uint64(e.high) - uint64(e.low) }

// with is the extent with one more number, or of the first number alone.
func (e extent) with(x int64, first bool) extent {
	if first {
		return extent{x, x}
	}
	return extent{min(e.low, x), max(e.high, x)}
}

// ranges returns the extents of price and start over the feasible offers.
func ranges(offers []pricing.Offer) (f, s extent) {
	seen := false
	for i := range offers {
		o := &offers[i]
		if !o.Feasible {
			continue
		}
		f = f.with(int64(o.Additive), !seen)
		s = s.with(int64(o.Start), !seen)
		seen = true
	}
	return f, s
}

// preference weighs prices f and starts s of given extents. The sum of ByAlpha,
// multiplied by both ranges, is A (f - fmin) + B (s - smin) with A = alpha (smax - smin)
// and B = (1 - alpha)(fmax - fmin). Only the order of these sums counts. A range of 0
// makes its own term 0. As a factor of the other term it would make that 0 too, so it is
// replaced by 1.
type preference struct {
	f, s extent
	a, b weight
}

func prefer(f, s extent, alpha Alpha) preference {
	return preference{f, s, mul(uint64(alpha), max(s.width(), 1)), mul(uint64(One-alpha), max(f.width(), 1))}
}

// score is that of an offer: less is better.
func (p *preference) score(price, start int64) score {
	return p.a.times(uint64(price) - uint64(p.f.low)).plus(p.b.times(uint64(start) - uint64(p.s.low)))
}

// weight is a factor of a score, 128 bits.
type weight struct{ hi, lo uint64 }

func mul(x, y uint64) weight {
	hi, lo := bits.Mul64(x, y)
	return weight{hi, lo}
}

// score is a sum of products in 192 bits. With prices, starts and alpha all at their
// bounds it stays below 2^(63+61+20).
type score [3]uint64

// times returns the product of a weight and a number.
func (w weight) times(x uint64) score {
	h1, l1 := bits.Mul64(w.lo, x)
	h2, l2 := bits.Mul64(w.hi, x)
	mid, carry := bits.Add64(h1, l2, 0)
	return score{l1, mid, h2 + carry}
}

func (x score) plus(y score) (z score) {
	var carry uint64
	for i := range z {
		z[i], carry = bits.Add64(x[i], y[i], carry)
	}
	return z
}

func (x score) compare(y score) int {
	for i := len(x) - 1; i >= 0; i-- {
		if c := cmp.Compare(x[i], y[i]); c != 0 {
			return c
		}
	}
	return 0
}
