package manager

import (
	"slices"
	"strconv"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// queue is the manager's scheduler: it takes jobs, starts them and enforces limits.
type queue struct {
	*controller
	taken []int // local jobs submitted, by partition
	swept grid.Time
	looks *looks // one is kept at each sweep
}

// arrive submits the local jobs whose time has come. After a crash users submit lost jobs
// again, which then have numbers that were others' before.
func (q *queue) arrive() {
	if q.forgot && q.opt.Resubmit {
		q.forgot = false
		q.submit(&job{name: "again", user: "user0", partition: q.opt.Partitions[0].Name, count: 1, limit: 10 * grid.Minute, run: 5 * grid.Minute})
	}
	for i, p := range q.opt.Partitions {
		for n := q.taken[i]; n < len(p.Jobs) && p.Jobs[n].Submit <= q.now; n++ {
			q.taken[i]++
			x := p.Jobs[n]
			r := stream(q.opt.Seed, p.Name+" local "+strconv.FormatInt(x.ID, 10))
			run := x.Run
			if r.IntN(8) == 0 && !q.opt.Punctual { // it overruns
				run += x.Estimate
			}
			user := "user" + strconv.FormatInt(x.User, 10)
			if q.opt.Account != "" && r.IntN(4) == 0 { // the account's own work, beside that of our legs
				user = q.opt.Account
			}
			q.submit(&job{name: "local", user: user, partition: p.Name, count: min(x.Nodes, len(p.Nodes)),
				limit: minutes(x.Estimate), run: run})
		}
	}
}

// minutes rounds a limit as managers do: whole minutes, at least one.
func minutes(d grid.Duration) grid.Duration {
	return max((d+grid.Minute-1)/grid.Minute*grid.Minute, grid.Minute)
}

// submit takes a job, and gives it a number.
func (q *queue) submit(j *job) {
	q.truth.submitted++
	j.id, j.number, j.submit, j.state = q.truth.submitted, q.book.number, q.own(), grid.ManagedPending
	q.book.number++
	q.book.jobs = append(q.book.jobs, j)
	q.changed()
}

// schedule starts what can start: first what has a reservation, then local jobs.
func (q *queue) schedule() {
	if !q.stale && !q.timely() {
		return
	}
	q.stale = false
	for _, j := range q.book.jobs {
		if j.state == grid.ManagedPending && j.reservation != "" {
			q.startReserved(j)
		}
	}
	q.startInPilots()
	for i := range q.opt.Partitions {
		q.serve(&q.opt.Partitions[i])
	}
}

// timely reports whether a reservation or a job has its instant now.
func (q *queue) timely() bool {
	now := q.own()
	return slices.ContainsFunc(q.book.reservations, func(r *reservation) bool { return r.start == now || r.end == now }) ||
		slices.ContainsFunc(q.book.jobs, func(j *job) bool { return j.begin == now })
}

// startReserved starts a job in its reservation, or says why not.
func (q *queue) startReserved(j *job) {
	r, now := q.book.find(j.reservation), q.own()
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
	case q.inTheWay(r, now.Add(j.limit)) != nil:
		j.why = "ReservationMaxTimeLimit"
		return
	}
	var free []string
	for _, name := range r.nodes {
		if n := q.nodes.find(name); n != nil && n.state == grid.NodeUp && n.room(j.part) {
			free = append(free, name)
		}
	}
	if len(free) < j.count {
		j.why = "ReqNodeNotAvail"
		return
	}
	q.start(j, free[:j.count])
	r.idle = 0
}

// inTheWay is a reservation that a job in r cannot run beside until an instant, nil if there is
// none.
func (q *queue) inTheWay(r *reservation, until grid.Time) *reservation {
	if r.overlaps {
		return q.book.alone(r.nodes, q.own(), until, r)
	}
	return q.book.overlapping(r.nodes, q.own(), until, r)
}

// start begins the work of a job on nodes.
func (q *queue) start(j *job, nodes []string) {
	j.state, j.why, j.nodes, j.start = grid.ManagedRunning, "", slices.Clone(nodes), q.own()
	j.end = j.start.Add(j.limit)
	j.work = q.nodes.begin(j)
	q.changed()
	if j.ours && !q.written(j) {
		q.at(begun, grid.Second)
		q.at(handed, grid.Second)
	}
}

// serve starts the local jobs of a partition that the policy starts now. The policy only
// counts nodes: a job goes on waiting if not all of its nodes are free until its limit.
func (q *queue) serve(p *Partition) {
	waiting := q.waiting(p)
	if len(waiting) == 0 {
		return
	}
	now := q.own()
	g := backfill.New(len(p.Nodes), q.opt.Policy, now)
	id := int64(1) << 40
	for _, name := range p.Nodes { // what is taken, node by node, to be as the nodes are
		n := q.nodes.find(name)
		until := now
		switch {
		case n == nil || n.state != grid.NodeUp:
			until = grid.Never
		case n.anyOf() != nil:
			until = max(q.book.occupied(n), now.Add(sweep))
		}
		if id++; until > now {
			g.Resume(backfill.Running{ID: id, Nodes: 1, Start: now, End: until})
		}
		for _, r := range q.book.reservations {
			if start := max(r.start, until); start < r.end && now < r.end && slices.Contains(r.nodes, name) {
				id++
				g.Reserve(backfill.Reserved{ID: id, Nodes: 1, Start: start, End: r.end})
			}
		}
	}
	for _, j := range waiting {
		g.Arrive(backfill.Queued{ID: int64(j.id), Nodes: j.count, Estimate: j.limit, Submit: j.submit, Weight: 1000, Guarantee: grid.Never})
	}
	for _, s := range g.Pass() {
		i := slices.IndexFunc(waiting, func(j *job) bool { return int64(j.id) == s.ID })
		j := waiting[i]
		if nodes := q.free(p, now, now.Add(j.limit)); len(nodes) >= j.count {
			q.start(j, nodes[:j.count])
		}
	}
}

// waiting lists the local jobs of a partition that may start, in queue order.
func (q *queue) waiting(p *Partition) []*job {
	var list []*job
	for _, j := range q.book.jobs {
		if j.state == grid.ManagedPending && j.reservation == "" && j.in == "" && j.partition == p.Name {
			list = append(list, j)
		}
	}
	return list
}

// free lists the nodes of a partition that are up, idle, and not reserved in an interval.
func (q *queue) free(p *Partition, start, end grid.Time) []string {
	var list []string
	for _, name := range p.Nodes {
		if n := q.nodes.find(name); n != nil && n.state == grid.NodeUp && n.anyOf() == nil && q.book.overlapping([]string{name}, start, end, nil) == nil {
			list = append(list, name)
		}
	}
	return list
}

// sweep enforces limits and the ends of reservations, deletes what is over, and forgets jobs
// that ended long ago.
func (q *queue) sweep() {
	q.stale = true
	now := q.own()
	if q.opt.queued() {
		for _, j := range q.book.jobs {
			if j.state == grid.ManagedRunning && (now >= j.end || q.outlived(j)) {
				q.stop(j, "TimeLimit")
			}
		}
		q.book.jobs = slices.DeleteFunc(q.book.jobs, func(j *job) bool {
			old := j.state == grid.ManagedEnded && now.Sub(j.end) > q.opt.MinJobAge
			q.dirty = q.dirty || old
			return old
		})
	}
	for _, r := range slices.Clone(q.book.reservations) {
		used := slices.ContainsFunc(q.book.jobs, func(j *job) bool { return j.reservation == r.name && j.state == grid.ManagedRunning })
		switch {
		case now >= r.end:
			q.book.drop(r)
			q.changed()
		case !r.purge || used || now < r.start:
			r.idle = 0
		case r.idle == 0:
			r.idle = now
		case now.Sub(r.idle) >= idlePurge:
			q.book.drop(r)
			q.changed()
		}
	}
	q.looks.remember()
}

// outlived reports whether the reservation in which a job runs is over.
func (q *queue) outlived(j *job) bool {
	r := q.book.find(j.reservation)
	return j.reservation != "" && (r == nil || q.own() >= r.end)
}

// due is when something is due next by the queue, the limits or the reservations.
func (q *queue) due() grid.Time {
	at := q.swept.Add(sweep)
	for i, p := range q.opt.Partitions {
		if n := q.taken[i]; n < len(p.Jobs) {
			at = min(at, p.Jobs[n].Submit)
		}
	}
	for _, j := range q.book.jobs {
		if j.state == grid.ManagedPending && q.own() < j.begin {
			at = min(at, q.world(j.begin))
		}
	}
	for _, r := range q.book.reservations {
		for _, t := range []grid.Time{r.start, r.end} {
			if q.own() < t {
				at = min(at, q.world(t))
			}
		}
	}
	return at
}
