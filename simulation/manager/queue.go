package manager

import (
	"slices"
	"strconv"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// arrive submits the local jobs whose time has come.
func (m *Manager) arrive() {
	for i, p := range m.opt.Partitions {
		for n := m.taken[i]; n < len(p.Jobs) && p.Jobs[n].Submit <= m.now; n++ {
			m.taken[i]++
			x := p.Jobs[n]
			r := stream(m.opt.Seed, p.Name+" local "+strconv.FormatInt(x.ID, 10))
			run := x.Run
			if r.IntN(8) == 0 { // it overruns
				run += x.Estimate
			}
			user := "user" + strconv.FormatInt(x.User, 10)
			if m.opt.Account != "" && r.IntN(4) == 0 { // its own work, beside that of our legs
				user = m.opt.Account
			}
			m.submit(&job{name: "local", user: user, partition: p.Name, count: min(x.Nodes, len(p.Nodes)),
				limit: minutes(x.Estimate), run: run})
		}
	}
}

// minutes is a limit as managers take it: whole minutes, at least one.
func minutes(d bourse.Duration) bourse.Duration {
	return max((d+bourse.Minute-1)/bourse.Minute*bourse.Minute, bourse.Minute)
}

// submit takes a job in, and gives it a number.
func (m *Manager) submit(j *job) {
	m.truth.submitted++
	j.id, j.number, j.submit, j.state = m.truth.submitted, m.book.number, m.clock(), bourse.ManagedPending
	m.book.number++
	m.book.jobs = append(m.book.jobs, j)
	m.changed()
}

// schedule starts what can start: first what has a reservation, then local jobs.
func (m *Manager) schedule() {
	if !m.stale && !m.timely() {
		return
	}
	m.stale = false
	for _, j := range m.book.jobs {
		if j.state == bourse.ManagedPending && j.reservation != "" {
			m.startReserved(j)
		}
	}
	for i := range m.opt.Partitions {
		m.serve(&m.opt.Partitions[i])
	}
}

// timely reports whether a reservation or a job has its instant now.
func (m *Manager) timely() bool {
	now := m.clock()
	return slices.ContainsFunc(m.book.reservations, func(r *reservation) bool { return r.start == now || r.end == now }) ||
		slices.ContainsFunc(m.book.jobs, func(j *job) bool { return j.begin == now })
}

// startReserved starts a job in its reservation, or says why not.
func (m *Manager) startReserved(j *job) {
	r, now := m.book.find(j.reservation), m.clock()
	switch {
	case r == nil:
		j.why = "ReservationDeleted"
		return
	case now < j.begin, now < r.start, now >= r.end:
		j.why = "BeginTime"
		return
	case !slices.Contains(r.users, j.user):
		j.why = "ReservationAccessDenied"
		return
	case m.book.overlapping(r.nodes, now, now.Add(j.limit), r) != nil:
		j.why = "ReservationMaxTimeLimit"
		return
	}
	var free []string
	for _, name := range r.nodes {
		if n := m.node(name); n != nil && n.state == bourse.NodeUp && n.work == nil {
			free = append(free, name)
		}
	}
	if len(free) < j.count {
		j.why = "ReqNodeNotAvail"
		return
	}
	m.start(j, free[:j.count])
	r.idle = 0
}

// start begins the work of a job on nodes.
func (m *Manager) start(j *job, nodes []string) {
	j.state, j.why, j.nodes, j.start = bourse.ManagedRunning, "", slices.Clone(nodes), m.clock()
	j.end = j.start.Add(j.limit)
	j.work = m.begin(j)
	m.changed()
}

// serve starts the local jobs of a partition that its policy starts now. The policy
// counts nodes; a job that it starts, and for which not all of those are free until its
// limit, waits on.
func (m *Manager) serve(p *Partition) {
	waiting := m.waiting(p)
	if len(waiting) == 0 {
		return
	}
	now := m.clock()
	g := backfill.New(len(p.Nodes), m.opt.Policy, now)
	id := int64(1) << 40
	for _, name := range p.Nodes { // what is taken, node by node, to be as the nodes are
		n := m.node(name)
		until := now
		switch {
		case n == nil || n.state != bourse.NodeUp:
			until = bourse.Never
		case n.work != nil:
			until = max(m.planned(n.work), now.Add(sweep))
		}
		if id++; until > now {
			g.Resume(backfill.Running{ID: id, Nodes: 1, Start: now, End: until})
		}
		for _, r := range m.book.reservations {
			if start := max(r.start, until); start < r.end && now < r.end && slices.Contains(r.nodes, name) {
				id++
				g.Reserve(backfill.Reserved{ID: id, Nodes: 1, Start: start, End: r.end})
			}
		}
	}
	for _, j := range waiting {
		g.Arrive(backfill.Queued{ID: int64(j.id), Nodes: j.count, Estimate: j.limit, Submit: j.submit, Weight: 1000, Guarantee: bourse.Never})
	}
	for _, s := range g.Pass() {
		i := slices.IndexFunc(waiting, func(j *job) bool { return int64(j.id) == s.ID })
		j := waiting[i]
		if nodes := m.free(p, now, now.Add(j.limit)); len(nodes) >= j.count {
			m.start(j, nodes[:j.count])
		}
	}
}

// waiting lists the local jobs of a partition that may start, in queue order.
func (m *Manager) waiting(p *Partition) []*job {
	var list []*job
	for _, j := range m.book.jobs {
		if j.state == bourse.ManagedPending && j.reservation == "" && j.partition == p.Name {
			list = append(list, j)
		}
	}
	return list
}

// free lists the nodes of a partition that are up and idle, and reserved for nobody
// in a time.
func (m *Manager) free(p *Partition, start, end bourse.Time) []string {
	var list []string
	for _, name := range p.Nodes {
		if n := m.node(name); n != nil && n.state == bourse.NodeUp && n.work == nil && m.book.overlapping([]string{name}, start, end, nil) == nil {
			list = append(list, name)
		}
	}
	return list
}

// planned is when work ends by the limit of its job, as the book has it.
func (m *Manager) planned(w *Run) bourse.Time {
	for _, j := range m.book.jobs {
		if j.work == w {
			return j.end
		}
	}
	return 0
}

func (m *Manager) node(name string) *node {
	for _, n := range m.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// sweep enforces limits and the ends of reservations, deletes what is over, and forgets
// jobs that ended long ago.
func (m *Manager) sweep() {
	m.stale = true
	now := m.clock()
	if m.opt.Reserves {
		for _, j := range m.book.jobs {
			if j.state == bourse.ManagedRunning && (now >= j.end || m.outlived(j)) {
				m.stop(j, "TimeLimit")
			}
		}
		m.book.jobs = slices.DeleteFunc(m.book.jobs, func(j *job) bool {
			old := j.state == bourse.ManagedEnded && now.Sub(j.end) > m.opt.MinJobAge
			m.dirty = m.dirty || old
			return old
		})
	}
	for _, r := range slices.Clone(m.book.reservations) {
		used := slices.ContainsFunc(m.book.jobs, func(j *job) bool { return j.reservation == r.name && j.state == bourse.ManagedRunning })
		switch {
		case now >= r.end:
			m.book.drop(r)
			m.changed()
		case !r.purge || used || now < r.start:
			r.idle = 0
		case r.idle == 0:
			r.idle = now
		case now.Sub(r.idle) >= idlePurge:
			m.book.drop(r)
			m.changed()
		}
	}
	m.remember()
}

// outlived reports whether the reservation that a job runs in is over.
func (m *Manager) outlived(j *job) bool {
	r := m.book.find(j.reservation)
	return j.reservation != "" && (r == nil || m.clock() >= r.end)
}
