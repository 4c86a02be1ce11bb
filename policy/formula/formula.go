// Package formula compiles an order of jobs, written as an expression of one line such as
// "-(wait / estimate)^3 * nodes", into a function. The least value comes first. There are
// no loops, no state and no strings, so that a value always comes and costs a known time.
//
// A value is the same on every machine: each operation is rounded on its own, never fused
// with the next, and logarithms and cube roots are computed here. The field's orders by
// name are those of Tang et al. (WFP3, UNICEF; IPDPS 2009) and of Carastan-Santos and de
// Camargo (F1 to F4; SC 2017).
package formula

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Formula is a compiled order. It is immutable, and safe for concurrent use.
type Formula struct {
	text string
	eval node
	uses uint // a bit for each variable
}

// MaxBytes bounds the text of a formula.
const MaxBytes = 1000

// node computes a value from the variables of a job.
type node func(v *Values) float64

// Parse compiles the name of an order or an expression. Its error begins with the column,
// from 1, and says what would be right. It costs some microseconds.
func Parse(text string) (*Formula, error) {
	for k := range orders.Lines {
		if name := &orders.Lines[k]; name.Name == strings.TrimSpace(text) {
			f, err := compile(name.Is.formula)
			if err != nil {
				panic("formula: " + name.Name + ": " + err.Error())
			}
			f.text = name.Name
			return f, nil
		}
	}
	return compile(text)
}

func compile(text string) (f *Formula, err error) {
	if len(text) > MaxBytes {
		return nil, wrong(text, MaxBytes, "a formula has at most %d bytes; this has %d", MaxBytes, len(text))
	}
	if !utf8.ValidString(text) {
		return nil, wrong(text, len(strings.ToValidUTF8(text, "")), "not UTF-8")
	}
	p := parser{text: text}
	defer func() {
		if bad, is := recover().(*mistake); is {
			f, err = nil, bad
		}
	}()
	p.next()
	eval := p.disjunction().eval
	if p.kind != atEnd {
		p.fail(p.from, "%s is not expected here; an operator such as + or * is", p.seen())
	}
	return &Formula{text: strings.TrimSpace(text), eval: eval, uses: p.uses}, nil
}

// String returns the text that Parse was given: a name stays a name.
func (f *Formula) String() string { return f.text }

// Value is the order's value for a job. It may be infinite or no number. It costs about 10
// to 60 ns for the orders with names, and allocates nothing.
func (f *Formula) Value(v *Values) float64 { return f.eval(v) }

// Key returns a whole number that sorts as the formula's value does: least first, -0 as 0,
// no number last, behind infinity.
func (f *Formula) Key(v *Values) uint64 { return key(f.eval(v)) }

// NoNumber is the Key of a value that is no number.
const NoNumber = math.MaxUint64

func key(x float64) uint64 {
	switch {
	case x != x:
		return NoNumber
	case x == 0:
		return 1 << 63
	}
	b := math.Float64bits(x)
	if b>>63 == 0 {
		return b | 1<<63
	}
	return ^b
}

// Static reports whether the value of a job never changes while it waits.
func (f *Formula) Static() bool { return f.uses&(1<<Wait|1<<Now|1<<Usage) == 0 }

// Uses reports whether the formula reads a variable.
func (f *Formula) Uses(v Variable) bool { return f.uses>>v&1 != 0 }

// Is reports whether the formula is just that variable.
func (f *Formula) Is(v Variable) bool {
	text := f.text
	if k, err := orders.Parse(text); err == nil {
		text = orders.Is(k).formula
	}
	return text == variables.Name(v)
}
