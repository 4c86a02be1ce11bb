package evidence

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/grid"
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

// Equivalence is how far two figures may lie apart that count as equal, as a share of
// the figure compared with, where a claim does not state a margin of its own.
const Equivalence = 0.05

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

// Judgement is a verdict, and what it counts for among a study's.
type Judgement struct {
	Verdict string
	tested  bool // for a difference: by chance alone one of twenty is beyond its interval
	beyond  bool // it is
}

// Unjudged is for a row that needs no verdict, or whose neighbour has the verdict on both.
func Unjudged(word string) Judgement { return Judgement{Verdict: word} }

// Measured is the verdict on a figure by itself.
const Measured = "the measure"

// Beside judges a figure that the paper prints.
func Beside(e Estimate, paper Claim) Judgement {
	p, ok := paper.Number()
	if !ok || e.Units < 2 {
		return Unjudged(Undecided)
	}
	half := math.Hypot(e.Half, paper.sampling(e)) + rounding(p)
	d := e.Mean - p
	j := Judgement{Undecided, true, math.Abs(d) > half}
	switch {
	case j.beyond && p == 0:
		j.Verdict = fmt.Sprintf("%s by %+.3g", Differs, d)
	case j.beyond:
		j.Verdict = fmt.Sprintf("%s by %+.1f %%", Differs, 100*d/p)
	case math.Abs(d)+half <= Equivalence*math.Abs(p):
		j.Verdict = Agrees
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
func (c Claim) sampling(e Estimate) float64 {
	if c.units == 0 {
		return 0
	}
	return e.Half * math.Sqrt(float64(e.Units)/c.units)
}

// Exceeds judges the claim that a difference is above 0; compared is the figure that it
// is a difference from, 0 if it has none: then it cannot be told from one that is
// not there.
func Exceeds(e Estimate, compared float64) Judgement {
	if e.Units < 2 {
		return Unjudged(Undecided)
	}
	j := Judgement{Undecided, true, math.Abs(e.Mean) > e.Half}
	switch {
	case e.Mean > e.Half:
		j.Verdict = Agrees
	case e.Mean < -e.Half:
		j.Verdict = Differs
	case compared != 0 && math.Abs(e.Mean)+e.Half <= Equivalence*math.Abs(compared):
		j.Verdict = NotFound
	}
	return j
}

// More judges the claim that a is above b, units paired.
func More(a, b []float64) Judgement {
	of, _ := Interval(b)
	return Exceeds(Difference(a, b).Estimate, of)
}

// Between judges the claim that a figure lies within bounds.
func Between(e Estimate, low, high float64) Judgement {
	switch {
	case e.Units < 2:
	case low <= e.Mean-e.Half && e.Mean+e.Half <= high:
		return Unjudged(Agrees)
	case e.Mean+e.Half < low || high < e.Mean-e.Half:
		return Unjudged(Differs)
	}
	return Unjudged(Undecided)
}

// Within judges the claim that two figures are equal but for so much.
func Within(e Estimate, margin float64) Judgement { return Between(e, -margin, margin) }

// AtLeast judges the claim that a figure is not below a bound.
func AtLeast(e Estimate, low float64) Judgement { return Between(e, low, math.Inf(1)) }

// Worded judges, in the given words, a difference that no paper has claimed.
func Worded(e Estimate, more, less string) Judgement {
	if e.Units < 2 {
		return Unjudged(Undecided)
	}
	switch {
	case e.Mean > e.Half:
		return Judgement{more, true, true}
	case e.Mean < -e.Half:
		return Judgement{less, true, true}
	}
	return Judgement{Undecided, true, false}
}

// Sign judges a figure that is compared with 0.
func Sign(e Estimate) Judgement { return Worded(e, "above 0", "below 0") }

// Than words a figure next to another of the same units about which the paper says nothing.
func Than(e Estimate, other string) Judgement {
	j := Worded(e, "higher", "lower")
	if e.Mean == 0 && e.Half == 0 {
		j = Unjudged("no difference")
	}
	if other != "" {
		j.Verdict += " (" + other + ")"
	}
	return j
}

// LessThan words a difference by which something is less.
func LessThan(e Estimate) Judgement { return Worded(e, "less", "more") }

// Versus words how far a figure lies below another of the same units, in percent
// of it.
func Versus(gain Estimate) Judgement {
	if gain.Mean == 0 && gain.Half == 0 {
		return Unjudged(Measured)
	}
	return Worded(gain, fmt.Sprintf("%.1f %% below", gain.Mean), fmt.Sprintf("%.1f %% above", -gain.Mean))
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

// Agreement says in a sentence how far the rows agree with what their paper prints or claims.
func Agreement(rows []Row) string {
	of := map[string]int{}
	judged := 0
	for i := range rows {
		switch v := rows[i].Verdict; v {
		case Agrees, Differs, NotFound, Undecided:
			if rows[i].Paper != (Claim{}) {
				of[v]++
				judged++
			}
		}
	}
	if judged == 0 {
		return "The paper prints nothing with which these rows can be compared."
	}
	begin := "It agrees with the paper in part:"
	switch {
	case of[Agrees] == judged:
		return fmt.Sprintf("It agrees with the paper in all that the paper prints or claims: %s.", grid.Count(judged, "figure"))
	case of[Differs]+of[NotFound] == 0 && 2*of[Agrees] >= judged:
		begin = "It agrees with the paper as far as can be decided:"
	case of[Agrees] == 0 && of[Differs]+of[NotFound] > 0:
		begin = "It does not agree with the paper:"
	case of[Agrees] == 0:
		begin = "Whether it agrees with the paper is not decided:"
	}
	return fmt.Sprintf("%s of the %s that the paper prints or claims, %d agree, %d differ, %d were not found, %d are undecided.",
		begin, grid.Count(judged, "figure"), of[Agrees], of[Differs], of[NotFound], of[Undecided])
}
