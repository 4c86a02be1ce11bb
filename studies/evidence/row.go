package evidence

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
	CI95    float64 `json:"ci95"` // half-width of the 95 % interval of Here; 0 for one unit
	Runs    int     `json:"runs"` // units that the interval is over
	Verdict string  `json:"verdict"`
	Over    string  `json:"over"` // what such a unit is: a seed, a draw, an interval of the trace

	// The half-width of the interval that covers the workload too, by resampling Blocks
	// blocks of it; 0 if the units are parts of the workload themselves, or each draws a
	// new workload.
	Workload float64 `json:"ci95Workload,omitempty"`
	Blocks   int     `json:"blocks,omitempty"`

	sample    Sample
	resampled []float64
	judged    Judgement
}

// NewRow is the row of a figure.
func NewRow(measure, setting string, paper Claim, over string, s Sample, j Judgement) Row {
	s.Estimate = s.tidied()
	return Row{Measure: measure, Setting: setting, Paper: paper, Here: s.Mean, CI95: s.Half, Runs: s.Units, Over: over,
		Verdict: j.Verdict, sample: s, judged: j}
}

// Claim is what a paper says of a figure: a number, or words. It is a number or
// a string in JSON, null where the paper says nothing.
type Claim struct {
	words  string
	number float64
	known  bool
	units  float64 // how many units like ours the paper's figure is the mean of; 0: not known
}

// Figure is a claim that is a number, in the paper's unit.
func Figure(v float64) Claim { return Claim{number: v, known: true} }

// FigureOf returns a figure that the paper computed as the mean of its own sample of units
// like ours, so that it has a sampling error of its own.
func FigureOf(v, units float64) Claim { return Claim{number: v, known: true, units: units} }

// Words is a claim in words.
func Words(s string) Claim { return Claim{words: s} }

// Number returns the figure claimed; ok is false if the claim is in words.
func (c Claim) Number() (v float64, ok bool) { return c.number, c.known }

// String returns the claim for display, "" if there is none.
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

// Interval returns the mean of independent values and the half-width of its 95 % interval
// by Student's t, 0 for fewer than two values.
func Interval(values []float64) (mean, half float64) {
	if len(values) == 0 {
		return 0, 0
	}
	return report.Interval(values)
}
