package transaction

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Job is a job as its transactions know it: what they must tell its sites, and the window
// that they make up. Its other parts belong to whoever keeps the job.
type Job struct {
	Name, User string
	Budget     grid.Credits

	txs  []*Tx // its window: committed transactions, in order of commitment
	last *Tx   // its latest try
}

// Itself is this part of a larger record of the job.
func (j *Job) Itself() *Job { return j }

// Tried notes the job's latest try, nil if it is not on record.
func (j *Job) Tried(t *Tx) { j.last = t }

// Carried reports whether the whole window is over, and whether all of it was carried to its
// end. A job without a window has nothing to wait for.
func (j *Job) Carried() (over, whole bool) {
	whole = len(j.txs) > 0
	for _, t := range j.txs {
		if t.givenUp != grid.Kept {
			whole = false
		}
		for i := range t.legs {
			switch l := &t.legs[i]; {
			case !l.state.Terminal():
				return false, false
			case l.Gone(), l.state == grid.Cancelled:
				whole = false
			}
		}
	}
	return true, whole
}

// Part takes the window, which is over, from the job. It reports whether there was one that
// nobody gave up.
func (j *Job) Part() bool {
	kept := len(j.txs) > 0
	for _, t := range j.txs {
		kept = kept && t.givenUp == grid.Kept
		t.apart = true
	}
	j.txs = nil
	return kept
}

// GiveUp gives the window up, unless that was done for a stronger reason.
func (j *Job) GiveUp(why grid.GivenUp) {
	for _, t := range j.txs {
		t.givenUp = max(t.givenUp, why)
	}
}

// drop removes a transaction from the job's window.
func (j *Job) drop(t *Tx) {
	j.txs = slices.DeleteFunc(j.txs, func(x *Tx) bool { return x == t })
}

// leave removes what was given up from the job's window, because a new window replaces
// it. From then on only the new one decides whether the job is done or waits again.
func (j *Job) leave() {
	j.txs = slices.DeleteFunc(j.txs, func(t *Tx) bool {
		t.apart = t.apart || t.givenUp != grid.Kept
		return t.givenUp != grid.Kept
	})
}

// Remaining is what is left of a job's budget: the budget less what its legs cost, plus
// refunds and penalties.
func (j *Job) Remaining() grid.Credits {
	left := j.Budget
	for _, t := range j.txs {
		for i := range t.legs {
			if l := &t.legs[i]; l.charged || !l.state.Terminal() {
				left -= l.fare.Total() - l.back
			}
		}
	}
	return left
}

// mostPaid is the most that a transaction's legs may cost together.
func (t *Tx) mostPaid() grid.Credits {
	switch {
	case t.repairs != (grid.LegID{}):
		return t.job.Remaining()
	case t.request != nil:
		return t.request.Budget
	}
	return t.job.Budget
}

// Overdue reports whether a job's window is late, so that nobody knows when it will end.
func (j *Job) Overdue() bool {
	return slices.ContainsFunc(j.txs, func(t *Tx) bool {
		return slices.ContainsFunc(t.legs, func(l Leg) bool { return l.late && !l.state.Terminal() })
	})
}

// OpenLegs counts the legs of a job's window that are not over.
func (j *Job) OpenLegs() (n int) {
	for _, t := range j.txs {
		n += t.OpenLegs()
	}
	return n
}

// OpenLegs counts the legs that are not over.
func (t *Tx) OpenLegs() (n int) {
	for i := range t.legs {
		if !t.legs[i].state.Terminal() {
			n++
		}
	}
	return n
}

// Replaced picks, for each new leg, a leg at the same site for it to replace, preferably
// in the same group: there the old leg may be in the way, by its nodes or by the site's
// limits on a group.
func (j *Job) Replaced(sites []string, legs []grid.Leg) ([]grid.LegID, []uint32) {
	ids, versions := make([]grid.LegID, len(legs)), make([]uint32, len(legs))
	for _, alike := range []bool{true, false} {
		for i := range legs {
			if ids[i] == (grid.LegID{}) {
				ids[i], versions[i] = j.legAt(sites[i], func(old grid.LegID, group string) bool {
					return (group == legs[i].Group) == alike && !slices.Contains(ids, old)
				})
			}
		}
	}
	return ids, versions
}

// legAt is a job's first confirmed leg at a site for which suits is true, and its version.
func (j *Job) legAt(site string, suits func(id grid.LegID, group string) bool) (grid.LegID, uint32) {
	for _, t := range j.txs {
		for i := range t.legs {
			if l := &t.legs[i]; t.sites[i] == site && l.state == grid.Confirmed && suits(t.LegID(i), l.what.Group) {
				return t.LegID(i), max(l.version, 1)
			}
		}
	}
	return grid.LegID{}, 0
}
