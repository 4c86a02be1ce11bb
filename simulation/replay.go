package simulation

import (
	"fmt"
	"math/rand/v2"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/estimates"
	"github.com/bourse-grid/bourse/policy/fairshare"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/workload"
)

// ReplayOptions say how a workload is replayed on one site of one group.
type ReplayOptions struct {
	Nodes  int
	Policy backfill.Policy
	Extend bool // at its estimate a job's planned end moves on; otherwise it is killed there
	Limit  int  // jobs that wait at most; 0 means queue.Limit
	// EachEvent has the queue looked at after each end and each submission; otherwise it is
	// once an instant, after all of them.
	EachEvent bool
	// Estimates says by which run times jobs are planned. They are killed at their own
	// estimates.
	Estimates estimates.Rule
	// HalfLife is that of the users' past use, if the policy asks for it; 0: fairshare.HalfLife.
	HalfLife grid.Duration

	// Copy raises the load by copying that share of the jobs; see workload.Copy.
	Copy float64
	// Reservations turns that share of the final workload, 0..1, into advance reservations.
	// They are drawn among the jobs that ran. Each asks at its submit for priced start
	// times, with its actual run as duration, and takes one by Alpha. Not with Extend.
	Reservations float64
	Alpha        choice.Alpha
	Mixed        bool   // every job has an Alpha of its own, drawn from 0..1
	Tenths       bool   // these are whole tenths: one in eleven is 0
	Seed         uint64 // of the copying and of the draws

	// Notice makes a reservation ask this long before its wanted start, and take the
	// earliest start from then on, whatever Alpha; 0: it wants to start at once.
	Notice grid.Duration
	// Limits are for all jobs together.
	Limits queue.JobLimits
	// Queues are the site's, found by LocalJob.Queue; none: one for all jobs.
	Queues []queue.Named
	// Without is the place in the list, from 1 and after the copying, of a job that is left
	// out, to show what it did to the others; 0: none.
	Without int
	// Delays says to keep the delays that each reservation was charged for.
	Delays bool
	// Submitted, if set, is called with the state at the submission of each job, before it
	// enters the queue. Ids in the state are positions in the list, from 1, as place is.
	// The state is valid during the call. Not with Reservations.
	Submitted func(place int, s *backfill.State)
	// Started and Ended, if set, are called when a job starts and when it has ended, with its
	// position in the list, from 1. Not for a stream.
	Started, Ended func(place int, at grid.Time)
	// Submits, if set, is called with the number of jobs submitted and of all jobs each
	// time that one is submitted. Not for a stream, which has no known end.
	Submits func(jobs, all int)
}

// The streams of random numbers of a replay, one per purpose.
const (
	streamCopy = 1 + iota
	streamReservations
	streamAlphas
)

// Replay is the outcome of a workload.
type Replay struct {
	Nodes    int
	Outcomes []Outcome // in record order, refused jobs included
	Passes   int       // scheduling passes
	Counts

	// Delays are the delays that each reservation was charged for, by its place in Outcomes.
	// Job of a delay is a place too, from 1. Nil unless asked for.
	Delays [][]grid.Delay
}

// Counts are what a replay says beside the outcomes.
type Counts struct {
	Refused  int // jobs of more nodes than the group has, or beyond limits
	NoNumber int // jobs whose value by a formula was no number at some time: they came last
}

// Outcome is the outcome of one job.
type Outcome struct {
	Job        grid.LocalJob
	Start, End grid.Time // Never if it was refused
	Class      backfill.Class
	Additive   grid.Duration // of a reservation: f, in node-milliseconds of delay
}

// Ran reports whether the job ever started.
func (o *Outcome) Ran() bool { return o.Start < grid.Never }

// Reserved reports whether the job is an advance reservation.
func (o *Outcome) Reserved() bool { return o.Class == backfill.Reservation }

// Wait is the time from submit to start.
func (o *Outcome) Wait() grid.Duration { return o.Start.Sub(o.Job.Submit) }

// OverloadError says that more jobs waited than a replay admits: demand is
// above capacity, and the queue would grow without end.
type OverloadError struct {
	Limit int
	At    grid.Time
}

func (e *OverloadError) Error() string {
	return fmt.Sprintf("demand above capacity: %d jobs wait at %v s and the queue grows without end; give more processors or fewer jobs", e.Limit, e.At)
}

// overloaded returns the error of a full queue, with the limit in the options.
func overloaded(limit int, at grid.Time) error {
	if limit == 0 {
		limit = queue.Limit
	}
	return &OverloadError{Limit: limit, At: at}
}

// RunReplay replays jobs, in order of submit, until the last has ended. An *OverloadError
// ends it early; other errors are about the options. It does not keep the list, and draws
// from the seed only.
func RunReplay(jobs []grid.LocalJob, opt ReplayOptions) (*Replay, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	if opt.Copy != 0 {
		var err error
		if jobs, err = CopyJobs(jobs, opt.Copy, opt.Seed); err != nil {
			return nil, err
		}
	}
	r := &replayer{opt: opt, out: make([]Outcome, len(jobs))}
	for i, j := range jobs {
		r.out[i] = Outcome{Job: j, Start: grid.Never, End: grid.Never}
	}
	if len(jobs) == 0 {
		return &Replay{Nodes: opt.Nodes}, nil
	}
	r.queue = queue.New(opt.queue(jobs[0].Submit))
	r.queue.Watch(r)
	if opt.Reservations > 0 {
		r.chosen = DrawReservations(jobs, opt.Nodes, opt.Reservations, opt.Seed)
		r.drawAlphas()
		if opt.Delays {
			r.delays = make([][]grid.Delay, len(jobs))
		}
		r.book = pricing.NewBook()
		r.queue.Query(r.ask)
	} else if opt.Submitted != nil {
		r.queue.Query(func(_ grid.Time, j *grid.LocalJob) bool {
			opt.Submitted(int(j.ID), r.queue.State())
			return false
		})
	}
	r.queue.Feed(r.next)
	for t := r.queue.Next(); t < grid.Never; t = r.queue.Next() {
		if r.queue.Advance(t); r.overload != nil {
			return nil, r.overload
		}
	}
	return &Replay{Nodes: opt.Nodes, Outcomes: r.out, Passes: r.queue.Passes(), Counts: countsOf(r.queue), Delays: r.delays}, nil
}

func countsOf(q *queue.Queue) Counts { return Counts{Refused: q.Refused(), NoNumber: q.NoNumber()} }

// queue returns the options of the site's queue.
func (o *ReplayOptions) queue(start grid.Time) queue.Options {
	return queue.Options{Nodes: o.Nodes, Policy: o.Policy, Start: start, Zero: start, Extend: o.Extend, Limit: o.Limit, EachEvent: o.EachEvent, Queues: o.Queues, Estimates: o.Estimates, HalfLife: o.HalfLife, Limits: o.Limits}
}

func (o *ReplayOptions) check() error {
	switch {
	case o.Nodes < 1:
		return fmt.Errorf("processors %d: must be 1 or more", o.Nodes)
	case !(o.Reservations >= 0 && o.Reservations <= 1):
		return fmt.Errorf("reservations %v: must be a share from 0 to 1", o.Reservations)
	case o.Alpha < 0 || o.Alpha > choice.One:
		return fmt.Errorf("alpha %v: must be a number from 0 to 1", o.Alpha)
	case o.Notice < 0:
		return fmt.Errorf("notice %v s: must be 0 or more", o.Notice)
	case o.HalfLife != 0 && o.HalfLife < fairshare.LeastHalfLife:
		return fmt.Errorf("half-life %v s: must be %s or more", o.HalfLife, fairshare.LeastHalfLife.Words())
	case o.Reservations > 0 && o.Extend:
		return fmt.Errorf("jobs that run past their estimates and reservations do not go together: reservations are exact only if overruns are killed")
	}
	return nil
}

// replayer carries out one replay. A job's ID within it is its place in the list, from 1, as
// IDs in a trace need not be unique.
type replayer struct {
	opt      ReplayOptions
	out      []Outcome
	fed      int
	queue    *queue.Queue
	book     *pricing.Book
	chosen   []bool
	alphas   []choice.Alpha // by place, if they are mixed
	delays   [][]grid.Delay
	overload error
}

func (r *replayer) next() (grid.LocalJob, bool) {
	if r.fed+1 == r.opt.Without {
		r.fed++
	}
	if r.fed == len(r.out) {
		return grid.LocalJob{}, false
	}
	j := r.out[r.fed].Job
	if r.fed++; r.opt.Submits != nil {
		r.opt.Submits(r.fed, len(r.out))
	}
	j.ID = int64(r.fed)
	return j, true
}

// CopyJobs raises the load by copies of that share of the jobs, drawn by the seed; see
// workload.Copy.
func CopyJobs(jobs []grid.LocalJob, share float64, seed uint64) ([]grid.LocalJob, error) {
	return workload.Copy(jobs, share, rand.New(rand.NewPCG(seed, streamCopy)))
}

// DrawReservations chooses that share of the jobs as reservations, among those
// that ran and fit the group.
func DrawReservations(jobs []grid.LocalJob, nodes int, share float64, seed uint64) []bool {
	var ran []int
	for i := range jobs {
		if j := &jobs[i]; j.Run > 0 && j.Nodes <= nodes {
			ran = append(ran, i)
		}
	}
	chosen := make([]bool, len(jobs))
	for _, k := range workload.Draw(len(ran), share, rand.New(rand.NewPCG(seed, streamReservations))) {
		chosen[ran[k]] = true
	}
	return chosen
}

// drawAlphas gives every job an alpha, needed or not, so that a job that reserves does not
// change what others prefer.
func (r *replayer) drawAlphas() {
	if !r.opt.Mixed {
		return
	}
	rng := rand.New(rand.NewPCG(r.opt.Seed, streamAlphas))
	r.alphas = make([]choice.Alpha, len(r.out))
	for i := range r.alphas {
		if r.opt.Tenths {
			r.alphas[i] = choice.Alpha(rng.Int64N(11)) * choice.One / 10
			continue
		}
		r.alphas[i] = choice.Alpha(rng.Int64N(int64(choice.One) + 1))
	}
}

// ask lets a chosen job buy a reservation at its submission.
func (r *replayer) ask(now grid.Time, j *grid.LocalJob) bool {
	if !r.chosen[j.ID-1] {
		return false
	}
	d := j.Run
	if j.Estimate > 0 {
		d = min(d, j.Estimate)
	}
	r.book.Reset(r.queue.State())
	best := r.choose(now, j, d)
	if r.delays != nil && best.Additive > 0 {
		r.delays[j.ID-1] = r.book.Delays(nil, best.Start, j.Nodes, d)
	}
	why := r.queue.Reserve(now, backfill.Reserved{ID: j.ID, Nodes: j.Nodes, Start: best.Start, End: best.Start.Add(d)})
	if why.Refused() {
		panic("studies: a feasible offer was refused: " + why.String())
	}
	o := &r.out[j.ID-1]
	o.Start, o.End, o.Class, o.Additive = best.Start, best.Start.Add(d), backfill.Reservation, best.Additive
	return true
}

// choose returns the start that the job prefers. There is one, as every job fits once all
// work has ended. If only the start counts, or if the earliest start is free, the other
// starts need not be priced: none of them can be better.
func (r *replayer) choose(now grid.Time, j *grid.LocalJob, d grid.Duration) pricing.Offer {
	alpha := r.opt.Alpha
	if r.alphas != nil {
		alpha = r.alphas[j.ID-1]
	}
	if r.opt.Notice > 0 {
		return r.after(now.Add(r.opt.Notice), j.Nodes, d)
	}
	if best, _ := r.book.Earliest(j.Nodes, d); alpha == 0 || best.Additive == 0 {
		return best
	}
	list := r.book.List(j.Nodes, d, false)
	return list.Offers()[choice.Preferred(list, alpha)]
}

// after returns the earliest start from an instant on.
func (r *replayer) after(from grid.Time, n int, d grid.Duration) pricing.Offer {
	if f, ok := r.book.Additive(from, n, d); ok {
		return pricing.Offer{Start: from, Feasible: true, Additive: f}
	}
	for _, o := range r.book.Offers(n, d, false) {
		if o.Feasible && o.Start >= from {
			return o
		}
	}
	panic("studies: a job does not fit when all work has ended")
}

// Started, Ended and Refused make the replayer a queue.Watcher.
func (r *replayer) Started(j *grid.LocalJob, s *backfill.Start) {
	o := &r.out[j.ID-1]
	o.Start, o.Class, o.Job.Predicted = s.End.Add(-s.Estimate), s.Class, j.Predicted
	if r.opt.Started != nil {
		r.opt.Started(int(j.ID), o.Start)
	}
}

func (r *replayer) Ended(j *grid.LocalJob, _, end grid.Time, _ bool) {
	r.out[j.ID-1].End = end
	if r.opt.Ended != nil {
		r.opt.Ended(int(j.ID), end)
	}
}

func (r *replayer) Refused(j *grid.LocalJob, why grid.Reason) {
	if why.Code == grid.QueueFull {
		r.overload = overloaded(r.opt.Limit, j.Submit)
	}
}
