package studies

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload"
)

// pricingCell is one setting of the experiments.
type pricingCell struct {
	copies   int // of the jobs, in hundredths
	share    int // of reservations, in hundredths
	alpha    int
	policy   backfill.Policy
	exact    bool          // the runs are known: estimates are the runs
	priority bool          // the drawn go into a high-priority queue instead
	notice   grid.Duration // time between the request and the earliest start
	lying    bool          // a tenth of the other jobs declares a delay cost,
	declared int           // in hundredths of the true one
}

// tenth is the paper's usual setting.
func tenth(copies, alpha int) pricingCell {
	return pricingCell{copies: copies, share: 10, alpha: alpha, policy: backfill.EASY}
}

// seeds returns how many seeds a run of the setting has. If every reservation also draws an
// alpha, one near 0 meets a long queue now and then, so more seeds are needed to tell the
// mean prices of two policies apart.
func (c *pricingCell) seeds(runs int) int {
	if c.alpha < 0 && runs >= 10 {
		return 3
	}
	return 1
}

// String names the setting.
func (c pricingCell) String() string {
	s := fmt.Sprintf("+%d %%", c.copies)
	if c.policy != backfill.EASY {
		s += ", " + c.policy.String()
	}
	what := "reservations"
	if c.priority {
		what = "high priority"
	}
	if c.share != 10 || c.priority {
		s += fmt.Sprintf(", %d %% %s", c.share, what)
	}
	switch {
	case c.priority:
	case c.alpha == mixedAlpha:
		s += ", random alpha"
	case c.alpha == mixedTenths:
		s += ", random alpha in tenths"
	default:
		s += fmt.Sprintf(", alpha %v", float64(c.alpha)/10)
	}
	if c.exact {
		s += ", exact estimates"
	}
	return s
}

// pricingOutcome is the result of one run under one setting. Waits are in hours, prices in
// SU of 3600 node-seconds.
type pricingOutcome struct {
	utilisation float64 // %
	price       float64 // mean, of reservations
	free        float64 // % that pay nothing
	below       float64 // % that pay less than a high-priority queue asks: rho < 1
	dearest     [2]float64
	wait        float64 // mean, of the drawn
	local       float64 // mean, of the others
	late        float64 // % of reservations that start later than asked
	harm        float64 // of a lying user: SU of waiting, mean of the user's jobs
	refund      float64 // SU that the user is paid, mean of the user's jobs

	blocks []pricingSums // by block of the workload
}

// The dearest tenth and fifth of the reservations pay this rho or more.
var dearestShares = [2]int{10, 20}

// Streams of the study beside those of a replay.
const (
	streamLiars = 101 + iota
	streamSample
)

// pricingRun is one run of a trace. It draws the same in every setting.
type pricingRun struct {
	trace *PricingTrace
	cut   *pricingBlocks
	seed  uint64
}

// jobs returns the jobs of a setting, with which of them are drawn and which lie.
func (r *pricingRun) jobs(c *pricingCell) (jobs []grid.LocalJob, drawn, liars []bool, err error) {
	if jobs, err = simulation.CopyJobs(r.trace.Jobs, float64(c.copies)/100, r.seed); err != nil {
		return nil, nil, nil, err
	}
	drawn = simulation.DrawReservations(jobs, r.trace.Nodes, float64(c.share)/100, r.seed)
	if c.lying {
		liars = make([]bool, len(jobs))
		for _, i := range workload.Draw(len(jobs), 0.1, rand.New(rand.NewPCG(r.seed, streamLiars))) {
			liars[i] = !drawn[i]
		}
	}
	for i := range jobs {
		j := &jobs[i]
		if j.Queue = 0; c.priority && drawn[i] || c.lying && liars[i] {
			j.Queue = 1
		}
		if c.exact {
			j.Estimate = j.Run
		}
	}
	return jobs, drawn, liars, nil
}

// replay replays the jobs of a setting; without is the place of one left out.
func (r *pricingRun) replay(c *pricingCell, jobs []grid.LocalJob, without int, delays bool) (*simulation.Replay, error) {
	opt := simulation.ReplayOptions{
		Nodes: r.trace.Nodes, Policy: c.policy, Limit: pricingQueue, Seed: r.seed,
		Reservations: float64(c.share) / 100, Notice: c.notice, Without: without, Delays: delays,
		Queues: []queue.Named{{Rate: 1000, DelayCost: 1000}, {Rate: 1000, DelayCost: int64(c.declared) * 10}},
	}
	if c.alpha < 0 {
		opt.Mixed, opt.Tenths = true, c.alpha == mixedTenths
	} else {
		opt.Alpha = choice.Alpha(c.alpha) * choice.One / 10
	}
	if c.priority {
		opt.Reservations = 0
		opt.Queues[1] = queue.Named{Priority: 1, Rate: 2000, DelayCost: 1000}
	}
	result, err := simulation.RunReplay(jobs, opt)
	if err != nil {
		return nil, fmt.Errorf("%s, %v: %w", r.trace.Name, c, err)
	}
	return result, nil
}

// run runs one setting.
func (r *pricingRun) run(c *pricingCell) (o pricingOutcome, err error) {
	jobs, drawn, liars, err := r.jobs(c)
	if err != nil {
		return o, err
	}
	result, err := r.replay(c, jobs, 0, c.lying)
	if err != nil {
		return o, err
	}
	s := result.Summary(true)
	o.utilisation = 100 * s.Utilisation
	o.price, o.free, o.below = s.MeanPriceSU, 100*s.ShareFree, 100*s.ShareBelowHighPriority
	var rhos, waits, others []float64
	late := 0
	o.blocks = r.cut.spans(result, s.Makespan)
	for i := range result.Outcomes {
		x := &result.Outcomes[i]
		if !x.Ran() {
			continue
		}
		b := &o.blocks[r.cut.of(&x.Job)]
		b.work += float64(x.Job.Nodes) * x.End.Sub(x.Start).Hours()
		if !drawn[i] {
			others = append(others, x.Wait().Hours())
			b.others.add(x.Wait().Hours())
			continue
		}
		wait := max(0, x.Wait()-c.notice)
		waits = append(waits, wait.Hours())
		b.waits.add(wait.Hours())
		if wait > 0 {
			late++
			b.late++
		}
		if x.Reserved() {
			rho := float64(x.Additive) / (float64(x.Job.Nodes) * float64(x.End.Sub(x.Start)))
			rhos = append(rhos, rho)
			b.reserve(x.Additive.Hours(), rho, *c == tenth(c.copies, 0))
		}
	}
	o.wait, _ = evidence.Interval(waits)
	o.local, _ = evidence.Interval(others)
	if len(waits) > 0 {
		o.late = 100 * float64(late) / float64(len(waits))
	}
	slices.Sort(rhos)
	o.dearest = dearest(rhos)
	if c.lying {
		o.harm, o.refund = r.lying(c, result, liars, o.blocks)
	}
	return o, nil
}

// dearest are the rhos that the dearest shares of a sorted list pay or exceed.
func dearest(rhos []float64) (least [len(dearestShares)]float64) {
	if n := len(rhos); n > 0 {
		for k, share := range dearestShares {
			least[k] = rhos[max(0, n-max(1, n*share/100))]
		}
	}
	return least
}

// lying returns what the waits of lying users cost them at their true delay cost, and what
// reservations would refund them, in SU per job.
func (r *pricingRun) lying(c *pricingCell, result *simulation.Replay, liars []bool, blocks []pricingSums) (harm, refund float64) {
	n := 0.0
	for i := range result.Outcomes {
		if x := &result.Outcomes[i]; liars[i] && x.Ran() {
			waited := float64(x.Job.Nodes) * x.Wait().Hours()
			n++
			harm += waited
			blocks[r.cut.of(&x.Job)].harm.add(waited)
		}
	}
	for _, list := range result.Delays {
		for _, d := range list {
			if liars[d.Job-1] {
				paid := float64(d.Nodes) * d.By.Hours() * float64(c.declared) / 100
				refund += paid
				blocks[r.cut.of(&result.Outcomes[d.Job-1].Job)].refund += paid
			}
		}
	}
	return harm / max(n, 1), refund / max(n, 1)
}
