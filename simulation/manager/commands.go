package manager

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// commands carries out what the driver can tell the manager to do, and what it looks up
// there before. It finds things by their names.
type commands struct {
	*queue
}

// do carries out a command, and answers as the manager would.
func (m *commands) do(x asked, late bool) agents.CommandDone {
	var why grid.Reason
	switch c := x.Command; {
	case !m.opt.Reserves && (c.Verb == agents.Reserve || c.Verb == agents.Assign):
		why = grid.Reason{Code: grid.Invalid, Detail: "this manager keeps no reservations"}
	case !m.opt.Pilots && (c.Verb == agents.Claim || c.Verb == agents.Grant):
		why = grid.Reason{Code: grid.Invalid, Detail: "this manager takes no pilots"}
	case c.Verb == agents.Claim:
		why = m.claim(x, late)
	case c.Verb == agents.Grant:
		why = m.grant(c)
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
		why = grid.Reason{Code: grid.Invalid, Detail: "unknown verb " + string(c.Verb)}
	}
	if why.Refused() {
		return agents.CommandDone{Outcome: agents.Denied, Reason: why}
	}
	return agents.CommandDone{Outcome: agents.Done}
}

// seconds rounds a window as managers do: to whole seconds.
func seconds(start, end grid.Time) (grid.Time, grid.Time) {
	const s = grid.Time(grid.Second)
	return start / s * s, end / s * s
}

// reserve creates a reservation for the holder. The same one again is refused as any other
// that overlaps.
func (m *commands) reserve(c agents.Command) grid.Reason {
	start, end := seconds(c.Start, c.End)
	if len(c.Nodes) == 0 || end <= m.own() {
		return grid.Reason{Code: grid.Past, Detail: "Invalid time or no nodes specified"}
	}
	for _, name := range c.Nodes {
		n := m.nodes.find(name)
		if n == nil {
			return grid.Reason{Code: grid.Unknown, Detail: "Invalid node name specified: " + name}
		}
		if m.book.occupied(n) > start && !c.Joins {
			return grid.Reason{Code: grid.Busy, Detail: "Requested nodes are busy"}
		}
	}
	overlaps := c.Part.Some()
	if m.book.find(c.Name) != nil || !overlaps && m.book.alone(c.Nodes, start, end, nil) != nil {
		return grid.Reason{Code: grid.Busy, Detail: "Requested reservation overlaps"}
	}
	m.book.put(&reservation{name: c.Name, start: start, end: end, nodes: slices.Clone(c.Nodes), users: []string{m.opt.Holder}, purge: true, ours: true, overlaps: overlaps})
	m.changed()
	return grid.Reason{}
}

// assign gives a reservation to the account that is to use it.
func (m *commands) assign(c agents.Command) grid.Reason {
	r := m.book.find(c.Name)
	if r == nil {
		return grid.Reason{Code: grid.Unknown, Detail: "Invalid reservation specified"}
	}
	if !r.ours {
		m.truth.touch("reservation %s is assigned to %s", r.name, c.User)
	}
	r.users, r.purge = []string{c.User}, false
	m.changed()
	return grid.Reason{}
}

// run submits the work, unless the driver finds that it is there or has begun. The manager
// shows the first, and the mark that work leaves as it begins shows the second, however
// long ago. For a submission that is carried out late the driver has looked before.
func (m *commands) run(x asked, late bool) grid.Reason {
	c := x.Command
	if c.Work == nil {
		return grid.Reason{Code: grid.Invalid, Detail: "there is no work to run"}
	}
	if !late {
		for _, j := range m.book.named(c.Name, "", 0) {
			if j.state != grid.ManagedEnded {
				return grid.Reason{}
			}
		}
		if m.nodes.marked(c.Name) != nil {
			return grid.Reason{Code: grid.BadState, Detail: "it has begun before"}
		}
	}
	j := &job{name: c.Name, user: c.User, part: c.Part, count: len(c.Nodes), limit: minutes(c.End.Sub(c.Start)), begin: c.Start, issued: x.at, late: late, ours: true}
	m.draft(j, c.End.Sub(c.Start))
	switch {
	case m.opt.Pilots:
		return m.runIn(j, c)
	case !m.opt.Reserves:
		return m.beginAtOnce(j, c)
	}
	r := m.book.find(c.Name)
	if r == nil {
		return grid.Reason{Code: grid.Unknown, Detail: "Requested reservation is invalid"}
	}
	if !slices.Contains(r.users, c.User) {
		return grid.Reason{Code: grid.NotAllowed, Detail: "Access denied to requested reservation"}
	}
	j.reservation = c.Name
	if n := m.nodes.find(r.nodes[0]); n != nil {
		j.partition = n.partition
	}
	if m.aimed[handed] > 0 && m.now >= m.hangs && j.begin < m.own().Add(hangs) {
		m.save()
		m.hang()
	}
	m.submit(j)
	return grid.Reason{}
}

// beginAtOnce begins work as a machine does, without asking whether its nodes are free.
func (m *commands) beginAtOnce(j *job, c agents.Command) grid.Reason {
	for _, name := range c.Nodes {
		if n := m.nodes.find(name); n == nil || n.state == grid.NodeDown {
			return grid.Reason{Code: grid.Unknown, Detail: "node " + name + " does not answer"}
		}
	}
	m.submit(j)
	m.start(j, c.Nodes)
	return grid.Reason{}
}

// endJobs ends the jobs of a command's name.
func (m *commands) endJobs(c agents.Command) grid.Reason {
	for _, j := range m.book.named(c.Name, c.Number, c.Submit) {
		if !j.ours && j.state != grid.ManagedEnded {
			m.truth.touch("job %s of %s is ended", j.name, j.user)
		}
		m.cancel(j, "Cancelled")
	}
	return grid.Reason{}
}

// remove ends the work in a reservation and deletes it once that is over.
func (m *commands) remove(c agents.Command) grid.Reason {
	m.endJobs(c)
	if f := m.nodes.folders[c.Name]; f != nil {
		f.left = f.left || f.goes == ""
		return grid.Reason{} // it has the word
	}
	r := m.book.find(c.Name)
	if slices.ContainsFunc(m.book.jobs, func(j *job) bool {
		return j.state == grid.ManagedRunning && (j.name == c.Name || r != nil && j.reservation == r.name)
	}) {
		return grid.Reason{Code: grid.Busy, Detail: "The reservation is in use"}
	}
	if r == nil {
		return grid.Reason{}
	}
	if !r.ours {
		m.truth.touch("reservation %s is deleted", r.name)
	}
	m.book.drop(r)
	m.changed()
	return grid.Reason{}
}

// draft draws what a job's work does if nobody ends it: most work takes a part of its window,
// some fails at once, some overruns the window.
func (m *commands) draft(j *job, window grid.Duration) {
	r := stream(m.opt.Seed, "work "+j.name)
	share := func(lo, hi int64) grid.Duration {
		return grid.Duration(int64(window) * (lo + r.Int64N(hi-lo)) / 1000)
	}
	switch x := r.IntN(20); {
	case x < 10:
		j.run = share(600, 990)
	case x < 14:
		j.run = share(50, 600)
	case x < 16:
		j.run, j.status = within(r, 1, 5*grid.Second), 1+r.IntN(120)
		m.truth.count(WorkFailed)
	case x < 17:
		j.run, j.status = share(100, 900), 1+r.IntN(120)
		m.truth.count(WorkFailed)
	default:
		j.run = window + within(r, grid.Minute, grid.Hour)
		m.truth.count(WorkOverrun)
	}
}
