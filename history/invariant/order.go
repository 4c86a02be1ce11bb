package invariant

import (
	"slices"

	"bourse"
)

// I18: nobody runs before all that it comes after has ended, gap included. It takes
// the facts of brokers and sites as they come, so that it is checked where all are
// seen together.

// placed notes that a transaction is part of a job's window.
func (t *Trail) placed(x *tx) {
	if !t.audit.together {
		return
	}
	if job := x.begun.Job; !slices.Contains(t.windows[job], x.begun.Tx) {
		t.windows[job] = append(t.windows[job], x.begun.Tx)
	}
}

// runs checks a leg that begins to run: each job that its own comes after has ended
// by what is committed, and the gap has passed. Work that shares its nodes has really
// ended.
func (t *Trail) runs(f bourse.LegMoved) {
	x := t.of(f.Leg)
	if f.State != bourse.Running || x == nil {
		return
	}
	b := t.audit.trails[broker(f.Leg.Tx.Broker)]
	j := b.jobsOf[x.begun.Job]
	for _, name := range j.After {
		switch end, whole := b.endOf(name); {
		case !whole:
			t.breaks("I18", "%s runs at %v and comes after %s, which has no window", j.Name, t.at, name)
		case end.Add(j.Gap) > t.at:
			t.breaks("I18", "%s runs at %v and comes %v after %s, which ends at %v", j.Name, t.at, j.Gap, name, end)
		}
	}
}

// endOf is when the last leg of a job's window ends; false if it has none.
func (t *Trail) endOf(job string) (end bourse.Time, whole bool) {
	for _, id := range t.windows[job] {
		x := t.txs[id]
		for i, what := range x.begun.Legs {
			s := t.audit.trails[site(x.begun.Sites[i])]
			if s == nil {
				continue
			}
			l := s.legs[bourse.LegID{Tx: id, Leg: i}]
			if l == nil {
				continue
			}
			switch l.State {
			case bourse.Settled:
				end, whole = max(end, l.End), true
			case bourse.Confirmed, bourse.Running:
				if end, whole = max(end, what.End), true; what.Work > 0 {
					end = bourse.Never.Add(-bourse.MaxDuration)
				}
			}
		}
	}
	return end, whole
}
