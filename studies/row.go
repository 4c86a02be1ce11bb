package studies

import (
	"encoding/json"
	"strconv"

	"github.com/bourse-grid/bourse/report"
)

// Row is one figure of a study beside what the paper says of it.
type Row struct {
	Measure string  `json:"measure"` // what is measured, with its unit
	Setting string  `json:"setting"` // under which parameters
	Paper   Claim   `json:"paper"`
	Here    float64 `json:"here"` // in the paper's unit
	CI95    float64 `json:"ci95"` // half-width of the 95 % interval of Here; 0 for one run
	Runs    int     `json:"runs"` // independent runs that Here is the mean of
	Verdict string  `json:"verdict"`
}

// Claim is what a paper says of a figure: a number, or words. It is a number or
// a string in JSON, null where the paper says nothing.
type Claim struct {
	words  string
	number float64
	known  bool
}

// Figure is a claim that is a number, in the paper's unit.
func Figure(v float64) Claim { return Claim{number: v, known: true} }

// Words is a claim that is none.
func Words(s string) Claim { return Claim{words: s} }

// Number is the figure claimed; ok is false where the claim is in words.
func (c Claim) Number() (v float64, ok bool) { return c.number, c.known }

// String shows the claim for people, "" where there is none.
func (c Claim) String() string {
	if c.known {
		return strconv.FormatFloat(c.number, 'f', -1, 64)
	}
	return c.words
}

// MarshalJSON writes a number, a string or null.
func (c Claim) MarshalJSON() ([]byte, error) {
	switch {
	case c.known:
		return json.Marshal(c.number)
	case c.words != "":
		return json.Marshal(c.words)
	}
	return []byte("null"), nil
}

// Verdicts of a row. A study may use words of its own where these are too few.
const (
	Agrees    = "agrees"    // the paper's figure lies within the interval, or the claim holds beyond it
	Differs   = "differs"   // it lies outside, or the opposite holds beyond the interval
	Undecided = "undecided" // the interval decides nothing
	NotFound  = "not found" // the claim may hold, but not beyond the interval
)

// interval is the mean of independent values and the half-width of its 95 %
// interval by Student's t; 0 for fewer than two values.
func interval(values []float64) (mean, half float64) {
	if len(values) == 0 {
		return 0, 0
	}
	return report.Interval(values)
}

// paired is the interval of the differences a[i] - b[i] of runs that drew the
// same numbers.
func paired(a, b []float64) (mean, half float64) {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return interval(d)
}
