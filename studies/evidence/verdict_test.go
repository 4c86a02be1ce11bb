package evidence

import (
	"bytes"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestVerdict_AFigureOutsideTheIntervalOfTheDifferenceDiffersBySoMuch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mean, half, paper float64
		units             float64 // of the paper's run
		want              string
	}{
		{63.37, 0.2, 63.4, 0, "agrees"},
		{50.2, 1.1, 46.8, 0, "differs by +7.3 %"},
		{45.0, 1.0, 50.0, 0, "differs by -10.0 %"},
		{1, 0.1, 0, 0, "differs by +1"},
		{63.36, 0, 63.4, 0, "agrees"},               // 63.4 may be 63.35
		{63.3, 0, 63.4, 0, "differs by -0.2 %"},     // but not 63.3
		{44, 30, 50.5, 0, "undecided"},              // within, but the interval is no sign that they agree
		{305.4, 0.7, 308.1, 0, "differs by -0.9 %"}, // small, and beyond
		{305.4, 0.7, 308.1, 1, "agrees"},            // a paper's one run scatters by 0.7 x sqrt(20)
	} {
		claim := FigureOf(c.paper, c.units)
		if got := Beside(Estimate{c.mean, c.half, 20}, claim); got.Verdict != c.want || !got.tested {
			t.Errorf("%v ± %v beside %v of %v units: %+v, want %q", c.mean, c.half, c.paper, c.units, got, c.want)
		}
	}
}

func TestVerdict_ADifferenceBeyondItsIntervalIsNeverNotFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := Estimate{rapid.Float64Range(-10, 10).Draw(t, "mean"), rapid.Float64Range(0, 10).Draw(t, "half"), 20}
		of := rapid.Float64Range(-1000, 1000).Draw(t, "of")
		j := Exceeds(e, of)
		beyond := math.Abs(e.Mean) > e.Half
		if beyond != j.beyond || beyond != (j.Verdict == Agrees || j.Verdict == Differs) {
			t.Fatalf("%+v of %v: %+v", e, of, j)
		}
		if j.Verdict == NotFound && math.Abs(e.Mean)+e.Half > 0.05*math.Abs(of)+1e-9 {
			t.Fatalf("%+v of %v is not found, but may be more than 5 %%", e, of)
		}
	})
	for _, c := range []struct {
		mean, half, of float64
		want           string
	}{
		{.2, .1, 12.6, Agrees}, {-.2, .1, 12.6, Differs}, {.1, .2, 12.6, NotFound}, {2.8, 3.2, 18.4, Undecided}, {.1, .2, 0, Undecided},
	} {
		if j := Exceeds(Estimate{c.mean, c.half, 48}, c.of); j.Verdict != c.want {
			t.Errorf("%v ± %v of %v: %q, want %q", c.mean, c.half, c.of, j.Verdict, c.want)
		}
	}
}

func TestVerdict_WhatIsUndecidedNeverAgrees(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := Estimate{rapid.Float64Range(-10, 10).Draw(t, "mean"), rapid.Float64Range(0, 10).Draw(t, "half"), rapid.IntRange(1, 3).Draw(t, "units")}
		low := rapid.Float64Range(-10, 10).Draw(t, "low")
		high := low + rapid.Float64Range(0, 10).Draw(t, "width")
		j := Between(e, low, high)
		inside, outside := low <= e.Mean-e.Half && e.Mean+e.Half <= high, e.Mean+e.Half < low || e.Mean-e.Half > high
		want := Undecided
		if e.Units > 1 && inside {
			want = Agrees
		} else if e.Units > 1 && outside {
			want = Differs
		}
		if j.Verdict != want {
			t.Fatalf("%+v within %v and %v: %q, want %q", e, low, high, j.Verdict, want)
		}
		if e.Units == 1 {
			for _, j := range []Judgement{Exceeds(e, 1), Sign(e), Beside(e, Figure(3)), LessThan(e)} {
				if j.Verdict != Undecided || j.tested {
					t.Fatalf("one value: %+v", j)
				}
			}
		}
	})
}

// Of a thousand rows of pure noise one in twenty lies beyond its interval, which is what a
// study says of itself.
func TestTests_SayHowManyRowsWouldDifferByChance(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	var rows []Row
	for range 1000 {
		values := make([]float64, 12)
		for i := range values {
			values[i] = rng.NormFloat64()
		}
		s := Average(values)
		rows = append(rows, NewRow("noise", "", Claim{}, "seed", s, Sign(s.Estimate)))
	}
	rows = append(rows, NewRow("alone", "", Claim{}, "seed", Average([]float64{1, 2}), Unjudged(Measured)))
	c := CountTests(rows)
	if c.Rows != 1001 || c.Tested != 1000 || c.ByChance() != 50 || c.Beyond < 30 || c.Beyond > 70 {
		t.Errorf("%+v, %v by chance", c, c.ByChance())
	}
	if rate := c.FalseDiscovery(); rate < 0.7 || !strings.Contains(c.String(), "50.0 would by chance") {
		t.Errorf("rate %v: %s", rate, c)
	}
}

// The rounding error in a difference of equals is 0.
func TestRow_FiguresThatAreNoneAreZero(t *testing.T) {
	t.Parallel()
	a := []float64{.1 + .2, 1.1}
	b := []float64{.3, 1.1}
	s := Difference(a, b)
	if r := NewRow("m", "s", Claim{}, "seed", s, Sign(s.Estimate)); r.Here != 0 || r.CI95 != 0 {
		t.Errorf("%+v", r)
	}
	if s := Quotient(a, b).Plus(-1).Times(100); s.Mean != 0 {
		t.Errorf("a ratio of equals less 1 is %v", s.Mean)
	}
}

// A figure and its interval come out of the values that are written, and a ratio out of what is
// divided.
func TestValues_TheIntervalsCanBeComputedAgain(t *testing.T) {
	t.Parallel()
	a, b := []float64{5, 7, 6.5, 8}, []float64{2, 3.5, 3, 3}
	plain, ratio := Difference(a, b), Quotient(a, b).Times(100)
	rows := []Row{NewRow("d", "", Claim{}, "seed", plain, Sign(plain.Estimate)), NewRow("r", "", Claim{}, "seed", ratio, Sign(ratio.Estimate))}
	rows[0].resampled = []float64{1, 2}
	var out bytes.Buffer
	if err := WriteValues(&out, rows); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(lines) != 1+4+2+4 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	var values [2][]float64
	var sums [2]float64
	for _, l := range lines[1:] {
		if l[1] == ResampleUnit {
			continue
		}
		i, _ := strconv.Atoi(l[0])
		v, _ := strconv.ParseFloat(l[3], 64)
		values[i-1] = append(values[i-1], v)
		if i == 2 {
			of, _ := strconv.ParseFloat(l[4], 64)
			per, _ := strconv.ParseFloat(l[5], 64)
			sums[0] += of
			sums[1] += per
		}
	}
	for i, v := range values {
		if mean, half := Interval(v); math.Abs(mean-rows[i].Here) > 1e-9 || math.Abs(half-rows[i].CI95) > 1e-9 {
			t.Errorf("row %d: %v ± %v, want %v ± %v", i+1, mean, half, rows[i].Here, rows[i].CI95)
		}
	}
	if math.Abs(100*sums[0]/sums[1]-rows[1].Here) > 1e-9 {
		t.Errorf("%v / %v, want %v", sums[0], sums[1], rows[1].Here)
	}
}

// A study of a paper begins with whether it agrees.
func TestAgreement_CountsWhatThePaperSays(t *testing.T) {
	t.Parallel()
	row := func(paper Claim, verdict string) Row { return Row{Paper: paper, Verdict: verdict} }
	for want, rows := range map[string][]Row{
		"It agrees with the paper in all that the paper prints or claims: 2 figures.":                           {row(Figure(1), Agrees), row(Words("more"), Agrees), row(Claim{}, Differs), row(Figure(2), Measured)},
		"as far as can be decided: of the 2 figures that the paper prints or claims, 1 agree":                   {row(Figure(1), Agrees), row(Figure(1), Undecided)},
		"in part: of the 3 figures that the paper prints or claims, 1 agree, 1 differ, 1 were not found, 0 are": {row(Figure(1), Agrees), row(Figure(1), Differs), row(Figure(1), NotFound)},
		"It does not agree with the paper: of the 1 figure":                                                     {row(Figure(1), Differs)},
		"prints nothing": {row(Claim{}, Agrees)},
		"is not decided": {row(Figure(1), Undecided)},
	} {
		if got := Agreement(rows); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
