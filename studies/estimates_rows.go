package studies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/estimates"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// all makes the rows, for the workload as it is or as redrawn.
func (e *estimatesStudy) all(r *evidence.Redraw) (rows []evidence.Row) {
	for t := range e.traces {
		rows = append(rows, e.waits(t, r)...)
		rows = append(rows, e.draws(t, r)...)
		rows = append(rows, e.shares(t, r)...)
	}
	return rows
}

// weighed returns a figure of a replay by block, times how often each block was drawn.
func (e *estimatesStudy) weighed(t int, r *evidence.Redraw, sums []estimateSums, of func(*estimateSums) float64) []float64 {
	list := make([]float64, len(sums))
	for i := range sums {
		if list[i] = of(&sums[i]); r != nil {
			list[i] *= r.Weights[t][i]
		}
	}
	return list
}

// waits are the rows of a log's replays: means over jobs are ratios of sums over blocks.
func (e *estimatesStudy) waits(t int, r *evidence.Redraw) (rows []evidence.Row) {
	row := func(measure, setting string, claim evidence.Claim, s evidence.Sample, j evidence.Judgement) {
		x := evidence.NewRow(measure, e.traces[t].Name+", "+setting, claim, e.over[t], s, j)
		x.Blocks = e.cut[t].Blocks()
		rows = append(rows, x)
	}
	count := func(s *estimateSums) float64 { return s.jobs }
	for k, rule := range estimateRules {
		sums := e.sums[t][0][k]
		accuracy := evidence.Quotient(e.weighed(t, r, sums, func(s *estimateSums) float64 { return s.accuracy }), e.weighed(t, r, sums, count))
		row(accuracyName, "easy, "+rule.String(), evidence.Claim{}, accuracy, evidence.Unjudged(evidence.Measured))
	}
	for _, f := range estimateFigures {
		for p, policy := range e.policies(t) {
			base := e.weighed(t, r, e.sums[t][p][0], f.of)
			for k, rule := range estimateRules {
				sums := e.sums[t][p][k]
				setting := fmt.Sprintf("%v, %v", policy, rule)
				values := e.weighed(t, r, sums, f.of)
				row(f.name, setting, evidence.Claim{}, evidence.Quotient(values, e.weighed(t, r, sums, count)), evidence.Unjudged(evidence.Measured))
				if k > 0 {
					less := evidence.Quotient(evidence.Minus(base, values), base).Times(100)
					row(f.name+lessName, setting, evidence.Claim{}, less, evidence.LessThan(less.Estimate))
				}
			}
		}
	}
	of := estimateFigures[1].of
	base := e.weighed(t, r, e.sums[t][0][0], of)
	for _, rule := range []estimates.Rule{estimates.Tsafrir, estimates.LastTwo} {
		k := slices.Index(estimateRules, rule)
		for p, policy := range estimatePolicies[:2] {
			less := evidence.Quotient(evidence.Minus(base, e.weighed(t, r, e.sums[t][p][k], of)), base).Times(100)
			claim, judged := evidence.Claim{}, evidence.LessThan(less.Estimate)
			if policy == backfill.EASYShortest && rule == estimates.Tsafrir {
				claim, judged = evidence.Words("less, some 25 % (EASY++)"), evidence.Exceeds(less.Estimate, 100)
			}
			row(slowdownsLess, fmt.Sprintf("%v, %v", policy, rule), claim, less, judged)
		}
	}
	return rows
}

// draws makes the rows of what is drawn in addition to a log: deadlines and reservations.
func (e *estimatesStudy) draws(t int, r *evidence.Redraw) (rows []evidence.Row) {
	add := func(measure string, figures func(rule int) []float64) {
		var base []float64
		for k, rule := range estimateRules {
			values := figures(k)
			if r != nil {
				drawn := make([]float64, len(values))
				for i, u := range r.Units(len(values)) {
					drawn[i] = values[u]
				}
				values = drawn
			}
			setting := e.traces[t].Name + ", " + rule.String()
			rows = append(rows, evidence.NewRow(measure, setting, evidence.Claim{}, "draw", evidence.Average(values), evidence.Unjudged(evidence.Measured)))
			if k == 0 {
				base = values
				continue
			}
			more := evidence.Difference(values, base)
			rows = append(rows, evidence.NewRow(measure+moreName, setting, evidence.Claim{}, "draw", more, evidence.Worded(more.Estimate, "more", "less")))
		}
	}
	if e.lasts[t] != nil {
		add(estimatesMet, func(rule int) []float64 { return e.met[t][rule] })
		add(estimatesBare, func(rule int) []float64 { return e.bare[t][rule] })
	}
	if e.traces[t].Priced {
		for _, f := range priceFigures {
			add(f.name, func(rule int) []float64 {
				var list []float64
				for i := range e.quotes[t][rule] {
					list = append(list, f.of(&e.quotes[t][rule][i]))
				}
				return list
			})
		}
	}
	return rows
}

// shares are the rows of EASY by fair share beside EASY, both by requests.
func (e *estimatesStudy) shares(t int, r *evidence.Redraw) (rows []evidence.Row) {
	count := func(s *estimateSums) float64 { return s.jobs }
	users := func(s *estimateSums) float64 { return s.users }
	for _, f := range []struct {
		name    string
		of, per func(*estimateSums) float64
	}{
		{estimateFigures[0].name, estimateFigures[0].of, count},
		{estimateFigures[1].name, estimateFigures[1].of, count},
		{usersWait, func(s *estimateSums) float64 { return s.userWait }, users},
	} {
		row := func(measure string, policy backfill.Policy, s evidence.Sample, j evidence.Judgement) {
			x := evidence.NewRow(measure, fmt.Sprintf("%s, %v, %v", e.traces[t].Name, policy, estimates.Request), evidence.Claim{}, e.over[t], s, j)
			x.Blocks = e.cut[t].Blocks()
			rows = append(rows, x)
		}
		base, fair := e.weighed(t, r, e.sums[t][0][0], f.of), e.weighed(t, r, e.fair[t], f.of)
		if f.name == usersWait { // of the others EASY has its row
			row(f.name, backfill.EASY, evidence.Quotient(base, e.weighed(t, r, e.sums[t][0][0], f.per)), evidence.Unjudged(evidence.Measured))
		}
		row(f.name, backfill.EASYFair, evidence.Quotient(fair, e.weighed(t, r, e.fair[t], f.per)), evidence.Unjudged(evidence.Measured))
		less := evidence.Quotient(evidence.Minus(base, fair), base).Times(100)
		row(f.name+": less than under EASY, %", backfill.EASYFair, less, evidence.LessThan(less.Estimate))
	}
	return rows
}

// EstimatesFinding says what the paper's predictions do to the slowdown of each log.
func EstimatesFinding(rows []evidence.Row) string {
	var list []string
	for i := range rows {
		if r := &rows[i]; r.Measure == slowdownsLess && strings.HasSuffix(r.Setting, estimates.Tsafrir.String()) {
			list = append(list, fmt.Sprintf("%s %+.0f ± %.0f %%", r.Setting, -r.Here, r.CI95))
		}
	}
	return "Planned by the mean of a user's last two runs (tsafrir), the mean bounded slowdown changes against EASY by requests: " + strings.Join(list, "; ") + "."
}
