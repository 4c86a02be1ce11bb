package formula

import "math"

// The logarithms and the cube root of package math are FreeBSD's (msun: e_log.c, s_cbrt.c). On
// some processors Go computes them by other means, or fuses a product and a sum in them, and
// the last digit is another. These are the same algorithms, each operation rounded on its own.

const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
	l1      = 6.666666666666735130e-01
	l2      = 3.999999999940941908e-01
	l3      = 2.857142874366239149e-01
	l4      = 2.222219843214978396e-01
	l5      = 1.818357216161805012e-01
	l6      = 1.531383769920937332e-01
	l7      = 1.479819860511658591e-01
)

// times and plus round, whatever the compiler would like to fuse.
func times(a, b float64) float64 { return float64(a * b) }
func plus(a, b float64) float64  { return float64(a + b) }

// ln is the natural logarithm, with an error below one unit in the last place.
func ln(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	f1, whole := math.Frexp(x)
	if f1 < math.Sqrt2/2 {
		f1 *= 2
		whole--
	}
	f, k := f1-1, float64(whole)
	s := f / (2 + f)
	s2 := times(s, s)
	s4 := times(s2, s2)
	t1 := times(s2, plus(l1, times(s4, plus(l3, times(s4, plus(l5, times(s4, l7)))))))
	t2 := times(s4, plus(l2, times(s4, plus(l4, times(s4, l6)))))
	r := plus(t1, t2)
	half := times(times(0.5, f), f)
	tail := plus(times(s, plus(half, r)), times(k, ln2Low))
	return times(k, ln2High) - ((half - tail) - f)
}

// log2 is exact for powers of two.
func log2(x float64) float64 {
	fraction, exponent := math.Frexp(x)
	if fraction == 0.5 {
		return float64(exponent - 1)
	}
	return plus(times(ln(fraction), 1/math.Ln2), float64(exponent))
}

func log10(x float64) float64 { return times(ln(x), 1/math.Ln10) }

// cbrt has an error below 0.667 units in the last place.
func cbrt(x float64) float64 {
	const (
		b1       = 715094163 // (682-0.03306235651)*2**20
		b2       = 696219795 // (664-0.03306235651)*2**20
		c        = 5.42857142857142815906e-01
		d        = -7.05306122448979611050e-01
		e        = 1.41428571428571436819e+00
		f        = 1.60714285714285720630e+00
		g        = 3.57142857142857150787e-01
		smallest = 2.22507385850720138309e-308 // normal
	)
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	y := math.Abs(x)
	t := math.Float64frombits(math.Float64bits(y)/3 + b1<<32)
	if y < smallest {
		t = math.Float64frombits(math.Float64bits(times(1<<54, y))/3 + b2<<32)
	}
	r := times(t, t) / y
	s := plus(c, times(r, t))
	t = times(t, plus(g, f/plus(plus(s, e), d/s)))
	t = math.Float64frombits(math.Float64bits(t)&(0xFFFFFFFFC<<28) + 1<<30)
	s = times(t, t)
	r = y / s
	r = (r - t) / plus(plus(t, t), r)
	return math.Copysign(plus(t, times(t, r)), x)
}
