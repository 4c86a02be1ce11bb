package grid_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

func TestArray_IsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"0-99": "0-99", "0-99%10": "0-99%10", "7": "7", "5-9, 1,3": "1,3,5-9", "0,1,2": "0-2", "0-99999": "0-99999",
		"0-9:3": "0,3,6,9", "0-9:20,4-6:1%2": "0,4-6%2", "0-1998:2": evens(1998)} {
		a, err := grid.ParseArray(text)
		if err != nil || a.String() != want {
			t.Errorf("%q is read as %v, %v", text, a, err)
		}
	}
	for text, remedy := range map[string]string{
		"":              "write for example 0-99",
		"%3":            "write for example 0-99",
		"9-0":           "the lower index stands first",
		"0-999999999":   "1000000000 elements; must be at most 100000: submit several",
		"0-100000":      "submit several",
		"0-9999:2":      "multiply BOURSE_ARRAY_INDEX",
		"0-999999999:2": "multiply BOURSE_ARRAY_INDEX",
		"0-9:0":         "0-98:2, every second index",
		"7:2":           "0-98:2, every second index",
		"0-9:2,4":       "another range names already",
		"0-9,5":         "another range names already",
		"a-b":           "is no index",
		"-3":            "is no index",
		"007":           "is no index",
		"0-9%0":         "1 to 100000",
		"0-9%x":         "1 to 100000",
		"0-99999999999": "is no index",
	} {
		if _, err := grid.ParseArray(text); err == nil || !strings.Contains(err.Error(), remedy) {
			t.Errorf("%q: %v, want %q", text, err, remedy)
		}
	}
}

// evens are the even numbers up to one.
func evens(last int) string {
	var b strings.Builder
	for i := 0; i <= last; i += 2 {
		fmt.Fprintf(&b, ",%d", i)
	}
	return b.String()[1:]
}

func TestElementName_IsRead(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"a[3]": "3", "a[3-7]": "3-7", "a[1,3]": "1,3", "x[1][2]": "2"} {
		if _, some, ok := grid.ElementsOf(name); !ok || some.String() != want {
			t.Errorf("%s: %v, %t", name, some, ok)
		}
	}
	for _, name := range []string{"a", "a[]", "[3]", "a[3", "a[3]b", "a[x]"} {
		if _, _, ok := grid.ElementsOf(name); ok {
			t.Errorf("%s names elements", name)
		}
	}
	for name, want := range map[string]bool{"a[3]": true, "a[3-7]": false, "a[03]": false, "a[-3]": false} {
		if _, _, ok := grid.ElementOf(name); ok != want {
			t.Errorf("%s names an element: %t", name, ok)
		}
	}
}

func TestElement_ComesAfterTheOneOfItsIndex(t *testing.T) {
	t.Parallel()
	a, _ := grid.ParseArray("0-9")
	j := grid.Job{Name: "b", Array: a, Origin: grid.Origin{Label: "l"}, After: []grid.Dependency{{Job: "a", On: grid.IfEach}, {Job: "c", On: grid.IfAny}}}
	e := j.Element(3)
	if e.Name != "b[3]" || e.Origin.Label != "l[3]" || e.Array.Some() || !slices.Equal(e.After, []grid.Dependency{{Job: "a[3]", On: grid.IfDone}, {Job: "c", On: grid.IfAny}}) {
		t.Errorf("%+v", e)
	}
	if !j.Array.Some() || j.After[0].Job != "a" {
		t.Errorf("the array is changed: %+v", j)
	}
}

func TestHandover_TellsAnElementItsIndex(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"arr-k3f9m2q7[42]": "42", "arr": ""} {
		got := ""
		for _, v := range (&grid.Handover{Job: name}).Variables("north", nil, 0, 0) {
			if v.Name == "BOURSE_ARRAY_INDEX" {
				got = v.Value
			}
		}
		if got != want {
			t.Errorf("%s: index %q, want %q", name, got, want)
		}
	}
}

// Sets of ranges are sets of numbers.
func TestRanges_AreSets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) (grid.Ranges, map[int]bool) {
			var s grid.Ranges
			in := map[int]bool{}
			for _, n := range rapid.SliceOf(rapid.IntRange(0, 20)).Draw(t, label) {
				s, in[n] = s.Plus(grid.One(n)), true
			}
			return s, in
		}
		a, inA := draw("a")
		b, inB := draw("b")
		n := rapid.IntRange(0, 21).Draw(t, "n")
		check := func(what string, s grid.Ranges, want func(i int) bool) {
			count := 0
			for i := range 22 {
				if s.Has(i) != want(i) {
					t.Fatalf("%v %s %v: %v, wrong about %d", a, what, b, s, i)
				}
				if want(i) {
					count++
				}
			}
			if s.Len() != count || len(slices.Collect(s.All())) != count {
				t.Fatalf("%v has %d numbers, not %d", s, s.Len(), count)
			}
			for i := 1; i < len(s); i++ {
				if s[i].First <= s[i-1].Last+1 {
					t.Fatalf("%v: ranges touch", s)
				}
			}
			text, _ := s.MarshalText()
			var again grid.Ranges
			if err := again.UnmarshalText(text); err != nil || !slices.Equal(again, s) {
				t.Fatalf("%s is read as %v, %v", text, again, err)
			}
		}
		check("plus", a.Plus(b), func(i int) bool { return inA[i] || inB[i] })
		check("minus", a.Minus(b), func(i int) bool { return inA[i] && !inB[i] })
		check("within", a.Within(b), func(i int) bool { return inA[i] && inB[i] })
		check("from", a.From(n), func(i int) bool { return inA[i] && i >= n })
		check("first", a.First(n), func(i int) bool {
			below := 0
			for k := range inA {
				if k < i {
					below++
				}
			}
			return inA[i] && below < n
		})
	})
}

// A user's array is refused, or read as it was meant.
func FuzzParseArray(f *testing.F) {
	for _, s := range []string{"0-99%10", "1,3,5-9", "0-999999999", "%", "a", "0-9:2", ",", "5%5%5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := grid.ParseArray(text)
		if err != nil {
			return
		}
		again, err := grid.ParseArray(a.String())
		if n := a.Indices.Len(); err != nil || !a.Same(again) || n < 1 || n > grid.MaxElements {
			t.Errorf("%q is read as %v, which has %d elements and is read as %v, %v", text, a, n, again, err)
		}
	})
}
