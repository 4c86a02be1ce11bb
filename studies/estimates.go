package studies

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/parallel"
	"github.com/bourse-grid/bourse/policy/admission"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/estimates"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload"
)

// The experiment on estimates is our own, with a claim of Tsafrir, Etsion and Feitelson
// (TPDS 2007): jobs wait less in a queue that is planned by the mean of a user's last two
// runs instead of the users' requests, by a quarter if the shortest job overtakes first
// (EASY++). The rule tsafrir is theirs, last-two a variant of our own. Each log is replayed
// completely under each policy, planned by each rule; a job is still killed at its
// requested time. The intervals are over the weeks of the log, or over the days of a short
// one.
//
// Next to that are the effects of the same rules on the jobs that LibraRisk ends in time,
// and on the prices of reservations: how close these come to the delays that they pay for.
// Finally there is EASY by fair share, planned by requests, which is the order of
// schedulers in common use.

// EstimatesTrace is a log of the study.
type EstimatesTrace struct {
	Name   string
	Nodes  int
	Trace  *workload.Trace
	Priced bool // its first 30 days are also replayed with reservations
	Long   bool // its queue is too long for the conservative policy, whose promises each wrong prediction moves
}

// EstimatesOptions say how much of the experiment is run.
type EstimatesOptions struct {
	Seed   uint64
	Runs   int                   // draws of the deadlines, and of the reservations
	Sample int                   // reservations of each draw whose delays are measured
	By     evidence.Blocks       // that the workload is resampled by
	Done   func(done, total int) // called after each replay, never at once
}

var (
	estimateRules    = []estimates.Rule{estimates.Request, estimates.Exact, estimates.Tsafrir, estimates.LastTwo, estimates.Regression}
	estimatePolicies = []backfill.Policy{backfill.EASY, backfill.EASYShortest, backfill.Conservative}
)

const (
	estimatesLimit = 50_000 // jobs that wait at most
	shortLog       = 8 * evidence.Week
)

// estimateSums has the results of one block's jobs. In figures by user, a job weighs one
// over the number of its user's jobs in the log.
type estimateSums struct{ jobs, wait, slowdown, accuracy, users, userWait float64 }

// estimateFigures are the figures of a replay, each a sum over jobs by block.
var estimateFigures = []struct {
	name string
	of   func(*estimateSums) float64
}{
	{"mean wait, h", func(s *estimateSums) float64 { return s.wait }},
	{"mean bounded slowdown", func(s *estimateSums) float64 { return s.slowdown }},
}

const (
	accuracyName  = "accuracy of estimates at submission, %"
	estimatesMet  = "LibraRisk: jobs that end in time, %"
	estimatesBare = "LibraRisk, overrun_share bare: jobs that end in time, %"
	slowdownsLess = "mean bounded slowdown: less than by requests under EASY, %"
	usersWait     = "mean over users of their mean wait, h"
	lessName      = ": less than by requests, %"
	moreName      = ": more than by requests"
)

// priceFigures compare prices with the delays that reservations really caused.
var priceFigures = []struct {
	name string
	of   func(*quoteOutcome) float64
}{
	{"reservations: mean price, SU", func(o *quoteOutcome) float64 { return o.charged }},
	{"reservations: correlation of price and later starts of those who waited", func(o *quoteOutcome) float64 { return o.waiting }},
	{"reservations: correlation of price and net delay of all", func(o *quoteOutcome) float64 { return o.net }},
}

// estimatesStudy has the results of all replays.
type estimatesStudy struct {
	traces []EstimatesTrace
	opt    EstimatesOptions
	jobs   [][]grid.LocalJob
	cut    []*evidence.Cutter
	over   []string             // by trace: what a block of it is
	own    []map[int64]float64  // by trace: jobs of each user
	sums   [][][][]estimateSums // by trace, policy, rule, block
	fair   [][]estimateSums     // by trace, block: by fair share and requests
	met    [][][]float64        // by trace, rule, draw
	bare   [][][]float64        // the same where overruns get what bare shares leave
	quotes [][][]quoteOutcome   // by trace, rule, draw
	lasts  [][]admissionJob     // by trace
	rows   []evidence.Row
}

// Estimates runs the experiment. The replays of four logs take two minutes on one
// processor, with ten draws of the rest as much again.
func Estimates(traces []EstimatesTrace, opt EstimatesOptions) ([]evidence.Row, error) {
	if opt.Runs < 1 {
		return nil, fmt.Errorf("runs = %d: must be 1 or more", opt.Runs)
	}
	e := &estimatesStudy{traces: traces, opt: opt}
	blocks := make([]int, len(traces))
	for i := range traces {
		if err := e.add(&traces[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", traces[i].Name, err)
		}
	}
	if err := e.run(); err != nil {
		return nil, err
	}
	for i := range traces {
		blocks[i] = e.cut[i].Blocks()
	}
	e.rows = e.all(nil)
	evidence.Resample(e.rows, blocks, simulation.SeedOf(opt.Seed, "estimates workload"), e.all)
	return e.rows, nil
}

// policies are the policies under which a log is replayed.
func (e *estimatesStudy) policies(t int) []backfill.Policy {
	if e.traces[t].Long {
		return estimatePolicies[:2]
	}
	return estimatePolicies
}

// add adds a log.
func (e *estimatesStudy) add(t *EstimatesTrace) error {
	jobs, _ := t.Trace.Jobs(workload.JobOptions{})
	if len(jobs) < leastForecasts {
		return fmt.Errorf("the trace has %d jobs that ran; must be %d or more", len(jobs), leastForecasts)
	}
	first, last := jobs[0].Submit, jobs[len(jobs)-1].Submit
	span, over := grid.Duration(evidence.Week), "week"
	if last.Sub(first) < shortLog {
		span, over = grid.Day, "day"
	}
	if e.opt.By == evidence.ByUsers {
		over = "user"
	}
	cut := evidence.NewCutterOf(span, e.opt.By, first, last)
	own := map[int64]float64{}
	for i := range jobs {
		cut.Block(jobs[i].Submit, jobs[i].User)
		own[jobs[i].User]++
	}
	lasts, _, err := lastJobs(t.Trace, e.opt.By)
	if err != nil {
		lasts = nil // too few for deadlines
	}
	e.own = append(e.own, own)
	e.jobs, e.cut, e.over, e.lasts = append(e.jobs, jobs), append(e.cut, cut), append(e.over, over), append(e.lasts, lasts)
	return nil
}

// run does everything that is not known yet, on all processors.
func (e *estimatesStudy) run() error {
	var tasks []func() error
	task := func(f func() error) { tasks = append(tasks, f) }
	n := len(e.traces)
	e.fair = make([][]estimateSums, n)
	e.sums, e.met, e.bare, e.quotes = make([][][][]estimateSums, n), make([][][]float64, n), make([][][]float64, n), make([][][]quoteOutcome, n)
	for t := range e.traces {
		task(func() (err error) { e.fair[t], err = e.replay(t, backfill.EASYFair, estimates.Request); return err })
		for _, policy := range e.policies(t) {
			list := make([][]estimateSums, len(estimateRules))
			e.sums[t] = append(e.sums[t], list)
			for r, rule := range estimateRules {
				task(func() (err error) { list[r], err = e.replay(t, policy, rule); return err })
			}
		}
		for r := range estimateRules {
			met, bare, quotes := make([]float64, e.opt.Runs), make([]float64, e.opt.Runs), make([]quoteOutcome, e.opt.Runs)
			if e.lasts[t] != nil {
				e.met[t], e.bare[t] = append(e.met[t], met), append(e.bare[t], bare)
			}
			if e.traces[t].Priced {
				e.quotes[t] = append(e.quotes[t], quotes)
			}
			for run := range e.opt.Runs {
				if e.lasts[t] != nil {
					task(func() error { met[run] = e.admit(t, r, run, false); return nil })
					task(func() error { bare[run] = e.admit(t, r, run, true); return nil })
				}
				if e.traces[t].Priced {
					task(func() (err error) { quotes[run], err = e.price(t, r, run); return err })
				}
			}
		}
	}
	failures := parallel.Collect(len(tasks), func() func(int) error { return func(i int) error { return tasks[i]() } }, e.opt.Done)
	return errors.Join(failures...)
}

// replay replays a log and sums up by block.
func (e *estimatesStudy) replay(t int, policy backfill.Policy, rule estimates.Rule) ([]estimateSums, error) {
	replay, err := simulation.RunReplay(e.jobs[t], simulation.ReplayOptions{Nodes: e.traces[t].Nodes, Policy: policy, Estimates: rule, Limit: estimatesLimit})
	if err != nil {
		return nil, fmt.Errorf("%s, %v, %v: %w", e.traces[t].Name, policy, rule, err)
	}
	sums, cut := make([]estimateSums, e.cut[t].Blocks()), *e.cut[t]
	for i := range replay.Outcomes {
		o := &replay.Outcomes[i]
		if !o.Ran() {
			continue
		}
		s, run, planned := &sums[cut.Block(o.Job.Submit, o.Job.User)], o.End.Sub(o.Start), o.Job.Planned()
		s.jobs++
		s.wait += o.Wait().Hours()
		one := 1 / e.own[t][o.Job.User]
		s.users += one
		s.userWait += one * o.Wait().Hours()
		s.slowdown += max(1, (o.Wait()+run).Seconds()/max(run, simulation.SlowdownThreshold).Seconds())
		s.accuracy += 100 * float64(min(run, planned)) / float64(max(run, planned, 1))
	}
	return sums, nil
}

// admit returns the share of a log's last jobs that LibraRisk ends in time.
func (e *estimatesStudy) admit(t, rule, run int, bare bool) float64 {
	c := &admissionCell{control: admission.LibraRisk, inaccuracy: 100, delay: 100, ratio: 4, urgent: 20, spread: 250,
		nodes: e.traces[t].Nodes, rule: estimateRules[rule], bare: bare}
	jobs := slices.Clone(e.lasts[t])
	for i := range jobs {
		jobs[i].block = 0
	}
	return runAdmission(c, jobs, 1, drawAdmission(len(jobs), e.opt.Seed+uint64(run))).met
}

// price measures what some of the reservations really did.
func (e *estimatesStudy) price(t, rule, run int) (o quoteOutcome, err error) {
	jobs := e.jobs[t]
	end := jobs[0].Submit.Add(30 * grid.Day)
	jobs = jobs[:firstFrom(jobs, end)]
	opt := simulation.ReplayOptions{Nodes: e.traces[t].Nodes, Policy: backfill.EASY, Estimates: estimateRules[rule], Limit: estimatesLimit,
		Reservations: 0.1, Seed: e.opt.Seed + uint64(run), Delays: true}
	with, err := simulation.RunReplay(jobs, opt)
	if err != nil {
		return o, err
	}
	var places []int
	for i, drawn := range simulation.DrawReservations(jobs, opt.Nodes, opt.Reservations, opt.Seed) {
		if drawn {
			places = append(places, i)
		}
	}
	rng := rand.New(rand.NewPCG(opt.Seed, streamSample))
	var list []measuredDelay
	for _, k := range workload.Draw(len(places), min(1, float64(e.opt.Sample)/float64(max(1, len(places)))), rng) {
		opt.Without, opt.Delays = places[k]+1, false
		without, err := simulation.RunReplay(jobs, opt)
		if err != nil {
			return o, err
		}
		list = append(list, compareReplays(with, without, places[k]))
	}
	return judge(list), nil
}

// firstFrom returns the place of the first job submitted at an instant or later.
func firstFrom(jobs []grid.LocalJob, at grid.Time) int {
	i, _ := slices.BinarySearchFunc(jobs, at, func(j grid.LocalJob, at grid.Time) int {
		if j.Submit < at {
			return -1
		}
		return 1
	})
	return i
}
