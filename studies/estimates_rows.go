package studies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/estimates"
)

// all makes the rows, for the workload as it is or as redrawn.
func (e *estimatesStudy) all(r *redraw) (rows []Row) {
	for t := range e.traces {
		rows = append(rows, e.waits(t, r)...)
		rows = append(rows, e.draws(t, r)...)
		rows = append(rows, e.shares(t, r)...)
	}
	return rows
}

// weighed returns a figure of a replay by block, times how often each block was drawn.
func (e *estimatesStudy) weighed(t int, r *redraw, sums []estimateSums, of func(*estimateSums) float64) []float64 {
	list := make([]float64, len(sums))
	for i := range sums {
		if list[i] = of(&sums[i]); r != nil {
			list[i] *= r.weights[t][i]
		}
	}
	return list
}

// waits are the rows of a log's replays: means over jobs are ratios of sums over blocks.
func (e *estimatesStudy) waits(t int, r *redraw) (rows []Row) {
	row := func(measure, setting string, claim Claim, s sample, j judgement) {
		x := newRow(measure, e.traces[t].Name+", "+setting, claim, e.over[t], s, j)
		x.Blocks = e.cut[t].blocks()
		rows = append(rows, x)
	}
	count := func(s *estimateSums) float64 { return s.jobs }
	for k, rule := range estimateRules {
		sums := e.sums[t][0][k]
		accuracy := quotient(e.weighed(t, r, sums, func(s *estimateSums) float64 { return s.accuracy }), e.weighed(t, r, sums, count))
		row(accuracyName, "easy, "+rule.String(), Claim{}, accuracy, unjudged(measured))
	}
	for _, f := range estimateFigures {
		for p, policy := range e.policies(t) {
			base := e.weighed(t, r, e.sums[t][p][0], f.of)
			for k, rule := range estimateRules {
				sums := e.sums[t][p][k]
				setting := fmt.Sprintf("%v, %v", policy, rule)
				values := e.weighed(t, r, sums, f.of)
				row(f.name, setting, Claim{}, quotient(values, e.weighed(t, r, sums, count)), unjudged(measured))
				if k > 0 {
					less := quotient(minus(base, values), base).times(100)
					row(f.name+lessName, setting, Claim{}, less, lessThan(less.estimate))
				}
			}
		}
	}
	of := estimateFigures[1].of
	base := e.weighed(t, r, e.sums[t][0][0], of)
	for _, rule := range []estimates.Rule{estimates.Tsafrir, estimates.LastTwo} {
		k := slices.Index(estimateRules, rule)
		for p, policy := range estimatePolicies[:2] {
			less := quotient(minus(base, e.weighed(t, r, e.sums[t][p][k], of)), base).times(100)
			claim, judged := Claim{}, lessThan(less.estimate)
			if policy == backfill.EASYShortest && rule == estimates.Tsafrir {
				claim, judged = Words("less, some 25 % (EASY++)"), exceeds(less.estimate, 100)
			}
			row(slowdownsLess, fmt.Sprintf("%v, %v", policy, rule), claim, less, judged)
		}
	}
	return rows
}

// draws makes the rows of what is drawn in addition to a log: deadlines and reservations.
func (e *estimatesStudy) draws(t int, r *redraw) (rows []Row) {
	add := func(measure string, figures func(rule int) []float64) {
		var base []float64
		for k, rule := range estimateRules {
			values := figures(k)
			if r != nil {
				drawn := make([]float64, len(values))
				for i, u := range r.units(len(values)) {
					drawn[i] = values[u]
				}
				values = drawn
			}
			setting := e.traces[t].Name + ", " + rule.String()
			rows = append(rows, newRow(measure, setting, Claim{}, "draw", average(values), unjudged(measured)))
			if k == 0 {
				base = values
				continue
			}
			more := difference(values, base)
			rows = append(rows, newRow(measure+moreName, setting, Claim{}, "draw", more, worded(more.estimate, "more", "less")))
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
func (e *estimatesStudy) shares(t int, r *redraw) (rows []Row) {
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
		row := func(measure string, policy backfill.Policy, s sample, j judgement) {
			x := newRow(measure, fmt.Sprintf("%s, %v, %v", e.traces[t].Name, policy, estimates.Request), Claim{}, e.over[t], s, j)
			x.Blocks = e.cut[t].blocks()
			rows = append(rows, x)
		}
		base, fair := e.weighed(t, r, e.sums[t][0][0], f.of), e.weighed(t, r, e.fair[t], f.of)
		if f.name == usersWait { // of the others EASY has its row
			row(f.name, backfill.EASY, quotient(base, e.weighed(t, r, e.sums[t][0][0], f.per)), unjudged(measured))
		}
		row(f.name, backfill.EASYFair, quotient(fair, e.weighed(t, r, e.fair[t], f.per)), unjudged(measured))
		less := quotient(minus(base, fair), base).times(100)
		row(f.name+": less than under EASY, %", backfill.EASYFair, less, lessThan(less.estimate))
	}
	return rows
}

// EstimatesFinding says what the paper's predictions do to the slowdown of each log.
func EstimatesFinding(rows []Row) string {
	var list []string
	for i := range rows {
		if r := &rows[i]; r.Measure == slowdownsLess && strings.HasSuffix(r.Setting, estimates.Tsafrir.String()) {
			list = append(list, fmt.Sprintf("%s %+.0f ± %.0f %%", r.Setting, -r.Here, r.CI95))
		}
	}
	return "Planned by the mean of a user's last two runs (tsafrir), the mean bounded slowdown changes against EASY by requests: " + strings.Join(list, "; ") + "."
}
