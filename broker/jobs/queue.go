package jobs

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/broker/tenancy"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Queue holds the jobs that are not placed, in one line for each user. A batch takes
// from the lines round robin, so that nobody has to wait for another user's jobs,
// however many or hopeless they are and whatever priority that user gives them. A job
// that a cycle has placed or given up stays in its line until the cycle closes.
type Queue struct {
	lines   []*line // in no particular order
	users   map[string]*line
	waiting int    // jobs in state Waiting or Trying
	fresh   int    // of them, those that no cycle has looked at
	due     int    // of them, those for the next batches
	places  uint64 // given to lines so far
	pass    passes // of tenants, see pass.go
	series  bool   // of this life only: it has not run out of due jobs since a cycle last fired by the clock
}

// line holds one user's jobs.
type line struct {
	user    string
	jobs    []*Job // in serving order
	waiting int    // jobs in state Waiting or Trying
	due     int    // of them, those for the next batches
	place   uint64 // among the lines: the lower, the longer ago it was served or began to wait
	used    int    // jobs taken from a share that is not yet used up; 0: none
}

// line returns a user's line, and makes one if there is none.
func (q *Queue) line(user string) *line {
	l := q.users[user]
	if l == nil {
		if q.users == nil {
			q.users = map[string]*line{}
		}
		l = &line{user: user}
		q.users[user], q.lines = l, append(q.lines, l)
	}
	return l
}

// Of is the number of a user's waiting jobs.
func (q *Queue) Of(user string) int {
	if l := q.users[user]; l != nil {
		return l.waiting
	}
	return 0
}

// OfAll is the number of waiting jobs of those users for whom some is true.
func (q *Queue) OfAll(some func(user string) bool) int {
	n := 0
	for _, l := range q.lines {
		if l.waiting > 0 && some(l.user) {
			n += l.waiting
		}
	}
	return n
}

// Size is the number of waiting jobs, Idle reports whether none of them is due, and
// News is the number that no cycle has looked at.
func (q *Queue) Size() int  { return q.waiting }
func (q *Queue) Idle() bool { return q.due == 0 }
func (q *Queue) News() int  { return q.fresh }

// insert adds j as a fresh job. The order is total, so a job found at its place is j
// itself, not yet swept. A user who had nothing waiting goes behind all others.
func (q *Queue) insert(j *Job) {
	l := q.line(j.User)
	i, there := slices.BinarySearchFunc(l.jobs, j, (*Job).before)
	if !there {
		l.jobs = slices.Insert(l.jobs, i, j)
	}
	if l.waiting == 0 {
		q.back(l)
		l.used = 0
	}
	l.waiting++
	q.waiting++
	j.Fresh = true
	q.fresh++
}

// back puts a line behind all others.
func (q *Queue) back(l *line) {
	q.places++
	l.place = q.places
}

// leave notes that a job no longer waits.
func (q *Queue) leave(j *Job) {
	q.line(j.User).waiting--
	q.waiting--
	q.look(j)
	if j.due {
		q.done(j)
	}
}

// Call makes jobs due: the fresh ones and, if all is set, every waiting job of users
// who have nothing due already. Jobs in the current cycle are left to the next call.
func (q *Queue) Call(all bool) {
	for _, l := range q.lines {
		all := all && l.due == 0
		for _, j := range l.jobs {
			if !j.Taken && !j.Held && j.Gather == nil && j.State == grid.JobWaiting && (all || j.Fresh) {
				q.Summon(j)
			}
		}
	}
}

// Serve notes that a series begins, or is over.
func (q *Queue) Serve(series bool) { q.series = series }

// CallNext makes the fresh jobs due while a series runs: they would be, had they waited in the
// queue when it began.
func (q *Queue) CallNext() {
	if q.series {
		q.Call(false)
	}
}

// Summon makes one job due.
func (q *Queue) Summon(j *Job) {
	if !j.due {
		j.due = true
		q.line(j.User).due++
		q.due++
	}
}

// done notes that a job is no longer due.
func (q *Queue) done(j *Job) {
	j.due = false
	q.line(j.User).due--
	q.due--
}

// Take appends at most n due jobs to batch. It also returns the users whose jobs it has
// taken, in the order in which they were served (nil if only one user has waiting
// jobs), and how far each tenant has advanced (nil if there are no tenants).
//
// The highest priority comes first. It is the priority that an operator has given a
// user, plus as much of the job's own as the user is allowed. Within a priority, tenants
// share the places by what their jobs ask for, see pass. The lines of one tenant are
// served round robin: each gives as many jobs as its share, in its own order, and then
// goes behind the others. The lines keep their places until the answer is applied by
// served and passed.
func (q *Queue) Take(batch []*Job, n int, terms func(user string) *tenancy.Terms) ([]*Job, []facts.UserLine, []facts.TenantLine) {
	var list []*service
	var levels []int
	users := 0
	for _, l := range q.lines {
		users += min(l.waiting, 1)
		if l.due > 0 {
			x := terms(l.user)
			t := &service{line: l, used: l.used, share: x.Share, priority: x.Priority, raise: x.Raise, tenant: x.Tenant}
			list, levels = append(list, t), append(levels, t.levels()...)
		}
	}
	slices.SortFunc(list, (*service).before)
	slices.Sort(levels)
	served, most := 0, len(batch)+n
	passes := q.running(list)
	for _, level := range slices.Backward(slices.Compact(levels)) {
		batch = q.share(batch, list, level, most, &served, passes)
	}
	if users < 2 {
		return batch, nil, passes.lines()
	}
	return batch, servedLines(list), passes.lines()
}

// share takes jobs of one priority level until the batch has most jobs. The next job
// always comes from the tenant with the lowest pass or, if equal, the first by name.
func (q *Queue) share(batch []*Job, list []*service, level, most int, served *int, passes passes) []*Job {
	var all []*rota
	for _, t := range list {
		if t.raise == 0 && t.priority != level {
			continue
		}
		i := slices.IndexFunc(all, func(r *rota) bool { return r.tenant.Name == t.tenant.Name })
		if i < 0 {
			i = len(all)
			all = append(all, &rota{tenant: t.tenant})
		}
		all[i].list = append(all[i].list, t)
	}
	for len(all) > 0 && len(batch) < most {
		first := slices.MinFunc(all, func(a, b *rota) int {
			return cmp.Or(cmp.Compare(passes[a.tenant.Name], passes[b.tenant.Name]), cmp.Compare(a.tenant.Name, b.tenant.Name))
		})
		j := q.turn(first, level, served)
		if j == nil {
			all = slices.DeleteFunc(all, func(r *rota) bool { return r == first })
			continue
		}
		batch = append(batch, j)
		if passes != nil {
			passes[first.tenant.Name] += q.stride(j, first.tenant)
		}
	}
	return batch
}

// rota is the lines of one tenant on one level; the first is served next.
type rota struct {
	tenant *tenancy.Tenant
	list   []*service
}

// turn takes a tenant's next job, or returns nil if it has none on this level.
func (q *Queue) turn(r *rota, level int, served *int) *Job {
	for len(r.list) > 0 {
		t := r.list[0]
		j := q.peek(t, level)
		if j == nil {
			r.list = r.list[1:]
			continue
		}
		q.done(j)
		t.at++
		j.Taken = true
		q.look(j)
		if t.used == 0 || t.began == 0 {
			*served++
			t.began = *served
		}
		if t.used++; t.used >= t.share || t.line.due == 0 {
			t.used = 0
			r.list = append(r.list[1:], t)
		}
		return j
	}
	return nil
}

// service is take's progress through a line.
type service struct {
	line            *line
	at              int // index of the next job to look at
	used            int // jobs taken from a share that is not yet used up
	began           int // when take last came to it: first, second, ...; 0: never
	share, priority int
	raise           int // how much of a job's priority counts against other lines
	tenant          *tenancy.Tenant
}

// level is a job's priority against jobs of other lines.
func (t *service) level(j *Job) int { return t.priority + min(max(j.Priority, 0), t.raise) }

// levels are the levels of its due jobs.
func (t *service) levels() []int {
	if t.raise == 0 {
		return []int{t.priority}
	}
	var list []int
	for _, j := range t.line.jobs {
		if n := len(list); j.due && (n == 0 || list[n-1] != t.level(j)) {
			list = append(list, t.level(j))
		}
	}
	return list
}

// before is the order of service within a priority: a line with a share half used comes
// first, then the lower place.
func (t *service) before(o *service) int {
	return cmp.Or(cmp.Compare(min(o.used, 1), min(t.used, 1)), cmp.Compare(t.line.place, o.line.place))
}

// peek is the next job of a line that a batch can take on a level, or nil.
func (q *Queue) peek(t *service, level int) *Job {
	for l := t.line; l.due > 0 && t.at < len(l.jobs); t.at++ {
		j := l.jobs[t.at]
		if !j.due {
			continue
		}
		if j.State != grid.JobWaiting || j.Held {
			q.done(j)
			continue
		}
		if t.level(j) < level {
			return nil // its jobs are in order of priority
		}
		return j
	}
	return nil
}

// servedLines are the lines that were served, in the order in which take came to them.
func servedLines(list []*service) []facts.UserLine {
	list = slices.DeleteFunc(list, func(t *service) bool { return t.began == 0 })
	slices.SortFunc(list, func(t, o *service) int { return cmp.Compare(t.began, o.began) })
	out := make([]facts.UserLine, len(list))
	for i, t := range list {
		out[i] = facts.UserLine{User: t.line.user, Used: t.used}
	}
	return out
}

// served puts the lines that a batch has served behind the others.
func (q *Queue) served(list []facts.UserLine) {
	for _, x := range list {
		if l := q.users[x.User]; l != nil && l.waiting > 0 {
			q.back(l)
			l.used = x.Used
		}
	}
}

// Order is the order in which users with waiting jobs are served next, or nil where it
// makes no difference.
func (q *Queue) Order() []facts.UserLine {
	lines := slices.DeleteFunc(slices.Clone(q.lines), func(l *line) bool { return l.waiting == 0 })
	if len(lines) == 1 && lines[0].used == 0 {
		return nil
	}
	slices.SortFunc(lines, func(l, o *line) int { return cmp.Compare(l.place, o.place) })
	var list []facts.UserLine
	for _, l := range lines {
		list = append(list, facts.UserLine{User: l.user, Used: l.used})
	}
	return list
}

// look notes that a cycle has looked at j.
func (q *Queue) look(j *Job) {
	if j.Fresh {
		j.Fresh = false
		q.fresh--
	}
}

// sweep drops jobs that no longer wait, and then empty lines.
func (q *Queue) sweep() {
	for _, l := range q.lines {
		if len(l.jobs) > l.waiting {
			l.jobs = slices.DeleteFunc(l.jobs, func(j *Job) bool { return !j.State.Queued() })
		}
		if len(l.jobs) == 0 {
			delete(q.users, l.user)
		}
	}
	q.lines = slices.DeleteFunc(q.lines, func(l *line) bool { return len(l.jobs) == 0 })
}
