package studies

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The verdicts of a row. Only this file decides which one a row gets; VerdictRules explains
// that to readers. For a difference that no paper has claimed, a study may use its own
// words ("less", "above 0") by the same interval.
const (
	Agrees    = "agrees"
	Differs   = "differs"
	Undecided = "undecided"
	NotFound  = "not found"
)

// equivalence is how far two figures may lie apart that count as equal, as a share of
// the figure compared with, where a claim does not state a margin of its own.
const equivalence = 0.05

// chance is the probability with which a figure lies beyond its 95 % interval although
// there is no difference.
const chance = 0.05

// VerdictRules are the rules for verdicts, one per line.
var VerdictRules = []string{
	"A printed figure: differs if it lies outside the interval of the difference, which holds our interval, the sampling error of " +
		"the paper's own run where it can be computed, and its rounding; agrees if it lies inside and the interval is within 5 % of the figure; else undecided.",
	"A claim of more or less: agrees if the difference is beyond its interval, differs if the opposite is; not found if the interval holds 0 and lies within 5 % " +
		"of the figure compared with; else undecided. A difference beyond its interval is never not found, however small.",
	"A claim with bounds (equal, at least, at most): agrees if the whole interval is within them, differs if it is outside, else undecided.",
	"One value has no interval, and its row no verdict but undecided. Intervals are 95 %, Student's t over what the row says it is over.",
}

// judgement is a verdict, and what it counts for among a study's.
type judgement struct {
	verdict string
	tested  bool // for a difference: by chance alone one of twenty is beyond its interval
	beyond  bool // it is
}

// unjudged is for a row that needs no verdict, or whose neighbour has the verdict on both.
func unjudged(word string) judgement { return judgement{verdict: word} }

// measured is the verdict on a figure by itself.
const measured = "the measure"

// beside judges a figure that the paper prints.
func beside(e estimate, paper Claim) judgement {
	p, ok := paper.Number()
	if !ok || e.units < 2 {
		return unjudged(Undecided)
	}
	half := math.Hypot(e.half, paper.sampling(e)) + rounding(p)
	d := e.mean - p
	j := judgement{Undecided, true, math.Abs(d) > half}
	switch {
	case j.beyond && p == 0:
		j.verdict = fmt.Sprintf("%s by %+.3g", Differs, d)
	case j.beyond:
		j.verdict = fmt.Sprintf("%s by %+.1f %%", Differs, 100*d/p)
	case math.Abs(d)+half <= equivalence*math.Abs(p):
		j.verdict = Agrees
	}
	return j
}

// rounding returns half a unit of the last printed digit of a figure.
func rounding(v float64) float64 {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	_, decimals, _ := strings.Cut(text, ".")
	if decimals == "" {
		return 0.5
	}
	return 0.5 * math.Pow10(-len(decimals))
}

// sampling returns the half-width of the interval of the paper's own figure: that of a mean
// over as many units as the paper ran, with the same variance as ours. 0 if their number is
// not known.
func (c Claim) sampling(e estimate) float64 {
	if c.units == 0 {
		return 0
	}
	return e.half * math.Sqrt(float64(e.units)/c.units)
}

// exceeds judges the claim that a difference is above 0; compared is the figure that it
// is a difference from, 0 if it has none: then it cannot be told from one that is
// not there.
func exceeds(e estimate, compared float64) judgement {
	if e.units < 2 {
		return unjudged(Undecided)
	}
	j := judgement{Undecided, true, math.Abs(e.mean) > e.half}
	switch {
	case e.mean > e.half:
		j.verdict = Agrees
	case e.mean < -e.half:
		j.verdict = Differs
	case compared != 0 && math.Abs(e.mean)+e.half <= equivalence*math.Abs(compared):
		j.verdict = NotFound
	}
	return j
}

// between judges the claim that a figure lies within bounds.
func between(e estimate, low, high float64) judgement {
	switch {
	case e.units < 2:
	case low <= e.mean-e.half && e.mean+e.half <= high:
		return unjudged(Agrees)
	case e.mean+e.half < low || high < e.mean-e.half:
		return unjudged(Differs)
	}
	return unjudged(Undecided)
}

// within judges the claim that two figures are equal but for so much.
func within(e estimate, margin float64) judgement { return between(e, -margin, margin) }

// atLeast judges the claim that a figure is not below a bound.
func atLeast(e estimate, low float64) judgement { return between(e, low, math.Inf(1)) }

// worded judges, in the given words, a difference that no paper has claimed.
func worded(e estimate, more, less string) judgement {
	if e.units < 2 {
		return unjudged(Undecided)
	}
	switch {
	case e.mean > e.half:
		return judgement{more, true, true}
	case e.mean < -e.half:
		return judgement{less, true, true}
	}
	return judgement{Undecided, true, false}
}

// sign judges a figure that is compared with 0.
func sign(e estimate) judgement { return worded(e, "above 0", "below 0") }

// than words a figure next to another of the same units about which the paper says nothing.
func than(e estimate, other string) judgement {
	j := worded(e, "higher", "lower")
	if e.mean == 0 && e.half == 0 {
		j = unjudged("no difference")
	}
	if other != "" {
		j.verdict += " (" + other + ")"
	}
	return j
}

// lessThan words a difference by which something is less.
func lessThan(e estimate) judgement { return worded(e, "less", "more") }

// versus words how far a figure lies below another of the same units, in percent
// of it.
func versus(gain estimate) judgement {
	if gain.mean == 0 && gain.half == 0 {
		return unjudged(measured)
	}
	return worded(gain, fmt.Sprintf("%.1f %% below", gain.mean), fmt.Sprintf("%.1f %% above", -gain.mean))
}

// Tests are how many rows of a study are tested for a difference.
type Tests struct {
	Rows   int // of the study
	Tested int
	Beyond int // of those: beyond their intervals
}

// CountTests counts the tests of a study's rows.
func CountTests(rows []Row) Tests {
	t := Tests{Rows: len(rows)}
	for i := range rows {
		j := &rows[i].judged
		if !j.tested {
			continue
		}
		t.Tested++
		if j.beyond {
			t.Beyond++
		}
	}
	return t
}

// ByChance is how many rows would lie beyond their intervals if nothing differed.
func (t Tests) ByChance() float64 { return chance * float64(t.Tested) }

// FalseDiscovery is the share of the rows beyond their intervals that chance alone
// explains, at most 1: the false discovery rate if nearly nothing differed, less than that
// if much does.
func (t Tests) FalseDiscovery() float64 {
	if t.Beyond == 0 {
		return 0
	}
	return min(1, t.ByChance()/float64(t.Beyond))
}

// String says it in a sentence.
func (t Tests) String() string {
	if t.Tested == 0 {
		return fmt.Sprintf("%d rows; none is tested for a difference.", t.Rows)
	}
	return fmt.Sprintf("%d rows; %d are tested for a difference, and %d of these lie beyond their intervals. Were there no difference at all, %.1f would by chance: "+
		"a false discovery rate of %.0f %% at most.", t.Rows, t.Tested, t.Beyond, t.ByChance(), math.Ceil(100*t.FalseDiscovery()))
}
