package studies

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/parallel"
	"github.com/bourse-grid/bourse/policy/admission"
	"github.com/bourse-grid/bourse/policy/estimates"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload"
)

// The experiment of Yeo and Buyya (section 4): the last 3000 jobs of the SDSC SP2
// trace with deadlines drawn for them, on 128 nodes.
const (
	admissionJobs  = 3000
	admissionNodes = 128
	urgentFactor   = 4 // mean deadline / runtime of the urgent jobs
)

// AdmissionOptions say how much of the experiment is run.
type AdmissionOptions struct {
	Seed uint64
	Runs int                   // how many times the deadlines are drawn
	By   evidence.Blocks       // that the workload is resampled by
	Done func(done, total int) // called after each simulation, never at once
}

// admissionCell is one setting of the experiment.
type admissionCell struct {
	control    admission.Control
	inaccuracy int            // error of the estimates, in hundredths of the trace's error
	delay      int            // arrival delay factor in hundredths
	ratio      int            // mean factor of the others over that of the urgent jobs
	urgent     int            // share of the urgent jobs in hundredths
	spread     int            // standard deviation of a factor, thousandths of its mean
	refuseLate bool           // LibraRisk refuses lone jobs whose estimates overshoot
	ranOnly    bool           // without the jobs that never ran
	bare       bool           // a task past its estimate gets what the others' bare shares leave
	nodes      int            // of the machine; 0: the paper's
	rule       estimates.Rule // what replaces the estimates of the trace
}

// admissionOutcome is the result of one draw under one setting.
type admissionOutcome struct {
	met      float64 // jobs completed within their deadlines, % of those submitted
	slowdown float64 // their mean response time over runtime
	late     float64 // jobs completed after their deadlines, % of those submitted
	response float64 // their mean response time, h
	longest  float64 // of them, h

	blocks []admissionSums // by block of the workload
}

// admissionSums has the sums from which an outcome's means are computed.
type admissionSums struct {
	submitted, met, slowdown, late, response, longest float64
}

// newAdmissionOutcome computes the weighted means of the blocks; with nil all weigh the
// same.
func newAdmissionOutcome(blocks []admissionSums, weights []float64) (o admissionOutcome) {
	var sum admissionSums
	for i := range blocks {
		b, w := &blocks[i], 1.0
		if weights != nil {
			w = weights[i]
		}
		if w == 0 {
			continue
		}
		sum.submitted += w * b.submitted
		sum.met += w * b.met
		sum.slowdown += w * b.slowdown
		sum.late += w * b.late
		sum.response += w * b.response
		sum.longest = max(sum.longest, b.longest)
	}
	return admissionOutcome{
		met: 100 * sum.met / max(1, sum.submitted), slowdown: sum.slowdown / max(1, sum.met),
		late: 100 * sum.late / max(1, sum.submitted), response: sum.response / max(1, sum.late), longest: sum.longest, blocks: blocks,
	}
}

// admissionJob is a job of the trace.
type admissionJob struct {
	submit   grid.Time
	run      grid.Duration
	estimate grid.Duration
	nodes    int
	ran      bool // it was not cancelled before it started
	user     int64
	block    int // of the workload
}

// admissionDraw is what is drawn for a job, the same in every setting. Both values are
// uniform in [0, 1).
type admissionDraw struct {
	class  float64 // urgent if below their share
	factor float64 // the quantile of its deadline factor
}

// lastJobs returns the last 3000 jobs of a trace. Processors are those requested. A job
// that never ran gets a runtime of 1 s, and an unknown estimate is replaced by the runtime.
func lastJobs(trace *workload.Trace, by evidence.Blocks) (list []admissionJob, blocks int, err error) {
	from := len(trace.Records) - admissionJobs
	if from < 0 {
		return nil, 0, fmt.Errorf("the trace has %d jobs; must be %d or more", len(trace.Records), admissionJobs)
	}
	list = make([]admissionJob, 0, admissionJobs)
	cut := evidence.NewCutter(by, trace.Records[from].Submit(), trace.Records[len(trace.Records)-1].Submit())
	for i := range trace.Records[from:] {
		r := &trace.Records[from+i]
		j := admissionJob{submit: r.Submit(), run: max(grid.Second, r.Run()), estimate: r.Estimate(), ran: r.Run() > 0}
		if j.nodes = int(r[workload.RequestedProcessors].Whole()); j.nodes <= 0 {
			j.nodes = r.Processors()
		}
		if j.nodes <= 0 {
			return nil, 0, fmt.Errorf("job %d of the trace has no number of processors", r[workload.JobNumber].Whole())
		}
		if j.estimate <= 0 {
			j.estimate = j.run
		}
		j.user = r[workload.UserID].Whole()
		j.block = cut.Block(j.submit, j.user)
		list = append(list, j)
	}
	return list, cut.Blocks(), nil
}

// drawAdmission draws for every job, each purpose from a stream of its own.
func drawAdmission(n int, seed uint64) []admissionDraw {
	stream := func(purpose string) *rand.Rand {
		return rand.New(rand.NewPCG(simulation.SeedOf(seed, "admission "+purpose), 0))
	}
	class, factor := stream("class"), stream("factor")
	list := make([]admissionDraw, n)
	for i := range list {
		list[i] = admissionDraw{class.Float64(), factor.Float64()}
	}
	return list
}

// deadline returns how long after its submission a job should have ended: its runtime times
// a factor from a normal distribution truncated to values above 1. It needs one draw, as it
// inverts the truncated distribution.
func (c *admissionCell) deadline(j *admissionJob, d admissionDraw) grid.Duration {
	mean := float64(urgentFactor)
	if d.class >= float64(c.urgent)/100 {
		mean *= float64(c.ratio)
	}
	normal := distuv.Normal{Mu: mean, Sigma: mean * float64(c.spread) / 1000}
	below := normal.CDF(1)
	factor := normal.Quantile(below + float64(d.factor*(1-below)))
	return max(j.run+1, grid.Duration(math.Ceil(float64(factor*float64(j.run)))))
}

// job returns a job of the trace in a setting. The estimate is the runtime plus the
// setting's part of the error of the trace's estimate.
func (c *admissionCell) job(id int64, j *admissionJob, d admissionDraw, zero grid.Time) (admission.Job, grid.Time) {
	submit := zero + (j.submit-zero)*grid.Time(c.delay)/100
	return admission.Job{
		ID: id, Nodes: j.nodes, Deadline: submit.Add(c.deadline(j, d)),
		Estimate: max(1, j.run+(j.estimate-j.run)*grid.Duration(c.inaccuracy)/100),
	}, submit
}

// admissionRun is one setting under way.
type admissionRun struct {
	server   admission.Server
	jobs     []admissionJob
	arrivals []grid.Time
	due      []grid.Time
	blocks   []admissionSums

	predictor *estimates.Predictor
}

// local is a job as its predictor knows it.
func (j *admissionJob) local() *grid.LocalJob {
	return &grid.LocalJob{Submit: j.submit, Run: j.run, Estimate: j.estimate, Nodes: j.nodes, User: j.user}
}

// runAdmission runs one draw under one setting.
func runAdmission(c *admissionCell, jobs []admissionJob, blocks int, draws []admissionDraw) admissionOutcome {
	opt := admission.Options{Control: c.control, Nodes: make([]grid.Performance, cmp.Or(c.nodes, admissionNodes)), RefuseLoneLate: c.refuseLate, OverrunBare: c.bare}
	for i := range opt.Nodes {
		opt.Nodes[i] = grid.Unit
	}
	zero := jobs[0].submit
	server, err := admission.New(opt, zero)
	if err != nil {
		panic(err) // options are constants
	}
	r := &admissionRun{server: server, jobs: jobs, arrivals: make([]grid.Time, len(jobs)), due: make([]grid.Time, len(jobs)), blocks: make([]admissionSums, blocks),
		predictor: estimates.New(c.rule)}
	for i := range jobs {
		j, submit := c.job(int64(i), &jobs[i], draws[i], zero)
		if c.ranOnly && !jobs[i].ran {
			continue
		}
		r.blocks[jobs[i].block].submitted++
		if submit > server.Now() {
			server.Pass() // of the instant before
			r.advance(submit)
		}
		r.arrivals[i], r.due[i] = submit, j.Deadline
		if c.rule.Predicts() {
			j.Estimate = r.predictor.Predict(jobs[i].local(), j.Estimate)
		}
		server.Arrive(j, jobs[i].run)
	}
	server.Pass()
	for server.Next() < grid.Never {
		r.advance(server.Next())
		server.Pass()
	}
	return newAdmissionOutcome(r.blocks, nil)
}

// advance moves the time and counts what ends. At the last instant it leaves the
// pass to the arrivals.
func (r *admissionRun) advance(to grid.Time) {
	for {
		now := min(to, r.server.Next())
		for _, e := range r.server.Advance(now) {
			job := &r.jobs[e.Job]
			b, response := &r.blocks[job.block], now.Sub(r.arrivals[e.Job])
			r.predictor.Learn(job.local(), job.estimate, job.run)
			if now <= r.due[e.Job] {
				b.met++
				b.slowdown += response.Seconds() / r.jobs[e.Job].run.Seconds()
				continue
			}
			b.late++
			b.response += response.Hours()
			b.longest = max(b.longest, response.Hours())
		}
		if now == to {
			return
		}
		r.server.Pass()
	}
}

// runAdmissions runs every setting with every draw, on all processors: by setting,
// then draw.
func runAdmissions(jobs []admissionJob, blocks int, cells []admissionCell, opt AdmissionOptions) map[admissionCell][]admissionOutcome {
	draws := make([][]admissionDraw, opt.Runs)
	for i := range draws {
		draws[i] = drawAdmission(len(jobs), opt.Seed+uint64(i))
	}
	total := len(cells) * opt.Runs
	results := parallel.Collect(total, func() func(int) admissionOutcome {
		return func(i int) admissionOutcome { return runAdmission(&cells[i/opt.Runs], jobs, blocks, draws[i%opt.Runs]) }
	}, opt.Done)
	outcomes := make(map[admissionCell][]admissionOutcome, len(cells))
	for k, c := range cells {
		outcomes[c] = results[k*opt.Runs : (k+1)*opt.Runs]
	}
	return outcomes
}
