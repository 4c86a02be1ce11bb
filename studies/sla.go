package studies

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/parallel"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/policy/sla"
	"github.com/bourse-grid/bourse/simulation"
)

// The experiment of Netto, Bubendorfer and Buyya (2007, section 4): intervals of
// 15 days of the SDSC SP2 trace as reservations with deadlines, on an empty
// machine of 128 processors each.
const (
	slaNodes    = 128
	slaInterval = 15 * grid.Day
	slaShortest = grid.Minute // shorter jobs are left out
)

// SLAOptions say how much of the experiment is run.
type SLAOptions struct {
	Seed      uint64
	Runs      int                   // how many times the deadlines of each interval are drawn
	Intervals int                   // number of intervals; 0: all complete ones of the trace
	Done      func(done, total int) // called after each draw of an interval, in no order, never at once
}

// slaCell is one setting of the experiment.
type slaCell struct {
	frequency int // of the submissions, in hundredths
	order     sla.Order
	phi       int // hundredths of the runtime by which half of the windows are longer
	fix       int // x in thousandths, sla.NeverFix
	threshold int // of alternatives, in hundredths; 0: none
	earlier   bool
	half      bool // only half of the users take an alternative
	inexact   bool // runs are Poisson(80)/100 of the estimates
	replan    bool // everyone is placed again when work ends early
	shift     int  // half of the owners may be shifted by this many hundredths; 0: none
}

// slaOutcome is the result of one interval under one setting.
type slaOutcome struct {
	used     float64 // % of the node-time, measured over the interval
	work     float64 // accepted, % of the node-time submitted
	accepted float64 // % of the submissions
	revenue  float64 // % of the full price of all submitted jobs
	lost     float64 // % of the node-time of started jobs that they did not use
	phi      float64 // mean |phi| of the alternatives taken over the threshold
}

// slaJob is a job of the trace with everything drawn for it, the same in every setting.
type slaJob struct {
	submit   grid.Duration // from the interval's start, at frequency 1
	size     sla.Size
	deadline int // Poisson(5)
	flexible bool
	stretch  map[int]int // by phi: Poisson(100 phi), in hundredths of the runtime
	run      int         // Poisson(80)
	takes    bool        // an alternative, where half of the users do
	willing  bool        // to be shifted
}

// slaIntervals cuts jobs into intervals of 15 days from the first submission on. An
// incomplete one at the end is dropped.
func slaIntervals(jobs []grid.LocalJob) [][]grid.LocalJob {
	if len(jobs) == 0 {
		return nil
	}
	zero := jobs[0].Submit
	last := jobs[len(jobs)-1].Submit.Sub(zero)
	list := make([][]grid.LocalJob, last/slaInterval)
	for _, j := range jobs {
		i := int(j.Submit.Sub(zero) / slaInterval)
		if j.Run < slaShortest || i >= len(list) {
			continue
		}
		j.Submit = grid.Time(j.Submit.Sub(zero) % slaInterval)
		list[i] = append(list[i], j)
	}
	return list
}

// drawSLAs draws what the trace does not tell about an interval's jobs, each purpose from a
// stream of its own.
func drawSLAs(jobs []grid.LocalJob, seed uint64, interval int) []slaJob {
	stream := func(purpose string) *rand.Rand {
		return rand.New(rand.NewPCG(simulation.SeedOf(seed, "sla "+purpose), uint64(interval)))
	}
	poisson := func(lambda int) func() int {
		p := distuv.Poisson{Lambda: float64(lambda), Src: stream(fmt.Sprint("poisson ", lambda))}
		return func() int { return int(p.Rand()) }
	}
	deadline, run, half := poisson(5), poisson(80), stream("half")
	stretch := map[int]func() int{}
	for _, phi := range slaPhis {
		stretch[phi] = poisson(phi)
	}
	list := make([]slaJob, len(jobs))
	for i, j := range jobs {
		d := slaJob{
			submit: j.Submit.Sub(0), size: sla.Size{Nodes: min(j.Nodes, slaNodes), Runtime: j.Run},
			deadline: deadline(), run: run(), stretch: map[int]int{},
			flexible: half.IntN(2) == 0, takes: half.IntN(2) == 0, willing: half.IntN(2) == 0,
		}
		for _, phi := range slaPhis {
			d.stretch[phi] = stretch[phi]()
		}
		list[i] = d
	}
	return list
}

// slaPhis are the lengths of the paper's flexible intervals, in hundredths.
var slaPhis = []int{25, 50, 100}

// at returns the SLA of a job in a setting. A drawn deadline of 0 runtimes after the submit
// cannot be met.
func (d *slaJob) at(c *slaCell, id int64) sla.SLA {
	te := d.size.Runtime
	submit := grid.Time(0).Add(d.submit * 100 / grid.Duration(c.frequency))
	deadline := submit.Add(te * grid.Duration(d.deadline))
	a := sla.Flexible(id, submit, d.size, deadline.Add(-te), deadline)
	if c.phi > 0 && d.flexible {
		a.Deadline = deadline.Add(te * grid.Duration(d.stretch[c.phi]) / 100)
	}
	a.Fix, a.Earlier = c.fix, c.earlier
	if !c.half || d.takes {
		a.Threshold = 10 * c.threshold
	}
	return a
}

// slaRun is one interval under one setting.
type slaRun struct {
	cell   *slaCell
	jobs   []slaJob
	s      *sla.Schedule
	until  grid.Time // the end of the measure
	ends   []slaEnd  // early ends to come, soonest last
	out    slaOutcome
	taken  int
	unused float64
	begun  float64
}

type slaEnd struct {
	at grid.Time
	id int64
}

// runSLA runs one interval under one setting.
func runSLA(c *slaCell, jobs []slaJob, keys func() int64) slaOutcome {
	s, err := sla.New(sla.Options{
		Nodes: slaNodes, Order: c.order, Keys: keys, Price: grid.Price(grid.Credit), Shares: pricing.DefaultFlexibility,
		MaxPhi: sla.MaxPhi, Waiting: sla.MaxWaiting, Replan: c.replan,
	}, 0)
	if err != nil {
		panic(err) // options are constants
	}
	r := &slaRun{cell: c, jobs: jobs, s: s, until: grid.Time(slaInterval * 100 / grid.Duration(c.frequency))}
	var offered, full float64
	for i := range jobs {
		d := &jobs[i]
		a := d.at(c, int64(i))
		r.advance(a.Submit)
		work := float64(d.size.Nodes) * d.size.Runtime.Hours()
		offered += work
		full += pricing.Base(grid.Price(grid.Credit), d.size.Nodes, d.size.Runtime).Float()
		if p, ok := r.submit(a); ok {
			r.out.accepted++
			r.out.work += work
			r.out.revenue += p.Price.Float()
		}
	}
	r.advance(r.until)
	percent := func(v *float64, of float64) {
		if of > 0 {
			*v *= 100 / of
		}
	}
	percent(&r.out.used, slaNodes*r.until.Sub(0).Hours())
	percent(&r.out.work, offered)
	percent(&r.out.accepted, float64(len(jobs)))
	percent(&r.out.revenue, full)
	r.out.lost = r.unused
	percent(&r.out.lost, r.begun)
	if r.taken > 0 {
		r.out.phi /= float64(r.taken)
	}
	return r.out
}

// submit asks for the job's window; otherwise, as the setting allows, it takes the nearest
// alternative or has an owner shifted.
func (r *slaRun) submit(a sla.SLA) (sla.Promise, bool) {
	p, why := r.s.Submit(a)
	if !why.Refused() {
		return p, true
	}
	if a.Threshold > 0 {
		if list := r.s.Alternatives(a, 1); len(list) > 0 {
			p, why = r.s.Submit(list[0].Rigid(a))
			r.taken++
			r.out.phi += max(float64(list[0].Phi), -float64(list[0].Phi)) / float64(a.Threshold)
			return p, !why.Refused()
		}
	}
	if r.cell.shift > 0 {
		for _, sh := range r.s.Shifts(a, 10*r.cell.shift) {
			if r.jobs[sh.ID].willing {
				p, why = r.s.AdmitByShift(a, sh)
				r.out.revenue -= sh.Compensation.Float()
				return p, !why.Refused()
			}
		}
	}
	return sla.Promise{}, false
}

// advance carries out what happens up to t.
func (r *slaRun) advance(t grid.Time) {
	for {
		next := t
		if n := len(r.ends); n > 0 {
			next = min(next, r.ends[n-1].at)
		}
		if r.cell.inexact { // a start may bring the next end
			next = min(next, max(r.s.Next(), r.s.Now()))
		}
		for _, e := range r.s.Advance(next) {
			if e.Kind == sla.Started {
				r.started(e)
			}
		}
		for n := len(r.ends); n > 0 && r.ends[n-1].at <= next; n-- {
			r.s.End(r.ends[n-1].id)
			r.ends = r.ends[:n-1]
		}
		if next == t {
			return
		}
	}
}

func (r *slaRun) started(e sla.Event) {
	d := &r.jobs[e.ID]
	run := d.size.Runtime
	if r.cell.inexact {
		if actual := run * grid.Duration(d.run) / 100; actual < run {
			run = actual
			r.ends = append(r.ends, slaEnd{e.At.Add(run), e.ID})
			slices.SortStableFunc(r.ends, func(a, b slaEnd) int { return int(b.at - a.at) })
		}
	}
	n := float64(d.size.Nodes)
	r.begun += n * d.size.Runtime.Hours()
	r.unused += n * (d.size.Runtime - run).Hours()
	r.out.used += n * max(0, min(e.At.Add(run), r.until).Sub(e.At)).Hours()
}

// slaResults holds the outcomes of all settings: by setting, then interval, each
// the mean over the draws.
type slaResults struct{ outcomes map[slaCell][]slaOutcome }

// runSLAs runs every setting on every interval, runs draws each, on all
// processors.
func runSLAs(list [][]grid.LocalJob, cells []slaCell, opt SLAOptions) *slaResults {
	results := parallel.Collect(len(list)*opt.Runs, func() func(int) []slaOutcome {
		return func(i int) []slaOutcome {
			return runInterval(list[i/opt.Runs], cells, opt.Seed+uint64(i%opt.Runs), i/opt.Runs)
		}
	}, opt.Done)
	r := &slaResults{outcomes: map[slaCell][]slaOutcome{}}
	for k, c := range cells {
		r.outcomes[c] = make([]slaOutcome, len(list))
		for i := range results {
			r.outcomes[c][i/opt.Runs].add(&results[i][k], 1/float64(opt.Runs))
		}
	}
	return r
}

func runInterval(jobs []grid.LocalJob, cells []slaCell, seed uint64, interval int) []slaOutcome {
	drawn := drawSLAs(jobs, seed, interval)
	out := make([]slaOutcome, len(cells))
	for k := range cells {
		keys := rand.New(rand.NewPCG(simulation.SeedOf(seed, "sla keys"), uint64(interval)))
		out[k] = runSLA(&cells[k], drawn, keys.Int64)
	}
	return out
}

func (o *slaOutcome) add(p *slaOutcome, weight float64) {
	o.used += weight * p.used
	o.work += weight * p.work
	o.accepted += weight * p.accepted
	o.revenue += weight * p.revenue
	o.lost += weight * p.lost
	o.phi += weight * p.phi
}
