package manager

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents/sim"
)

// truth is what has truly happened on the nodes and to what is in the book, by the
// world's time. No message tells it.
type truth struct {
	submitted uint64 // jobs
	runs      []*Run // that have begun, in order
	running   []*Run
	touched   []string
	struck    map[sim.Kind]int
	trouble   bourse.Time
}

// Run is work that has begun on nodes.
type Run struct {
	Job        uint64 // the submission: none has that of another
	Name       string
	User       string
	Ours       bool // submitted by a command
	Issued     bourse.Time
	Late       bool // the submission was done when its driver had given it up
	Nodes      []string
	Begun      bourse.Time
	Over       bourse.Time // 0: it runs
	Exit       int
	Signal     int
	ends       bourse.Time
	status     int
	stopped    bool
	stopSignal int
}

// begin begins work on the nodes of a job. What was submitted late, and has begun under
// an earlier submission, finds its mark and ends at once.
func (m *Manager) begin(j *job) *Run {
	w := &Run{Job: j.id, Name: j.name, User: j.user, Ours: j.ours, Issued: j.issued, Late: j.late, Nodes: slices.Clone(j.nodes), Begun: m.now, ends: m.now.Add(max(j.run, 1)), status: j.status}
	if j.late && m.marked(j.name) {
		w.ends = m.now.Add(bourse.Second)
	}
	for _, name := range j.nodes {
		if n := m.node(name); n.work == nil {
			n.work = w
		} else if n.work.Over == 0 {
			m.truth.touched = append(m.truth.touched, fmt.Sprintf("I1: node %s carries %s and is to carry %s", name, n.work.Name, w.Name))
		}
	}
	m.truth.runs = append(m.truth.runs, w)
	m.truth.running = append(m.truth.running, w)
	return w
}

// marked reports whether work of ours has begun under a name. Its mark lies beside the
// work, for days: neither a crash of the manager nor its forgetting takes it away.
func (m *Manager) marked(name string) bool {
	return slices.ContainsFunc(m.truth.runs, func(r *Run) bool { return r.Name == name && r.Ours })
}

// endWork ends the work whose time has come.
func (m *Manager) endWork() {
	for _, w := range slices.Clone(m.truth.running) {
		if w.ends <= m.now {
			m.finish(w, w.stopSignal)
		}
	}
}

// finish ends work now.
func (m *Manager) finish(w *Run, signal int) {
	w.Over, w.Signal, w.Exit = m.now, signal, w.status
	if signal > 0 {
		w.Exit = 128 + signal
	}
	for _, n := range m.nodes {
		if n.work == w {
			n.work = nil
		}
	}
	m.truth.running = slices.DeleteFunc(m.truth.running, func(x *Run) bool { return x == w })
	if !m.up() {
		return
	}
	for _, j := range m.book.jobs {
		if j.work == w && j.state == bourse.ManagedRunning {
			m.ended(j)
		}
	}
}

// ended has the book know that a job's work is over.
func (m *Manager) ended(j *job) {
	j.state, j.end, j.exit, j.signal = bourse.ManagedEnded, m.clock(), j.work.Exit, j.work.Signal
	if j.why == "" && j.exit != 0 {
		j.why = "NonZeroExitCode"
	}
	m.changed()
}

// stop has a running job end: at once, or within the time that it has to clean up.
func (m *Manager) stop(j *job, why string) {
	w := j.work
	if j.state != bourse.ManagedRunning || w == nil || w.stopped || w.Over > 0 {
		return
	}
	j.why, w.stopped = why, true
	grace := within(m.calls, 0, killWait+killWait/2)
	w.stopSignal = 15
	if grace > killWait {
		grace, w.stopSignal = killWait, 9
	}
	if at := m.now.Add(grace); at < w.ends {
		w.ends = at
	} else {
		w.stopSignal = 0 // it ends by itself before
	}
	m.changed()
}

// cancel ends a job that waits, and has one that runs end.
func (m *Manager) cancel(j *job, why string) {
	switch j.state {
	case bourse.ManagedPending, bourse.ManagedHeld:
		j.state, j.why, j.end = bourse.ManagedEnded, why, m.clock()
		m.changed()
	case bourse.ManagedRunning:
		m.stop(j, why)
	}
}

// task is what a job's work does when nobody ends it: most take a part of their
// window, some fail at once, some overrun it.
func (m *Manager) draft(j *job, window bourse.Duration) {
	r := stream(m.opt.Seed, "work "+j.name)
	share := func(lo, hi int64) bourse.Duration {
		return bourse.Duration(int64(window) * (lo + r.Int64N(hi-lo)) / 1000)
	}
	switch x := r.IntN(20); {
	case x < 10:
		j.run = share(600, 990)
	case x < 14:
		j.run = share(50, 600)
	case x < 16:
		j.run, j.status = within(r, 1, 5*bourse.Second), 1+r.IntN(120)
		m.count(WorkFailed)
	case x < 17:
		j.run, j.status = share(100, 900), 1+r.IntN(120)
		m.count(WorkFailed)
	default:
		j.run = window + within(r, bourse.Minute, bourse.Hour)
		m.count(WorkOverrun)
	}
}

func (j *job) id10() string { return strconv.Itoa(j.number) }

// touch takes note that a command changes what no command has made.
func (m *Manager) touch(format string, args ...any) {
	m.truth.touched = append(m.truth.touched, fmt.Sprintf(format, args...))
}

// trouble takes note that something is wrong with the manager until an instant.
func (m *Manager) trouble(until bourse.Time) { m.truth.trouble = max(m.truth.trouble, until) }

func (m *Manager) count(k sim.Kind) { m.truth.struck[k]++ }

// Struck is how often a kind of fault has taken effect here.
func (m *Manager) Struck(k sim.Kind) int { return m.truth.struck[k] }

// Runs lists all work that has begun, in order. It must not be changed.
func (m *Manager) Runs() []*Run { return m.truth.runs }

// Running lists the work that is on nodes. It must not be changed.
func (m *Manager) Running() []*Run { return m.truth.running }

// Touched says what was done by commands to what no command has made, and where work
// was begun on nodes that carried other work.
func (m *Manager) Touched() []string { return m.truth.touched }

// Troubled is until when the last fault was felt, as far as it is known.
func (m *Manager) Troubled() bourse.Time { return m.truth.trouble }

// Skew is how far its clock is ahead of the world's.
func (m *Manager) Skew() bourse.Duration { return m.skew }

// Up reports whether the manager's process lives.
func (m *Manager) Up() bool { return m.up() }

// Kept is a reservation of the book, or a job that has not ended, as the world's time
// has it.
type Kept struct {
	Name       string
	Ours       bool
	Start, End bourse.Time // of a job: its limit; 0: it has not begun
	Nodes      []string
	Users      []string
	Job        uint64 // 0: it is a reservation
	Running    bool
	Held       bool
}

// NodeUp reports whether there is a node of a name, and it is up.
func (m *Manager) NodeUp(name string) bool {
	n := m.node(name)
	return n != nil && n.state == bourse.NodeUp
}

// Kept lists what is in the book, reservations by name and then jobs in the order of
// their submission.
func (m *Manager) Kept() []Kept {
	var list []Kept
	for _, r := range m.book.reservations {
		list = append(list, Kept{Name: r.name, Ours: r.ours, Start: m.world(r.start), End: m.world(r.end), Nodes: r.nodes, Users: r.users})
	}
	for _, j := range m.book.jobs {
		if j.state == bourse.ManagedEnded {
			continue
		}
		k := Kept{Name: j.name, Ours: j.ours, Nodes: j.nodes, Users: []string{j.user}, Job: j.id, Running: j.state == bourse.ManagedRunning, Held: j.state == bourse.ManagedHeld}
		if k.Running {
			k.Start, k.End = m.world(j.start), m.world(j.end)
		}
		list = append(list, k)
	}
	return list
}

// pick draws one of a list; false if it is empty.
func pick[E any](r *rand.Rand, list []E) (e E, ok bool) {
	if len(list) == 0 {
		return e, false
	}
	return list[r.IntN(len(list))], true
}

// byPriority orders jobs as a look shows them: running ones first.
func byPriority(a, b *job) int {
	rank := func(j *job) int {
		if j.state == bourse.ManagedRunning {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.id, b.id))
}
