package configs

import (
	"math"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/configs/keys"
)

// Target is the target of a sweep: a bound on a measure that must hold for a share of the
// seeds, and for every VO of the scenario.
type Target struct {
	Text    string
	Measure string  // as report.VOMeasures names it, with its unit
	AtLeast bool    // else at most
	Bound   float64 // in the measure's unit
	Share   float64 // of the seeds, above 0 to 1
}

// Met reports whether a value is within the bound.
func (t *Target) Met(v float64) bool {
	if t.AtLeast {
		return v >= t.Bound
	}
	return v <= t.Bound
}

// Search is the range in which to search for a parameter's value.
type Search struct {
	Least, Most float64 // Least < Most
	Whole       bool    // both are whole numbers in the file, so only whole numbers are tried
	Precision   float64 // above 0
}

// target reads "MEASURE >= VALUE UNIT in SHARE % of seeds". It does not know the measures,
// so it cannot check their names.
func target(t *keys.Table, key string) *Target {
	text := t.Text(key, "")
	if !t.Has(key) || !t.Clean(key) {
		return nil
	}
	out := &Target{Text: text}
	bound, share, ok := strings.Cut(text, " in ")
	left, right, atLeast := strings.Cut(bound, ">=")
	atMost := false
	if !atLeast {
		left, right, atMost = strings.Cut(bound, "<=")
	}
	words := strings.Fields(right)
	of := strings.Fields(strings.ReplaceAll(share, "%", " % "))
	if !ok || atLeast == atMost || len(words) == 0 || len(words) > 4 || len(of) != 4 || of[1] != "%" || of[2] != "of" || of[3] != "seeds" || strings.TrimSpace(left) == "" {
		t.Wrong(key, "%q: must be like \"placed >= 95 %% in 95 %% of seeds\" or \"mean finish h <= 2.5 in 90 %% of seeds\"", text)
		return nil
	}
	var e1, e2 error
	number, unit := words[0], strings.Join(words[1:], " ")
	if n, ok := strings.CutSuffix(number, "%"); ok && unit == "" {
		number, unit = n, "%"
	}
	out.Bound, e1 = strconv.ParseFloat(number, 64)
	out.Share, e2 = strconv.ParseFloat(of[0], 64)
	out.Share /= 100
	switch {
	case e1 != nil || math.IsNaN(out.Bound) || math.IsInf(out.Bound, 0):
		t.Wrong(key, "%q is not a number", words[0])
	case e2 != nil || !(out.Share > 0 && out.Share <= 1):
		t.Wrong(key, "%q %% of seeds; must be above 0 and at most 100", of[0])
	}
	out.AtLeast = atLeast
	out.Measure = strings.TrimSpace(strings.TrimSpace(left) + " " + unit)
	return out
}

// sought refuses a target without a range, and a range without a target.
func (s *Sweep) sought(t *keys.Table) {
	ranges := 0
	for i := range s.Parameters {
		if s.Parameters[i].Search != nil {
			ranges++
		}
	}
	switch {
	case s.Target == nil && ranges > 0 && t.Clean("target"):
		t.Wrong("parameter", "has a range, which needs a target, such as target = \"placed >= 95 %% in 95 %% of seeds\"")
	case s.Target != nil && (ranges != 1 || len(s.Parameters) != 1):
		t.Wrong("target", "needs exactly one parameter, with a range, but there are %d parameters, %d of them with a range; leave it out otherwise", len(s.Parameters), ranges)
	}
}

// readRange reads the range to search.
func (p *Parameter) readRange(t *keys.Table) {
	v, ok := t.Take("range")
	if !ok {
		return
	}
	list, _ := v.([]any)
	r := &Search{Whole: true}
	var bounds []float64
	for _, one := range list {
		switch n := one.(type) {
		case int64:
			bounds = append(bounds, float64(n))
		case float64:
			bounds, r.Whole = append(bounds, n), false
		}
	}
	if len(bounds) != 2 || len(list) != 2 || !(bounds[0] < bounds[1]) || math.IsInf(bounds[0], 0) || math.IsInf(bounds[1], 0) {
		t.Wrong("range", "must be two numbers, the least first, such as [1000.0, 50000.0]")
		return
	}
	r.Least, r.Most = bounds[0], bounds[1]
	if r.Precision = (r.Most - r.Least) / 100; r.Whole {
		r.Precision = max(r.Precision, 1)
	}
	p.Search = r
	p.Values = []any{r.Value(r.Least), r.Value(r.Most)}
}

func (p *Parameter) readPrecision(t *keys.Table) {
	v, ok := t.Take("precision")
	if !ok {
		return
	}
	n, isFloat := v.(float64)
	if whole, isWhole := v.(int64); isWhole {
		n, isFloat = float64(whole), true
	}
	switch {
	case p.Search == nil:
		t.Wrong("precision", "needs a range; leave it out")
	case !isFloat || !(n > 0) || n < (p.Search.Most-p.Search.Least)/1e6:
		t.Wrong("precision", "is %v; must be a number above 0, at least a millionth of the range", v)
	default:
		p.Search.Precision = n
	}
}

// Value is a value of the range in the form that TOML has.
func (r *Search) Value(v float64) any {
	if r.Whole {
		return int64(math.Round(v))
	}
	return v
}

// At returns the sweep with only the value v.
func (s *Sweep) At(v any) *Sweep {
	one := *s
	one.Parameters = []Parameter{s.Parameters[0]}
	one.Parameters[0].Values = []any{v}
	return &one
}
