package queue

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/sla"
)

// PromiseOptions make a group one of service level agreements (Netto et al.): every job
// taken has a slot from then on, and may be moved within the agreed window until it is fixed
// or starts. The options say how the group keeps its promises, and how local jobs become
// promises.
type PromiseOptions struct {
	Schedule sla.Options // except Nodes, Track and Disclose, which the group sets

	// Replan makes all jobs look for an earlier slot, all or none, when nodes come free
	// early: in the pass of that instant, after its messages.
	Replan bool

	// Flexible is the share of local jobs, in thousandths, that may start at any time
	// after their submission. The others ask for the last slot before their deadline,
	// like the jobs in the paper.
	Flexible int
	// Deadline is the time from a local job's submission to its deadline, in thousandths
	// of its estimate; at least 1000.
	Deadline int
	// Fix is the x of flexible local jobs, in thousandths; 0: they are never fixed.
	Fix int
	// Alternatives is the largest |phi| of a slot outside its window that a local job
	// accepts if it is refused, in thousandths; 0: it accepts none.
	Alternatives int
	// Seed draws which local jobs are flexible.
	Seed uint64
}

// promises are the service level agreements of a group. Each is also a reservation of the
// group with the same identity, at its present slot, so that the group audits what the
// schedule decides. Local jobs have negative identities, the cluster's reservations
// positive ones.
type promises struct {
	*sla.Schedule
	opt    PromiseOptions
	number int64 // local jobs so far
	locals map[int64]*promised
	names  map[int64]bool                                   // the ids of those jobs
	ends   []early                                          // of running local jobs that end before their estimate
	freed  bool                                             // nodes have come free early: the instant's pass moves jobs up
	moved  func(id int64, start, end grid.Time, fixed bool) // called when a reservation of the cluster moves or is fixed
}

// promised is a local job that waits for its slot or runs in it.
type promised struct {
	id    int64
	job   grid.LocalJob
	start grid.Time // of its slot
	runs  bool
	began grid.Time // once it runs
	again bool      // it began in an earlier life, and its start is not reported again
}

// early is when a running local job ends.
type early struct {
	at grid.Time
	id int64
}

func newPromises(opt PromiseOptions, q Options) *promises {
	opt.Schedule.Nodes, opt.Schedule.Track, opt.Schedule.Disclose = q.Nodes, true, sla.Full
	opt.Schedule.Waiting = min(q.Limit, sla.MaxWaiting)
	opt.Schedule.Replan = false // at a time of the group's own
	s, err := sla.New(opt.Schedule, q.Start)
	if err != nil {
		panic("cluster/queue: promises: " + err.Error())
	}
	return &promises{Schedule: s, opt: opt, locals: map[int64]*promised{}, names: map[int64]bool{}}
}

// next is the next instant at which something is due.
func (p *promises) next() grid.Time {
	t := p.Next()
	if len(p.ends) > 0 {
		t = min(t, p.ends[0].at)
	}
	return t
}

// keepPromises carries out what the promises have due at an instant: windows close, work
// ends, work starts.
func (q *Queue) keepPromises(now grid.Time) {
	p := q.promises
	if p == nil {
		return
	}
	for _, e := range p.Advance(now) {
		l := p.locals[e.ID]
		switch {
		case l == nil && e.Kind == sla.Fixed:
			if x, ok := p.Promise(e.ID); ok && p.moved != nil {
				p.moved(e.ID, x.Start, x.End(), true)
			}
		case l == nil:
		case e.Kind == sla.Fixed:
			if x, ok := p.Promise(e.ID); ok && !x.Running {
				q.kept(&l.job, &x, false)
			}
		case e.Kind == sla.Started:
			q.startPromised(now, l)
		case e.Kind == sla.Ended:
			q.endPromised(now, l)
		}
	}
	for len(p.ends) > 0 && p.ends[0].at <= now {
		l := p.locals[p.ends[0].id]
		p.End(l.id)
		p.freed = true
		q.group.Release(l.id)
		q.endPromised(now, l)
	}
}

// moveUp makes all jobs look for an earlier slot if nodes have come free.
func (q *Queue) moveUp() {
	if p := q.promises; p != nil && p.freed {
		if p.freed = false; p.opt.Replan {
			p.MoveUp()
			q.follow()
		}
	}
}

// startPromised starts a local job whose slot has come, and reports it.
func (q *Queue) startPromised(now grid.Time, l *promised) {
	l.runs = true
	if !l.again {
		l.began = now
	}
	end := l.began.Add(l.job.Limit())
	if at := max(l.began.Add(max(l.job.Run, 0)), now); at < end {
		x := early{at, l.id}
		i, _ := slices.BinarySearchFunc(q.promises.ends, x, func(a, b early) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.id, a.id)) // later ones have lower identities
		})
		q.promises.ends = slices.Insert(q.promises.ends, i, x)
	}
	if l.again {
		return
	}
	s := backfill.Start{Queued: backfill.Queued{ID: l.job.ID, Nodes: l.job.Nodes, Estimate: l.job.Limit(), Submit: l.job.Submit},
		Class: backfill.Reservation, End: end}
	q.watcher.Started(&l.job, &s)
}

// endPromised reports that a local job is over.
func (q *Queue) endPromised(now grid.Time, l *promised) {
	p := q.promises
	delete(p.locals, l.id)
	delete(p.names, l.job.ID)
	p.ends = slices.DeleteFunc(p.ends, func(x early) bool { return x.id == l.id })
	q.watcher.Ended(&l.job, l.began, now, l.began.Add(l.job.Run) > now)
}

// promiseLocal takes an arriving local job, or refuses it.
func (q *Queue) promiseLocal(now grid.Time, j *grid.LocalJob) {
	p := q.promises
	if j.Nodes < 1 || j.Nodes > q.opt.Nodes {
		q.refused++
		q.watcher.Refused(j, grid.Reason{Code: grid.TooLarge,
			Detail: fmt.Sprintf("job %d wants %s, the group has %d", j.ID, grid.Count(j.Nodes, "node"), q.opt.Nodes)})
		return
	}
	if p.names[j.ID] {
		q.refused++
		q.watcher.Refused(j, grid.Reason{Code: grid.Conflict, Detail: fmt.Sprintf("a job %d waits or runs already", j.ID)})
		return
	}
	p.number++
	a := p.agreement(now, -p.number, j)
	got, why := q.promise(a)
	if why.Code == grid.NoWindow && a.Threshold > 0 {
		if list := p.Alternatives(a, 1); len(list) > 0 {
			a = list[0].Rigid(a)
			got, why = q.promise(a)
		}
	}
	if why.Refused() {
		q.refused++
		q.watcher.Refused(j, why)
		return
	}
	p.locals[a.ID] = &promised{id: a.ID, job: *j, start: got.Start}
	p.names[j.ID] = true
	q.kept(&p.locals[a.ID].job, &got, true)
}

// kept reports a promised slot to the keeper, if there is one.
func (q *Queue) kept(j *grid.LocalJob, x *sla.Promise, taken bool) {
	if q.keeper != nil {
		q.keeper.Promised(j, x, taken)
	}
}

// agreement is what a local job asks for.
func (p *promises) agreement(now grid.Time, id int64, j *grid.LocalJob) sla.SLA {
	z := sla.Size{Nodes: j.Nodes, Runtime: j.Limit()}
	due := now.Add(grid.Duration(grid.MulDiv(int64(z.Runtime), int64(p.opt.Deadline), 1000)))
	due = max(due, now.Add(z.Runtime))
	a := sla.Strict(id, now, z, due.Add(-z.Runtime))
	if p.flexible(j.ID) {
		a = sla.ByDeadline(id, now, z, due)
		if p.opt.Fix > 0 {
			a.Fix = p.opt.Fix
		}
	}
	a.Threshold = p.opt.Alternatives
	return a
}

// flexible draws whether a local job is flexible. The result depends only on the job and the
// seed.
func (p *promises) flexible(id int64) bool {
	h := fnv.New64a()
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], p.opt.Seed)
	binary.LittleEndian.PutUint64(b[8:], uint64(id))
	h.Write(b[:])
	x := h.Sum64()
	x ^= x >> 33 // mix, because FNV's low bits are poor
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return int(x%1000) < p.opt.Flexible
}

// promise adds a newcomer to the schedule, and reserves what the schedule decides: the slots
// of those it moves, and the newcomer's. Or it changes nothing and says why it cannot.
func (q *Queue) promise(a sla.SLA) (sla.Promise, grid.Reason) {
	p := q.promises
	got, why := p.Submit(a)
	if why.Refused() {
		return got, why
	}
	q.follow()
	q.must(backfill.Reserved{ID: a.ID, Nodes: got.Size.Nodes, Start: got.Start, End: got.End()})
	return got, grid.Reason{}
}

// follow moves the group's reservations to where the schedule has moved its promises.
func (q *Queue) follow() {
	p := q.promises
	moves := p.Moves()
	for _, m := range moves {
		q.group.Release(m.ID)
	}
	for _, m := range moves {
		x, _ := p.Promise(m.ID)
		q.must(backfill.Reserved{ID: m.ID, Nodes: x.Size.Nodes, Start: x.Start, End: x.End()})
		if l := p.locals[m.ID]; l != nil {
			l.start = x.Start
			q.kept(&l.job, &x, false)
		} else if p.moved != nil {
			p.moved(m.ID, x.Start, x.End(), x.Fixed)
		}
	}
}

// must makes a reservation that the schedule has decided, and panics if it cannot.
func (q *Queue) must(r backfill.Reserved) {
	if why := q.group.Reserve(r); why.Refused() {
		panic(fmt.Sprintf("cluster/queue: promise %d over [%v, %v) cannot be kept: %v", r.ID, r.Start, r.End, why))
	}
}

// breakPromise ends a running local job whose nodes fail at an instant or, if there is none,
// breaks the promise to a waiting one; among several, the latest to start. It reports
// whether there was one.
func (q *Queue) breakPromise(now, at grid.Time) bool {
	p := q.promises
	var worst *promised
	for _, l := range p.locals { // the order is total
		x, _ := p.Promise(l.id)
		if x.Start > at || x.End() <= at {
			continue
		}
		if worst == nil || l.runs && !worst.runs || l.runs == worst.runs &&
			(l.start > worst.start || l.start == worst.start && l.id < worst.id) {
			worst = l
		}
	}
	if worst == nil {
		return false
	}
	q.dropPromise(now, worst)
	return true
}

// dropPromise ends a local job whose nodes have failed, if it runs, or breaks the promise to it.
func (q *Queue) dropPromise(now grid.Time, l *promised) {
	p := q.promises
	p.Break(l.id)
	q.group.Release(l.id)
	q.armed = true
	if l.runs {
		q.endPromised(now, l)
		return
	}
	delete(p.locals, l.id)
	delete(p.names, l.job.ID)
	q.refused++
	why := grid.Reason{Code: grid.Busy, Detail: "the promise was broken: its nodes have failed"}
	if q.keeper != nil {
		q.keeper.Broken(&l.job, why)
	} else {
		q.watcher.Refused(&l.job, why)
	}
}

// auditPromises checks that every promise lies within its window, that no running job has
// moved, and that the group's reservations are exactly the promises.
func (q *Queue) auditPromises() error {
	p := q.promises
	if p == nil {
		return nil
	}
	if err := p.Audit(); err != nil {
		return err
	}
	kept := map[int64]backfill.Reserved{}
	for _, r := range q.State().Reserved {
		kept[r.ID] = r
	}
	list := p.Promises()
	for i := range list {
		x := &list[i]
		if r := kept[x.SLA.ID]; r.Start != x.Start || r.End != x.End() || r.Nodes != x.Size.Nodes {
			return fmt.Errorf("promise %d of %s over [%v, %v) is kept as %d over [%v, %v)", x.SLA.ID, grid.Count(x.Size.Nodes, "node"), x.Start, x.End(), r.Nodes, r.Start, r.End)
		}
		if l := p.locals[x.SLA.ID]; l != nil && (l.start != x.Start || l.runs != x.Running) {
			return fmt.Errorf("local job %d lies at %v, promised for %v", l.job.ID, l.start, x.Start)
		}
	}
	if len(kept) != len(list) {
		return fmt.Errorf("%d promises, %d reservations", len(list), len(kept))
	}
	return nil
}
