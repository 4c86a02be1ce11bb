package balance

import (
	"fmt"
	"github.com/bourse-grid/bourse/studies/evidence"
	"strings"
)

// results are the outcomes of all settings, by run.
type results struct {
	runs     int
	cells    []policy
	outcomes [][][figures]float64
	users    [][]marketOutcome // by regime
	list     []evidence.Row
}

func (r *results) row(measure, setting, claim string, s evidence.Sample, j evidence.Judgement) {
	paper := evidence.Claim{}
	if claim != "" {
		paper = evidence.Words(claim)
	}
	r.list = append(r.list, evidence.NewRow(measure, setting, paper, "seed", s, j))
}

// rows are those of the strategies, then those of the users.
func (r *results) rows() []evidence.Row {
	for f := range figures {
		for i, c := range r.cells {
			r.row(figureNames[f], c.setting(), "", evidence.Average(r.of(i, f)), evidence.Unjudged(evidence.Measured))
		}
	}
	for _, f := range []figure{usedSpread, localWait, voWait, voPaid} {
		for i, c := range r.cells {
			if random := i / len(policies) * len(policies); i > random {
				less := evidence.Difference(r.of(random, f), r.of(i, f))
				r.row(figureNames[f]+": less than with random", c.setting(), "", less, evidence.LessThan(less.Estimate))
			}
		}
	}
	for _, f := range []figure{usedSpread, localWait, localSlow, voWait, earnJain} {
		for i, c := range policies {
			fixed, adaptive := r.of(i, f), r.of(i+len(policies), f)
			claim := map[figure]string{usedSpread: "prices balance the load", localWait: "prices spare local jobs"}[f]
			less := evidence.Difference(fixed, adaptive)
			j := evidence.LessThan(less.Estimate)
			if claim != "" {
				j = evidence.More(fixed, adaptive)
			}
			r.row(figureNames[f]+": less under adaptive than under fixed prices", c.String(), claim, less, j)
		}
	}
	r.markets()
	return r.list
}

// setting names a cell whole.
func (c policy) setting() string { return c.String() + ", " + c.pricing.String() + " prices" }

// of is a figure of a cell by run.
func (r *results) of(cell int, f figure) []float64 {
	values := make([]float64, r.runs)
	for i := range values {
		values[i] = r.outcomes[cell][i][f]
	}
	return values
}

// marketFigures are shown of every regime.
var marketFigures = []struct {
	name     string
	of       func(*marketOutcome) float64
	choosers bool // only where users choose for themselves
}{
	{"users: value reached less delay costs, % of all value", func(o *marketOutcome) float64 { return o.welfare }, false},
	{"users: jobs done by their deadline, %", func(o *marketOutcome) float64 { return o.inTime }, false},
	{"users: mean wait, h", func(o *marketOutcome) float64 { return o.wait }, false},
	{"users: mean wait weighted by delay cost, h", func(o *marketOutcome) float64 { return o.burden }, false},
	{"users: pay, credits per node-hour", func(o *marketOutcome) float64 { return o.paid }, false},
	{"users: go to another site, %", func(o *marketOutcome) float64 { return o.elsewhere }, false},
	{"users: leave, %", func(o *marketOutcome) float64 { return o.by[leave] }, false},
	{"users: best effort, %", func(o *marketOutcome) float64 { return o.by[bestEffort] }, false},
	{"users: the priority queue, %", func(o *marketOutcome) float64 { return o.by[priorityQueue] }, false},
	{"users: a reservation, %", func(o *marketOutcome) float64 { return o.by[reservation] }, false},
	{"users: choices that a planner would make, %", func(o *marketOutcome) float64 { return o.right }, true},
	{"users: refunds that quoted delays are worth, % of all that is paid", func(o *marketOutcome) float64 { return o.refunds }, false},
	{"users: spread of the sites' work, points", func(o *marketOutcome) float64 { return o.spread }, false},
}

func (r *results) market(regime int, of func(*marketOutcome) float64) []float64 {
	values := make([]float64, r.runs)
	for i := range values {
		values[i] = of(&r.users[regime][i])
	}
	return values
}

// markets adds the rows about users who choose.
func (r *results) markets() {
	for _, f := range marketFigures {
		for i := range regimes[:overstate] {
			if (i == ownQueue || i == planned) && f.choosers {
				continue
			}
			r.row(f.name, regimes[i].name, "", evidence.Average(r.market(i, f.of)), evidence.Unjudged(evidence.Measured))
		}
	}
	gain := func(measure, claim string, of func(*marketOutcome) float64, a, b int) {
		one, other := r.market(a, of), r.market(b, of)
		r.row(measure, regimes[a].name+" against "+regimes[b].name, claim, evidence.Difference(one, other), evidence.More(one, other))
	}
	welfare := func(o *marketOutcome) float64 { return o.welfare }
	right := func(o *marketOutcome) float64 { return o.right }
	gain("users: more value reached, points", "choice helps", welfare, fixedPrice, ownQueue)
	gain("users: more value reached, points", "prices bring value", welfare, flatPrice, fixedPrice)
	gain("users: more right choices, points", "prices induce the right choice", right, flatPrice, fixedPrice)
	gain("users: more value reached, points", "declared delay costs bring value", welfare, declaredPrice, flatPrice)
	gain("users: more right choices, points", "declared delay costs induce the right choice", right, declaredPrice, flatPrice)
	gain("users: more value reached, points", "another site helps", welfare, flatPrice, homeOnly)
	gain("users: more value reached, points", "a planner does better", welfare, planned, declaredPrice)
	for _, lie := range []int{overstate, understate} {
		for _, refund := range []struct {
			name string
			of   func(*marketOutcome) float64
		}{
			{"no refunds", func(o *marketOutcome) float64 { return o.liars }},
			{"quoted delays refunded", func(o *marketOutcome) float64 { return o.liarsBack }},
		} {
			lied, honest := r.market(lie, refund.of), r.market(declaredPrice, refund.of)
			gain := evidence.Difference(lied, honest)
			r.row("users: what lying gains, credits a job", regimes[lie].name+", "+refund.name, "", gain, evidence.Worded(gain.Estimate, "pays", "does not pay"))
		}
	}
}

// Finding says in words what the rows show: which differences
// exceed their intervals, and which do not.
func Finding(rows []evidence.Row) string {
	find := func(measure, setting string) *evidence.Row {
		for i := range rows {
			if strings.HasPrefix(rows[i].Measure, measure) && strings.HasPrefix(rows[i].Setting, setting) {
				return &rows[i]
			}
		}
		return &evidence.Row{}
	}
	var s strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&s, format, args...) }

	best, won, decided := &evidence.Row{}, 0, 0
	for i := range rows {
		r := &rows[i]
		if !strings.HasPrefix(r.Measure, "spread of the sites' utilisation, points: less than with random") {
			continue
		}
		if decided++; r.Verdict == "less" {
			won++
		}
		if r.Here > best.Here {
			best = r
		}
	}
	say("Of %d settings of strategy and prices %d leave the sites used more evenly than random choice does, beyond the interval; the most even is %s, by %.1f ± %.1f points. ",
		decided, won, best.Setting, best.Here, best.CI95)
	even, spared := judged(rows, "spread of the sites' utilisation, points: less under", evidence.Agrees), judged(rows, "mean wait of local jobs, h: less under", evidence.Agrees)
	slowed, kept := judged(rows, "bounded slowdown of local jobs: less under", "more"), judged(rows, "mean wait of VO jobs, h: less under", "more")
	say("Adaptive prices even the use of the sites out with %d of %d strategies, and shorten the mean wait of local jobs with %d; the bounded slowdown of local jobs, which short ones rule, rises with %d, and VO jobs wait longer with %d. ",
		even, len(policies), spared, slowed, kept)
	say("With batches by AMP adaptive prices %s and %s. ",
		changed(find("spread of the sites' utilisation, points: less under", "batch amp"), "the spread of utilisation", "points"),
		changed(find("mean wait of local jobs, h: less under", "batch amp"), "the wait of local jobs", "h"))
	choice := find("users: more value reached", regimes[flatPrice].name+" against "+regimes[fixedPrice].name)
	right := find("users: more right choices", choice.Setting)
	sharper := find("users: more value reached", regimes[declaredPrice].name+" against")
	say("Users who choose for themselves reach %s under adaptive prices %s under fixed ones (%+.1f ± %.1f points), and choose as a planner would %s (%+.1f ± %.1f points); to price delays at what users declare changes the value by %+.1f ± %.1f points. ",
		moreOr(choice, "more value", "less value", "about the same value"), moreOr(choice, "than", "than", "as"), choice.Here, choice.CI95,
		moreOr(right, "more often", "less often", "about as often"), right.Here, right.CI95, sharper.Here, sharper.CI95)
	for i, lie := range []int{overstate, understate} {
		bare, back := find("users: what lying gains", regimes[lie].name+", no"), find("users: what lying gains", regimes[lie].name+", quoted")
		say("To %s one's delay cost %s (%+.2f ± %.2f credits a job), and %s where quoted delays are refunded (%+.2f ± %.2f). ",
			[]string{"overstate", "understate"}[i], pays(bare), bare.Here, bare.CI95, pays(back), back.Here, back.CI95)
	}
	return strings.TrimSpace(s.String())
}

func pays(r *evidence.Row) string {
	if r.Verdict == evidence.Undecided {
		return "neither pays nor costs beyond the interval"
	}
	return r.Verdict
}

// judged counts the rows of a measure that have a verdict.
func judged(rows []evidence.Row, measure, verdict string) int {
	n := 0
	for i := range rows {
		if strings.HasPrefix(rows[i].Measure, measure) && rows[i].Verdict == verdict {
			n++
		}
	}
	return n
}

func changed(r *evidence.Row, what, unit string) string {
	switch {
	case r.Here > r.CI95:
		return fmt.Sprintf("lower %s by %.1f ± %.1f %s", what, r.Here, r.CI95, unit)
	case r.Here < -r.CI95:
		return fmt.Sprintf("raise %s by %.1f ± %.1f %s", what, -r.Here, r.CI95, unit)
	}
	return fmt.Sprintf("leave %s as it is within the interval (%+.1f ± %.1f %s)", what, -r.Here, r.CI95, unit)
}

// moreOr is the first words if a difference is above 0 beyond its interval, the
// second if below, else the third.
func moreOr(r *evidence.Row, more, less, same string) string {
	switch {
	case r.Here > r.CI95:
		return more
	case r.Here < -r.CI95:
		return less
	}
	return same
}
