package formula

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// job is the variables of the examples.
var job = Values{Wait: 100, Estimate: 3600, Predicted: 1800, Nodes: 8, Submit: 1000, Now: 1100, Usage: 5e6, Priority: 2, Queue: 1, Capacity: 128}

func TestParse_ComputesWhatIsWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"estimate":                     3600,
		" estimate\t* nodes ":          28800,
		"1 + 2 * 3":                    7,
		"(1 + 2) * 3":                  9,
		"10 - 4 - 3":                   3,
		"16 / 4 / 2":                   2,
		"-2^2":                         -4,
		"(-2)^2":                       4,
		"2^0":                          1,
		"2^16":                         65536,
		"3 * -2":                       -6,
		"--3":                          3,
		"+3":                           3,
		"1 < 2":                        1,
		"2 <= 1":                       0,
		"3 > 2 and 2 >= 2":             1,
		"1 == 2 or 1 != 2":             1,
		"not 1 == 2":                   1,
		"not not 7":                    1,
		"1 or 0 and 0":                 1,
		"if(wait > 60, -wait, 5)":      -100,
		"if(wait > 600, -wait, 5)":     5,
		"min(3, 1, 2)":                 1,
		"max(3, 1, 2)":                 3,
		"abs(-3)":                      3,
		"sqrt(16)":                     4,
		"cbrt(27)":                     3,
		"cbrt(-27)":                    -3,
		"ln(1)":                        0,
		"log2(8)":                      3,
		"log10(1000)":                  3,
		"floor(-1.5)":                  -2,
		"ceil(1.5)":                    2,
		"1.5e3":                        1500,
		".5":                           0.5,
		"1e-9":                         1e-9,
		"predicted + submit + now":     3900,
		"usage / capacity":             39062.5,
		"priority + queue":             3,
		"1/0":                          math.Inf(1),
		"-1/0":                         math.Inf(-1),
		"1/(-0)":                       math.Inf(1), // -0 equals 0
		"sjf":                          3600,
		"fcfs":                         1000,
		"ljf":                          -3600,
		"sqf":                          8,
		"saf":                          28800,
		"expansion":                    -3700. / 3600,
		"(wait < 1) + (nodes > 1) * 2": 2,
	} {
		f, err := Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := f.Value(&job); got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"0/0", "sqrt(-1)", "ln(-1)", "log2(-1)", "log10(-1)", "0 * (1/0)", "min(1, 0/0)"} {
		if f := parse(t, text); !math.IsNaN(f.Value(&job)) {
			t.Errorf("%q is %v, want no number", text, f.Value(&job))
		}
	}
}

func parse(t testing.TB, text string) *Formula {
	t.Helper()
	f, err := Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return f
}

// Go's logarithm on some processors is wrong by 4.7 for numbers this small.
func TestLogarithm_OfASubnormal(t *testing.T) {
	t.Parallel()
	if got, want := ln(1e-310), -713.8013788281542; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := cbrt(1e-318); math.Abs(got-1e-106) > 1e-109 {
		t.Errorf("cbrt: %v", got)
	}
}

func TestParse_SaysWhereAndWhatWouldBeRight(t *testing.T) {
	t.Parallel()
	const all = "wait, estimate, predicted, nodes, submit, now, usage, priority, queue, capacity"
	const functions = "if, min, max, abs, sqrt, cbrt, ln, log2, log10, floor, ceil"
	for text, want := range map[string]string{
		"nodes+waits":                      `column 7: "waits" is unknown; variables are ` + all,
		"sjff":                             `column 1: "sjff" is unknown; variables are ` + all + "; orders by name are " + strings.Join(orders.Names(), ", "),
		"sjf + 1":                          `column 1: "sjf" is unknown; variables are ` + all + "; the order sjf stands alone",
		"sqrt nodes":                       `column 1: "sqrt" is unknown; variables are ` + all + "; the function sqrt takes its values in brackets",
		"exp(nodes)":                       `column 1: "exp" is no function, since its last digit differs between machines; functions are ` + functions,
		"log(nodes)":                       `column 1: "log" is no function; functions are ` + functions,
		"":                                 `column 1: a value is expected, not the end`,
		"nodes *":                          `column 8: a value is expected, not the end`,
		"nodes nodes":                      `column 7: "nodes" is not expected here; an operator such as + or * is`,
		"(nodes":                           `column 7: ")" is expected, not the end, to close the bracket of column 1`,
		"nodes)":                           `column 6: ")" is not expected here; an operator such as + or * is`,
		"nodes ^ wait":                     `column 9: after ^ a whole number from 0 to 16 is expected, not "wait"; other powers are sqrt and cbrt`,
		"nodes ^ 17":                       `column 9: after ^ a whole number from 0 to 16 is expected, not "17"; other powers are sqrt and cbrt`,
		"nodes ^ 0.5":                      `column 9: after ^ a whole number from 0 to 16 is expected, not "0.5"; other powers are sqrt and cbrt`,
		"nodes ^ -1":                       `column 9: after ^ a whole number from 0 to 16 is expected, not "-"; other powers are sqrt and cbrt`,
		"2^3^2":                            `column 4: a power of a power needs brackets`,
		"1 < wait < 3":                     `column 10: comparisons do not chain; join them by and`,
		"wait = 3":                         `column 6: "=" is unknown; to compare, write ==`,
		"wait && 1":                        `column 6: "&" is unknown; write and, or, not`,
		"wait % 3":                         `column 6: "%" is unknown; operators are + - * / ^ < <= > >= == != and or not`,
		"é":                                `column 1: "é" is unknown; operators are + - * / ^ < <= > >= == != and or not`,
		"wait +\nnodes":                    `column 7: a formula is one line`,
		"sqrt(1, 2)":                       `column 1: sqrt takes one value; it has 2`,
		"max(1)":                           `column 1: max takes two values or more; it has 1`,
		"if(1, 2)":                         `column 1: if takes three values, a condition and what follows if it holds and if not; it has 2`,
		"max()":                            `column 1: max takes two values or more; it has 0`,
		"1e999":                            `column 1: "1e999" is not a number that fits`,
		"1.2.3":                            `column 1: "1.2.3" is not a number that fits`,
		"wait\xff":                         `column 5: not UTF-8`,
		strings.Repeat("(", 1001):          `column 1001: a formula has at most 1000 bytes; this has 1001`,
		strings.Repeat("-", 999) + "waits": `column 1001: a formula has at most 1000 bytes; this has 1004`,
	} {
		if _, err := Parse(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v,\nwant %s", text, err, want)
		}
	}
}

func TestParse_TakesTheDeepestFormulaThatFits(t *testing.T) {
	t.Parallel()
	if got := parse(t, strings.Repeat("(", 498)+"wait"+strings.Repeat(")", 498)).Value(&job); got != 100 {
		t.Errorf("got %v", got)
	}
	if got := parse(t, strings.Repeat("-", 996)+"wait").Value(&job); got != 100 {
		t.Errorf("got %v", got)
	}
}

func TestKey_SortsAsTheValueDoesWithNoNumberLast(t *testing.T) {
	t.Parallel()
	sorted := []float64{math.Inf(-1), -math.MaxFloat64, -1, -math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64, 1, math.MaxFloat64, math.Inf(1), math.NaN()}
	for i := 1; i < len(sorted); i++ {
		if key(sorted[i-1]) >= key(sorted[i]) {
			t.Errorf("%v does not come before %v", sorted[i-1], sorted[i])
		}
	}
	if key(math.Copysign(0, -1)) != key(0) {
		t.Error("-0 is not 0")
	}
	if key(-math.NaN()) != NoNumber || key(math.Inf(1)) == NoNumber {
		t.Error("NoNumber is not the key of no number alone")
	}
}

func TestStatic_IsWhatNeverChangesWhileAJobWaits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"saf": true, "f1": true, "fcfs": true, "wfp3": false, "now": false, "usage + 1": false, "priority * queue": true} {
		if got := parse(t, text).Static(); got != want {
			t.Errorf("%s: static %v", text, got)
		}
	}
	if f := parse(t, "fcfs"); !f.Is(Submit) || f.Is(Wait) || f.String() != "fcfs" {
		t.Error("fcfs is not by submission")
	}
	if !parse(t, " usage").Is(Usage) || parse(t, "usage + 0").Is(Usage) {
		t.Error("only usage is by usage")
	}
}

// Go's own logarithms and roots on this machine, if they are FreeBSD's in plain steps, are
// the same to the last digit; elsewhere they are within a unit of it.
func TestLogarithm_IsGosWithinAUnit(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	special := []float64{0, math.Inf(1), math.Inf(-1), math.NaN(), -1, 1, 2, 0.5, math.MaxFloat64}
	apart := 0
	for i := range 200_000 {
		x := math.Exp(rng.Float64()*100 - 50)
		if i < len(special) {
			x = special[i]
		}
		for name, f := range map[string][2]func(float64) float64{"ln": {ln, math.Log}, "log2": {log2, math.Log2}, "log10": {log10, math.Log10}, "cbrt": {cbrt, math.Cbrt}} {
			got, want := f[0](x), f[1](x)
			if got == want || math.IsNaN(got) && math.IsNaN(want) {
				continue
			}
			if apart++; math.Abs(got-want) > math.Nextafter(math.Abs(want), math.Inf(1))-math.Abs(want) {
				t.Fatalf("%s(%v) is %v, package math has %v", name, x, got, want)
			}
		}
	}
	t.Logf("%d of 800,000 differ in the last digit from package math's on this machine", apart)
}

// A random formula, printed with as few brackets as its grammar needs, has the value of the
// tree that it was printed from.
func TestParse_EqualsTheTree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := drawTree(t, 4)
		var v Values
		for i := range v {
			v[i] = rapid.SampledFrom([]float64{0, 1, -1, 2.5, 1e9, 3600}).Draw(t, "v")
		}
		if len(x.text) > MaxBytes {
			t.Skip("too long")
		}
		f, err := Parse(x.text)
		if err != nil {
			t.Fatalf("%s: %v", x.text, err)
		}
		if got, want := f.Value(&v), x.value(&v); key(got) != key(want) {
			t.Fatalf("%s is %v, want %v", x.text, got, want)
		}
	})
}

// tree is a drawn formula: its text, how tightly its root binds, and its value.
type tree struct {
	text  string
	binds int
	value func(*Values) float64
}

// within is the text in brackets, unless it binds tightly enough.
func (x tree) within(binds int) string {
	if x.binds < binds {
		return "(" + x.text + ")"
	}
	return x.text
}

func drawTree(t *rapid.T, depth int) tree {
	if depth == 0 || rapid.IntRange(0, 5).Draw(t, "leaf") == 0 {
		if rapid.Bool().Draw(t, "number") {
			n := rapid.IntRange(0, 3).Draw(t, "n")
			return tree{fmt.Sprint(n), 9, func(*Values) float64 { return float64(n) }}
		}
		k := Variable(rapid.IntRange(0, int(variableCount)-1).Draw(t, "variable"))
		return tree{variables.Name(k), 9, func(v *Values) float64 { return v[k] }}
	}
	a := drawTree(t, depth-1)
	one := func(text string, binds int, f func(float64) float64) tree {
		return tree{text, binds, func(v *Values) float64 { return f(a.value(v)) }}
	}
	switch rapid.IntRange(0, 7).Draw(t, "kind") {
	case 0:
		return one("-"+a.within(6), 6, func(x float64) float64 { return -x })
	case 1:
		n := rapid.IntRange(0, 4).Draw(t, "power")
		return one(fmt.Sprintf("%s^%d", a.within(8), n), 7, func(x float64) float64 {
			p := 1.0
			for range n {
				p *= x
			}
			return p
		})
	case 2:
		return one("not "+a.within(3), 3, func(x float64) float64 { return truth(x == 0) })
	case 3:
		return one("sqrt("+a.text+")", 9, math.Sqrt)
	}
	b := drawTree(t, depth-1)
	op := rapid.SampledFrom([]struct {
		name        string
		binds, left int // how tightly it binds, and what its left side must
		f           func(a, b float64) float64
	}{
		{"or", 1, 1, func(a, b float64) float64 { return truth(a != 0 || b != 0) }},
		{"and", 2, 2, func(a, b float64) float64 { return truth(a != 0 && b != 0) }},
		{"<", 3, 4, func(a, b float64) float64 { return truth(a < b) }},
		{"<=", 3, 4, func(a, b float64) float64 { return truth(a <= b) }},
		{">", 3, 4, func(a, b float64) float64 { return truth(a > b) }},
		{">=", 3, 4, func(a, b float64) float64 { return truth(a >= b) }},
		{"==", 3, 4, func(a, b float64) float64 { return truth(a == b) }},
		{"!=", 3, 4, func(a, b float64) float64 { return truth(a != b) }},
		{"+", 4, 4, func(a, b float64) float64 { return a + b }},
		{"-", 4, 4, func(a, b float64) float64 { return a - b }},
		{"*", 5, 5, func(a, b float64) float64 { return a * b }},
		{"/", 5, 5, func(a, b float64) float64 {
			if b == 0 {
				b = 0 // not -0
				return a / math.Abs(b)
			}
			return a / b
		}},
	}).Draw(t, "op")
	return tree{a.within(op.left) + " " + op.name + " " + b.within(op.binds+1), op.binds, func(v *Values) float64 { return op.f(a.value(v), b.value(v)) }}
}

func TestValue_AllocatesNothing(t *testing.T) {
	for _, o := range orders.Names() {
		f := parse(t, o)
		if n := testing.AllocsPerRun(100, func() { f.Key(&job) }); n != 0 {
			t.Errorf("%s allocates %v times", o, n)
		}
	}
}

// FuzzParse: whatever is typed, an error has a column within the text, or the formula has a
// value.
func FuzzParse(f *testing.F) {
	for _, x := range append(orders.Names(), "if(wait > 86400, -wait, estimate)", "1e", "((", "a^^", "not not", "min(,)", "\xff", "…") {
		f.Add(x)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x, err := Parse(text)
		if err != nil {
			var column int
			if _, bad := fmt.Sscanf(err.Error(), "column %d:", &column); bad != nil || column < 1 || column > len(text)+1 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		first := x.Key(&job)
		if again := parse(t, x.String()).Key(&job); again != first {
			t.Fatalf("%q is %d, and then %d", text, first, again)
		}
	})
}

func BenchmarkValue(b *testing.B) {
	for _, name := range []string{"saf", "wfp3", "unicef", "f1"} {
		f := parse(b, name)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f.Key(&job)
			}
		})
	}
}
