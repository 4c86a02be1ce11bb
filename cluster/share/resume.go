package share

import (
	"cmp"
	"maps"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/admission"
)

// A replay decides nothing: it puts work where it was put, and computes what the nodes have
// done since. If the configuration has changed between two lives, the new one holds: work
// that has lost one of its nodes is lost.

// overdue is work that has ended.
type overdue struct {
	at grid.Time
	id int64
}

// Begin begins a life. It records what was computed in addition to the facts.
func (b *Backend) Begin(h cluster.Host, l cluster.Life) {
	b.host, b.durable, b.now = h, l.Durable, l.Now
	b.version = max(l.Nonce, 1) // of no earlier life
	done := map[int64]bool{}
	for _, x := range l.Locks {
		done[x.Number] = x.State == facts.LockEnded || x.State == facts.LockLost
	}
	slices.Sort(b.gone)
	for _, id := range slices.Compact(b.gone) {
		if !done[id] {
			b.abandon(l.Now, id)
		}
	}
	for _, e := range b.unrecorded {
		b.happened(e.at, admission.Event{Job: e.id, Kind: admission.Ended})
	}
	b.gone, b.unrecorded = nil, nil
	for _, s := range b.servers {
		if s.Now() < l.At {
			s.Advance(l.At)
		}
	}
	b.Settle(l.At)
	b.feeds = make([]feed, len(b.groups))
	for i := range b.feeds {
		if b.work == nil {
			continue
		}
		had := l.From(b.fed[i])
		b.feeds[i].next = cluster.Feed(had, b.work(i, l.Begun, had.Submit), func(j *Job) *grid.Time { return &j.Submit }, func() grid.Time { return l.At })
		b.feeds[i].pull()
	}
}

// abandon gives up work whose nodes are gone.
func (b *Backend) abandon(now grid.Time, id int64) {
	if j := b.jobs[id]; j != nil {
		delete(b.jobs, id)
		b.host.Record(facts.JobEnded{Job: j.ID, Group: b.groups[j.group].Name, Nodes: j.Nodes, Submit: j.Submit,
			Start: j.start, Killed: true, Due: j.Deadline})
		b.predictors[j.group].Learn(&j.LocalJob, j.Limit(), j.Run) // as a replay does
	} else if l := b.numbered(id); l != nil {
		b.moved(now, l, facts.LockLost)
	}
}

// Replay applies a fact of an earlier life, and returns the instant up to which the nodes
// have now run.
func (b *Backend) Replay(at grid.Time, f agents.Fact) grid.Time {
	at = facts.Happened(at, f)
	switch f := f.(type) {
	case facts.ClusterImage:
		b.load(f)
	case facts.WorkBegun:
		b.reach(f.At)
	case facts.TasksPlaced:
		b.reach(at)
		b.place(f)
	case facts.JobEnded:
		b.reach(at)
		b.jobEnded(f)
	case facts.JobRefused:
		b.turnedAway(f)
	case facts.LockMoved:
		b.reach(at)
		b.lockMoved(f)
	}
	return b.now
}

// reach runs the nodes up to an instant of the past.
func (b *Backend) reach(t grid.Time) {
	t = max(t, b.now)
	for next := b.due(); next <= t; next = b.due() {
		for _, s := range b.servers {
			for _, e := range s.Advance(next) {
				b.unrecorded = append(b.unrecorded, overdue{next, e.Job})
			}
		}
	}
	for _, s := range b.servers {
		s.Advance(t)
	}
	b.now = t
}

// place puts work where it was put.
func (b *Backend) place(f facts.TasksPlaced) {
	b.number = max(b.number, f.Number)
	group := b.group(f.Group)
	if b.jobs[f.Number] == nil && b.numbered(f.Number) == nil {
		b.know(max(group, 0), f)
		if f.Leg == (grid.LegID{}) && group >= 0 {
			b.fed[group].Take(f.Job.Submit)
		}
	}
	if group < 0 || !b.servers[group].Place(b.admitted(f.Number), f.Run, f.Nodes) {
		b.gone = append(b.gone, f.Number)
		return
	}
	if len(f.Nodes) == 0 {
		return
	}
	if j := b.jobs[f.Number]; j != nil {
		j.start = b.now
	} else if l := b.numbered(f.Number); l != nil {
		l.began = true
	}
}

// know adds work to the books.
func (b *Backend) know(group int, f facts.TasksPlaced) {
	if f.Leg == (grid.LegID{}) {
		b.jobs[f.Number] = &job{Job: Job{LocalJob: f.Job, Deadline: f.Deadline}, group: group, start: f.Start}
		return
	}
	l := &leg{id: f.Leg, number: f.Number, group: group, what: f.What, run: f.Run, began: f.Start > 0}
	b.legs[f.Leg] = l
	b.order = append(b.order, l)
}

// admitted is what the admission knows of a piece of work.
func (b *Backend) admitted(id int64) admission.Job {
	if j := b.jobs[id]; j != nil {
		return admission.Job{ID: id, Nodes: j.Nodes, Estimate: j.planned(), Deadline: j.Deadline}
	}
	l := b.numbered(id)
	return admission.Job{ID: id, Nodes: l.what.Nodes, Estimate: l.what.Work, Deadline: l.what.End}
}

// recorded takes off work that is on record as ended. If by computation it still works, it
// ends now.
func (b *Backend) recorded(group int, id int64) {
	b.unrecorded = slices.DeleteFunc(b.unrecorded, func(e overdue) bool { return e.id == id })
	b.gone = slices.DeleteFunc(b.gone, func(x int64) bool { return x == id })
	b.servers[group].End(id)
}

// jobEnded ends a local job.
func (b *Backend) jobEnded(f facts.JobEnded) {
	if id, j := b.named(f.Group, f.Job); j != nil {
		b.recorded(j.group, id)
		delete(b.jobs, id)
		b.over(j, b.now)
	}
}

// turnedAway records that a job was refused on arrival, or dropped later.
func (b *Backend) turnedAway(f facts.JobRefused) {
	if id, j := b.named(f.Group, f.Job); j != nil && j.start == 0 && f.Reason.Code != grid.Conflict {
		b.recorded(j.group, id)
		delete(b.jobs, id)
	} else if group := b.group(f.Group); group >= 0 {
		b.fed[group].Take(f.Submit)
	}
}

// named finds a local job that waits or runs by its name, which is unique among them.
func (b *Backend) named(group string, name int64) (int64, *job) {
	for id, j := range b.jobs { // at most one
		if j.ID == name && b.groups[j.group].Name == group {
			return id, j
		}
	}
	return 0, nil
}

// lockMoved records the end of a leg, of whatever kind.
func (b *Backend) lockMoved(f facts.LockMoved) {
	l := b.legs[f.Leg]
	if l == nil {
		return
	}
	switch f.State {
	case facts.LockReleased:
		b.recorded(l.group, l.number)
		b.forget(l)
	case facts.LockEnded:
		b.recorded(l.group, l.number)
		b.count(l.group, b.now, l.what.End)
		l.over = true
	case facts.LockLost:
		b.recorded(l.group, l.number)
		l.over = true
	}
}

// Save adds to an image the state of the servers, and whose work is on them.
func (b *Backend) Save(f *facts.ClusterImage) {
	for i, s := range b.servers {
		m := facts.ServerMemory{Group: b.groups[i].Name, Number: b.number, Submit: b.fed[i].Submit, Taken: b.fed[i].Taken,
			Kept: b.kept[i].kept, Missed: b.kept[i].missed, Learned: b.predictors[i].Save()}
		s.Save(&m)
		f.Servers = append(f.Servers, m)
	}
	for _, id := range slices.Sorted(maps.Keys(b.jobs)) {
		j := b.jobs[id]
		m := &f.Servers[j.group]
		m.Placed = append(m.Placed, facts.TasksPlaced{Number: id, Job: j.LocalJob, Deadline: j.Deadline, Run: j.Run, Start: j.start})
	}
	for _, l := range b.order {
		if b.legs[l.id] != l {
			continue
		}
		p := facts.TasksPlaced{Number: l.number, Leg: l.id, Run: l.run}
		if l.began {
			p.Start = max(b.now, 1)
		}
		m := &f.Servers[l.group]
		m.Placed = append(m.Placed, p)
	}
}

// load restores the state of an image.
func (b *Backend) load(f facts.ClusterImage) {
	b.clear()
	b.now = f.At
	placed, group := map[int64]facts.TasksPlaced{}, map[int64]int{}
	for _, m := range f.Servers {
		i := b.group(m.Group)
		b.number = max(b.number, m.Number)
		has := works(&m)
		for _, p := range m.Placed {
			placed[p.Number], group[p.Number] = p, max(i, 0)
			b.number = max(b.number, p.Number)
			switch {
			case i < 0:
				b.gone = append(b.gone, p.Number)
			case p.Leg == (grid.LegID{}):
				b.know(i, p)
				if !has[p.Number] {
					b.unrecorded = append(b.unrecorded, overdue{f.At, p.Number})
				}
			}
		}
		if i < 0 {
			continue
		}
		b.gone = append(b.gone, b.servers[i].Restore(&m)...)
		b.fed[i] = cluster.Mark{Submit: m.Submit, Taken: m.Taken}
		b.predictors[i].Load(m.Learned)
		b.kept[i] = deadlines{m.Kept, m.Missed}
	}
	for _, x := range f.Locks {
		p := placed[x.Number]
		p.What = x.What
		b.know(group[x.Number], p)
		b.legs[x.Leg].over = x.State == facts.LockEnded || x.State == facts.LockLost || x.Ends > 0
	}
	slices.SortFunc(b.order, func(x, y *leg) int { return cmp.Compare(x.number, y.number) })
	for _, s := range b.servers {
		if s.Now() < b.now {
			s.Advance(min(b.now, s.Next()))
		}
	}
}

// works lists the work that is on a group's nodes or waits for them.
func works(m *facts.ServerMemory) map[int64]bool {
	has := map[int64]bool{}
	for _, n := range m.Nodes {
		for _, t := range n.Tasks {
			has[t.Number] = true
		}
	}
	for _, r := range m.Running {
		has[r.Number] = true
	}
	for _, w := range m.Waiting {
		has[w.Number] = true
	}
	return has
}
