package manager

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Pilots are jobs that wait in the queue as any other and then idle on their nodes. Each has
// a folder, which no crash of the manager undoes: from it a pilot reads how long it may idle,
// and whether it becomes work. It leaves shortly before its grant is over.

// folder is what was written for a pilot.
type folder struct {
	granted grid.Duration // from its begin
	goes    string        // the name of the work that it becomes; "": none
	left    bool          // it has decided to leave
}

// queued reports whether jobs wait in a queue, and may have limits.
func (o *Options) queued() bool { return o.Reserves || o.Pilots }

// claim submits a pilot, unless there is one of its name.
func (m *commands) claim(x asked, late bool) grid.Reason {
	c := x.Command
	i := slices.IndexFunc(m.opt.Partitions, func(p Partition) bool { return p.Name == c.Group })
	switch {
	case i < 0:
		return grid.Reason{Code: grid.Unknown, Detail: "Invalid partition name specified"}
	case c.Count < 1 || c.Count > len(m.opt.Partitions[i].Nodes):
		return grid.Reason{Code: grid.TooLarge, Detail: "Node count specification invalid"}
	case c.Limit < 1 || c.Granted < 1:
		return grid.Reason{Code: grid.Invalid, Detail: "a pilot has a limit and a first grant"}
	case !late && slices.ContainsFunc(m.book.named(c.Name, "", 0), func(j *job) bool { return j.state != grid.ManagedEnded }):
		return grid.Reason{}
	case m.nodes.folders[c.Name] != nil && m.nodes.marked(c.Name) != nil:
		return grid.Reason{Code: grid.BadState, Detail: "it has begun before"}
	}
	if m.nodes.folders[c.Name] == nil {
		m.nodes.folders[c.Name] = &folder{granted: c.Granted}
	}
	m.submit(&job{name: c.Name, user: c.User, partition: c.Group, count: c.Count, limit: minutes(c.Limit), pilot: true, issued: x.at, late: late, ours: true})
	return grid.Reason{}
}

// grant lets a pilot idle for longer.
func (m *commands) grant(c agents.Command) grid.Reason {
	f := m.nodes.folders[c.Name]
	if f == nil || f.left {
		return grid.Reason{Code: grid.BadState, Detail: "there is no such pilot, or it has left"}
	}
	f.granted = max(f.granted, c.Granted)
	if w := m.nodes.marked(c.Name); w != nil && w.Over == 0 {
		w.idleUntil(f)
	}
	return grid.Reason{}
}

// idleUntil sets the end of a pilot that idles on its nodes.
func (w *Run) idleUntil(f *folder) {
	if f.goes == "" && !w.stopped {
		w.ends = w.Begun.Add(max(f.granted-agents.PilotLeaves, grid.Second))
	}
}

// runIn makes a pilot become the work of a job, once.
func (m *commands) runIn(j *job, c agents.Command) grid.Reason {
	f, w := m.nodes.folders[c.In], m.nodes.marked(c.In)
	switch {
	case f == nil || f.left || w == nil || w.Over > 0 || w.stopped || w.ends <= m.now:
		return grid.Reason{Code: grid.BadState, Detail: "the pilot does not run, or it has left"}
	case f.goes != "" && f.goes != c.Name:
		return grid.Reason{Code: grid.BadState, Detail: "the pilot has become other work"}
	case slices.ContainsFunc(c.Nodes, func(n string) bool { return !slices.Contains(w.Nodes, n) }):
		return grid.Reason{Code: grid.NoNode, Detail: "the pilot does not have these nodes"}
	}
	f.goes, w.ends = c.Name, grid.Never
	j.in, j.nodes = c.In, slices.Clone(c.Nodes)
	m.submit(j)
	return grid.Reason{}
}

// startInPilots begins the work of pilots at its instant, and ends what has lost its pilot.
func (q *queue) startInPilots() {
	for _, j := range q.book.jobs {
		if j.state != grid.ManagedPending || j.in == "" {
			continue
		}
		w := q.nodes.marked(j.in)
		if w == nil || w.Over > 0 {
			j.state, j.why, j.nodes, j.end = grid.ManagedEnded, "PilotEnded", nil, q.own()
			q.changed()
			continue
		}
		if q.own() < j.begin {
			continue
		}
		for _, n := range q.nodes.list {
			if n.work == w && slices.Contains(j.nodes, n.name) {
				n.work = nil // the pilot has become the work
			}
		}
		q.start(j, j.nodes)
		w.within, j.work.of = j.work, w
	}
}

// together ends a pilot with its work, and the work with its pilot.
func (c *controller) together(w *Run, signal int) {
	if other := cmp.Or(w.within, w.of); other != nil && other.Over == 0 {
		c.finish(other, signal)
	}
}
