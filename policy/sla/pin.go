package sla

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Pin closes the window of a waiting job to its present slot until Unpin opens it again:
// while its owner has not yet said whether it wants what it was promised, or needs the
// nodes for something else. It reports whether there is such a job.
func (s *Schedule) Pin(id int64) bool {
	j := s.jobs[id]
	if j == nil || j.Running {
		return false
	}
	p := &s.waiting[s.find(j)]
	s.fix(p)
	j.Fixed = false // it is not for good
	s.pending = slices.DeleteFunc(s.pending, func(e Event) bool { return e.ID == id })
	s.look()
	return true
}

// Unpin opens the window of a waiting job as it was agreed, and reports whether there is
// such a job. The window may be fixed again at once: the next Advance says so.
func (s *Schedule) Unpin(id int64) bool {
	j := s.jobs[id]
	if j == nil || j.Running || j.Fixed {
		return false
	}
	p := &s.waiting[s.find(j)]
	p.ready, p.last, p.fix = j.agreed.ready, j.agreed.due.Add(-p.run), j.SLA.Fix
	j.Ready, j.Due = j.agreed.ready, j.agreed.due
	if s.opt.Order != Shuffle {
		p.key = s.key(p)
	}
	s.look()
	s.closeNow()
	return true
}

// Open gives a waiting job another window, which must contain its present slot, and
// another x, as agreed with its owner elsewhere. The price is agreed there too. It reports
// whether there is such a job.
func (s *Schedule) Open(id int64, ready, due grid.Time, fix int) bool {
	j := s.jobs[id]
	if j == nil || j.Running || ready > j.Start || due < j.End() {
		return false
	}
	j.agreed.ready, j.agreed.due, j.SLA.Fix, j.Fixed = ready, due, fix, false
	j.Version++
	return s.Unpin(id)
}

// Move says that a waiting job has another slot than before.
type Move struct {
	ID       int64
	From, To grid.Time // its start
}

// Moves returns which jobs the trials since the last call have moved, in the order in
// which they chose, if Options.Track is set. A job that was moved twice is there twice.
// The list is valid until the next change.
func (s *Schedule) Moves() []Move {
	list := s.moves
	s.moves = s.moves[:0]
	return list
}
