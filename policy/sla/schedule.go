package sla

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// Options are an operator's choices for a schedule.
type Options struct {
	Nodes    int
	Order    Order        // in which waiting jobs choose their slots
	Keys     func() int64 // Shuffle: draws a key from a seeded stream, one per waiting job and trial, quotes included
	Replan   bool         // when nodes become free early, place everyone again; kept only if all fit
	Price    grid.Price   // base price per node-hour
	Shares   pricing.Flexibility
	MaxPhi   int        // the largest |phi| of an alternative or a shift, in thousandths, 0..MaxPhi
	Waiting  int        // the most jobs that may wait; beyond, QueueFull. 1..MaxWaiting
	Disclose Disclosure // what outsiders learn
	Track    bool       // record who was moved, for Moves
}

// MaxWaiting bounds Options.Waiting, because a trial may look at each job as many times as
// there are jobs.
const MaxWaiting = 100_000

// Check says which option is out of range.
func (o *Options) Check() error {
	switch {
	case o.Nodes < 1 || o.Nodes > MaxNodes:
		return fmt.Errorf("nodes = %d: must be 1 to %d", o.Nodes, MaxNodes)
	case !orders.Known(o.Order):
		return fmt.Errorf("order %d is unknown", o.Order)
	case o.Order == Shuffle && o.Keys == nil:
		return fmt.Errorf("order shuffle needs a stream of keys")
	case o.Price < 0 || o.Price > grid.MaxPrice:
		return fmt.Errorf("price = %v: must be 0 to %v credits per node-hour", o.Price, grid.MaxPrice)
	case o.MaxPhi < 0 || o.MaxPhi > MaxPhi:
		return fmt.Errorf("max_phi = %v: must be 0 to %v", grid.Performance(o.MaxPhi), grid.Performance(MaxPhi))
	case o.Waiting < 1 || o.Waiting > MaxWaiting:
		return fmt.Errorf("waiting = %d: must be 1 to %d jobs", o.Waiting, MaxWaiting)
	case int(o.Disclose) >= len(disclosures):
		return fmt.Errorf("disclose %d is unknown", o.Disclose)
	}
	return o.Shares.Check()
}

// Schedule is the timeline of one group: running jobs, and waiting ones with their present
// slots. Its owner advances it and carries out the starts. It is not safe for concurrent
// use.
type Schedule struct {
	opt     Options
	now     grid.Time
	arrival int64 // arrival number of the last job accepted
	jobs    map[int64]*job
	running []place // by planned end, then arrival
	waiting []place // in order as of the last trial

	busy grid.Profile // nodes less running work, from now on
	all  grid.Profile // and less the slots of waiting jobs

	nextStart grid.Time // the earliest slot, Never if nothing waits
	nextFix   grid.Time // the earliest instant at which a window closes

	t       trial
	moves   []Move  // since the last call of Moves
	events  []Event // of the last Advance
	pending []Event // since then
}

// job is what is known of an accepted SLA apart from its place.
type job struct {
	Promise
	agreed agreement
}

// agreement is the window that the parties agreed on last, and its cost then, without
// surcharges. Fixing closes the window but not the agreement.
type agreement struct {
	ready, due grid.Time
	cost       grid.Credits
}

// place is a job on the timeline. What a trial looks at is close together.
type place struct {
	nodes  int
	run    grid.Duration // Te
	ready  grid.Time     // Tr
	last   grid.Time     // D - Te, the latest start
	start  grid.Time     // the slot it has, Never for a newcomer
	next   grid.Time     // the slot it would have by the present trial
	key    int64         // of the order
	number int64         // of arrival
	fix    int           // x, NeverFix once the window has closed
	late   bool          // in a trial: it takes the last slot that fits, not the first
	job    *job
}

func (p *place) end() grid.Time { return p.start.Add(p.run) }

// New returns an empty schedule that opens at now.
func New(opt Options, now grid.Time) (*Schedule, error) {
	if err := opt.Check(); err != nil {
		return nil, err
	}
	return &Schedule{
		opt: opt, now: now, jobs: map[int64]*job{},
		busy: grid.NewProfile(now, opt.Nodes), all: grid.NewProfile(now, opt.Nodes),
		nextStart: grid.Never, nextFix: grid.Never,
	}, nil
}

// Now is the instant up to which the schedule was advanced.
func (s *Schedule) Now() grid.Time { return s.now }

// Promise returns the accepted SLA of an identity, which waits or runs; ok is false if
// there is none.
func (s *Schedule) Promise(id int64) (p Promise, ok bool) {
	j := s.jobs[id]
	if j == nil {
		return Promise{}, false
	}
	return j.Promise, true
}

// Promises lists the running jobs by planned end, then the waiting ones by slot.
func (s *Schedule) Promises() []Promise {
	list := make([]Promise, 0, len(s.running)+len(s.waiting))
	for i := range s.running {
		list = append(list, s.running[i].job.Promise)
	}
	w := slices.Clone(s.waiting)
	slices.SortFunc(w, compareSlots)
	for i := range w {
		list = append(list, w[i].job.Promise)
	}
	return list
}

func compareSlots(a, b place) int {
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.number, b.number))
}

// EventKind says what happened to a job.
type EventKind uint8

const (
	Fixed   EventKind = iota // its window closed to its slot
	Started                  // its slot has come
	Ended                    // its runtime is over; work that lasts longer is cut here
)

var eventKinds = [...]string{"fixed", "started", "ended"}

// String names the kind.
func (k EventKind) String() string { return eventKinds[k] }

// MarshalText writes the kind's name.
func (k EventKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a kind's name, for images that are read back.
func (k *EventKind) UnmarshalText(b []byte) error {
	i := slices.Index(eventKinds[:], string(b))
	if i < 0 {
		return fmt.Errorf("event %q is unknown; must be one of %s", b, strings.Join(eventKinds[:], ", "))
	}
	*k = EventKind(i)
	return nil
}

// Event is what happens to a job by the passing of time alone.
type Event struct {
	At   grid.Time `json:"at"`
	Kind EventKind `json:"kind"`
	ID   int64     `json:"id"`
}

// Next is the instant of the next event, Never if there is none. It is now if a change has
// closed windows that Advance has not yet returned.
func (s *Schedule) Next() grid.Time {
	if len(s.pending) > 0 {
		return s.now
	}
	t := min(s.nextStart, s.nextFix)
	if len(s.running) > 0 {
		t = min(t, s.running[0].end())
	}
	return t
}

// Advance brings the schedule to now, which must not be before the last instant, and
// returns what happened on the way, in order of time. Within one instant windows close
// first, then work ends, then work starts. The list is valid until the next call.
func (s *Schedule) Advance(now grid.Time) []Event {
	if now < s.now {
		panic(fmt.Sprintf("sla: time runs backwards, from %v to %v", s.now, now))
	}
	s.events = append(s.events[:0], s.pending...)
	s.pending = s.pending[:0]
	for {
		t := s.Next()
		if t > now {
			break
		}
		s.now = max(s.now, t)
		if s.nextFix <= t {
			s.events = s.closeDue(s.events, t)
		}
		for len(s.running) > 0 && s.running[0].end() <= t {
			s.events = append(s.events, Event{t, Ended, s.running[0].job.SLA.ID})
			s.retire(0)
		}
		s.startDue(t)
	}
	s.now = now
	trim(&s.busy, now)
	trim(&s.all, now)
	return s.events
}

// trim drops what lies before t, in place: the profile keeps its memory.
func trim(p *grid.Profile, t grid.Time) {
	q := *p
	if i := q.Index(t); i > 0 {
		q = q[:copy(q, q[i:])]
	}
	q[0].At = max(q[0].At, t)
	*p = q
}

// startDue starts the waiting jobs whose slot has come.
func (s *Schedule) startDue(t grid.Time) {
	if s.nextStart > t {
		return
	}
	kept := s.waiting[:0]
	for i := range s.waiting {
		p := &s.waiting[i]
		if p.start > t {
			kept = append(kept, *p)
			continue
		}
		s.busy.Add(p.start, p.end(), -p.nodes)
		p.job.Running = true
		s.running = append(s.running, *p)
		s.events = append(s.events, Event{t, Started, p.job.SLA.ID})
	}
	s.waiting = kept
	slices.SortFunc(s.running, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.end(), b.end()), cmp.Compare(a.number, b.number))
	})
	s.look()
}

// retire forgets running job i.
func (s *Schedule) retire(i int) {
	delete(s.jobs, s.running[i].job.SLA.ID)
	s.running = slices.Delete(s.running, i, i+1)
}

// closeDue closes the windows of the jobs that have waited for their share x of the time
// from submission to their present slot, and appends the events to list.
func (s *Schedule) closeDue(list []Event, t grid.Time) []Event {
	for i := range s.waiting {
		if p := &s.waiting[i]; p.fixAt() <= t {
			s.fix(p)
			list = append(list, Event{t, Fixed, p.job.SLA.ID})
		}
	}
	s.look()
	return list
}

// fixAt is the first instant with now - sub >= x (start - sub), Never if the
// window stays open.
func (p *place) fixAt() grid.Time {
	if p.fix == NeverFix {
		return grid.Never
	}
	sub := p.job.SLA.Submit
	wait := int64(p.start.Sub(sub)) * int64(p.fix)
	return sub.Add(grid.Duration((max(wait, 0) + 999) / 1000))
}

// fix closes the window of a waiting job to its slot.
func (s *Schedule) fix(p *place) {
	p.ready, p.last, p.fix = p.start, p.start, NeverFix
	p.job.Ready, p.job.Due, p.job.Fixed = p.start, p.end(), true
	if s.opt.Order != Shuffle { // whose keys are drawn when a trial sorts
		p.key = s.key(p)
	}
}

// look finds what is due next among the waiting jobs.
func (s *Schedule) look() {
	s.nextStart, s.nextFix = grid.Never, grid.Never
	for i := range s.waiting {
		p := &s.waiting[i]
		s.nextStart = min(s.nextStart, p.start)
		if p.fix != NeverFix {
			s.nextFix = min(s.nextFix, p.fixAt())
		}
	}
}

// End says that running work has ended now, before its time, and reports whether it was
// running. With Replan the others may move up.
func (s *Schedule) End(id int64) bool {
	j := s.jobs[id]
	if j == nil || !j.Running {
		return false
	}
	i := slices.IndexFunc(s.running, func(p place) bool { return p.job == j })
	p := s.running[i]
	s.busy.Add(s.now, p.end(), p.nodes)
	s.all.Add(s.now, p.end(), p.nodes)
	s.retire(i)
	s.moveUp()
	return true
}

// Cancel takes back an accepted SLA that waits or runs, and reports whether
// there was one.
func (s *Schedule) Cancel(id int64) bool {
	j := s.jobs[id]
	if j == nil {
		return false
	}
	if j.Running {
		return s.End(id)
	}
	i := s.find(j)
	p := s.waiting[i]
	s.all.Add(p.start, p.end(), p.nodes)
	s.waiting = slices.Delete(s.waiting, i, i+1)
	delete(s.jobs, id)
	s.look()
	s.moveUp()
	return true
}

// find is the index of a waiting job.
func (s *Schedule) find(j *job) int {
	return slices.IndexFunc(s.waiting, func(p place) bool { return p.job == j })
}

// Free is what is free from now on with the present slots: what a site shows. It must not
// be changed, and is valid until the next call.
func (s *Schedule) Free() grid.Profile { return s.all }
