package rehearsal

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// Trace is the log of a cluster.
type Trace struct {
	Name  string
	Nodes int
	Jobs  []grid.LocalJob // in order of submit
}

// usable returns the jobs that fit the cluster, their runs cut at their limits.
func (t *Trace) usable() (list []grid.LocalJob) {
	for _, j := range t.Jobs {
		if j.Nodes < 1 || j.Nodes > t.Nodes || j.Run <= 0 || j.Estimate <= 0 {
			continue
		}
		j.ID, j.Run = int64(len(list)+1), min(j.Run, j.Estimate)
		list = append(list, j)
	}
	return list
}

// Loaded returns the jobs of a log with their arrivals spread so that the load is so much. Jobs that
// do not fit the cluster are left out, and runs are cut at their limits.
func (t *Trace) Loaded(load float64) []grid.LocalJob {
	list, work := t.usable(), 0.0
	for i := range list {
		work += float64(list[i].Nodes) * float64(list[i].Run)
	}
	if len(list) < 2 {
		return nil
	}
	first := list[0].Submit
	span := float64(list[len(list)-1].Submit.Sub(first)) * float64(t.Nodes)
	factor := work / span / load
	for i := range list {
		list[i].Submit = grid.Time(math.Round(float64(list[i].Submit.Sub(first)) * factor))
	}
	return list
}

// Machine is a cluster in its replay.
type Machine struct {
	jobs []grid.LocalJob
	next int // of them
	g    *backfill.Group
	ends ends
	own  map[int64]*pilot // our jobs, by id
}

// pilot is a job of ours on a machine.
type pilot struct {
	id         int64
	nodes      int
	limit      grid.Duration
	arrives    grid.Time
	queued     bool
	begin, end grid.Time // Never: not yet
	planned    grid.Time
}

// end is when a running job really ends.
type end struct {
	at, planned grid.Time
	id          int64
}

// ends are those of the running jobs, the earliest first.
type ends []end

func (e ends) Len() int { return len(e) }
func (e ends) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(e[i].at, e[j].at), cmp.Compare(e[i].id, e[j].id)) < 0
}
func (e ends) Swap(i, j int) { e[i], e[j] = e[j], e[i] }

// Push adds an end, for package heap.
func (e *ends) Push(x any) { *e = append(*e, x.(end)) }

// Pop removes the last, for package heap.
func (e *ends) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// NewMachine is an empty cluster under EASY, to which jobs come in order of submit.
func NewMachine(nodes int, jobs []grid.LocalJob) *Machine {
	return &Machine{jobs: jobs, g: backfill.New(nodes, backfill.EASY, 0), own: map[int64]*pilot{}}
}

// Copied is a machine that goes on from where this one is.
func (m *Machine) Copied() *Machine {
	s := m.g.State().Clone()
	return &Machine{jobs: m.jobs, next: m.next, g: backfill.Restore(&s), ends: slices.Clone(m.ends), own: map[int64]*pilot{}}
}

// firstOwn is the least id of a job of ours.
const firstOwn = 1 << 40

// submit has a job of ours arrive.
func (m *Machine) submit(nodes int, limit grid.Duration, at grid.Time) *pilot {
	p := &pilot{id: firstOwn + int64(len(m.own)), nodes: nodes, limit: limit, arrives: at, begin: grid.Never, end: grid.Never}
	m.own[p.id] = p
	return p
}

// arrival is when the next of our jobs arrives that has not.
func (m *Machine) arrival() (first *pilot) {
	for _, p := range m.own {
		if !p.queued && p.end == grid.Never && (first == nil || p.arrives < first.arrives || p.arrives == first.arrives && p.id < first.id) {
			first = p
		}
	}
	return first
}

// Advance lets time pass up to an instant, which is included.
func (m *Machine) Advance(to grid.Time) {
	for {
		at := to
		if len(m.ends) > 0 {
			at = min(at, m.ends[0].at)
		}
		if m.next < len(m.jobs) {
			at = min(at, max(m.jobs[m.next].Submit, m.g.Now()))
		}
		if p := m.arrival(); p != nil {
			at = min(at, max(p.arrives, m.g.Now()))
		}
		m.g.Advance(max(at, m.g.Now()))
		for len(m.ends) > 0 && m.ends[0].at <= at {
			e := heap.Pop(&m.ends).(end)
			m.g.End(e.id, e.planned)
			if p := m.own[e.id]; p != nil {
				p.end = at
			}
		}
		for m.next < len(m.jobs) && m.jobs[m.next].Submit <= at {
			j := m.jobs[m.next]
			m.next++
			m.g.Arrive(backfill.Queued{ID: j.ID, Nodes: j.Nodes, Estimate: j.Estimate, Submit: j.Submit, Weight: 1000, Guarantee: grid.Never, Ref: int32(m.next - 1)})
		}
		for p := m.arrival(); p != nil && p.arrives <= at; p = m.arrival() {
			p.queued = true
			m.g.Arrive(backfill.Queued{ID: p.id, Nodes: p.nodes, Estimate: p.limit, Submit: p.arrives, Weight: 1000, Guarantee: grid.Never})
		}
		m.pass(at)
		if at >= to {
			return
		}
	}
}

// pass starts what starts now.
func (m *Machine) pass(now grid.Time) {
	for _, s := range m.g.Pass() {
		e := end{s.End, s.End, s.ID}
		if p := m.own[s.ID]; p != nil {
			p.begin, p.planned = now, s.End
		} else {
			e.at = now.Add(m.jobs[s.Ref].Run)
		}
		heap.Push(&m.ends, e)
	}
}

// leave ends a job of ours, running or waiting, now.
func (m *Machine) leave(p *pilot) {
	now := m.g.Now()
	switch {
	case p.end != grid.Never:
		return
	case p.begin != grid.Never:
		i := slices.IndexFunc(m.ends, func(e end) bool { return e.id == p.id })
		heap.Remove(&m.ends, i)
		m.g.End(p.id, p.planned)
	case p.queued:
		m.g.Cancel(p.id)
	}
	p.end = now
	m.pass(now)
}

// startsNow reports whether a job of so many nodes and such a limit would start now: its nodes are
// free, and nobody waits, or by the limits it is over before the first waiting job's shadow time, or
// takes only nodes that this one leaves.
func (m *Machine) startsNow(nodes int, limit grid.Duration) bool {
	s := m.g.State()
	free := s.Free.Min(s.Now, s.Now+1)
	if free < nodes {
		return false
	}
	if len(s.Queue) == 0 {
		return true
	}
	head, shadow, there := s.Queue[0].Nodes, grid.Never, free
	for _, r := range s.Running { // by end
		if there >= head && r.End > shadow {
			break
		}
		if there += r.Nodes; there >= head && shadow == grid.Never {
			shadow = r.End
		}
	}
	return s.Now.Add(limit) <= shadow || nodes <= there-head
}
