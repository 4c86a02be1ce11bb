package simulation

import (
	"errors"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// StreamReplay is RunReplay for jobs that come one by one, in order of submit. Each outcome
// is passed to told once it is final, in the order of the jobs, and then forgotten. So a
// replay keeps only the outcomes from the oldest job that waits or runs onward, and not
// those of the whole trace. Options that look at the whole list (copies, reservations,
// Submitted, Without) are refused. It returns its counts.
func StreamReplay(next func() (grid.LocalJob, bool), opt ReplayOptions, told func(*Outcome)) (counts Counts, err error) {
	if err := opt.check(); err != nil {
		return counts, err
	}
	if opt.Copy != 0 || opt.Reservations > 0 || opt.Submitted != nil || opt.Without > 0 {
		return counts, errors.New("a streamed replay takes jobs as they come: no copies, no reservations")
	}
	s := &streamer{told: told, next: next, limit: opt.Limit}
	first, ok := next()
	if !ok {
		return counts, nil
	}
	s.queue = queue.New(opt.queue(first.Submit))
	s.queue.Watch(s)
	s.queue.Feed(func() (grid.LocalJob, bool) {
		j := first
		if s.before+int64(len(s.open)) > 0 {
			if j, ok = s.next(); !ok {
				return j, false
			}
		}
		s.open = append(s.open, streamed{Outcome: Outcome{Job: j, Start: grid.Never, End: grid.Never}})
		j.ID = s.before + int64(len(s.open))
		return j, true
	})
	for t := s.queue.Next(); t < grid.Never; t = s.queue.Next() {
		if s.queue.Advance(t); s.overload != nil {
			return counts, s.overload
		}
	}
	return countsOf(s.queue), nil
}

// streamer carries out one streamed replay. A job's ID is its place in the list, from 1.
type streamer struct {
	next     func() (grid.LocalJob, bool)
	told     func(*Outcome)
	open     []streamed // from the oldest that is not final on
	left     int        // of them, at the head: told already
	before   int64      // jobs before open
	queue    *queue.Queue
	limit    int
	overload error
}

type streamed struct {
	Outcome
	over bool
}

func (s *streamer) of(j *grid.LocalJob) *streamed { return &s.open[j.ID-s.before-1] }

// over notes that an outcome is final, and passes on the final outcomes at the head of the
// list.
func (s *streamer) over(o *streamed) {
	o.over = true
	for ; s.left < len(s.open) && s.open[s.left].over; s.left++ {
		s.told(&s.open[s.left].Outcome)
	}
	if s.left > 1024 && s.left > len(s.open)/2 { // O(1) for each job
		n := copy(s.open, s.open[s.left:])
		s.open, s.before, s.left = s.open[:n], s.before+int64(s.left), 0
	}
}

// Started, Ended and Refused make the streamer a queue.Watcher.
func (s *streamer) Started(j *grid.LocalJob, x *backfill.Start) {
	o := s.of(j)
	o.Start, o.Class = x.End.Add(-x.Estimate), x.Class
}

func (s *streamer) Ended(j *grid.LocalJob, _, end grid.Time, _ bool) {
	o := s.of(j)
	o.End = end
	s.over(o)
}

func (s *streamer) Refused(j *grid.LocalJob, why grid.Reason) {
	if why.Code == grid.QueueFull {
		s.overload = overloaded(s.limit, j.Submit)
	}
	s.over(s.of(j))
}
