package broker

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse"
)

// queue is the jobs that are not placed. Each user has a line of them; a batch
// takes from the lines round robin, so that nobody waits behind another user's jobs,
// however many they are, whatever priority their user gives them and however
// hopeless they are. A job that a cycle has placed or given up stays in its line
// until the cycle closes.
type queue struct {
	lines   []*line // in no order that counts
	users   map[string]*line
	waiting int // jobs in state Waiting or Trying
	fresh   int
	due     int
	places  uint64 // given so far
}

// line is the jobs of one user.
type line struct {
	user    string
	jobs    []*job // in serving order
	waiting int    // of them, as above
	due     int
	place   uint64 // among the lines: the lower, the longer ago it was served, or began to wait
	used    int    // jobs taken of a share that is not used up; 0: none
}

// line is that of a user, a new one if there is none.
func (q *queue) line(user string) *line {
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

// of is how many jobs of a user wait.
func (q *queue) of(user string) int {
	if l := q.users[user]; l != nil {
		return l.waiting
	}
	return 0
}

// size is how many jobs wait, idle reports whether none of them is due, and news is
// how many no cycle has looked at.
func (q *queue) size() int  { return q.waiting }
func (q *queue) idle() bool { return q.due == 0 }
func (q *queue) news() int  { return q.fresh }

// insert adds j as a fresh job. The order is total, so a job found at that place
// is j itself, not yet swept. A user who had nothing waiting comes after all
// others.
func (q *queue) insert(j *job) {
	l := q.line(j.User)
	i, there := slices.BinarySearchFunc(l.jobs, j, (*job).before)
	if !there {
		l.jobs = slices.Insert(l.jobs, i, j)
	}
	if l.waiting == 0 {
		q.back(l)
		l.used = 0
	}
	l.waiting++
	q.waiting++
	j.fresh = true
	q.fresh++
}

// back puts a line behind all others.
func (q *queue) back(l *line) {
	q.places++
	l.place = q.places
}

// leave notes that a job no longer waits.
func (q *queue) leave(j *job) {
	q.line(j.User).waiting--
	q.waiting--
	q.look(j)
	if j.due {
		q.done(j)
	}
}

// call makes jobs due: the fresh ones and, if all, every waiting job of users who
// have nothing due from before. Jobs in the cycle under way are left to the next
// call.
func (q *queue) call(all bool) {
	for _, l := range q.lines {
		all := all && l.due == 0
		for _, j := range l.jobs {
			if !j.taken && !j.held && j.state == bourse.JobWaiting && (all || j.fresh) {
				q.summon(j)
			}
		}
	}
}

// summon makes one job due.
func (q *queue) summon(j *job) {
	if !j.due {
		j.due = true
		q.line(j.User).due++
		q.due++
	}
}

// done notes that a job is no longer due.
func (q *queue) done(j *job) {
	j.due = false
	q.line(j.User).due--
	q.due--
}

// take appends at most n due jobs to batch, and says whose jobs they are, in the
// order in which it came to their users; nothing, where only one user has jobs that
// wait. The lines with the highest priority that an operator has given come first.
// Lines of one priority are served round robin: each has as many jobs taken as its
// share, in its own order, and is behind the others then. The lines stay where they
// are until the answer is applied, by served.
func (q *queue) take(batch []*job, n int, terms func(user string) UserTerms) ([]*job, []bourse.UserLine) {
	var list []*service
	users := 0
	for _, l := range q.lines {
		users += min(l.waiting, 1)
		if l.due > 0 {
			x := terms(l.user)
			list = append(list, &service{line: l, used: l.used, share: x.Share, priority: x.Priority})
		}
	}
	slices.SortFunc(list, (*service).before)
	served, most := 0, len(batch)+n
	for first := 0; first < len(list); {
		last := first
		for last < len(list) && list[last].priority == list[first].priority {
			last++
		}
		batch = q.rounds(batch, list[first:last:last], most, &served)
		first = last
	}
	if users < 2 {
		return batch, nil
	}
	return batch, servedLines(list)
}

// rounds takes from lines of one priority, until the batch has as many jobs as it
// can hold.
func (q *queue) rounds(batch []*job, list []*service, most int, served *int) []*job {
	for len(list) > 0 && len(batch) < most {
		t := list[0]
		j := q.next(t)
		if j == nil {
			list = list[1:]
			continue
		}
		j.taken = true
		q.look(j)
		batch = append(batch, j)
		if t.used == 0 || t.began == 0 {
			*served++
			t.began = *served
		}
		if t.used++; t.used >= t.share || t.line.due == 0 {
			t.used = 0
			list = append(list[1:], t)
		}
	}
	return batch
}

// service is a line as take goes through it.
type service struct {
	line            *line
	at              int // the next of its jobs to look at
	used            int // jobs taken of the share that is not used up
	began           int // when take came to it last: first, second, ...; 0: never
	share, priority int
}

// before is the order of service: priority, whose share is not used up, place.
func (t *service) before(o *service) int {
	return cmp.Or(cmp.Compare(o.priority, t.priority), cmp.Compare(min(o.used, 1), min(t.used, 1)), cmp.Compare(t.line.place, o.line.place))
}

// next is the next job of a line that a batch can take; nil if there is none.
func (q *queue) next(t *service) *job {
	for l := t.line; l.due > 0 && t.at < len(l.jobs); t.at++ {
		j := l.jobs[t.at]
		if !j.due {
			continue
		}
		q.done(j)
		if j.state == bourse.JobWaiting && !j.held {
			return j
		}
	}
	return nil
}

// servedLines are those that were served, in the order in which take came to them.
func servedLines(list []*service) []bourse.UserLine {
	list = slices.DeleteFunc(list, func(t *service) bool { return t.began == 0 })
	slices.SortFunc(list, func(t, o *service) int { return cmp.Compare(t.began, o.began) })
	out := make([]bourse.UserLine, len(list))
	for i, t := range list {
		out[i] = bourse.UserLine{User: t.line.user, Used: t.used}
	}
	return out
}

// served puts the lines that a batch has served behind the others.
func (q *queue) served(list []bourse.UserLine) {
	for _, x := range list {
		if l := q.users[x.User]; l != nil && l.waiting > 0 {
			q.back(l)
			l.used = x.Used
		}
	}
}

// order is who is served next, of those who have jobs that wait; nil where it makes
// no difference.
func (q *queue) order() []bourse.UserLine {
	lines := slices.DeleteFunc(slices.Clone(q.lines), func(l *line) bool { return l.waiting == 0 })
	if len(lines) == 1 && lines[0].used == 0 {
		return nil
	}
	slices.SortFunc(lines, func(l, o *line) int { return cmp.Compare(l.place, o.place) })
	var list []bourse.UserLine
	for _, l := range lines {
		list = append(list, bourse.UserLine{User: l.user, Used: l.used})
	}
	return list
}

// look notes that a cycle has looked at j.
func (q *queue) look(j *job) {
	if j.fresh {
		j.fresh = false
		q.fresh--
	}
}

// sweep drops the jobs that no longer wait, and the lines of those who have none.
func (q *queue) sweep() {
	for _, l := range q.lines {
		if len(l.jobs) > l.waiting {
			l.jobs = slices.DeleteFunc(l.jobs, func(j *job) bool { return !j.state.Queued() })
		}
		if len(l.jobs) == 0 {
			delete(q.users, l.user)
		}
	}
	q.lines = slices.DeleteFunc(q.lines, func(l *line) bool { return len(l.jobs) == 0 })
}
