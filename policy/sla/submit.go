package sla

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Submit asks for a promise. Either the SLA fits, and then all slots change at once, or
// there is a reason and nothing has changed:
//
//   - Invalid: the SLA makes no sense, as Check says
//   - Conflict: its identity is in use
//   - QueueFull: Options.Waiting jobs wait already
//   - TooLarge: the group does not have that many nodes
//   - Expired: the deadline can no longer be met, even on free nodes
//   - OverBudget: C > B, with both figures
//   - NoWindow: the promised work leaves no slot
//
// Of the sizes of a moldable job it takes the one with the least R x fmol(R) that fits; of
// ties, the fewest nodes. Each size that does not fit costs a trial.
func (s *Schedule) Submit(a SLA) (Promise, grid.Reason) {
	p, k, why := s.fit(&a)
	if why.Refused() {
		return Promise{}, s.opt.Disclose.Tell(why)
	}
	s.accept(p.job)
	s.commit(k)
	return p.job.Promise, grid.Reason{}
}

// fit finds the size of a newcomer that fits, and its index in the line of the successful
// trial. It changes nothing.
func (s *Schedule) fit(a *SLA) (p place, k int, why grid.Reason) {
	if why := s.admit(a); why.Refused() {
		return p, 0, why
	}
	for _, z := range byArea(a.Sizes) {
		p, refusal := s.draft(a, z)
		if !refusal.Refused() {
			k, ok := s.try(s.insert(p, nil), nil)
			if ok {
				return p, k, grid.Reason{}
			}
			refusal = s.noWindow(&p)
		}
		if !why.Refused() || refusal.Code == grid.NoWindow {
			why = refusal
		}
	}
	return p, 0, why
}

// admit says what keeps an SLA from being tried at all.
func (s *Schedule) admit(a *SLA) grid.Reason {
	if err := a.Check(); err != nil {
		return grid.Reason{Code: grid.Invalid, Detail: err.Error()}
	}
	if s.jobs[a.ID] != nil {
		return grid.Reason{Code: grid.Conflict, Detail: fmt.Sprintf("SLA %d is there already", a.ID)}
	}
	if len(s.waiting) >= s.opt.Waiting {
		return s.opt.Disclose.Tell(grid.Reason{Code: grid.QueueFull,
			Detail: fmt.Sprintf("%s, as many as may; try again when one has started", grid.Count(len(s.waiting), "job waits", "jobs wait"))})
	}
	return grid.Reason{}
}

// byArea lists sizes by R x fmol(R), ties by fewest nodes.
func byArea(list []Size) []Size {
	if len(list) == 1 {
		return list
	}
	list = slices.Clone(list)
	slices.SortFunc(list, compareArea)
	return list
}

// draft makes the place of a job of that size, still without a slot, or says why it is
// refused without a trial.
func (s *Schedule) draft(a *SLA, z Size) (place, grid.Reason) {
	if z.Nodes > s.opt.Nodes {
		return place{}, grid.Reason{Code: grid.TooLarge,
			Detail: fmt.Sprintf("%s asked, the group has %d", grid.Count(z.Nodes, "node is", "nodes are"), s.opt.Nodes)}
	}
	last := a.Deadline.Add(-z.Runtime)
	if last < max(a.Ready, s.now) {
		return place{}, grid.Because(grid.Expired, "%v seconds from %v on end at %v, after the deadline %v",
			z.Runtime, max(a.Ready, s.now), max(a.Ready, s.now).Add(z.Runtime), a.Deadline)
	}
	c := s.Cost(z, a.Ready, a.Deadline)
	if c > a.Budget {
		return place{}, grid.Reason{Code: grid.OverBudget,
			Detail: fmt.Sprintf("%s for %v seconds cost %v credits, the budget is %v", grid.Count(z.Nodes, "node"), z.Runtime, c, a.Budget)}
	}
	j := &job{Promise: Promise{SLA: *a, Version: 1, Ready: a.Ready, Due: a.Deadline, Size: z, Price: c},
		agreed: agreement{a.Ready, a.Deadline, c}}
	return place{
		nodes: z.Nodes, run: z.Runtime, ready: a.Ready, last: last,
		start: grid.Never, number: s.arrival + 1, fix: a.Fix, job: j,
	}, grid.Reason{}
}

// Cost is C of a job of that size with that window: base x R x Te x (1 - delta(phi)), where
// phi is by how much the window is longer than Te, in units of Te. A window that opened
// before now is counted from now.
func (s *Schedule) Cost(z Size, ready, deadline grid.Time) grid.Credits {
	slack := deadline.Sub(max(ready, s.now)) - z.Runtime
	return s.opt.Shares.Price(s.opt.Price, z.Nodes, z.Runtime, slack)
}

// accept adds a job before its trial is committed.
func (s *Schedule) accept(j *job) {
	s.arrival++
	s.jobs[j.SLA.ID] = j
}

// noWindow says, after a trial that failed, what was requested, and when that many nodes
// are free beside the present slots.
func (s *Schedule) noWindow(p *place) grid.Reason {
	text := grid.Say("no start between %v and %v leaves %s for %v seconds beside what is promised",
		max(p.ready, s.now), p.last, grid.Count(p.nodes, "node"), p.run)
	at := firstFit(s.all, max(p.ready, s.now), grid.MaxTime, p.nodes, p.run)
	return grid.Because(grid.NoWindow, "%v; as things stand the next is %v", text, at)
}
