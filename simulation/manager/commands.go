package manager

import (
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// asked is a command that waits for the driver.
type asked struct {
	from agents.ID
	agents.Command
	at bourse.Time
}

// ask hands the driver a command: it carries out one after the other.
func (m *Manager) ask(from agents.ID, c agents.Command) {
	m.line = append(m.line, asked{from, c, m.now})
	if len(m.line) == 1 {
		m.call()
	}
}

// call begins the first command of the line.
func (m *Manager) call() {
	x, life := m.line[0], m.driver
	took := within(m.calls, 40, 230)
	if m.strikes(SlowCommand) {
		most := Slowest
		if m.opt.Reserves {
			most += Latest
		}
		took = within(m.calls, bourse.Minute/2, most)
		m.trouble(m.now.Add(took))
	}
	if took > Slowest { // the driver gives it up, and it is done all the same
		m.after(Slowest, func() { m.answer(x, life, silent) })
		m.after(took, func() { m.late(x) })
		return
	}
	m.after(took, func() {
		answer := m.carryOut(x)
		if answer.Outcome == agents.Failure {
			m.after(callLimit, func() { m.answer(x, life, answer) })
			return
		}
		m.answer(x, life, answer)
	})
}

// silent is what the driver says of a command when the manager says nothing.
var silent = agents.CommandDone{Outcome: agents.Failure, Reason: bourse.Reason{Code: bourse.NoCluster, Detail: "no answer in time"}}

// late does a command that its driver has given up.
func (m *Manager) late(x asked) {
	if m.up() {
		m.do(x, true)
	}
}

// answer ends the first command of the line, if its driver lives to hear it.
func (m *Manager) answer(x asked, life int, d agents.CommandDone) {
	if m.driver != life {
		return
	}
	if down := m.crashes; down > 0 && d.Outcome == agents.Done && m.opt.Reserves {
		m.crashes = 0
		m.after(within(m.calls, 1, saveEvery), func() { m.crash(down) })
	}
	m.line = m.line[1:]
	if d.Outcome != "" {
		d.Ref, d.Name = x.Ref, x.Name
		m.out.Send(x.from, d)
	}
	if len(m.line) > 0 {
		m.call()
	}
}

// carryOut does a command, or what goes wrong instead. An answer without an outcome is
// one that is lost.
func (m *Manager) carryOut(x asked) agents.CommandDone {
	switch {
	case !m.up():
		return silent
	case m.opt.Reserves && m.strikes(LateCommand):
		late := callLimit + within(m.calls, 1, Latest)
		m.trouble(m.now.Add(late))
		m.after(late, func() { m.late(x) })
		return silent
	case m.strikes(RefusedCommand):
		code := []bourse.Code{bourse.Busy, bourse.NotAllowed}[m.calls.IntN(2)]
		return agents.CommandDone{Outcome: agents.Denied, Reason: bourse.Reason{Code: code, Detail: "refused for no reason that is to be seen"}}
	}
	d := m.do(x, false)
	if m.strikes(LostAnswer) {
		if m.calls.IntN(2) == 0 {
			return agents.CommandDone{}
		}
		return silent
	}
	return d
}

// do does what a command says, and tells what the manager would.
func (m *Manager) do(x asked, late bool) agents.CommandDone {
	var why bourse.Reason
	switch c := x.Command; {
	case !m.opt.Reserves && (c.Verb == agents.Reserve || c.Verb == agents.Assign):
		why = bourse.Reason{Code: bourse.Invalid, Detail: "this manager keeps no reservations"}
	case c.Verb == agents.Reserve:
		why = m.reserve(c)
	case c.Verb == agents.Assign:
		why = m.assign(c)
	case c.Verb == agents.Run:
		why = m.run(x, late)
	case c.Verb == agents.End:
		why = m.endJobs(c)
	case c.Verb == agents.Delete:
		why = m.remove(c)
	default:
		why = bourse.Reason{Code: bourse.Invalid, Detail: "unknown verb " + string(c.Verb)}
	}
	if why.Refused() {
		return agents.CommandDone{Outcome: agents.Denied, Reason: why}
	}
	return agents.CommandDone{Outcome: agents.Done}
}

// seconds is a window as managers take it: in whole seconds.
func seconds(start, end bourse.Time) (bourse.Time, bourse.Time) {
	const s = bourse.Time(bourse.Second)
	return start / s * s, end / s * s
}

// reserve creates a reservation for the holder. The same once more is refused like any
// other that overlaps.
func (m *Manager) reserve(c agents.Command) bourse.Reason {
	start, end := seconds(c.Start, c.End)
	if len(c.Nodes) == 0 || end <= m.clock() {
		return bourse.Reason{Code: bourse.Past, Detail: "Invalid time or no nodes specified"}
	}
	for _, name := range c.Nodes {
		n := m.node(name)
		if n == nil {
			return bourse.Reason{Code: bourse.Unknown, Detail: "Invalid node name specified: " + name}
		}
		if n.work != nil && m.planned(n.work) > start {
			return bourse.Reason{Code: bourse.Busy, Detail: "Requested nodes are busy"}
		}
	}
	if m.book.find(c.Name) != nil || m.book.overlapping(c.Nodes, start, end, nil) != nil {
		return bourse.Reason{Code: bourse.Busy, Detail: "Requested reservation overlaps"}
	}
	m.book.put(&reservation{name: c.Name, start: start, end: end, nodes: slices.Clone(c.Nodes), users: []string{m.opt.Holder}, purge: true, ours: true})
	m.changed()
	return bourse.Reason{}
}

// assign gives a reservation to who is to use it.
func (m *Manager) assign(c agents.Command) bourse.Reason {
	r := m.book.find(c.Name)
	if r == nil {
		return bourse.Reason{Code: bourse.Unknown, Detail: "Invalid reservation specified"}
	}
	if !r.ours {
		m.touch("reservation %s is assigned to %s", r.name, c.User)
	}
	r.users, r.purge = []string{c.User}, false
	m.changed()
	return bourse.Reason{}
}

// run submits the work, unless the driver finds that it is there, or has begun: the
// manager shows the one, and the mark that work leaves as it begins the other, however
// long ago. It has looked before a submission that is done late.
func (m *Manager) run(x asked, late bool) bourse.Reason {
	c := x.Command
	if c.Work == nil {
		return bourse.Reason{Code: bourse.Invalid, Detail: "there is no work to run"}
	}
	if !late {
		for _, j := range m.book.named(c.Name, "", 0) {
			if j.state != bourse.ManagedEnded {
				return bourse.Reason{}
			}
		}
		if m.marked(c.Name) {
			return bourse.Reason{Code: bourse.BadState, Detail: "it has begun before"}
		}
	}
	j := &job{name: c.Name, user: c.User, count: len(c.Nodes), limit: minutes(c.End.Sub(c.Start)), begin: c.Start, issued: x.at, late: late, ours: true}
	m.draft(j, c.End.Sub(c.Start))
	if !m.opt.Reserves {
		return m.beginAtOnce(j, c)
	}
	r := m.book.find(c.Name)
	if r == nil {
		return bourse.Reason{Code: bourse.Unknown, Detail: "Requested reservation is invalid"}
	}
	if !slices.Contains(r.users, c.User) {
		return bourse.Reason{Code: bourse.NotAllowed, Detail: "Access denied to requested reservation"}
	}
	j.reservation = c.Name
	if n := m.node(r.nodes[0]); n != nil {
		j.partition = n.partition
	}
	m.submit(j)
	return bourse.Reason{}
}

// beginAtOnce is what a machine does with work: it asks nobody if its nodes are free.
func (m *Manager) beginAtOnce(j *job, c agents.Command) bourse.Reason {
	for _, name := range c.Nodes {
		if n := m.node(name); n == nil || n.state == bourse.NodeDown {
			return bourse.Reason{Code: bourse.Unknown, Detail: "node " + name + " does not answer"}
		}
	}
	m.submit(j)
	m.start(j, c.Nodes)
	return bourse.Reason{}
}

// endJobs ends the work of a command's name.
func (m *Manager) endJobs(c agents.Command) bourse.Reason {
	for _, j := range m.book.named(c.Name, c.Number, c.Submit) {
		if !j.ours && j.state != bourse.ManagedEnded {
			m.touch("job %s of %s is ended", j.name, j.user)
		}
		m.cancel(j, "Cancelled")
	}
	return bourse.Reason{}
}

// remove ends the work in a reservation and deletes it once that is over.
func (m *Manager) remove(c agents.Command) bourse.Reason {
	m.endJobs(c)
	r := m.book.find(c.Name)
	if slices.ContainsFunc(m.book.jobs, func(j *job) bool {
		return j.state == bourse.ManagedRunning && (j.name == c.Name || r != nil && j.reservation == r.name)
	}) {
		return bourse.Reason{Code: bourse.Busy, Detail: "The reservation is in use"}
	}
	if r == nil {
		return bourse.Reason{}
	}
	if !r.ours {
		m.touch("reservation %s is deleted", r.name)
	}
	m.book.drop(r)
	m.changed()
	return bourse.Reason{}
}

// driverDied is the end of the driver's process: what waits is forgotten, what is in
// hand goes on, and nobody hears what comes of it.
func (m *Manager) driverDied() {
	m.driver++
	m.line = nil
}
