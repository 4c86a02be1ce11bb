package invariant

import (
	"slices"

	"github.com/bourse-grid/bourse"
)

// I18: nobody runs before all that it comes after has ended, gap included. It takes
// the facts of brokers and sites as they come, so that it is checked where all are
// seen together.

// order is the rule I18.
type order struct {
	*journal
	txs     transactions
	jobs    map[string]bourse.Job    // where all is seen together
	windows map[string][]bourse.TxID // by job: committed, in order
}

// submitted notes what a job comes after.
func (r *order) submitted(j *bourse.Job) {
	if r.audit.together {
		r.jobs[j.Name] = *j
	}
}

// placed notes that a transaction is part of a job's window.
func (r *order) placed(x *tx) {
	if !r.audit.together {
		return
	}
	if job := x.begun.Job; !slices.Contains(r.windows[job], x.begun.Tx) {
		r.windows[job] = append(r.windows[job], x.begun.Tx)
	}
}

// runs checks a leg that begins to run: each job that its own comes after has ended
// by what is committed, and the gap has passed. Work that shares its nodes has really
// ended.
func (r *order) runs(f bourse.LegMoved) {
	x := r.audit.of(f.Leg)
	if f.State != bourse.Running || x == nil {
		return
	}
	b := r.audit.trails[broker(f.Leg.Tx.Broker)]
	j := b.order.jobs[x.begun.Job]
	for _, name := range j.After {
		switch end, whole := b.order.endOf(name); {
		case !whole:
			r.breaks("I18", "%s runs at %v and comes after %s, which has no window", j.Name, r.at, name)
		case end.Add(j.Gap) > r.at:
			r.breaks("I18", "%s runs at %v and comes %v after %s, which ends at %v", j.Name, r.at, j.Gap, name, end)
		}
	}
}

// endOf is when the last leg of a job's window ends; false if it has none.
func (r *order) endOf(job string) (end bourse.Time, whole bool) {
	for _, id := range r.windows[job] {
		x := r.txs[id]
		for i, what := range x.begun.Legs {
			s := r.audit.trails[site(x.begun.Sites[i])]
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
