package sla

import (
	"cmp"
	"fmt"
	"slices"

	"bourse"
)

// Change is what another window for an accepted SLA would mean.
type Change struct {
	Start  bourse.Time    `json:"start"`            // the slot it would have
	Pay    bourse.Credits `json:"pay,omitempty"`    // from the user to the site: surcharge, and the discount no longer earned
	Refund bourse.Credits `json:"refund,omitempty"` // from the site to the user: the discount now earned
}

// QuoteAmend says what the window [ready, due) would mean for an SLA that waits,
// and changes nothing. A window that holds all of what was agreed earns the
// discount of its phi; any other pays the surcharge. Refusals:
//
//   - Unknown, BadState: no such SLA, or it runs
//   - Invalid: the window is the present one, or too short
//   - Expired: it cannot be met any more
//   - OverBudget: the price with the payment is above the budget, with both figures
//   - NoWindow: the promised work leaves no slot
func (s *Schedule) QuoteAmend(id int64, ready, due bourse.Time) (Change, bourse.Reason) {
	c, _, why := s.amend(id, ready, due)
	return c, why
}

// Amend changes the window of an SLA that waits, for what QuoteAmend says, or
// refuses as that does and changes nothing. Its version rises by one.
func (s *Schedule) Amend(id int64, ready, due bourse.Time) (Change, bourse.Reason) {
	c, apply, why := s.amend(id, ready, due)
	if !why.Refused() {
		apply(c.Pay, c.Refund)
	}
	return c, why
}

// amend reckons a change, and returns what carries it out for a payment and a
// refund, which must be called before anything else happens.
func (s *Schedule) amend(id int64, ready, due bourse.Time) (c Change, apply func(pay, refund bourse.Credits), why bourse.Reason) {
	j := s.jobs[id]
	if why := waits(j, id); why.Refused() {
		return c, nil, why
	}
	i := s.find(j)
	p := s.waiting[i]
	if why := s.suits(&p, ready, due); why.Refused() {
		return c, nil, why
	}
	cost := s.Cost(j.Size, ready, due)
	if ready <= j.agreed.ready && due >= j.agreed.due {
		c.Refund = min(j.Price, s.opt.Shares.Widened(j.agreed.cost, cost))
	} else {
		c.Pay = s.opt.Shares.Narrowed(j.agreed.cost, cost)
	}
	if total := j.Price.Plus(c.Pay) - c.Refund; c.Pay > 0 && total > j.SLA.Budget {
		return Change{}, nil, bourse.Reason{Code: bourse.OverBudget,
			Detail: fmt.Sprintf("with %v credits for the change the SLA costs %v, the budget is %v", c.Pay, total, j.SLA.Budget)}
	}

	old, k, moves := p, 0, p.start < ready || p.end() > due
	p.ready, p.last = ready, due.Add(-p.run)
	if moves {
		p.start = bourse.Never
		at, ok := s.try(s.insert(p, j), &old)
		if !ok {
			return Change{}, nil, s.opt.Disclose.Tell(s.noWindow(&p))
		}
		k, p.start = at, s.t.line[at].next
	}
	c.Start = p.start
	return c, func(pay, refund bourse.Credits) {
		j.Price = j.Price.Plus(pay) - refund
		j.agreed = agreement{ready, due, cost}
		j.Version++
		j.Ready, j.Due, j.Fixed = ready, due, false
		if moves {
			s.t.line[k].key = s.key(&s.t.line[k]) // of the new price
			s.commit(k)
			return
		}
		p.key = s.key(&p)
		s.waiting[i] = p
		s.look()
		s.closeNow()
	}, bourse.Reason{}
}

// waits says why an SLA cannot be changed, whatever the change.
func waits(j *job, id int64) bourse.Reason {
	switch {
	case j == nil:
		return bourse.Reason{Code: bourse.Unknown, Detail: fmt.Sprintf("there is no SLA %d", id)}
	case j.Running:
		return bourse.Because(bourse.BadState, "SLA %d runs since %v; running work does not move", id, j.Start)
	}
	return bourse.Reason{}
}

// suits says what of a window makes no sense for a job that waits.
func (s *Schedule) suits(p *place, ready, due bourse.Time) bourse.Reason {
	opens := max(ready, s.now)
	switch {
	case ready < -bourse.MaxTime || due > bourse.MaxTime:
		return bourse.Because(bourse.Invalid, "window [%v, %v): times between %v and %v are wanted", ready, due, -bourse.MaxTime, bourse.MaxTime)
	case ready == p.ready && due == p.last.Add(p.run):
		return bourse.Because(bourse.Invalid, "[%v, %v) is the window already", ready, due)
	case due < ready.Add(p.run):
		return bourse.Because(bourse.Invalid, "deadline %v is before ready %v + runtime %v = %v", due, ready, p.run, ready.Add(p.run))
	case due < opens.Add(p.run):
		return bourse.Because(bourse.Expired, "%v seconds from %v on end at %v, after the deadline %v", p.run, opens, opens.Add(p.run), due)
	}
	return bourse.Reason{}
}

// Shift is a way in for a newcomer that was refused: the window of one accepted
// SLA moves by no more than it must, if its owner agrees, for a compensation.
type Shift struct {
	ID           int64          `json:"id"`      // whose window moves
	Version      int            `json:"version"` // of that SLA
	Ready        bourse.Time    `json:"ready"`   // its window then
	Due          bourse.Time    `json:"due"`
	Compensation bourse.Credits `json:"compensation"` // from the site to the owner
}

// MaxShifts bounds the SLAs whose shift is tried for one newcomer: the first in
// order of what their owners would get.
const MaxShifts = 100

// Shifts lists, for a newcomer that was refused, the SLAs of which a shift by at
// most phi (thousandths of their runtime, and the site's maximum) would let it
// in, cheapest owner first, ties in order of arrival. Nobody is asked for whom
// the site would pay more than the newcomer brings. Of each, the window moves
// the shorter way, ties later. Nothing is changed; each SLA in the newcomer's
// window costs two trials.
func (s *Schedule) Shifts(a SLA, phi int) []Shift { return s.ShiftsOf(a, phi, nil) }

// ShiftsOf is Shifts of those whose owners may be asked; nil: of all.
func (s *Schedule) ShiftsOf(a SLA, phi int, ask func(id int64) bool) []Shift {
	if s.admit(&a).Refused() {
		return nil
	}
	p, ok := s.firstDraft(&a)
	if !ok {
		return nil
	}
	var owners []place
	for i := range s.waiting {
		if q := &s.waiting[i]; q.end() > p.ready && q.start < p.last.Add(p.run) && (ask == nil || ask(q.job.SLA.ID)) {
			owners = append(owners, *q)
		}
	}
	slices.SortFunc(owners, func(a, b place) int {
		return cmp.Or(cmp.Compare(s.compensation(a.job), s.compensation(b.job)), cmp.Compare(a.number, b.number))
	})
	var list []Shift
	for i := range owners[:min(len(owners), MaxShifts)] {
		q := owners[i]
		pays := s.compensation(q.job)
		if pays > p.job.Price {
			break
		}
		reach := q.run * bourse.Duration(min(phi, s.opt.MaxPhi)) / 1000
		by, _, _, ok := s.tryShift(p, q, reach)
		if back, _, _, fits := s.tryShift(p, q, -reach); fits && back < 0 && (!ok || -back < by) {
			by, ok = back, true
		}
		if ok && by != 0 {
			j := q.job
			list = append(list, Shift{j.SLA.ID, j.Version, j.Ready.Add(by), j.Due.Add(by), pays})
		}
	}
	return list
}

// compensation is what the owner of a job gets who agrees to a shift; no more
// than has been paid.
func (s *Schedule) compensation(j *job) bourse.Credits {
	return min(j.Price, s.opt.Shares.Shifted(j.agreed.cost))
}

// tryShift tries a newcomer in a line in which job q chooses last and may stand
// outside its window by reach, earlier if that is negative, as near to it as it
// can. It returns by how much q's window must move for that, the newcomer's place
// and q's. What q finds depends on reach only in whether it finds anything, so a
// shift that was offered is found again.
func (s *Schedule) tryShift(p, q place, reach bourse.Duration) (by bourse.Duration, k, i int, ok bool) {
	k = s.insert(p, q.job)
	if q.late = reach < 0; q.late {
		q.ready = q.ready.Add(reach)
	} else {
		q.last = q.last.Add(reach)
	}
	s.t.line = append(s.t.line, q)
	if k, ok = s.try(k, nil); !ok {
		return 0, k, 0, false
	}
	i = slices.IndexFunc(s.t.line, func(o place) bool { return o.job == q.job })
	start := q.start
	if i >= k {
		start = s.t.line[i].next
	}
	if start < q.job.Ready {
		return start.Sub(q.job.Ready), k, i, true
	}
	return max(0, start.Add(q.run).Sub(q.job.Due)), k, i, true
}

// AdmitByShift accepts a newcomer by a shift that its owner has agreed to, or
// refuses both and changes nothing: Stale if the owner's SLA has changed since,
// NoWindow if the schedule has. The owner's version rises by one.
func (s *Schedule) AdmitByShift(a SLA, sh Shift) (Promise, bourse.Reason) {
	if why := s.admit(&a); why.Refused() {
		return Promise{}, why
	}
	j := s.jobs[sh.ID]
	if why := waits(j, sh.ID); why.Refused() {
		return Promise{}, why
	}
	if j.Version != sh.Version {
		return Promise{}, stale(j, sh.Version)
	}
	p, ok := s.firstDraft(&a)
	if !ok {
		return Promise{}, bourse.Reason{Code: bourse.Expired, Detail: "the newcomer's window has passed"}
	}
	q := s.waiting[s.find(j)]
	by, k, i, ok := s.tryShift(p, q, sh.Due.Sub(j.Due))
	if !ok {
		return Promise{}, s.opt.Disclose.Tell(s.noWindow(&p))
	}
	shifted := &s.t.line[i]
	shifted.ready, shifted.last, shifted.late = q.ready.Add(by), q.last.Add(by), false
	j.Ready, j.Due = j.Ready.Add(by), j.Due.Add(by)
	j.agreed.ready, j.agreed.due = j.agreed.ready.Add(by), j.agreed.due.Add(by)
	j.Price -= min(j.Price, sh.Compensation)
	j.Version++
	shifted.key = s.key(shifted)
	s.accept(p.job)
	s.commit(k)
	return p.job.Promise, bourse.Reason{}
}

func stale(j *job, version int) bourse.Reason {
	return bourse.Reason{Code: bourse.Stale,
		Detail: fmt.Sprintf("SLA %d has version %d, not %d; ask again with the present one", j.SLA.ID, j.Version, version)}
}

// Break takes back an accepted SLA that the site cannot keep, and returns what
// its user gets: all that was paid for it, and the penalty.
func (s *Schedule) Break(id int64) (refund, penalty bourse.Credits, ok bool) {
	j := s.jobs[id]
	if j == nil {
		return 0, 0, false
	}
	refund, penalty = j.Price, s.opt.Shares.Broken(j.Price)
	return refund, penalty, s.Cancel(id)
}
