package studies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/policy/forecast"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// bandsResults are the rows of the study.
type bandsResults struct {
	list  []evidence.Row
	parts int
}

func (r *bandsResults) row(measure, setting string, s evidence.Sample, j evidence.Judgement) {
	r.list = append(r.list, evidence.NewRow(measure, setting, evidence.Claim{}, "part of the log", s, j))
}

// Measures of the study. A band of 80 % is to hold 78 to 82 % over all, 77 to 83 % in each
// quarter and 75 to 85 % at each distance.
const (
	bandsHeld    = "starts held by the band of 80 %, %"
	bandsWidth   = "median width of the band of 80 %, h"
	bandsPinball = "pinball loss of .1, .5 and .9, h"
	bandsError   = "mean distance of the median from the start, h"
	bandsNear    = "all submissions: forecast within 10 min of the start, %"
)

// trace adds the rows of a trace.
func (r *bandsResults) trace(t *bandsTrace) {
	alone := evidence.Unjudged(evidence.Measured)
	whole := func(v float64) evidence.Sample {
		return evidence.Sample{Estimate: evidence.Estimate{Mean: v, Units: len(t.cases)}}
	}
	r.row("submissions that have to wait, %", t.name, whole(100*float64(len(t.cases)+t.far)/float64(max(t.submitted, 1))), alone)
	r.row("of these too far ahead for a band, %", t.name, whole(100*float64(t.far)/float64(max(len(t.cases)+t.far, 1))), alone)
	for w := range bandsKnown {
		held := evidence.Average(r.of(t.cases, heldBy(w, bandsLevel)))
		judged := alone
		if w == bandsThis {
			judged = evidence.Between(held.Estimate, 78, 82)
		}
		r.row(bandsHeld, t.name+", "+bandNames[w], held, judged)
	}
	for q := range 4 {
		part := t.cases[q*len(t.cases)/4 : (q+1)*len(t.cases)/4]
		held := evidence.Average(r.of(part, heldBy(bandsThis, bandsLevel)))
		r.row(bandsHeld, fmt.Sprintf("%s, quarter %d", t.name, q+1), held, evidence.Between(held.Estimate, 77, 83))
	}
	for class := range forecast.Far {
		part := slices.DeleteFunc(slices.Clone(t.cases), func(c bandCase) bool { return c.class != class })
		if len(part) >= r.parts {
			held := evidence.Average(r.of(part, heldBy(bandsThis, bandsLevel)))
			r.row(bandsHeld, fmt.Sprintf("%s, waits of %v", t.name, class), held, evidence.Between(held.Estimate, 75, 85))
		}
	}
	for level, percent := range forecast.Levels {
		if level != bandsLevel {
			held := evidence.Average(r.of(t.cases, heldBy(bandsThis, level)))
			r.row(fmt.Sprintf("starts held by the band of %d %%, %%", percent), t.name+", "+bandNames[bandsThis], held, evidence.Between(held.Estimate, float64(percent)-2, float64(percent)+2))
		}
	}
	r.compared(t, bandsWidth, bandsKnown, func(part []bandCase, w bandWay) float64 {
		widths := make([]float64, len(part))
		for i := range part {
			widths[i] = (part[i].bands[w].Upper - part[i].bands[w].Lower) / 3600
		}
		slices.Sort(widths)
		return widths[len(widths)/2]
	})
	r.compared(t, bandsPinball, bandsKnown, meanOf(func(c *bandCase, w bandWay) float64 {
		b := &c.bands[w]
		return (pinball(.1, b.Lower, c.start) + pinball(.5, b.Median, c.start) + pinball(.9, b.Upper, c.start)) / 3 / 3600
	}))
	r.compared(t, bandsError, bandWays, meanOf(func(c *bandCase, w bandWay) float64 {
		return 2 * pinball(.5, c.bands[w].Median, c.start) / 3600
	}))
	waits := float64(len(t.cases)) / float64(max(t.submitted, 1))
	for w := range bandWays { // who starts at once is forecast exactly
		near := evidence.Average(r.of(t.cases, func(part []bandCase) float64 {
			return 100 * meanOf(func(c *bandCase, w bandWay) float64 { return indicator(c.near[w]) })(part, w)
		}))
		rest := 100 * float64(t.submitted-len(t.cases)-t.far+t.nearFar[w]) / float64(max(t.submitted, 1))
		r.row(bandsNear, t.name+", "+bandNames[w], near.Times(waits).Plus(rest), alone)
	}
}

// compared adds a figure of each way, and how much less it is than by the rule before.
func (r *bandsResults) compared(t *bandsTrace, measure string, upTo bandWay, figure func([]bandCase, bandWay) float64) {
	of := func(w bandWay) []float64 {
		return r.of(t.cases, func(part []bandCase) float64 { return figure(part, w) })
	}
	for w := range upTo {
		r.row(measure, t.name+", "+bandNames[w], evidence.Average(of(w)), evidence.Unjudged(evidence.Measured))
	}
	less := evidence.Difference(of(bandsBefore), of(bandsThis))
	r.row(measure+": less than by the rule before, calibrated", t.name+", "+bandNames[bandsThis], less, evidence.LessThan(less.Estimate))
}

// of is a figure of each part of the cases.
func (r *bandsResults) of(cases []bandCase, figure func([]bandCase) float64) []float64 {
	n := min(r.parts, len(cases))
	list := make([]float64, n)
	for i := range list {
		list[i] = figure(cases[i*len(cases)/n : (i+1)*len(cases)/n])
	}
	return list
}

// meanOf is the mean of a figure of each case.
func meanOf(figure func(*bandCase, bandWay) float64) func([]bandCase, bandWay) float64 {
	return func(part []bandCase, w bandWay) (mean float64) {
		for i := range part {
			mean += figure(&part[i], w) / float64(len(part))
		}
		return mean
	}
}

func heldBy(w bandWay, level int) func([]bandCase) float64 {
	return func(part []bandCase) float64 {
		return 100 * meanOf(func(c *bandCase, w bandWay) float64 { return indicator(c.held[w][level]) })(part, w)
	}
}

// indicator is 1 if it holds, else 0.
func indicator(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

// pinball is the loss of a quantile p that was said to be at: it is least on average where the
// quantile is true.
func pinball(p, at, is float64) float64 { return max(p*(is-at), (p-1)*(is-at)) }

// ForecastBandsFinding says in words what the bands hold.
func ForecastBandsFinding(rows []evidence.Row) string {
	var s strings.Builder
	for _, r := range rows {
		if trace, ok := strings.CutSuffix(r.Setting, ", "+bandNames[bandsThis]); ok && r.Measure == bandsHeld {
			fmt.Fprintf(&s, "%s: the band of 80 %% holds %.1f ± %.1f %% of the starts. ", trace, r.Here, r.CI95)
		}
	}
	return strings.TrimSpace(s.String())
}
