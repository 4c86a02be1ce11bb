package weeks

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// ramp is a figure of two jobs in each of so many weeks, the second of which has the week's number
// more; every other week has none.
func ramp(weeks int) Sums {
	var s Sums
	for w := range weeks {
		s = append(s, Sum{float64(w), 2}, Sum{})
	}
	return s[:len(s)-1]
}

// By hand: e = 0..7 less 3.5, whose squares sum to 42 and whose neighbours' products to 26.25.
// t(.975, 7) = 2.364624.
func TestMean_ByHand(t *testing.T) {
	t.Parallel()
	want := 2.3646242510103 * math.Sqrt(8./7*42) / 16 * math.Sqrt((1+.625)/(1-.625))
	got := Mean([]Sums{ramp(8)})
	if got == nil || got.Weeks != 8 || math.Abs(got.Lag-.625) > 1e-12 || math.Abs(got.CI95-want) > 1e-9 {
		t.Errorf("got %+v, want ± %v", got, want)
	}
	if got := Mean([]Sums{ramp(8), ramp(8)}); got == nil || math.Abs(got.CI95-want) > 1e-9 {
		t.Errorf("two runs that agree: %+v", got)
	}
	if got := Mean([]Sums{ramp(7)}); got != nil {
		t.Errorf("seven weeks: %+v", got)
	}
	if got := Mean(nil); got != nil {
		t.Errorf("no run: %+v", got)
	}
	if got := Mean([]Sums{ramp(8), nil}); got != nil {
		t.Errorf("one of two runs has no sums: %+v", got)
	}
}

// Between runs whose jobs are the same a difference is one of sums, job by job; what both have in
// common is no part of its interval.
func TestDifference_IsPairedByWeek(t *testing.T) {
	t.Parallel()
	first, second := make(Sums, 15), ramp(8)
	for w := range first {
		if second[w].Weight > 0 {
			common := float64(w * w * 100)
			first[w] = Sum{common, 2}
			second[w].Amount += common
		}
	}
	want := Mean([]Sums{ramp(8)})
	if got := Difference([]Sums{first}, []Sums{second}); math.Abs(got.CI95-want.CI95) > 1e-9 || got.Weeks != 8 {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := Difference([]Sums{second}, []Sums{second}); got.CI95 != 0 {
		t.Errorf("no difference: %+v", got)
	}
	if got, back := Difference([]Sums{nil}, []Sums{second}), Difference([]Sums{second}, []Sums{nil}); got != nil || back != nil {
		t.Errorf("one of the two has no sums: %+v, %+v", got, back)
	}
}

func TestFigures_OfTotalsAndOfWeeks(t *testing.T) {
	t.Parallel()
	units := map[string]float64{"wait": 2}
	f, more := NewFigures(units), NewFigures(units)
	f.Mean("wait", 0, 6, 1)
	f.Mean("wait", grid.Time(2*Span), 10, 1)
	more.Mean("wait", grid.Time(2*Span)-1, 2, 1)
	more.Total("cost", 0, 8)
	more.Total("cost", grid.Time(Span), 0)
	f.Merge(more)
	f.Merge(nil)
	want := map[string]Sums{"wait": {{3, 1}, {1, 1}, {5, 1}}, "cost": {{8, .5}, {0, .5}}}
	if got := f.Sums(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	text, err := json.Marshal(f.Sums())
	if err != nil || string(text) != `{"cost":[[8,0.5],[0,0.5]],"wait":[[3,1],[1,1],[5,1]]}` {
		t.Errorf("%s, %v", text, err)
	}
	var back map[string]Sums
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, want) {
		t.Errorf("%v, %v", back, err)
	}
	var none *Figures
	none.Total("cost", 0, 1)
	none.Merge(f)
	if none.Sums() != nil {
		t.Error("nothing has figures")
	}
}
