package workload

import (
	"math"
	"strconv"
)

// Number is a decimal number as written in a trace, exact to the last zero: "259.00" and
// "259" are different Numbers of equal value. Up to 17 significant digits and 31 decimals
// are kept; the rest is rounded half away from zero. The zero Number is "0".
//
// It is a mantissa and, in the lowest five bits, the number of decimals, so that a record
// of 18 of them takes 144 bytes without a pointer.
type Number int64

const (
	scaleBits   = 5
	maxScale    = 1<<scaleBits - 1
	maxDigits   = 17
	maxMantissa = 100_000_000_000_000_000 // 10^17: what maxDigits can hold
)

// Unknown is what a trace writes for a field it does not know.
const Unknown = Number(-1 << scaleBits)

var tens = func() (t [19]int64) {
	t[0] = 1
	for i := 1; i < len(t); i++ {
		t[i] = t[i-1] * 10
	}
	return t
}()

// Int returns v as a Number; |v| must be below 10^17.
func Int(v int64) Number {
	if v <= -maxMantissa || v >= maxMantissa {
		panic("workload: " + strconv.FormatInt(v, 10) + " has more than 17 digits")
	}
	return Number(v << scaleBits)
}

// Millis returns ms thousandths, a time of the vocabulary, as a Number with no
// more decimals than it needs; |ms| must be below 10^17.
func Millis(ms int64) Number {
	if ms%1000 == 0 {
		return Int(ms / 1000)
	}
	scale := int64(3)
	for ms%10 == 0 {
		ms /= 10
		scale--
	}
	return Int(ms) + Number(scale)
}

func (n Number) mantissa() int64 { return int64(n) >> scaleBits }
func (n Number) scale() int      { return int(n & maxScale) }

// Whole returns the number rounded half away from zero.
func (n Number) Whole() int64 { return n.times(0) }

// Millis returns the number in thousandths, rounded half away from zero: a time
// in seconds becomes one of the vocabulary. Beyond int64 it is the nearest int64.
func (n Number) Millis() int64 { return n.times(3) }

// times returns n x 10^digits, rounded half away from zero.
func (n Number) times(digits int) int64 {
	m, shift := n.mantissa(), n.scale()-digits
	switch {
	case shift <= 0:
		f := tens[-shift]
		if m > math.MaxInt64/f {
			return math.MaxInt64
		}
		if m < math.MinInt64/f {
			return math.MinInt64
		}
		return m * f
	case shift > 18:
		return 0 // less than half a unit: the mantissa has 17 digits
	}
	f := tens[shift]
	q, rest := m/f, m%f
	if rest >= f-rest {
		q++
	} else if -rest >= f+rest {
		q--
	}
	return q
}

// beyond reports whether |n| > limit, for limits from 0.
func (n Number) beyond(limit int64) bool {
	m, s := n.mantissa(), n.scale()
	if m < 0 {
		m = -m
	}
	if s > 18 { // below 1: the mantissa has 17 digits
		return limit == 0 && m > 0
	}
	f := tens[s]
	return m/f > limit || m/f == limit && m%f > 0
}

// String shows the number as the trace had it.
func (n Number) String() string { return string(n.append(nil)) }

func (n Number) append(b []byte) []byte {
	m, scale := n.mantissa(), n.scale()
	if scale == 0 {
		return strconv.AppendInt(b, m, 10)
	}
	if m < 0 {
		b = append(b, '-')
		m = -m
	}
	var digits [maxScale + 20]byte
	i := len(digits)
	for k := 0; m > 0 || k <= scale; k++ {
		if k == scale {
			i--
			digits[i] = '.'
		}
		i--
		digits[i] = byte('0' + m%10)
		m /= 10
	}
	return append(b, digits[i:]...)
}

// parseNumber reads one decimal number: a sign, digits, a point, an exponent.
func parseNumber(b []byte) (Number, bool) {
	i, neg := 0, false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		neg = b[i] == '-'
		i++
	}
	d := decimal{}
	for point := false; i < len(b); i++ {
		c := b[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		d.push(int64(c-'0'), point)
	}
	if !d.seen {
		return 0, false
	}
	if i < len(b) {
		if b[i] != 'e' && b[i] != 'E' {
			return 0, false
		}
		exp, err := strconv.Atoi(string(b[i+1:]))
		if err != nil || exp > 400 || exp < -400 {
			return 0, false
		}
		d.scale -= exp
	}
	return d.number(neg)
}

// decimal is a number while it is read: m x 10^-scale.
type decimal struct {
	m     int64
	scale int
	seen  bool
	full  bool // the mantissa holds all it can; what follows is only counted
	up    bool // the first digit that did not fit was 5 or more
}

func (d *decimal) push(digit int64, decimals bool) {
	d.seen = true
	if !d.full && d.m*10+digit < maxMantissa {
		d.m = d.m*10 + digit
		if decimals {
			d.scale++
		}
		return
	}
	if !d.full {
		d.full, d.up = true, digit >= 5
	}
	if !decimals {
		d.scale--
	}
}

// number rounds and packs; false if the number is too large to be kept.
func (d *decimal) number(neg bool) (Number, bool) {
	if d.up {
		d.m++
	}
	for d.scale < 0 && d.m != 0 {
		if d.m >= maxMantissa/10 {
			return 0, false
		}
		d.m *= 10
		d.scale++
	}
	d.scale = max(d.scale, 0)
	for d.scale > maxScale || d.m >= maxMantissa {
		if d.scale == 0 {
			return 0, false
		}
		// Cut one decimal at a time. Only the last cut rounds; a mantissa that
		// rounding up made too long ends in 0 and loses nothing.
		last := d.m % 10
		d.m /= 10
		d.scale--
		if d.scale == maxScale && last >= 5 {
			d.m++
		}
		if d.m == 0 {
			d.scale = 0
		}
	}
	if neg {
		d.m = -d.m
	}
	return Number(d.m<<scaleBits) | Number(d.scale), true
}
