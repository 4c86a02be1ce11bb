package admission

import (
	"container/heap"
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// After a restart of its process, a server is refilled with what was decided and decides
// none of it again: Place restores later placements, Restore the content of an image. What
// its nodes have done in the meantime follows by the same arithmetic, in the same floats,
// as if it had never stopped.

// Place starts work now on the nodes that an earlier life has chosen for it. It reports
// whether these nodes exist.
func (s *Shares) Place(j Job, run grid.Duration, nodes []int) bool {
	if len(nodes) == 0 || !within(nodes, len(s.nodes)) || s.jobs[j.ID] != nil {
		return false
	}
	s.put(j, run, nodes)
	return true
}

// Place makes work wait or, with nodes, start on those.
func (q *Queue) Place(j Job, run grid.Duration, nodes []int) bool {
	if len(nodes) == 0 {
		if _, there := q.ids[j.ID]; there || j.Nodes > len(q.busy) {
			return false
		}
		q.enter(j, run)
		return true
	}
	if !within(nodes, len(q.busy)) || slices.ContainsFunc(nodes, func(i int) bool { return q.busy[i] }) {
		return false
	}
	q.End(j.ID) // it may have been waiting
	slowest := q.opt.Nodes[nodes[0]]
	for _, i := range nodes {
		slowest = min(slowest, q.opt.Nodes[i])
	}
	q.occupy(runner{j.ID, q.now.Add(slowest.Runtime(run)), slices.Clone(nodes)})
	return true
}

func within(nodes []int, n int) bool {
	return !slices.ContainsFunc(nodes, func(i int) bool { return i < 0 || i >= n })
}

// Save records the remaining work of all jobs.
func (s *Shares) Save(m *facts.ServerMemory) {
	m.At = s.now
	for i := range s.nodes {
		n := &s.nodes[i]
		x := facts.NodeTasks{At: n.at}
		for _, t := range n.tasks {
			x.Tasks = append(x.Tasks, facts.TaskLeft{Number: t.job, Deadline: t.deadline, Estimate: t.estimate, Work: t.work})
		}
		m.Nodes = append(m.Nodes, x)
	}
}

// Save records which jobs run, until when, and which wait.
func (q *Queue) Save(m *facts.ServerMemory) {
	m.At = q.now
	for _, r := range q.running {
		m.Running = append(m.Running, facts.RunningTasks{Number: r.id, End: r.end, Nodes: slices.Clone(r.nodes)})
	}
	slices.SortFunc(m.Running, func(a, b facts.RunningTasks) int {
		if a.End != b.End {
			return int(a.End - b.End)
		}
		return int(a.Number - b.Number)
	})
	list := slices.Clone(q.waiting)
	slices.SortFunc(list, func(a, b waiter) int { return int(a.seq - b.seq) })
	for _, w := range list {
		m.Waiting = append(m.Waiting, facts.WaitingTasks{Number: w.ID, Nodes: w.Nodes, Estimate: w.Estimate, Deadline: w.Deadline, Run: w.run})
	}
}

// Restore refills an empty server with what Save has recorded. It returns the jobs that
// have lost a node because there are fewer nodes now.
func (s *Shares) Restore(m *facts.ServerMemory) (lost []int64) {
	s.now = m.At
	for i := range m.Nodes {
		for _, t := range m.Nodes[i].Tasks {
			if i >= len(s.nodes) {
				lost = append(lost, t.Number)
				continue
			}
			p := s.jobs[t.Number]
			if p == nil {
				p = &placement{}
				s.jobs[t.Number] = p
			}
			p.nodes, p.left = append(p.nodes, i), p.left+1
			s.nodes[i].add(task{job: t.Number, deadline: t.Deadline, estimate: t.Estimate, work: t.Work})
		}
		if i < len(s.nodes) {
			s.nodes[i].at = m.Nodes[i].At
			s.due[i] = s.nodes[i].divide()
		}
	}
	s.next = slices.Min(s.due)
	return drop(s, lost)
}

// Restore refills an empty server with what Save has recorded. It returns the jobs that
// have lost a node because there are fewer nodes now.
func (q *Queue) Restore(m *facts.ServerMemory) (lost []int64) {
	q.now = m.At
	for _, r := range m.Running {
		if !within(r.Nodes, len(q.busy)) {
			lost = append(lost, r.Number)
			continue
		}
		q.occupy(runner{r.Number, r.End, slices.Clone(r.Nodes)})
	}
	for _, w := range m.Waiting {
		if w.Nodes > len(q.busy) {
			lost = append(lost, w.Number)
			continue
		}
		q.enter(Job{ID: w.Number, Nodes: w.Nodes, Estimate: w.Estimate, Deadline: w.Deadline}, w.Run)
	}
	return drop(q, lost)
}

// drop removes jobs that have lost a node.
func drop(s Server, lost []int64) []int64 {
	slices.Sort(lost)
	lost = slices.Compact(lost)
	for _, id := range lost {
		s.End(id)
	}
	return lost
}

// enter makes a job wait.
func (q *Queue) enter(j Job, run grid.Duration) {
	q.seen++
	q.ids[j.ID] = struct{}{}
	heap.Push(&q.waiting, waiter{Job: j, run: run, seq: q.seen})
}

// occupy makes a job run.
func (q *Queue) occupy(r runner) {
	for _, i := range r.nodes {
		q.busy[i] = true
	}
	q.free -= len(r.nodes)
	q.ids[r.id] = struct{}{}
	heap.Push(&q.running, r)
}

// Nodes returns the nodes that a job runs on, nil if it does not run. The list is valid
// until the next change.
func (s *Shares) Nodes(id int64) []int {
	if p := s.jobs[id]; p != nil {
		return p.nodes
	}
	return nil
}

// Nodes returns the nodes that a job runs on, nil if it does not run. It costs a walk over
// the running jobs.
func (q *Queue) Nodes(id int64) []int {
	for i := range q.running {
		if q.running[i].id == id {
			return q.running[i].nodes
		}
	}
	return nil
}
