package sla

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// waits says why an SLA cannot be shifted at all.
func waits(j *job, id int64) grid.Reason {
	switch {
	case j == nil:
		return grid.Reason{Code: grid.Unknown, Detail: fmt.Sprintf("there is no SLA %d", id)}
	case j.Running:
		return grid.Because(grid.BadState, "SLA %d runs since %v; running work does not move", id, j.Start)
	}
	return grid.Reason{}
}

// Shift makes room for a newcomer that was refused: the window of one accepted SLA moves,
// by no more than it must, if its owner agrees, for a compensation.
type Shift struct {
	ID           int64        `json:"id"`      // whose window moves
	Version      int          `json:"version"` // of that SLA
	Ready        grid.Time    `json:"ready"`   // its window after the shift
	Due          grid.Time    `json:"due"`
	Compensation grid.Credits `json:"compensation"` // from the site to the owner
}

// MaxShifts bounds the SLAs whose shift is tried for one newcomer. Those whose owners
// would get the least are tried first.
const MaxShifts = 100

// Shifts lists, for a newcomer that was refused, the SLAs that would make room for it if
// they were shifted by at most phi, in thousandths of their runtime, and at most the site's
// maximum. The cheapest owner comes first, ties in order of arrival. An owner who would
// cost more than the newcomer brings is left out. Each window moves the shorter way; of
// ties, later. Nothing is changed. Each SLA in the newcomer's window costs two trials.
func (s *Schedule) Shifts(a SLA, phi int) []Shift { return s.ShiftsOf(a, phi, nil) }

// ShiftsOf is Shifts for the SLAs whose owners may be asked; nil: for all.
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
		reach := q.run * grid.Duration(min(phi, s.opt.MaxPhi)) / 1000
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

// compensation is what the owner of a job gets for a shift, at most what has been paid for
// the job.
func (s *Schedule) compensation(j *job) grid.Credits {
	return min(j.Price, s.opt.Shares.Shifted(j.agreed.cost))
}

// tryShift tries a newcomer in a line in which job q chooses last. q may leave its window
// by up to reach, to earlier times if reach is negative, and stays as near to the window
// as it can. It returns by how much q's window must move for that, and the indices of the
// newcomer and of q. reach decides only whether q finds a slot, not which one, so a shift
// that was offered is found again.
func (s *Schedule) tryShift(p, q place, reach grid.Duration) (by grid.Duration, k, i int, ok bool) {
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

// AdmitByShift accepts a newcomer by a shift to which its owner has agreed, or refuses both
// and changes nothing: Stale if the owner's SLA has changed since, NoWindow if the schedule
// has. The version of the owner's SLA rises by one.
func (s *Schedule) AdmitByShift(a SLA, sh Shift) (Promise, grid.Reason) {
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
		return Promise{}, grid.Reason{Code: grid.Expired, Detail: "the newcomer's window has passed"}
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
	return p.job.Promise, grid.Reason{}
}

func stale(j *job, version int) grid.Reason {
	return grid.Reason{Code: grid.Stale,
		Detail: fmt.Sprintf("SLA %d has version %d, not %d; ask again with the present one", j.SLA.ID, j.Version, version)}
}

// Break takes back an accepted SLA that the site cannot keep, and returns what its user
// gets: all that was paid for it, and a penalty.
func (s *Schedule) Break(id int64) (refund, penalty grid.Credits, ok bool) {
	j := s.jobs[id]
	if j == nil {
		return 0, 0, false
	}
	refund, penalty = j.Price, s.opt.Shares.Broken(j.Price)
	return refund, penalty, s.Cancel(id)
}
