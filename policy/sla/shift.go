package sla

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse"
)

// waits says why an SLA cannot be shifted, whatever the shift.
func waits(j *job, id int64) bourse.Reason {
	switch {
	case j == nil:
		return bourse.Reason{Code: bourse.Unknown, Detail: fmt.Sprintf("there is no SLA %d", id)}
	case j.Running:
		return bourse.Because(bourse.BadState, "SLA %d runs since %v; running work does not move", id, j.Start)
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
