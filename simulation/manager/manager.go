package manager

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// Options say what a manager looks after.
type Options struct {
	Partitions []Partition
	// Reserves says that it keeps reservations and a queue. One that does not begins
	// what it is told to at once, and keeps what has ended for ever.
	Reserves bool
	Holder   string          // whom a reservation is created for
	Policy   backfill.Policy // of the local queue
	Seed     uint64          // of all its draws
	Skew     bourse.Duration // of its clock, ahead of the world's
	Account  string          // that some local jobs run as; "": none of them
	// MinJobAge is how long it knows a job that has ended; 0: five minutes.
	MinJobAge bourse.Duration
}

// Partition is a group of alike nodes with the local jobs that are submitted to it, in
// order of submit.
type Partition struct {
	Name  string
	Nodes []string
	Jobs  []bourse.LocalJob
}

// Times of a manager, as they are Slurm's by default or were measured on it.
const (
	saveEvery = 5 * bourse.Second  // between two writes of its state: what a crash loses
	sweep     = 30 * bourse.Second // between two looks at limits and ends
	idlePurge = 5 * bourse.Minute  // after which an unused reservation of the holder is deleted
	killWait  = 30 * bourse.Second // from SIGTERM to SIGKILL
	callLimit = 20 * bourse.Second // after which the driver gives a call up
)

// Slowest is how long a command may take until it is answered, or is said to have
// failed; Latest how long after that it may still take effect.
const (
	Slowest = 90 * bourse.Second
	Latest  = 2 * bourse.Minute
)

// Manager is the simulated resource manager with its driver. It has the world's time,
// by which its own clock is off by the skew.
type Manager struct {
	opt  Options
	now  bourse.Time
	skew bourse.Duration
	out  *agents.Outbox
	next bourse.Time // the earliest alarm on its way

	nodes   []*node
	book    book // what it keeps
	saved   book // what a crash leaves of that
	savedAt bourse.Time
	dirty   bool // book has what saved has not
	stale   bool // something has changed that may let a job start
	swept   bourse.Time
	upAt    bourse.Time // not before then does it answer; 0: it is up
	taken   []int       // local jobs submitted, by partition
	looks   []*bourse.Look

	line   []asked // commands that wait for the driver; the first is in hand
	driver int     // counts the lives of the driver's process
	tasks  []task
	seq    uint64

	calls    *rand.Rand // of how long calls take
	episodes []episode
	// It is down for so long after the next command that it acknowledges, and after the
	// next look that shows a job of ours which it has not written; 0: it is not.
	crashes, crashesShown bourse.Duration
	truth                 truth
}

// node is one of its nodes.
type node struct {
	name      string
	first     string // its name when nobody has renamed it
	partition string
	state     bourse.NodeState
	work      *Run // that is on it
}

// task is something that happens at an instant.
type task struct {
	at  bourse.Time
	seq uint64
	do  func()
}

// wake is the alarm for what is due next.
type wake struct{}

// Kind names the alarm.
func (wake) Kind() string { return "Wake" }

// New returns a manager with nothing in its book.
func New(opt Options) *Manager {
	opt.MinJobAge = cmp.Or(opt.MinJobAge, 5*bourse.Minute)
	m := &Manager{opt: opt, skew: opt.Skew, next: bourse.Never, taken: make([]int, len(opt.Partitions)), calls: stream(opt.Seed, "calls")}
	m.book.number = 1
	m.saved.number = 1
	for _, p := range opt.Partitions {
		for _, name := range p.Nodes {
			m.nodes = append(m.nodes, &node{name: name, first: name, partition: p.Name, state: bourse.NodeUp})
		}
	}
	m.truth.struck = map[sim.Kind]int{}
	return m
}

// stream is the source of draws of one purpose.
func stream(seed uint64, purpose string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// within draws a duration from [lo, hi].
func within(r *rand.Rand, lo, hi bourse.Duration) bourse.Duration {
	return lo + bourse.Duration(r.Int64N(int64(hi-lo)+1))
}

// Step hands the manager one message.
func (m *Manager) Step(now bourse.Time, from agents.ID, msg agents.Message, out *agents.Outbox) {
	m.now, m.out = now, out
	if now >= m.next {
		m.next = bourse.Never
	}
	m.live()
	switch x := msg.(type) {
	case agents.Started, wake:
	case agents.LookRequest:
		m.look(from, x)
	case agents.Command:
		m.ask(from, x)
	case agents.OutputRequest:
		m.output(from, x)
	case Strike:
		m.strike(x)
	case DriverDied:
		m.driverDied()
	case Heal:
		m.heal()
	default:
		panic(fmt.Sprintf("manager: %s from %s", msg.Kind(), from))
	}
	m.live()
	if at := max(m.due(), now+1); at < m.next {
		m.next = at
		out.Alarm(at, wake{})
	}
}

// live does what is due by now, in an order of its own.
func (m *Manager) live() {
	for len(m.tasks) > 0 && m.tasks[0].at <= m.now {
		t := m.tasks[0]
		m.tasks = m.tasks[1:]
		t.do()
	}
	m.endWork()
	if !m.up() {
		return
	}
	if at := m.now / bourse.Time(sweep) * bourse.Time(sweep); at > m.swept {
		m.swept = at
		m.sweep()
	}
	m.arrive()
	m.schedule()
	if m.dirty && m.now.Sub(m.savedAt) >= saveEvery {
		m.save()
	}
}

// due is when live has something to do next.
func (m *Manager) due() bourse.Time {
	at := bourse.Never
	if len(m.tasks) > 0 {
		at = m.tasks[0].at
	}
	for _, r := range m.truth.running {
		at = min(at, r.ends)
	}
	if !m.up() {
		return at // it comes up by a task
	}
	at = min(at, m.swept.Add(sweep))
	if m.dirty {
		at = min(at, m.savedAt.Add(saveEvery))
	}
	for i, p := range m.opt.Partitions {
		if n := m.taken[i]; n < len(p.Jobs) {
			at = min(at, p.Jobs[n].Submit)
		}
	}
	for _, j := range m.book.jobs {
		if j.state == bourse.ManagedPending && m.clock() < j.begin {
			at = min(at, m.world(j.begin))
		}
	}
	for _, r := range m.book.reservations {
		for _, t := range []bourse.Time{r.start, r.end} {
			if m.clock() < t {
				at = min(at, m.world(t))
			}
		}
	}
	return at
}

// after has something happen after a while.
func (m *Manager) after(d bourse.Duration, do func()) {
	m.seq++
	t := task{m.now.Add(d), m.seq, do}
	i := len(m.tasks)
	for i > 0 && m.tasks[i-1].at > t.at {
		i--
	}
	m.tasks = slices.Insert(m.tasks, i, t)
}

// up reports whether the manager answers.
func (m *Manager) up() bool { return m.now >= m.upAt }

// clock is the time that it has itself, and world the world's when its clock shows
// an instant.
func (m *Manager) clock() bourse.Time               { return m.now.Add(m.skew) }
func (m *Manager) world(at bourse.Time) bourse.Time { return at.Add(-m.skew) }
