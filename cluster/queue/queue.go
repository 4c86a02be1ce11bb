package queue

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/estimates"
	"github.com/bourse-grid/bourse/policy/fairshare"
	"github.com/bourse-grid/bourse/policy/sla"
)

// Watcher is told what happens to local jobs. The pointers are only valid during the call,
// from which the queue must not be changed.
type Watcher interface {
	Started(j *grid.LocalJob, s *backfill.Start)
	// Ended reports a job's end; killed says that it was killed before it was done.
	Ended(j *grid.LocalJob, start, end grid.Time, killed bool)
	// Refused reports a job that never entered the queue.
	Refused(j *grid.LocalJob, why grid.Reason)
}

// keeper is a Watcher that is also told what a restart needs to know: that a job waits, and
// that its planned end has moved.
type keeper interface {
	Queued(j *grid.LocalJob)
	Extended(j *grid.LocalJob, now, end grid.Time)
	// Promised reports the slot promised to a local job: when the job is taken, and
	// each time the slot changes. Broken reports that it no longer has one.
	Promised(j *grid.LocalJob, p *sla.Promise, taken bool)
	Broken(j *grid.LocalJob, why grid.Reason)
}

// Queue simulates the local queue of one group. It pulls its jobs in order of submit time,
// knows when each really ends, and lets a backfill.Group decide which jobs start. Within an
// instant it handles first job ends, then reservation ends, then arrivals in order, then
// one scheduling pass. Later calls in the same instant (Reserve, Release, Cancel) arm
// another pass: Next is then that instant, until Advance.
//
// It knows no agents and no messages. Its memory grows with the jobs that wait and run, not
// with future ones.
type Queue struct {
	opt     Options
	group   *backfill.Group
	watcher Watcher
	keeper  keeper // the watcher, if it is one
	query   func(grid.Time, *grid.LocalJob) bool

	feed func() (grid.LocalJob, bool)
	head grid.LocalJob // the next job of the feed
	more bool          // there is a next job

	jobs  []entry // those that wait or run, by Ref
	spare []int32 // unused places in jobs
	ends  endHeap
	over  []end // in this instant: jobs at their planned end that run on
	armed bool  // a pass is due at the group's instant
	asked bool  // a query is running: the instant's pass is still to come

	predictor *estimates.Predictor // nil: users' own estimates
	limiter   *limiter             // nil: no limits
	past      *fairshare.Past      // of the users, if the policy asks for it; otherwise nil

	passes  int
	refused int

	promises *promises // nil: a queue
	slurm    *twin     // nil: the group's policy decides
}

// entry is a local job and, once it runs, its times.
type entry struct {
	job   grid.LocalJob
	start grid.Time
	plan  grid.Time // planned end
}

// more is how far a rule moves the planned end of a job that is not over.
func (e *entry) more(rule estimates.Rule) grid.Duration {
	if planned := e.plan.Sub(e.start); planned < e.job.Limit() {
		return rule.Correct(e.job.Planned(), planned, e.job.Limit()) - planned
	}
	return e.job.Limit()
}

// New returns a queue without jobs. It panics if the promises in opt make no sense.
func New(opt Options) *Queue {
	if opt.Limit == 0 {
		opt.Limit = Limit
	}
	if len(opt.Queues) == 0 {
		opt.Queues = []Named{{Rate: 1000, DelayCost: 1000}}
	}
	q := &Queue{opt: opt, group: backfill.New(opt.Nodes, opt.Policy, opt.Start), watcher: nobody{}}
	if opt.Promises != nil {
		q.promises = newPromises(*opt.Promises, opt)
	} else if opt.Estimates.Predicts() {
		q.predictor = estimates.New(opt.Estimates)
		q.group.Predict()
	}
	if opt.Policy.ByOwner() && opt.Promises == nil {
		q.past = fairshare.New(opt.HalfLife)
		q.group.Rank(q.owner, q.had)
	}
	if opt.Promises == nil {
		q.group.Value(opt.Zero, q.values)
	}
	if opt.Slurm != nil {
		q.slurm = newTwin(opt.Slurm, opt.Start)
	}
	if q.limiter = newLimiter(q); q.limiter != nil && q.promises == nil {
		q.group.Limit(q.limiter)
	}
	return q
}

// nobody is a Watcher that ignores everything.
type nobody struct{}

func (nobody) Started(*grid.LocalJob, *backfill.Start)          {}
func (nobody) Ended(*grid.LocalJob, grid.Time, grid.Time, bool) {}
func (nobody) Refused(*grid.LocalJob, grid.Reason)              {}

// Watch makes w the watcher from now on.
func (q *Queue) Watch(w Watcher) {
	q.watcher = w
	q.keeper, _ = w.(keeper)
}

// Feed gives the queue its jobs, in order of submit time; next returns false when there are
// no more. It replaces the rest of an earlier feed.
func (q *Queue) Feed(next func() (grid.LocalJob, bool)) {
	q.feed = next
	q.pull()
}

// Jobs is a feed from a list.
func Jobs(list []grid.LocalJob) func() (grid.LocalJob, bool) {
	return func() (j grid.LocalJob, ok bool) {
		if len(list) == 0 {
			return j, false
		}
		j, list = list[0], list[1:]
		return j, true
	}
}

// Query makes the queue call f with every job of the feed at its submit time, in order,
// before the job enters. f may use State, Reserve and Release. If it returns true, it has
// taken the job, which does not enter.
func (q *Queue) Query(f func(now grid.Time, j *grid.LocalJob) bool) { q.query = f }

func (q *Queue) pull() {
	last := q.head.Submit
	if q.head, q.more = q.feed(); q.more && q.head.Submit < max(last, q.group.Now()) {
		panic(fmt.Sprintf("cluster/queue: job %d submitted at %v comes after %v", q.head.ID, q.head.Submit, max(last, q.group.Now())))
	}
}

// State is a view of the group at the last instant of Advance, Reserve, Release
// or Cancel, good until the next change.
func (q *Queue) State() *backfill.State {
	s := q.group.State()
	if q.slurm != nil {
		q.slurm.sort(s)
	}
	return s
}

// Passes is the number of scheduling passes so far.
func (q *Queue) Passes() int { return q.passes }

// Refused is the number of jobs refused so far.
func (q *Queue) Refused() int { return q.refused }

// NoNumber is how many jobs have had a value of an order by formula that was no number.
func (q *Queue) NoNumber() int { return q.group.NoNumber() }

// Next is the next instant at which something is due, or Never when all jobs have ended and
// the feed has no more.
func (q *Queue) Next() grid.Time {
	if q.armed {
		return q.group.Now()
	}
	return q.nextEvent()
}

func (q *Queue) nextEvent() grid.Time {
	next := q.group.Next()
	if len(q.ends) > 0 {
		next = min(next, q.ends[0].at)
	}
	if q.more {
		next = min(next, q.head.Submit)
	}
	if q.promises != nil {
		next = min(next, q.promises.next())
	}
	if q.slurm != nil {
		next = min(next, q.slurm.Next())
	}
	return next
}

// Advance carries out everything due up to now, including a pass armed at now.
func (q *Queue) Advance(now grid.Time) {
	for t := q.Next(); t <= now; t = q.Next() {
		q.instant(t)
	}
	q.group.Advance(now)
	if q.promises != nil {
		q.promises.Advance(now)
	}
	if q.slurm != nil {
		q.slurm.Until(now) // nothing is due any more
	}
}

// reach brings the queue to now for a message, after the instant's own events. A pass waits
// until all messages of the instant are handled, whether earlier messages have armed it or
// have moved a promise to now. So what a message finds free stays free until it is handled.
func (q *Queue) reach(now grid.Time) {
	ends := len(q.ends) > 0 && q.ends[0].at <= now
	arrives := q.more && q.head.Submit <= now
	promised := q.promises != nil && q.promises.next() <= now
	if !q.asked && (ends || arrives || promised || q.group.Now() < now) {
		q.Advance(now)
	}
}

// Reserve accepts an advance reservation at now, or says what is in the way; see
// backfill.Group.
func (q *Queue) Reserve(now grid.Time, r backfill.Reserved) grid.Reason {
	q.reach(now)
	if q.promises != nil {
		_, why := q.promise(sla.Strict(r.ID, now, sla.Size{Nodes: r.Nodes, Runtime: r.End.Sub(r.Start)}, r.Start))
		return why
	}
	why := q.group.Reserve(r)
	if q.slurm != nil && !why.Refused() {
		if why = q.slurm.reserve(r); why.Refused() {
			q.group.Release(r.ID)
		}
	}
	q.armed = q.armed || !why.Refused()
	return why
}

// Release gives a reservation back at now and reports whether it was there.
func (q *Queue) Release(now grid.Time, id int64) bool {
	q.reach(now)
	if q.promises != nil && q.promises.Cancel(id) {
		q.promises.freed = true
	}
	if q.slurm != nil {
		q.slurm.Release(id)
	}
	ok := q.group.Release(id)
	q.armed = q.armed || ok
	return ok
}

// Cancel removes a waiting job from the queue at now and reports whether it was there. It
// walks the queue. The watcher is not told.
func (q *Queue) Cancel(now grid.Time, id int64) bool {
	q.reach(now)
	s := q.State()
	for i := range s.Queue {
		if w := &s.Queue[i]; w.ID == id {
			q.limiter.move(&q.jobs[w.Ref].job, -1, 0)
			q.drop(w.Ref)
			if q.opt.Oracle != nil {
				q.opt.Oracle.Canceled(id)
			}
			q.armed = true
			if q.slurm != nil {
				q.slurm.Cancel(q.slurm.places[id])
				delete(q.slurm.places, id)
			}
			return q.group.Cancel(id)
		}
	}
	return false
}

// instant carries out the events of one instant and its pass.
func (q *Queue) instant(now grid.Time) {
	q.group.Advance(now) // reservation ends; nothing depends on whether they come before job ends
	q.endJobs(now)
	q.keepPromises(now)
	for q.more && q.head.Submit <= now {
		switch {
		case q.taken(now):
		case q.promises != nil:
			q.promiseLocal(now, &q.head)
		default:
			q.enter(&q.head)
			q.passed(now)
		}
		q.pull()
	}
	q.moveUp()
	q.pass(now)
}

// pass starts the jobs whose turn it is.
func (q *Queue) pass(now grid.Time) {
	q.armed = false
	q.passes++
	starts := q.decide(now)
	for i := range starts {
		q.start(now, &starts[i])
	}
}

// decide returns the jobs that start.
func (q *Queue) decide(now grid.Time) []backfill.Start {
	if q.slurm != nil {
		return q.slurm.pass(q.group, now)
	}
	return q.group.Pass()
}

// passed is a pass after one of several events of an instant, if there is to be one. It waits
// until the jobs that are at their planned ends have ended, or are extended.
func (q *Queue) passed(now grid.Time) {
	if !q.opt.EachEvent || q.promises != nil {
		return
	}
	if running := q.State().Running; len(running) == 0 || running[0].End > now {
		q.pass(now)
	}
}

// taken asks the query whether it takes the next job of the feed.
func (q *Queue) taken(now grid.Time) bool {
	if q.query == nil {
		return false
	}
	q.asked = true
	defer func() { q.asked = false }()
	return q.query(now, &q.head)
}

// enter queues an arriving job, or refuses it.
func (q *Queue) enter(j *grid.LocalJob) {
	why := q.limiter.refuses(j)
	if !why.Refused() {
		why = q.slurm.refuses(j)
	}
	switch {
	case why.Refused():
	case j.Nodes > q.opt.Nodes:
		why = grid.Reason{Code: grid.TooLarge,
			Detail: fmt.Sprintf("job %d wants %s, the group has %d", j.ID, grid.Count(j.Nodes, "node"), q.opt.Nodes)}
	case j.Nodes < 1:
		why = grid.Reason{Code: grid.TooLarge, Detail: fmt.Sprintf("job %d wants %s, must be 1 or more", j.ID, grid.Count(j.Nodes, "node"))}
	case q.group.Waiting() >= q.opt.Limit:
		why = grid.Reason{Code: grid.QueueFull,
			Detail: fmt.Sprintf("%s already: demand above capacity", grid.Count(q.opt.Limit, "job waits", "jobs wait"))}
	case !q.arrive(j):
		why = grid.Reason{Code: grid.Conflict, Detail: fmt.Sprintf("a job %d waits or runs already", j.ID)}
	}
	if why.Refused() {
		q.refused++
		q.watcher.Refused(j, why)
	}
}

// arrive puts j into the group's queue and reports whether its id was new there.
func (q *Queue) arrive(j *grid.LocalJob) bool {
	local := &q.opt.Queues[0]
	if j.Queue > 0 && j.Queue < len(q.opt.Queues) {
		local = &q.opt.Queues[j.Queue]
	}
	if q.predictor != nil && j.Predicted == 0 {
		j.Predicted = q.predictor.Predict(j, j.Limit())
	}
	ref := q.keep(j)
	x := backfill.Queued{
		ID: j.ID, Nodes: j.Nodes, Estimate: j.Planned(), Submit: j.Submit,
		Priority: local.Priority, Weight: local.DelayCost, Ref: ref,
	}
	if q.predictor != nil {
		x.Limit = j.Limit()
	}
	if q.opt.Oracle != nil {
		q.opt.Oracle.Submitted(q.State(), &x, j.User)
	}
	ok := q.group.Arrive(x)
	if !ok {
		q.drop(ref)
		return false
	}
	if q.slurm != nil {
		q.slurm.submit(j, q.group.Now())
	}
	if q.limiter.move(j, 1, 0); q.keeper != nil {
		q.keeper.Queued(j)
	}
	return true
}

func (q *Queue) keep(j *grid.LocalJob) int32 {
	if n := len(q.spare); n > 0 {
		ref := q.spare[n-1]
		q.spare = q.spare[:n-1]
		q.jobs[ref] = entry{job: *j}
		return ref
	}
	q.jobs = append(q.jobs, entry{job: *j})
	return int32(len(q.jobs) - 1)
}

func (q *Queue) drop(ref int32) { q.spare = append(q.spare, ref) }

func (q *Queue) start(now grid.Time, s *backfill.Start) {
	e := &q.jobs[s.Ref]
	e.start, e.plan = now, s.End
	if q.past != nil {
		q.past.Began(e.job.User, e.job.Nodes, now)
	}
	if q.opt.Oracle != nil {
		q.opt.Oracle.Started(e.job.ID, now)
	}
	q.ends.push(end{min(now.Add(max(e.job.Run, 0)), s.End), e.job.ID, s.Ref})
	q.watcher.Started(&e.job, s)
}

// endJobs ends the jobs that are over by now, in order of id. After that, jobs that run on
// past their planned end are extended or killed.
func (q *Queue) endJobs(now grid.Time) {
	for len(q.ends) > 0 && q.ends[0].at <= now {
		x := q.ends.pop()
		e := &q.jobs[x.ref]
		if e.start.Add(e.job.Run) > now && (q.opt.Extend || now < e.start.Add(e.job.Limit())) {
			q.over = append(q.over, x)
			continue
		}
		q.end(now, x)
		q.passed(now)
	}
	for _, x := range q.over {
		e := &q.jobs[x.ref]
		d := e.more(q.opt.Estimates)
		if !q.group.Extend(x.id, e.plan, d) {
			q.end(now, x)
			continue
		}
		e.plan = e.plan.Add(d)
		if q.keeper != nil {
			q.keeper.Extended(&e.job, now, e.plan)
		}
		q.ends.push(end{min(e.start.Add(e.job.Run), e.plan), x.id, x.ref})
	}
	q.over = q.over[:0]
}

func (q *Queue) end(now grid.Time, x end) {
	e := &q.jobs[x.ref]
	q.limiter.move(&e.job, 0, -1)
	q.group.End(x.id, e.plan)
	if q.slurm != nil {
		delete(q.slurm.places, x.id)
	}
	q.watcher.Ended(&e.job, e.start, now, e.start.Add(e.job.Run) > now)
	q.learn(now, &e.job, now.Sub(e.start))
	if q.opt.Oracle != nil {
		q.opt.Oracle.Ended(e.job.ID, now)
	}
	q.drop(x.ref)
}
