package slurm

import (
	"container/heap"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Options say how a Twin runs.
type Options struct {
	// Cut ends jobs at their limits: at the earlier of their run and the sweep after the limit
	// and OverTimeLimit, plus KillWait. Otherwise they run as long as recorded.
	Cut bool
	// Follow starts each job as its record says, and the schedulers start none. See Ahead.
	Follow bool
	// Said keeps the priorities of jobs (Job.Priority), of which only the age grows. See Resume.
	Said bool
}

// Twin is a cluster in virtual time.
type Twin struct {
	conf     *Config
	jobs     []Job
	opt      Options
	greatest greatest
	slots    []slots
	after    map[int][]int // the jobs that wait for a job
	decay    uint64        // of a second

	state  []state // of the jobs from base on
	base   int
	oldest int // no job before it is waiting or running

	now     grid.Time
	copied  bool      // conf is the twin's own: see Reserve
	given   int       // reservations of the configuration that was given
	said    grid.Time // when priorities were as jobs have them
	fed     int       // jobs submitted so far
	events  events
	queue   []int // ready jobs in their order
	waiting []int // submitted, and not ready
	running []int // with those whose nodes are not back
	holder  []int // by node: the running job, -1 if it is idle
	idle    Set
	shares  usedShares
	tree    *shareTree

	calculated grid.Time // when usage was last brought up to date
	recalc     grid.Time // when it will be next
	shared     bool      // a node may have two running jobs, as a record has whole seconds
	passes     clock
	cycles     cycles
	plan       timetable
	scratch    Set

	// Of a twin that jobs are handed to; see Begin.
	live    bool
	slotted slotted
	handed  []int // submitted at their instant
	begun   []int
	spare   []int // places of jobs that are over
}

// state is that of a job.
type state struct {
	phase      phase
	by         By
	why        Why
	open       int // jobs it depends on that have not ended
	priority   int64
	eligible   grid.Time
	start, end grid.Time
	counted    grid.Time // until when its usage is counted
	on         Set
}

type phase uint8

const (
	future phase = iota
	unready
	ready
	running
	completing
	over
	refused
)

// New returns a twin at the submission of the first job. Jobs are in the order of their
// submission; the twin keeps the list and does not change it.
func New(conf *Config, jobs []Job, opt Options) *Twin {
	t := &Twin{conf: conf, jobs: jobs, opt: opt, greatest: conf.greatest(), after: map[int][]int{}, decay: decayOf(conf.Priority.HalfLife),
		state: make([]state, len(jobs)), idle: NewSet(len(conf.CPUs)), scratch: NewSet(len(conf.CPUs)), holder: make([]int, len(conf.CPUs)), tree: newShareTree(conf.Assocs)}
	t.slotsOf(conf, jobs)
	t.idle.addRange(0, len(conf.CPUs))
	for i := range t.holder {
		t.holder[i] = -1
	}
	for i := range jobs {
		t.state[i] = state{start: grid.Never, end: grid.Never, open: jobs[i].open()}
		for _, a := range jobs[i].After {
			t.after[a] = append(t.after[a], i)
		}
	}
	if len(jobs) > 0 {
		t.now = jobs[0].Submit
	}
	t.tree.calculate()
	t.wind(t.now)
	return t
}

// wind sets the clocks to an instant.
func (t *Twin) wind(now grid.Time) {
	t.now, t.calculated, t.recalc = now, now, grid.Never
	if p := &t.conf.Priority; p.Multifactor && p.CalcPeriod > 0 {
		t.recalc = following(now, t.conf.Scheduler.PriorityInstants, p.CalcPeriod)
	}
	t.passes.begin(&t.conf.Scheduler, now)
	t.cycles.begin(&t.conf.Scheduler, now)
}

// following is the first instant after t that is a multiple of every away from phase.
func following(t, phase grid.Time, every grid.Duration) grid.Time {
	past := (t.Sub(phase)%every + every) % every
	return t.Add(every - past)
}

func (t *Twin) of(i int) *state { return &t.state[i-t.base] }

// Now is the twin's time.
func (t *Twin) Now() grid.Time { return t.now }

// Outcome is what became of a job, by its place in the list.
func (t *Twin) Outcome(i int) Outcome {
	s := t.of(i)
	return Outcome{Start: s.start, End: s.end, By: s.by, Why: s.why, On: s.on}
}

// Refused reports whether a job was refused at its submission: it is wider or longer than
// its partition allows.
func (t *Twin) Refused(i int) bool { return t.of(i).phase == refused }

// Run goes on until nothing can happen any more.
func (t *Twin) Run() { t.Until(grid.Never - 1) }

// Until goes on until an instant, with what happens at it.
func (t *Twin) Until(last grid.Time) {
	for {
		at := t.next()
		if at > last {
			if last < grid.Never-1 {
				t.now = max(t.now, last)
			}
			return
		}
		t.step(at)
	}
}

// next is when something happens, Never if nothing can any more.
func (t *Twin) next() grid.Time {
	at := grid.Never
	if t.fed < len(t.jobs) {
		at = max(t.jobs[t.fed].Submit, t.now)
	}
	if len(t.handed) > 0 {
		at = max(t.jobs[t.handed[0]].Submit, t.now)
	}
	if len(t.events) > 0 {
		at = min(at, t.events[0].at)
	}
	if r := t.boundary(); at < grid.Never || len(t.queue) > 0 {
		at = min(at, r)
	}
	if at == grid.Never && (len(t.queue) == 0 && !t.live || t.passes.settled() && t.cycles.settled()) {
		return at
	}
	at = min(at, t.passes.next(t.now, len(t.queue) > 0), t.cycles.next())
	if len(t.queue)+len(t.waiting)+len(t.running) > 0 {
		at = min(at, t.recalc)
	}
	return at
}

// boundary is the next begin or end of a reservation.
func (t *Twin) boundary() grid.Time {
	at := grid.Never
	for i := range t.conf.Reservations {
		for _, b := range [...]grid.Time{t.conf.Reservations[i].Start, t.conf.Reservations[i].End} {
			if b > t.now && b < at {
				at = b
			}
		}
	}
	return at
}

// step carries out all that happens at an instant: ends, nodes that come back, submissions,
// priorities, the main scheduler, a backfill cycle.
func (t *Twin) step(at grid.Time) {
	edge := t.boundary() <= at
	if t.now = at; edge {
		t.changed()
	}
	t.passes.skip(at)
	for len(t.events) > 0 && t.events[0].at <= at {
		e := heap.Pop(&t.events).(event)
		switch e.kind {
		case ends:
			if s := t.of(e.job); s.phase == running && s.end == e.at { // it was not killed
				t.end(e.job)
			}
		case back:
			t.back(e.job)
		case begins:
			t.begin(e.job)
		case follows:
			t.follow(e.job)
		}
	}
	for ; t.fed < len(t.jobs) && t.jobs[t.fed].Submit <= at; t.fed++ {
		t.submit(t.fed)
	}
	for len(t.handed) > 0 && t.jobs[t.handed[0]].Submit <= at {
		i := t.handed[0]
		t.handed = t.handed[1:]
		t.submit(i)
	}
	if at >= t.recalc {
		t.recalculate()
	}
	if depth, due := t.passes.due(at); due && !t.opt.Follow {
		t.pass(depth)
	}
	if t.cycles.due(at) && !t.opt.Follow {
		t.cycle()
	}
}

// changed notes that a pass or a cycle may find something new.
func (t *Twin) changed() {
	t.passes.changed()
	t.cycles.changed(t.now)
}

// submit takes a job.
func (t *Twin) submit(i int) {
	j, s := &t.jobs[i], t.of(i)
	if !t.Accepts(j.Partition, j.Nodes, j.Limit) {
		s.phase = refused
		t.release(i)
		return
	}
	s.phase, s.eligible = unready, t.now
	s.priority = t.priority(i, t.now)
	if t.opt.Follow {
		if j.Started < grid.Never {
			heap.Push(&t.events, event{max(j.Started, t.now), follows, i})
		}
	}
	t.waiting = append(t.waiting, i)
	t.try(i)
	t.changed()
	t.passes.ask(t.now)
}

// try makes a job ready if nothing is in its way.
func (t *Twin) try(i int) {
	j, s := &t.jobs[i], t.of(i)
	switch {
	case j.Held:
		s.why = Held
	case s.open > 0:
		s.why = Dependency
	case j.Begin > t.now:
		s.why = BeginTime
		heap.Push(&t.events, event{j.Begin, begins, i})
	default:
		if s.phase, s.eligible = ready, t.now; t.opt.Said && j.Eligible > 0 {
			s.eligible = min(j.Eligible, t.now)
		}
		t.waiting = slices.DeleteFunc(t.waiting, func(k int) bool { return k == i })
		t.enqueue(i)
	}
}

func (t *Twin) enqueue(i int) {
	at, _ := slices.BinarySearchFunc(t.queue, i, t.order)
	t.queue = slices.Insert(t.queue, at, i)
}

func (t *Twin) begin(i int) {
	if t.of(i).phase == unready {
		t.try(i)
		t.changed()
	}
}

// start lets a job begin on nodes. The caller takes it out of the queue.
func (t *Twin) start(i int, on Set, by By) {
	j, s := &t.jobs[i], t.of(i)
	s.phase, s.by, s.start, s.on, s.counted = running, by, t.now, on, t.now
	t.idle.without(on)
	on.Each(func(n int) { t.holder[n] = i })
	t.running = append(t.running, i)
	t.count(i, 1)
	s.end = t.now.Add(t.length(j))
	heap.Push(&t.events, event{s.end, ends, i})
	if t.live {
		t.begun = append(t.begun, i)
	}
	t.changed()
}

// sweep is how often the controller looks for jobs beyond their limits.
const sweep = 30 * grid.Second

// length is how long a job that starts now will run.
func (t *Twin) length(j *Job) grid.Duration {
	if !t.opt.Cut || j.Run <= j.Limit+t.conf.OverTimeLimit {
		return j.Run
	}
	seen := following(t.now.Add(j.Limit+t.conf.OverTimeLimit)-1, 0, sweep)
	return min(j.Run, seen.Add(t.conf.KillWait).Sub(t.now))
}

// end takes a job's end: its limits are free again, its nodes come back after the epilog.
func (t *Twin) end(i int) {
	s := t.of(i)
	s.phase = completing
	t.count(i, -1)
	t.use(i)
	heap.Push(&t.events, event{t.now.Add(t.conf.Epilog), back, i})
	t.changed()
}

// back takes the nodes of a job that has ended, and lets those that depend on it go on.
func (t *Twin) back(i int) {
	s := t.of(i)
	s.phase = over
	s.on.Each(func(n int) {
		if t.holder[n] == i {
			t.holder[n] = -1
			t.idle.Add(n)
		}
	})
	t.running = slices.DeleteFunc(t.running, func(k int) bool { return k == i })
	t.release(i)
	t.forget(i)
	t.changed()
	if t.conf.Scheduler.Defer {
		t.passes.ask(t.now)
	} else {
		t.passes.now(t.now)
	}
}

// release lets the jobs that depend on a job go on.
func (t *Twin) release(i int) {
	for _, k := range t.after[i] {
		if k < t.base || k >= t.base+len(t.state) {
			continue
		}
		if s := t.of(k); s.open > 0 {
			if s.open--; s.open == 0 && s.phase == unready {
				t.try(k)
			}
		}
	}
}

// use counts what a running job has used since it was last counted.
func (t *Twin) use(i int) {
	j, s := &t.jobs[i], t.of(i)
	seconds := int64(t.now)/1000 - int64(s.counted)/1000
	s.counted = t.now
	if j.Assoc < 0 || seconds <= 0 {
		return
	}
	factor := int64(1000)
	if j.QOS >= 0 {
		factor = t.conf.QOS[j.QOS].UsageFactor
	}
	t.tree.add(j.Assoc, used(j.CPUs, seconds, factor, t.decay))
}

// recalculate decays usage, counts that of running jobs, and gives all waiting jobs their
// priority.
func (t *Twin) recalculate() {
	t.tree.decay(power(t.decay, int64(t.now)/1000-int64(t.calculated)/1000))
	for _, i := range t.running {
		if t.of(i).phase == running {
			t.use(i)
		}
	}
	t.tree.calculate()
	t.calculated = t.now
	t.recalc = following(t.now, t.conf.Scheduler.PriorityInstants, t.conf.Priority.CalcPeriod)
	for _, i := range t.queue {
		s := t.of(i)
		s.priority = t.priority(i, s.eligible)
	}
	for _, i := range t.waiting {
		t.of(i).priority = t.priority(i, t.now)
	}
	if len(t.queue) > 0 {
		slices.SortFunc(t.queue, t.order)
		t.passes.reordered()
		t.cycles.reordered(t.now)
	}
}

// Waiting reports whether a job has been submitted and has not started.
func (t *Twin) Waiting(i int) bool {
	p := t.of(i).phase
	return p == unready || p == ready
}

// Over reports whether nothing can happen any more.
func (t *Twin) Over() bool { return t.next() >= grid.Never }
