package queue

import (
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// JobLimits are an operator's limits on the local jobs of a group or of one of its queues,
// like those of real schedulers. 0 means no limit. A job that could never run is refused on
// arrival, as is one more waiting job than allowed. A job beyond the other limits waits, and
// holds up no other job. Users unknown to the log are not counted by user.
type JobLimits struct {
	Length      grid.Duration // longest request
	Running     int           // jobs that run at once
	Waiting     int           // jobs that wait
	Nodes       int           // nodes in use at once
	UserRunning int           // the same three for each user
	UserWaiting int
	UserNodes   int
}

// use is what is counted, for a queue or the group, and for everybody or one user.
type use struct{ running, waiting, nodes int }

type scope struct {
	queue int // -1: the group
	user  int64
}

// everybody stands in place of a user.
const everybody = -1

// limiter counts jobs and says which may start.
type limiter struct {
	q   *Queue
	use map[scope]*use
}

// newLimiter returns a limiter, or nil if there are no limits.
func newLimiter(q *Queue) *limiter {
	some := q.opt.Limits != JobLimits{}
	for i := range q.opt.Queues {
		some = some || q.opt.Queues[i].Limits != JobLimits{}
	}
	if !some {
		return nil
	}
	return &limiter{q, map[scope]*use{}}
}

// count is the count for a queue and a user.
func (l *limiter) count(queue int, user int64) *use {
	s := scope{queue, user}
	u := l.use[s]
	if u == nil {
		u = &use{}
		l.use[s] = u
	}
	return u
}

// each calls f with each of the limits that apply to a job, with the counts for everybody
// and for its user (nil if the user is unknown), until f returns false.
func (l *limiter) each(j *grid.LocalJob, f func(x *JobLimits, all, own *use) bool) bool {
	at := 0
	if j.Queue > 0 && j.Queue < len(l.q.opt.Queues) {
		at = j.Queue
	}
	for _, s := range []struct {
		limits *JobLimits
		queue  int
	}{{&l.q.opt.Limits, -1}, {&l.q.opt.Queues[at].Limits, at}} {
		var own *use
		if j.User >= 0 {
			own = l.count(s.queue, j.User)
		}
		if !f(s.limits, l.count(s.queue, everybody), own) {
			return false
		}
	}
	return true
}

// move counts a job in or out of what waits and what runs.
func (l *limiter) move(j *grid.LocalJob, waiting, running int) {
	if l == nil {
		return
	}
	l.each(j, func(_ *JobLimits, all, own *use) bool {
		for _, u := range []*use{all, own} {
			if u != nil {
				u.waiting += waiting
				u.running += running
				u.nodes += running * j.Nodes
			}
		}
		return true
	})
}

// refuses says why a job must not enter; no reason: it may.
func (l *limiter) refuses(j *grid.LocalJob) (why grid.Reason) {
	if l == nil {
		return why
	}
	l.each(j, func(x *JobLimits, all, own *use) bool {
		switch {
		case x.Length > 0 && j.Limit() > x.Length:
			why = grid.Because(grid.TooLarge, "job %v asks for %v s, jobs may ask for %v s", j.ID, j.Limit(), x.Length)
		case x.Nodes > 0 && j.Nodes > x.Nodes:
			why = grid.Because(grid.TooLarge, "job %v wants %v nodes, jobs may have %v in all", j.ID, j.Nodes, x.Nodes)
		case own != nil && x.UserNodes > 0 && j.Nodes > x.UserNodes:
			why = grid.Because(grid.TooLarge, "job %v wants %v nodes, a user may have %v", j.ID, j.Nodes, x.UserNodes)
		case own != nil && x.UserWaiting > 0 && own.waiting >= x.UserWaiting:
			why = grid.Because(grid.NotAllowed, "%v jobs of user %v wait already, no more may", x.UserWaiting, j.User)
		case x.Waiting > 0 && all.waiting >= x.Waiting:
			why = grid.Because(grid.NotAllowed, "%v jobs wait already, no more may", x.Waiting)
		}
		return !why.Refused()
	})
	return why
}

// Open and Started make the limiter a backfill.Gate.
func (l *limiter) Open(w *backfill.Queued) bool {
	j := &l.q.jobs[w.Ref].job
	return l.each(j, func(x *JobLimits, all, own *use) bool {
		return within(x.Running, all.running+1) && within(x.Nodes, all.nodes+j.Nodes) &&
			(own == nil || within(x.UserRunning, own.running+1) && within(x.UserNodes, own.nodes+j.Nodes))
	})
}

func within(limit, n int) bool { return limit == 0 || n <= limit }

// Started counts a job that starts.
func (l *limiter) Started(w *backfill.Queued) { l.move(&l.q.jobs[w.Ref].job, -1, 1) }
