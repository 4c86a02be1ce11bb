package manager

import (
	"fmt"

	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
)

// truth is what has really happened on the nodes and to the book, by the world's time. No
// message tells it.
type truth struct {
	submitted uint64 // jobs
	runs      []*Run // that have begun, in order
	running   []*Run
	touched   []string
	struck    map[sim.Kind]int
	troubled  grid.Time
}

// Run is work that has begun on nodes.
type Run struct {
	Job        uint64 // the submission, a number of its own
	Name       string
	User       string
	Ours       bool // submitted by a command
	Issued     grid.Time
	Late       bool // the submission was carried out after its driver had given it up
	Pilot      bool
	Again      bool // it had begun before, and ends at once
	Nodes      []string
	Begun      grid.Time
	Over       grid.Time // 0: it runs
	Exit       int
	Signal     int
	ends       grid.Time
	status     int
	stopped    bool
	stopSignal int
	part       grid.LegPart // that it has of its nodes; none: all
	within, of *Run         // of a pilot: the work that it has become; of that: the pilot
}

// touch records that a command has changed what no command had made.
func (t *truth) touch(format string, args ...any) {
	t.touched = append(t.touched, fmt.Sprintf(format, args...))
}

// trouble records that something is wrong with the manager until an instant.
func (t *truth) trouble(until grid.Time) { t.troubled = max(t.troubled, until) }

// count records that a kind of fault has taken effect.
func (t *truth) count(k sim.Kind) { t.struck[k]++ }

// Becomes is the work that a pilot has become, nil if none.
func (r *Run) Becomes() *Run { return r.within }

// For checks from outside:

// Struck is how often a kind of fault has taken effect here.
func (m *Manager) Struck(k sim.Kind) int { return m.truth.struck[k] }

// Runs lists all work that has begun, in order. It must not be changed.
func (m *Manager) Runs() []*Run { return m.truth.runs }

// Running lists the work that is on nodes. It must not be changed.
func (m *Manager) Running() []*Run { return m.truth.running }

// Touched lists what commands did to what no command had made, and where work began on nodes
// that carried other work.
func (m *Manager) Touched() []string { return m.truth.touched }

// Troubled is until when the last fault was felt, as far as it is known.
func (m *Manager) Troubled() grid.Time { return m.truth.troubled }

// Skew is how far the manager's clock is ahead of the world's.
func (m *Manager) Skew() grid.Duration { return m.clock.skew }

// Up reports whether the manager's process lives.
func (m *Manager) Up() bool { return m.controller.up() }

// Kept is a reservation of the book, or a job that has not ended, with the world's times.
type Kept struct {
	Name       string
	Ours       bool
	Start, End grid.Time // of a job: its limit; 0: it has not begun
	Nodes      []string
	Users      []string
	Job        uint64 // 0: it is a reservation
	Running    bool
	Held       bool
}

// NodeUp reports whether a node of a name exists and is up.
func (m *Manager) NodeUp(name string) bool {
	n := m.controller.nodes.find(name)
	return n != nil && n.state == grid.NodeUp
}

// Unfit is since when a node of a name has not been up; 0: it is.
func (m *Manager) Unfit(name string) grid.Time {
	for _, n := range m.controller.nodes.list {
		if n.first == name {
			return n.unfit
		}
	}
	return 0
}

// Kept lists what is in the book: reservations by name, then jobs in order of submission.
func (m *Manager) Kept() []Kept {
	var list []Kept
	for _, r := range m.controller.book.reservations {
		list = append(list, Kept{Name: r.name, Ours: r.ours, Start: m.clock.world(r.start), End: m.clock.world(r.end), Nodes: r.nodes, Users: r.users})
	}
	for _, j := range m.controller.book.jobs {
		if j.state == grid.ManagedEnded {
			continue
		}
		k := Kept{Name: j.name, Ours: j.ours, Nodes: j.nodes, Users: []string{j.user}, Job: j.id, Running: j.state == grid.ManagedRunning, Held: j.state == grid.ManagedHeld}
		if k.Running {
			k.Start, k.End = m.clock.world(j.start), m.clock.world(j.end)
		}
		list = append(list, k)
	}
	return list
}
