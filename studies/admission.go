package studies

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/policy/admission"
	"github.com/bourse-grid/bourse/simulation"
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
	Done func(done, total int) // called after each simulation, never at once
}

// admissionCell is one setting of the experiment.
type admissionCell struct {
	control    admission.Control
	inaccuracy int  // of the estimates, in hundredths of what the trace's are off
	delay      int  // arrival delay factor in hundredths
	ratio      int  // mean factor of the others over that of the urgent jobs
	urgent     int  // share of the urgent jobs in hundredths
	spread     int  // standard deviation of a factor, thousandths of its mean
	refuseLate bool // LibraRisk refuses lone jobs whose estimates overshoot
	ranOnly    bool // without the jobs that never ran
}

// admissionOutcome is what came of one draw under one setting.
type admissionOutcome struct {
	met      float64 // jobs completed within their deadlines, % of those submitted
	slowdown float64 // their mean response time over runtime
}

// admissionJob is a job as the trace tells it.
type admissionJob struct {
	submit   bourse.Time
	run      bourse.Duration
	estimate bourse.Duration
	nodes    int
	ran      bool // it was not cancelled before it started
}

// admissionDraw is what is drawn for a job, the same in every setting: both are
// uniform in [0, 1).
type admissionDraw struct {
	class  float64 // urgent if below their share
	factor float64 // the place of its deadline factor in the distribution
}

// lastJobs are the last 3000 of a trace: processors are those requested, a
// runtime of 1 s at least stands for that of a job that never ran, and the
// runtime for an estimate that is unknown.
func lastJobs(trace *workload.Trace) ([]admissionJob, error) {
	from := len(trace.Records) - admissionJobs
	if from < 0 {
		return nil, fmt.Errorf("the trace has %d jobs; must be %d or more", len(trace.Records), admissionJobs)
	}
	list := make([]admissionJob, 0, admissionJobs)
	for i := range trace.Records[from:] {
		r := &trace.Records[from+i]
		j := admissionJob{submit: r.Submit(), run: max(bourse.Second, r.Run()), estimate: r.Estimate(), ran: r.Run() > 0}
		if j.nodes = int(r[workload.RequestedProcessors].Whole()); j.nodes <= 0 {
			j.nodes = r.Processors()
		}
		if j.nodes <= 0 {
			return nil, fmt.Errorf("job %d of the trace has no number of processors", r[workload.JobNumber].Whole())
		}
		if j.estimate <= 0 {
			j.estimate = j.run
		}
		list = append(list, j)
	}
	return list, nil
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

// deadline is how long after its submit a job should have ended: its runtime
// times a factor from a normal distribution, drawn again until it is above 1. A
// place in what is left of the distribution does that in one draw.
func (c *admissionCell) deadline(j *admissionJob, d admissionDraw) bourse.Duration {
	mean := float64(urgentFactor)
	if d.class >= float64(c.urgent)/100 {
		mean *= float64(c.ratio)
	}
	normal := distuv.Normal{Mu: mean, Sigma: mean * float64(c.spread) / 1000}
	below := normal.CDF(1)
	factor := normal.Quantile(below + float64(d.factor*(1-below)))
	return max(j.run+1, bourse.Duration(math.Ceil(float64(factor*float64(j.run)))))
}

// job is a job of the trace in a setting. The estimate is the runtime, and of what
// the trace's estimate is off so much as the setting has it.
func (c *admissionCell) job(id int64, j *admissionJob, d admissionDraw, zero bourse.Time) (admission.Job, bourse.Time) {
	submit := zero + (j.submit-zero)*bourse.Time(c.delay)/100
	return admission.Job{
		ID: id, Nodes: j.nodes, Deadline: submit.Add(c.deadline(j, d)),
		Estimate: max(1, j.run+(j.estimate-j.run)*bourse.Duration(c.inaccuracy)/100),
	}, submit
}

// admissionRun is one setting under way.
type admissionRun struct {
	server   admission.Server
	jobs     []admissionJob
	arrivals []bourse.Time
	due      []bourse.Time
	met      int
	slowdown float64
}

// runAdmission runs one draw under one setting.
func runAdmission(c *admissionCell, jobs []admissionJob, draws []admissionDraw) admissionOutcome {
	opt := admission.Options{Control: c.control, Nodes: make([]bourse.Performance, admissionNodes), RefuseLoneLate: c.refuseLate}
	for i := range opt.Nodes {
		opt.Nodes[i] = bourse.Unit
	}
	zero := jobs[0].submit
	server, err := admission.New(opt, zero)
	if err != nil {
		panic(err) // options are constants
	}
	r := &admissionRun{server: server, jobs: jobs, arrivals: make([]bourse.Time, len(jobs)), due: make([]bourse.Time, len(jobs))}
	submitted := 0
	for i := range jobs {
		j, submit := c.job(int64(i), &jobs[i], draws[i], zero)
		if c.ranOnly && !jobs[i].ran {
			continue
		}
		submitted++
		if submit > server.Now() {
			server.Pass() // of the instant before
			r.advance(submit)
		}
		r.arrivals[i], r.due[i] = submit, j.Deadline
		server.Arrive(j, jobs[i].run)
	}
	server.Pass()
	for server.Next() < bourse.Never {
		r.advance(server.Next())
		server.Pass()
	}
	return admissionOutcome{met: 100 * float64(r.met) / float64(submitted), slowdown: r.slowdown / float64(max(1, r.met))}
}

// advance moves the time and counts what ends. At the last instant it leaves the
// pass to the arrivals.
func (r *admissionRun) advance(to bourse.Time) {
	for {
		now := min(to, r.server.Next())
		for _, e := range r.server.Advance(now) {
			if now <= r.due[e.Job] {
				r.met++
				r.slowdown += now.Sub(r.arrivals[e.Job]).Seconds() / r.jobs[e.Job].run.Seconds()
			}
		}
		if now == to {
			return
		}
		r.server.Pass()
	}
}

// runAdmissions runs every setting with every draw, on all processors: by setting,
// then draw.
func runAdmissions(jobs []admissionJob, cells []admissionCell, opt AdmissionOptions) map[admissionCell][]admissionOutcome {
	draws := make([][]admissionDraw, opt.Runs)
	for i := range draws {
		draws[i] = drawAdmission(len(jobs), opt.Seed+uint64(i))
	}
	total := len(cells) * opt.Runs
	results := collect(total, func() func(int) admissionOutcome {
		return func(i int) admissionOutcome { return runAdmission(&cells[i/opt.Runs], jobs, draws[i%opt.Runs]) }
	}, opt.Done)
	outcomes := make(map[admissionCell][]admissionOutcome, len(cells))
	for k, c := range cells {
		outcomes[c] = results[k*opt.Runs : (k+1)*opt.Runs]
	}
	return outcomes
}
