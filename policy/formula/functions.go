package formula

import (
	"math"

	"github.com/bourse-grid/bourse/policy/names"
)

// function is the type of a line in the table of functions.
type function uint8

type functionIs struct {
	least, most int // arguments
	build       func(args []term) term
}

// many bounds the arguments of a function by the text of a formula.
const many = MaxBytes

func (f *functionIs) takes() string {
	switch {
	case f.most == many:
		return "two values or more"
	case f.most == 3:
		return "three values, a condition and what follows if it holds and if not"
	}
	return "one value"
}

func one(name, means string, f func(float64) float64) names.Line[functionIs] {
	return names.Line[functionIs]{Name: name, Means: means, Is: functionIs{1, 1, func(args []term) term { return unary(f, args[0]) }}}
}

func several(name, means, op string) names.Line[functionIs] {
	return names.Line[functionIs]{Name: name, Means: means, Is: functionIs{2, many, func(args []term) term {
		a := args[0]
		for _, b := range args[1:] {
			a = binary(op, a, b)
		}
		return a
	}}}
}

// functions is the table of them.
var functions = names.Table[function, functionIs]{Kind: "function", Lines: []names.Line[functionIs]{
	{Name: "if", Means: "if(c, a, b): a if c is not 0, otherwise b", Is: functionIs{3, 3, choose}},
	several("min", "the least of its values", "min"),
	several("max", "the largest of its values", "max"),
	one("abs", "without its sign", math.Abs),
	one("sqrt", "square root", math.Sqrt),
	one("cbrt", "cube root", cbrt),
	one("ln", "natural logarithm", ln),
	one("log2", "logarithm to the base of 2", log2),
	one("log10", "logarithm to the base of 10", log10),
	one("floor", "the next whole number below", math.Floor),
	one("ceil", "the next whole number above", math.Ceil),
}}

// Functions returns the functions with what they do.
func Functions() []names.Policy { return functions.Policies() }

func known(x float64) term {
	return term{func(*Values) float64 { return x }, true}
}

// folded computes a term now whose parts are all known.
func folded(eval node, constant bool) term {
	if constant {
		return known(eval(nil))
	}
	return term{eval: eval}
}

func variable(v Variable) node { return func(x *Values) float64 { return x[v] } }

func unary(f func(float64) float64, a term) term {
	eval := a.eval
	return folded(func(v *Values) float64 { return f(eval(v)) }, a.constant)
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// operations compute on two values. The conversions keep a compiler from fusing an
// operation with another one (Go specification, Floating-point operators).
var operations = map[string]func(a, b node) node{
	"+":   func(a, b node) node { return func(v *Values) float64 { return float64(a(v) + b(v)) } },
	"-":   func(a, b node) node { return func(v *Values) float64 { return float64(a(v) - b(v)) } },
	"*":   func(a, b node) node { return func(v *Values) float64 { return float64(a(v) * b(v)) } },
	"/":   func(a, b node) node { return func(v *Values) float64 { return float64(a(v) / float64(b(v)+0)) } }, // -0 equals 0: + 0 takes its sign
	"<":   func(a, b node) node { return func(v *Values) float64 { return truth(a(v) < b(v)) } },
	"<=":  func(a, b node) node { return func(v *Values) float64 { return truth(a(v) <= b(v)) } },
	">":   func(a, b node) node { return func(v *Values) float64 { return truth(a(v) > b(v)) } },
	">=":  func(a, b node) node { return func(v *Values) float64 { return truth(a(v) >= b(v)) } },
	"==":  func(a, b node) node { return func(v *Values) float64 { return truth(a(v) == b(v)) } },
	"!=":  func(a, b node) node { return func(v *Values) float64 { return truth(a(v) != b(v)) } },
	"and": func(a, b node) node { return func(v *Values) float64 { return truth(a(v) != 0 && b(v) != 0) } },
	"or":  func(a, b node) node { return func(v *Values) float64 { return truth(a(v) != 0 || b(v) != 0) } },
	"min": func(a, b node) node { return func(v *Values) float64 { return min(a(v), b(v)) } },
	"max": func(a, b node) node { return func(v *Values) float64 { return max(a(v), b(v)) } },
}

func binary(op string, a, b term) term {
	return folded(operations[op](a.eval, b.eval), a.constant && b.constant)
}

// choose computes only the branch that counts.
func choose(args []term) term {
	c, a, b := args[0].eval, args[1].eval, args[2].eval
	return folded(func(v *Values) float64 {
		if c(v) != 0 {
			return a(v)
		}
		return b(v)
	}, args[0].constant && args[1].constant && args[2].constant)
}

// raised is a to the n: a product of n factors, from the left.
func raised(a term, n int) term {
	eval := a.eval
	return folded(func(v *Values) float64 {
		x, p := eval(v), 1.0
		for range n {
			p = float64(p * x)
		}
		return p
	}, a.constant)
}
