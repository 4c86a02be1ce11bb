package balance

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/parallel"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload"
)

// The experiment on load balancing is our own: Singh, Kesselman and Deelman claim
// that prices that follow the queue lead users away from busy sites, and measure
// one site. Here a VO's broker goes by several strategies among sites of unequal
// load, under fixed and under adaptive prices; and the sites' own users choose for
// themselves, see users.go. Every setting draws the same jobs, so that
// settings are compared seed by seed.

// Options say how much of the experiment is run.
type Options struct {
	Seed   uint64
	Runs   int                   // with the seeds Seed, Seed+1, ...
	Traces []Trace               // in place of the generated workloads, if there are any
	Done   func(done, total int) // called after each run of a setting, in no order, never at once
}

// Trace is the log of a machine and the machine's size.
type Trace struct {
	Trace *workload.Trace
	Nodes int
}

// policy is one setting of the broker and of the sites' prices.
type policy struct {
	strategy  choice.Strategy
	alpha     configs.Thousandths
	algorithm search.Algorithm
	pricing   pricing.Scheme
}

// String names the setting but for the prices.
func (c policy) String() string {
	switch {
	case !c.strategy.OneByOne():
		return c.strategy.String() + " " + c.algorithm.String()
	case c.strategy.TakesAlpha():
		return c.strategy.String() + " " + c.alpha.String()
	}
	return c.strategy.String()
}

// policies are the settings of the broker; the first is what the others
// are compared with.
var policies = []policy{
	{strategy: choice.Random}, {strategy: choice.ShortestQueue}, {strategy: choice.Earliest},
	{strategy: choice.ByPreference, alpha: 250}, {strategy: choice.ByPreference, alpha: 500}, {strategy: choice.ByPreference, alpha: 750}, {strategy: choice.ByPreference, alpha: 1000},
	{strategy: choice.Batch, algorithm: search.ALP}, {strategy: choice.Batch, algorithm: search.AMP}, {strategy: choice.Batch, algorithm: search.Best},
}

// figure is a figure of one run.
type figure int

const (
	usedSpread  figure = iota // of the sites' utilisation, standard deviation in points
	localWait                 // mean of the local jobs that started, h
	localSlow                 // their mean bounded slowdown
	voWait                    // mean of the VO's jobs that were placed, h
	voSlow                    // their mean bounded slowdown
	voPlaced                  // % of the VO's jobs
	voPaid                    // credits per node-hour
	voExtra                   // % of the base price
	earned                    // mean of the sites' incomes from the VO, credits a node over the run
	earnedLeast               // that of the site that earns least
	earnedMost                // and of the one that earns most
	earnJain                  // Jain's index of the sites' incomes per node
	waitJain                  // Jain's index of the sites' mean local slowdowns
	figures
)

var figureNames = [figures]string{
	"spread of the sites' utilisation, points", "mean wait of local jobs, h", "bounded slowdown of local jobs",
	"mean wait of VO jobs, h", "bounded slowdown of VO jobs", "VO jobs placed, %", "VO pays, credits per node-hour",
	"VO pays above base, %", "a site earns of the VO, credits a node", "the site that earns least, credits a node",
	"the site that earns most, credits a node", "fairness of incomes, Jain's index", "fairness of local slowdowns, Jain's index",
}

// Run runs the experiment and returns its figures: those of every strategy under
// fixed and adaptive prices, their differences from random choice and from fixed prices,
// and those of users who choose for themselves. It is an error if a trace has no jobs.
// Intervals need at least two runs. A run of every setting takes some three seconds on one
// processor.
func Run(opt Options) ([]evidence.Row, error) {
	if opt.Runs < 1 {
		return nil, fmt.Errorf("runs = %d: must be 1 or more", opt.Runs)
	}
	scenario, load, err := scenarioOf(opt.Traces)
	if err != nil {
		return nil, err
	}
	r := &results{runs: opt.Runs}
	for _, scheme := range []pricing.Scheme{pricing.Fixed, pricing.Adaptive} {
		for _, c := range policies {
			c.pricing = scheme
			r.cells = append(r.cells, c)
		}
	}
	r.outcomes = make([][][figures]float64, len(r.cells))
	for i := range r.outcomes {
		r.outcomes[i] = make([][figures]float64, opt.Runs)
	}
	r.users = make([][]marketOutcome, len(regimes))
	for i := range r.users {
		r.users[i] = make([]marketOutcome, opt.Runs)
	}
	settings := len(r.cells) + len(regimes)
	failures := parallel.Collect(settings*opt.Runs, func() func(int) error {
		return func(i int) (err error) {
			run, s := i/settings, i%settings
			seed := opt.Seed + uint64(run)
			if s < len(r.cells) {
				r.outcomes[s][run], err = runPolicy(scenario, load, r.cells[s], seed)
			} else {
				r.users[s-len(r.cells)][run], err = marketRun(scenario, load, regimes[s-len(r.cells)], seed)
			}
			return err
		}
	}, opt.Done)
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	return r.rows(), nil
}

// scenarioOf returns the preset "unequal", or one with the sites of the traces: at
// least three, the second and third of them with a fifth and two fifths of their jobs
// doubled.
func scenarioOf(traces []Trace) (*configs.Scenario, *simulation.Workloads, error) {
	sc, err := configs.Preset("unequal")
	if err != nil {
		return nil, nil, err
	}
	load := simulation.NewWorkloads()
	if len(traces) == 0 {
		return sc, load, nil
	}
	form := sc.Sites[0]
	sc.Sites = nil
	nodes := 0
	for i := range max(3, len(traces)) {
		t := traces[i%len(traces)]
		if t.Nodes < 1 || len(t.Trace.Records) == 0 {
			return nil, nil, fmt.Errorf("%s: %d jobs on %d processors; must be a log with jobs and the size of its machine",
				t.Trace.Name, len(t.Trace.Records), t.Nodes)
		}
		s := form
		s.Name = fmt.Sprintf("site%d-%s", i+1, t.Trace.Name[strings.LastIndexByte(t.Trace.Name, '/')+1:])
		s.Groups = []grid.Group{form.Groups[0]}
		s.Groups[0].Site, s.Groups[0].Nodes = s.Name, t.Nodes
		s.Workload = &configs.Workload{Trace: t.Trace.Name, Days: form.Workload.Days, Processors: t.Nodes, NeverRan: "drop",
			Copy: configs.Thousandths(200 * min(i, 2))}
		load.Put(t.Trace)
		nodes += t.Nodes
		sc.Sites = append(sc.Sites, s)
	}
	b := *sc.Brokers[0].Workload
	b.Jobs = b.Jobs * nodes / 512 // the share of the machines that the VO asks for stays
	sc.Brokers[0].Workload = &b
	return sc, load, nil
}

// runPolicy is one setting with one seed.
func runPolicy(base *configs.Scenario, load *simulation.Workloads, c policy, seed uint64) (f [figures]float64, err error) {
	sc := *base
	sc.Sites = append([]configs.Site(nil), base.Sites...)
	for i := range sc.Sites {
		sc.Sites[i].Pricing = c.pricing
	}
	b := base.Brokers[0]
	b.Strategy, b.Alpha, b.Algorithm = c.strategy, c.alpha, c.algorithm
	b.Minimize = "finish" // as the paper of the strategies has it: a batch is one more of them
	sc.Brokers = []configs.Broker{b}
	vo := newVOWatch()
	run := simulation.Simulation{Scenario: &sc, Workloads: load}
	rep, err := run.Run(seed, simulation.Record{Hook: vo.hook})
	if err != nil {
		return f, err
	}
	localFigures(&f, rep.Summary.Sites)
	vo.figures(&f, &rep.Summary.Brokers[0])
	return f, nil
}

func localFigures(f *[figures]float64, list []report.SiteSummary) {
	var used, slow, incomes []float64
	started, ended := 0.0, 0.0
	for i := range list {
		s := &list[i]
		used = append(used, 100*s.Utilisation.All)
		slow = append(slow, s.Local.BoundedSlowdown)
		incomes = append(incomes, s.Income.Total.Float()/float64(s.Nodes))
		started += float64(s.Local.Started)
		ended += float64(s.Local.Ended)
		f[localWait] += s.Local.MeanWait.Hours() * float64(s.Local.Started)
		f[localSlow] += s.Local.BoundedSlowdown * float64(s.Local.Ended)
	}
	f[localWait] /= max(1, started)
	f[localSlow] /= max(1, ended)
	f[usedSpread], f[waitJain], f[earnJain] = deviation(used), jain(slow), jain(incomes)
	f[earned], _ = evidence.Interval(incomes)
	f[earnedLeast], f[earnedMost] = slices.Min(incomes), slices.Max(incomes)
}

// voWatch adds up the windows of a VO as they are committed. It folds three kinds of
// facts by itself, because the fold of all facts would keep memory for every job of a
// long run.
type voWatch struct {
	submits            map[string]grid.Time
	begun              map[grid.TxID]facts.TxBegun
	placed, wait, slow float64
	hours              float64 // of nodes
}

func newVOWatch() *voWatch {
	return &voWatch{submits: map[string]grid.Time{}, begun: map[grid.TxID]facts.TxBegun{}}
}

// hook looks at what an agent has recorded.
func (v *voWatch) hook(_ grid.Time, _ agents.ID, out *agents.Outbox) {
	for _, f := range out.Facts {
		switch f := f.(type) {
		case facts.JobSubmitted:
			v.submits[f.Job.Name] = f.Job.Submit
		case facts.TxBegun:
			v.begun[f.Tx] = f
		case facts.TxDecided:
			if f.Commit {
				v.commit(v.begun[f.Tx])
			}
			delete(v.begun, f.Tx)
		}
	}
}

func (v *voWatch) commit(f facts.TxBegun) {
	wait, time := f.Legs[0].Start.Sub(v.submits[f.Job]), grid.Duration(0)
	for _, l := range f.Legs {
		time = max(time, l.Duration())
		v.hours += float64(l.Nodes) * l.Duration().Hours()
	}
	v.placed++
	v.wait += wait.Hours()
	v.slow += max(1, (wait+time).Seconds()/max(time, simulation.SlowdownThreshold).Seconds())
}

func (v *voWatch) figures(f *[figures]float64, s *report.BrokerSummary) {
	f[voWait], f[voSlow] = v.wait/max(1, v.placed), v.slow/max(1, v.placed)
	f[voPlaced] = 100 * v.placed / max(1, float64(s.Jobs.Submitted))
	if v.hours > 0 {
		f[voPaid] = s.Cost.Total.Float() / v.hours
	}
	if s.Cost.Base > 0 {
		f[voExtra] = 100 * s.Cost.Additive.Float() / s.Cost.Base.Float()
	}
}

// deviation is the standard deviation of all there is, not of a sample. It sums
// in this order, not as gonum does, so that published figures keep their last
// digits.
func deviation(values []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(values)))
}

// jain returns Jain's index of fairness: 1 if all values are equal, 1/n if only one is
// above 0; 1 if none is.
func jain(values []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum += v
		squares += v * v
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (float64(len(values)) * squares)
}
