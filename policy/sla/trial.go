package sla

import "github.com/bourse-grid/bourse/grid"

// trial is the memory of one try, which the next try uses again. The line is in the
// policy's order. A job's present slot stays in start until the trial is accepted, so a
// refusal has nothing to restore.
type trial struct {
	line  []place
	base  grid.Profile // running work and the jobs before k
	work  grid.Profile // base and the jobs placed from k on
	swaps int          // of the last trial
}

// try places the newcomer, at index k of the line, and all jobs behind it, each at the
// first slot that fits. If a job behind the newcomer finds none, the two change places, all
// between them keep the slots they had, and try goes on from there. k only grows, so there
// are at most len(line)-1-k swaps. It returns the newcomer's index at the end. If ok, all
// fit, at their next slots.
//
// gone is a slot in the profile of all work that the line no longer has; nil: none.
func (s *Schedule) try(k int, gone *place) (at int, ok bool) {
	t := &s.t
	t.swaps = 0
	s.lay(k, gone)
	for {
		f := t.place(k, s.now)
		if f == len(t.line) {
			return k, true
		}
		if f == k {
			return k, false
		}
		t.line[k], t.line[f] = t.line[f], t.line[k] // fixqueue
		t.swaps++
		for ; k < f; k++ {
			p := &t.line[k]
			t.base.Add(p.start, p.end(), -p.nodes)
		}
	}
}

// lay makes the base, running work and the slots of the jobs before k, from whichever side
// is shorter.
func (s *Schedule) lay(k int, gone *place) {
	t := &s.t
	if k < len(t.line)-k {
		t.base = append(t.base[:0], s.busy...)
		for i := range t.line[:k] {
			p := &t.line[i]
			t.base.Add(p.start, p.end(), -p.nodes)
		}
		return
	}
	t.base = append(t.base[:0], s.all...)
	if gone != nil {
		t.base.Add(gone.start, gone.end(), gone.nodes)
	}
	for i := k; i < len(t.line); i++ {
		if p := &t.line[i]; p.start != grid.Never {
			t.base.Add(p.start, p.end(), p.nodes)
		}
	}
}

// place gives the jobs from k on their next slots by first fit on a copy of the base. It
// returns the index of the first that does not fit, or the length of the line if all do.
func (t *trial) place(k int, now grid.Time) int {
	t.work = append(t.work[:0], t.base...)
	for i := k; i < len(t.line); i++ {
		p := &t.line[i]
		from, at := max(p.ready, now), grid.Never
		if p.late {
			at = lastFit(t.work, from, p.last, p.nodes, p.run)
		} else {
			at = firstFit(t.work, from, p.last, p.nodes, p.run)
		}
		if at == grid.Never {
			return i
		}
		p.next = at
		t.work.Add(at, at.Add(p.run), -p.nodes)
	}
	return len(t.line)
}

// firstFit is the earliest start in [from, last] at which n nodes are free for
// d, or Never. It costs a walk over the steps from there to the fit's end.
func firstFit(p grid.Profile, from, last grid.Time, n int, d grid.Duration) grid.Time {
	if from > last {
		return grid.Never
	}
	start := from
	end := start.Add(d)
	for i := p.Index(from); i < len(p) && p[i].At < end; {
		if p[i].Free >= n {
			i++
			continue
		}
		for i++; i < len(p) && p[i].Free < n; i++ {
			if p[i].At > last {
				return grid.Never
			}
		}
		if i == len(p) || p[i].At > last {
			return grid.Never
		}
		start = p[i].At
		end = start.Add(d)
	}
	return start
}

// lastFit is the latest start in [from, last] at which n nodes are free for d,
// or Never. The profile must not open after from.
func lastFit(p grid.Profile, from, last grid.Time, n int, d grid.Duration) grid.Time {
	start, end := last, last.Add(d)
	for i := p.Index(end - 1); start >= from; i-- {
		if p[i].Free < n {
			end = p[i].At
			start = end.Add(-d)
		} else if p[i].At <= start {
			return start
		}
	}
	return grid.Never
}

// insert makes the line from the waiting jobs in order, except one (nil: none), and a
// newcomer. It returns the newcomer's index.
func (s *Schedule) insert(p place, but *job) int {
	t := &s.t
	s.sort()
	p.key = s.key(&p)
	t.line = t.line[:0]
	k := -1
	for i := range s.waiting {
		if s.waiting[i].job == but {
			continue
		}
		if k < 0 && compare(p, s.waiting[i]) < 0 {
			k = len(t.line)
			t.line = append(t.line, p)
		}
		t.line = append(t.line, s.waiting[i])
	}
	if k < 0 {
		k = len(t.line)
		t.line = append(t.line, p)
	}
	return k
}

// commit takes over the slots from k on of a trial that succeeded.
func (s *Schedule) commit(k int) {
	t := &s.t
	for i := k; i < len(t.line); i++ {
		p := &t.line[i]
		if s.opt.Track && p.start != p.next && p.start != grid.Never {
			s.moves = append(s.moves, Move{p.job.SLA.ID, p.start, p.next})
		}
		p.start = p.next
		p.job.Start = p.next
	}
	s.waiting, t.line = t.line, s.waiting
	s.all, t.work = t.work, s.all
	s.look()
	s.closeNow()
}

// closeNow closes the windows that a change of slots has made due. The next Advance
// returns the events.
func (s *Schedule) closeNow() {
	if s.nextFix <= s.now {
		s.pending = s.closeDue(s.pending, s.now)
	}
}

// moveUp is MoveUp if the operator has set Replan.
func (s *Schedule) moveUp() {
	if s.opt.Replan {
		s.MoveUp()
	}
}

// MoveUp places all waiting jobs again, and keeps the result only if all fit.
func (s *Schedule) MoveUp() {
	if len(s.waiting) == 0 {
		return
	}
	s.sort()
	t := &s.t
	t.line = append(t.line[:0], s.waiting...)
	t.base = append(t.base[:0], s.busy...)
	if t.place(0, s.now) == len(t.line) {
		s.commit(0)
	}
}
