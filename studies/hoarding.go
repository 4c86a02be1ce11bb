package studies

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/parallel"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// The experiment on hoarding is our own. The users of a VO book nodes before they know
// whether they need them, and give up unneeded ones before half of the notice has passed,
// which the cancellation schedule allows free of charge. What does the VO gain, who pays
// for it, and what fee for holding nodes stops it? Two VOs share the sites of the preset
// default, with half of its jobs each and a budget that never limits them. One of them
// books each job when it is needed. The other does the same, or books earlier, or books
// earlier and twice as many, giving up half. A fee changes no decision, so the settings of
// one seed differ only in what is charged.

// HoardingOptions say how much of the experiment is run.
type HoardingOptions struct {
	Seed uint64
	Runs int                   // with the seeds Seed, Seed+1, ...
	Done func(done, total int) // called after each run of a setting, never at once
}

// The world of the study.
const (
	hoarder    = "vo2"
	neededJobs = 120
	notice     = 6 * grid.Hour // how long ahead is booked
)

// hoarding is how the second VO books.
type hoarding struct {
	name  string
	ahead grid.Duration
	twice bool
	fee   configs.Thousandths // of the base price, for an hour
}

const whenKnown = "booked when needed"

var hoardings = []hoarding{
	{name: whenKnown},
	{name: "booked 6 h ahead", ahead: notice},
	{name: "twice as many, half given up", ahead: notice, twice: true},
	{name: "the same, fee 1 % an hour", ahead: notice, twice: true, fee: configs.One / 100},
	{name: "the same, fee 2 % an hour", ahead: notice, twice: true, fee: configs.One / 50},
	{name: "the same, fee 5 % an hour", ahead: notice, twice: true, fee: configs.One / 20},
}

// hoardingFigure is a figure of one run.
type hoardingFigure int

const (
	untilEnd    hoardingFigure = iota // h from when a job may start, of the hoarder's that are kept
	keptCost                          // credits a job kept, for those given up too
	keptLoss                          // credits a job kept
	keptShare                         // % of those that nobody gave up
	otherEnd                          // h, of the other VO
	otherCost                         // credits a job
	waitOfLocal                       // h, mean over the sites
	hoardingFigures
)

var hoardingNames = [hoardingFigures]string{"hours from the need to the end, of a job kept", "cost, credits a job kept", "value lost, credits a job kept", "jobs placed of those not given up, %",
	"the other VO: mean finish, h", "the other VO: cost, credits a job", "mean wait of local jobs, h"}

// Hoarding runs the experiment. A run of every setting takes some half a second on one
// processor.
func Hoarding(opt HoardingOptions) ([]evidence.Row, error) {
	if opt.Runs < 1 {
		return nil, fmt.Errorf("runs = %d: must be 1 or more", opt.Runs)
	}
	outcomes := make([][][hoardingFigures]float64, len(hoardings))
	for i := range outcomes {
		outcomes[i] = make([][hoardingFigures]float64, opt.Runs)
	}
	load := simulation.NewWorkloads()
	failures := parallel.Collect(len(hoardings)*opt.Runs, func() func(int) error {
		return func(i int) (err error) {
			setting, run := i/opt.Runs, i%opt.Runs
			outcomes[setting][run], err = hoardings[setting].run(load, opt.Seed+uint64(run))
			return err
		}
	}, opt.Done)
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	var rows []evidence.Row
	for f := range hoardingFigures {
		for i := range hoardings {
			x := make([]float64, opt.Runs)
			for r := range x {
				x[r] = outcomes[i][r][f]
			}
			rows = append(rows, evidence.NewRow(hoardingNames[f], hoardings[i].name, evidence.Claim{}, "seed", evidence.Average(x), evidence.Unjudged(evidence.Measured)))
			if i == 0 {
				continue
			}
			for r := range x {
				x[r] -= outcomes[0][r][f]
			}
			d := evidence.Average(x)
			rows = append(rows, evidence.NewRow(hoardingNames[f]+", more than "+whenKnown, hoardings[i].name, evidence.Claim{}, "seed", d, evidence.Worded(d.Estimate, "more", "less")))
		}
	}
	return rows, nil
}

// scenario is the world in which the second VO books so.
func (h *hoarding) scenario() (*configs.Scenario, error) {
	sc, err := configs.Preset("default")
	if err != nil {
		return nil, err
	}
	sc.Sites = slices.Clone(sc.Sites)
	for i := range sc.Sites {
		sc.Sites[i].HoldingFee = h.fee
	}
	one := sc.Brokers[0]
	one.Budget, one.BudgetUntil = 1_000_000*grid.Credit, configs.Moment{After: sc.Until}
	work := *one.Workload
	work.Jobs = neededJobs
	one.Workload = &work
	other, jobs := one, work
	other.Name, jobs.Ahead = hoarder, h.ahead
	if h.twice {
		jobs.Jobs, jobs.Cancel = 2*neededJobs, configs.One/2
		jobs.CancelAt = configs.Range[configs.Thousandths]{Lo: configs.One * 9 / 20, Hi: configs.One / 2}
	}
	other.Workload = &jobs
	sc.Brokers = []configs.Broker{one, other}
	return sc, nil
}

// run is the setting with one seed.
func (h *hoarding) run(load *simulation.Workloads, seed uint64) (f [hoardingFigures]float64, err error) {
	sc, err := h.scenario()
	if err != nil {
		return f, err
	}
	world := simulation.Simulation{Scenario: sc, Workloads: load}
	rep, err := world.Run(seed, simulation.Record{})
	if err != nil {
		return f, fmt.Errorf("%s, seed %d: %w", h.name, seed, err)
	}
	return h.outcome(&rep.Summary), nil
}

func (h *hoarding) outcome(s *report.Summary) (f [hoardingFigures]float64) {
	honest, hoards := &s.Brokers[0], &s.Brokers[1]
	kept, others := float64(max(1, hoards.Jobs.Placed)), float64(max(1, honest.Jobs.Placed))
	f[untilEnd] = (hoards.MeanFinish - h.ahead).Hours()
	f[keptCost], f[keptLoss] = hoards.Value.Cost.Float()/kept, hoards.Value.Total.Float()/kept
	f[keptShare] = 100 * float64(hoards.Jobs.Placed) / float64(max(1, hoards.Jobs.Submitted-hoards.Jobs.GivenUp))
	f[otherEnd], f[otherCost] = honest.MeanFinish.Hours(), honest.Value.Cost.Float()/others
	for i := range s.Sites {
		f[waitOfLocal] += s.Sites[i].Local.MeanWait.Hours() / float64(len(s.Sites))
	}
	return f
}

// HoardingFinding says what hoarding gains and what it costs.
func HoardingFinding(rows []evidence.Row) string {
	more := func(f hoardingFigure, setting string) *evidence.Row {
		i := slices.IndexFunc(rows, func(r evidence.Row) bool {
			return r.Measure == hoardingNames[f]+", more than "+whenKnown && r.Setting == setting
		})
		return &rows[i]
	}
	say := func(r *evidence.Row) string { return fmt.Sprintf("%+.2f ± %.2f", r.Here, r.CI95) }
	free := hoardings[2].name
	text := fmt.Sprintf("Who books twice as many 6 h ahead and gives half of them up ends its jobs %s h after the need against booking then, and each costs %s credits more and loses %s; local jobs wait %s h longer.",
		say(more(untilEnd, free)), say(more(keptCost, free)), say(more(keptLoss, free)), say(more(waitOfLocal, free)))
	for _, h := range hoardings[3:] {
		if r := more(keptLoss, h.name); r.Here > r.CI95 {
			return text + fmt.Sprintf(" With %s it loses %s credits a job kept.", h.name[len("the same, "):], say(r))
		}
	}
	return text + " No fee that was tried makes that a loss beyond its interval."
}
