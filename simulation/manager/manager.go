package manager

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// Options say what a manager manages, and how.
type Options struct {
	Partitions []Partition
	// Reserves says that it keeps reservations and a queue. Otherwise it begins what it
	// is told to at once, and keeps what has ended for ever.
	Reserves bool
	// Pilots says that it keeps a queue and nobody may reserve: nodes are had by pilots.
	Pilots   bool
	Holder   string          // the account that reservations are created for
	Policy   backfill.Policy // of the local queue
	Seed     uint64          // of all its draws
	Skew     grid.Duration   // of its clock, ahead of the world's
	Account  string          // as which some local jobs run; "": none
	Resubmit bool            // users submit again at once what a crash has lost
	Punctual bool            // local jobs run as long as they say; otherwise one in eight runs into its limit
	// MinJobAge is how long it remembers a job that has ended; 0: five minutes.
	MinJobAge grid.Duration
}

// Partition is a group of nodes that are alike, with the local jobs that are submitted to
// it, in order of submission.
type Partition struct {
	Name  string
	Nodes []string
	Jobs  []grid.LocalJob
}

// Times of a manager: Slurm's defaults, or measured on Slurm.
const (
	saveEvery = 5 * grid.Second  // between two writes of its state: a crash loses as much
	sweep     = 30 * grid.Second // between two looks at limits and ends
	idlePurge = 5 * grid.Minute  // then an unused reservation of the holder is deleted
	killWait  = 30 * grid.Second // from SIGTERM to SIGKILL
	callLimit = 20 * grid.Second // then the driver gives up a call
)

// Slowest is how long a command may take until it is answered or said to have failed. Latest
// is how long after that it may still take effect.
const (
	Slowest = 90 * grid.Second
	Latest  = 2 * grid.Minute
)

// Manager is the simulated resource manager with its driver: an agent that passes each
// message to its part.
type Manager struct {
	clock      *clock
	truth      *truth
	controller *controller
	queue      *queue
	driver     *driver
	faults     *faults
	next       grid.Time // the earliest alarm on its way
}

// wake is the alarm for what is due next.
type wake struct{}

// Kind names the alarm.
func (wake) Kind() string { return "Wake" }

// New returns a manager with nothing in its book.
func New(opt Options) *Manager {
	opt.MinJobAge = cmp.Or(opt.MinJobAge, 5*grid.Minute)
	t := &truth{struck: map[sim.Kind]int{}}
	k := &clock{skew: opt.Skew}
	c := &controller{clock: k, opt: &opt, truth: t, nodes: &nodes{clock: k, truth: t, folders: map[string]*folder{}}, calls: stream(opt.Seed, "calls"), book: book{number: 1}, saved: book{number: 1}}
	for _, p := range opt.Partitions {
		for _, name := range p.Nodes {
			c.nodes.list = append(c.nodes.list, &node{name: name, first: name, partition: p.Name, state: grid.NodeUp})
		}
	}
	l := &looks{controller: c}
	q := &queue{controller: c, taken: make([]int, len(opt.Partitions)), looks: l}
	f := &faults{controller: c}
	return &Manager{clock: k, truth: t, controller: c, queue: q, faults: f, next: grid.Never,
		driver: &driver{commands: &commands{q}, faults: f, looks: l}}
}

// stream is the source of draws for one purpose.
func stream(seed uint64, purpose string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// within draws a duration from [lo, hi].
func within(r *rand.Rand, lo, hi grid.Duration) grid.Duration {
	return lo + grid.Duration(r.Int64N(int64(hi-lo)+1))
}

// Step gives the manager one message.
func (m *Manager) Step(now grid.Time, from agents.ID, msg agents.Message, out *agents.Outbox) {
	m.clock.now, m.driver.out = now, out
	if now >= m.next {
		m.next = grid.Never
	}
	m.live()
	switch x := msg.(type) {
	case agents.Started, wake:
	case agents.LookRequest:
		m.driver.look(from, x)
	case agents.Command:
		m.driver.ask(from, x)
	case agents.OutputRequest:
		m.driver.output(from, x)
	case Strike:
		m.faults.strike(x)
	case DriverDied:
		m.driver.died()
	case Heal:
		m.faults.heal()
	default:
		panic(fmt.Sprintf("manager: %s from %s", msg.Kind(), from))
	}
	m.live()
	if at := max(m.due(), now+1); at < m.next {
		m.next = at
		out.Alarm(at, wake{})
	}
}

// live does what is due by now, in a fixed order.
func (m *Manager) live() {
	c, q := m.controller, m.queue
	m.clock.reach()
	c.endWork()
	if !c.up() {
		return
	}
	if at := c.now / grid.Time(sweep) * grid.Time(sweep); at > q.swept {
		q.swept = at
		q.sweep()
	}
	q.arrive()
	q.schedule()
	if c.dirty && c.now.Sub(c.savedAt) >= saveEvery && c.now >= c.hangs {
		c.save()
	}
}

// due is when live has something to do next.
func (m *Manager) due() grid.Time {
	at, c := grid.Never, m.controller
	if len(m.clock.tasks) > 0 {
		at = m.clock.tasks[0].at
	}
	for _, r := range m.truth.running {
		at = min(at, r.ends)
	}
	if !c.up() {
		return at // it comes up by a task
	}
	if c.dirty {
		at = min(at, max(c.savedAt.Add(saveEvery), c.hangs))
	}
	return min(at, m.queue.due())
}
