package transaction

import (
	"iter"

	"github.com/bourse-grid/bourse/broker/tenancy"
	"github.com/bourse-grid/bourse/grid"
)

// A transaction is a window as the tenancy knows it: what counts against the bounds of its
// user, and of the user's tenant.

// Payer is the user whose job it is for.
func (t *Tx) Payer() string { return t.job.User }

// Size is the number of its legs.
func (t *Tx) Size() int { return len(t.legs) }

// Leg is the place of leg i, and whether it may have nodes.
func (t *Tx) Leg(i int) (what *grid.Leg, held bool) {
	l := &t.legs[i]
	return &l.what, !l.state.Terminal()
}

// Flex is how its site may move its only leg.
func (t *Tx) Flex() grid.Flex { return t.flex }

// Counts reports whether its legs count once the present window of a job is replaced.
func (t *Tx) Counts(replaced string) bool {
	return t.state != grid.TxAborted && (replaced == "" || t.job.Name != replaced || t.Open())
}

// Windows are all transactions, in the order in which they became known.
func (x *List) Windows() iter.Seq[tenancy.Window] {
	return func(yield func(tenancy.Window) bool) {
		for _, t := range x.list {
			if !yield(t) {
				return
			}
		}
	}
}

// Takes is how much leg i counts towards its user's bounds.
func (t *Tx) Takes(i int) tenancy.Used {
	l := &t.legs[i]
	if t.state == grid.TxAborted || t.sites[i] == "" {
		return tenancy.Used{}
	}
	whole := l.what.Part.Time(l.what.Nodes, l.what.Duration())
	paid := l.limit
	if l.priced {
		paid = l.fare.Total()
	}
	switch s := l.Recorded(true); { // only by what is on record
	case !s.Terminal(), s == grid.Settled:
		return tenancy.Used{Time: whole, Credits: max(0, paid-l.back)}
	case l.charged: // released or lost: the part that was over by then
		over := min(l.end, l.what.End).Sub(l.what.Start)
		return tenancy.Used{Time: l.what.Part.Time(l.what.Nodes, max(0, over)), Credits: max(0, paid-l.back)}
	}
	return tenancy.Used{}
}

// Count counts all transactions of a job in a tenancy. It looks at every transaction.
func (x *List) Count(j *Job, in *tenancy.Tenancy, sign int64) {
	for _, t := range x.list {
		if t.job == j {
			in.Count(t, tenancy.EveryLeg, sign)
		}
	}
	in.Moved()
}
