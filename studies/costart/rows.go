package costart

import (
	"fmt"
	"math"
	"strings"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/rehearsal"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// The measures.
const (
	byADay   = "begun within 24 h, % of the jobs"
	byThree  = "begun within 72 h, % of the jobs"
	idleMean = "idle, % of the work, mean"
	idleMost = "idle, % of the work, worst"
)

// published are the figures of "Co-start without rights": begun by 24 h and by 72 h, idle on average
// and at worst; NaN: none.
func published() map[string][4]float64 {
	return map[string][4]float64{
		ceiling:          {73, 94, none, none},
		waits:            {61, 88, 326, 4181},
		alone:            {47, 64, 0.3, 3},
		rulesOf(50_000):  {51, 70, 2, 4.7},
		rulesOf(20_000):  {36, 50, 0.5, 1.8},
		rulesOf(100_000): {53, 71, 4.4, 9.7},
		rulesOf(200_000): {53, 71, 9, 20},
		rulesOf(500_000): {52, 70, 22, 50},
	}
}

var none = math.NaN()

// cells are its figures for two clusters and 5 %, by load and by the largest share of a cluster.
func cells() map[float64][4][2]float64 {
	return map[float64][4][2]float64{
		0.7: {{95, 100}, {94, 100}, {82, 96}, {70, 92}},
		0.8: {{88, 100}, {69, 91}, {55, 77}, {43, 65}},
		0.9: {{43, 64}, {28, 45}, {18, 35}, {4, 14}},
	}
}

var shares = [4]struct {
	name string
	most float64
}{{"1/12", 1.0 / 12}, {"1/6", 1.0 / 6}, {"1/3", 1.0 / 3}, {"2/3", 2.0 / 3}}

// margin is how far a share of the jobs may lie from the published one, in points.
const margin = 3

// rows are those of all strategies, then those of the rules by load and share.
func rows(opt *Options, list []*job, ways []strategy, out [][]rehearsal.Outcome) (rows []evidence.Row) {
	var usually []evidence.Row
	for w, way := range ways {
		column := make([]rehearsal.Outcome, len(out))
		for k := range out {
			column[k] = out[k][w]
		}
		claims, known := published()[way.name]
		if !known {
			claims = [4]float64{none, none, none, none}
		}
		rows = append(rows, beside(byADay, way.name, begun(column, grid.Day), claims[0]), beside(byThree, way.name, begun(column, patience), claims[1]))
		if way.name != ceiling {
			idle := make([]float64, len(column))
			most := 0.0
			for k, x := range column {
				idle[k] = x.Idle
				most = max(most, x.Idle)
			}
			rows = append(rows, measured(idleMean, way.name, idle, claims[2]), measured(idleMost, way.name, []float64{most}, claims[3]))
		}
		if way.name == rulesOf(usual) {
			usually = byCell(opt, list, column)
		}
	}
	return append(rows, usually...)
}

// byCell are the rows of jobs of two parts, by load and by the largest share of a cluster.
func byCell(opt *Options, list []*job, column []rehearsal.Outcome) (rows []evidence.Row) {
	for l, load := range opt.Loads {
		for s := range shares {
			var in []rehearsal.Outcome
			for k, j := range list {
				if j.load == l && len(j.order.Parts) == 2 && j.share() == s {
					in = append(in, column[k])
				}
			}
			if len(in) == 0 {
				continue
			}
			claim := [2]float64{none, none}
			if c, ok := cells()[load]; ok {
				claim = c[s]
			}
			where := fmt.Sprintf("%s, two clusters at %g, to %s of one", rulesOf(usual), load, shares[s].name)
			rows = append(rows, byChance(beside(byADay, where, begun(in, grid.Day), claim[0])), byChance(beside(byThree, where, begun(in, patience), claim[1])))
		}
	}
	return rows
}

// share is the number of the least of the shares that no part is beyond.
func (j *job) share() int {
	largest := 0.0
	for _, p := range j.order.Parts {
		largest = max(largest, float64(p.Nodes)/float64(p.Cluster))
	}
	for s := range shares {
		if largest <= shares[s].most {
			return s
		}
	}
	return len(shares) - 1
}

// begun is 100 for each job that has begun by then, 0 for the others.
func begun(list []rehearsal.Outcome, by grid.Duration) []float64 {
	x := make([]float64, len(list))
	for k, o := range list {
		if o.Begun && o.After <= by {
			x[k] = 100
		}
	}
	return x
}

// beside is a row of a share of the jobs, held against the published one within a margin.
func beside(measure, setting string, values []float64, paper float64) evidence.Row {
	x := evidence.Average(values)
	if math.IsNaN(paper) {
		return evidence.NewRow(measure, setting, evidence.Claim{}, "job", x, evidence.Unjudged(evidence.Measured))
	}
	verdict := "within 3 points"
	if d := x.Mean - paper; math.Abs(d) > margin {
		verdict = fmt.Sprintf("%+.0f points", d)
	}
	return evidence.NewRow(measure, setting, evidence.Figure(paper), "job", x, evidence.Unjudged(verdict))
}

// perCell is how many jobs each published cell has.
const perCell = 70

// byChance says of a row that lies apart whether so few published jobs, and as many as here, lie that
// far apart in one of twenty draws.
func byChance(r evidence.Row) evidence.Row {
	paper, known := r.Paper.Number()
	if !known || r.Verdict == "within 3 points" {
		return r
	}
	p := (paper/100*perCell + 2) / (perCell + 4) // of a share of 100 % too, that is more than nothing
	if published := 196 * math.Sqrt(p*(1-p)/(perCell+4)); math.Abs(r.Here-paper) <= math.Hypot(published, r.CI95) {
		r.Verdict += ", by chance"
	}
	return r
}

func measured(measure, setting string, values []float64, paper float64) evidence.Row {
	claim := evidence.Claim{}
	if !math.IsNaN(paper) {
		claim = evidence.Figure(paper)
	}
	return evidence.NewRow(measure, setting, claim, "job", evidence.Average(values), evidence.Unjudged(evidence.Measured))
}

// Finding says whether the figures agree with the published ones, and what they say.
func Finding(rows []evidence.Row) string {
	judged, apart := 0, 0
	var rules, part *evidence.Row
	for i := range rows {
		r := &rows[i]
		if _, known := r.Paper.Number(); known && r.Verdict != evidence.Measured && !strings.Contains(r.Setting, "two clusters") {
			judged++
			if r.Verdict != "within 3 points" {
				apart++
			}
		}
		if r.Setting == rulesOf(usual) && r.Measure == byThree {
			rules = r
		}
		if r.Measure == byADay && strings.HasSuffix(r.Setting, "to 1/6 of one") && part == nil {
			part = r
		}
	}
	var words string
	switch {
	case judged == 0:
		words = "Nothing here is published."
	case apart == 0:
		words = fmt.Sprintf("All %d shares of jobs agree with the published ones within 3 points.", judged)
	default:
		words = fmt.Sprintf("%d of %d shares of jobs do not agree with the published ones within 3 points.", apart, judged)
	}
	if rules != nil {
		words += fmt.Sprintf(" By the rules %.0f %% of the jobs begin within 72 h.", rules.Here)
	}
	if part != nil {
		words += fmt.Sprintf(" It is for small parts of clusters that are not full: of those to a sixth of a cluster at the lowest load %.0f %% begin within a day. At a load of 0.9 the queue is too long: buy a window.", part.Here)
	}
	return words
}
