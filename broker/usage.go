package broker

import (
	"iter"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/tenancy"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A transaction is a window as the tenancy knows it: what counts against the bounds of its
// user, and of the user's tenant.

// Payer is the user whose job it is for.
func (t *transaction) Payer() string { return t.job.User }

// Legs is the number of its legs.
func (t *transaction) Legs() int { return len(t.legs) }

// Leg is the place of leg i, and whether it may have nodes.
func (t *transaction) Leg(i int) (what *grid.Leg, held bool) {
	l := &t.legs[i]
	return &l.what, !l.state.Terminal()
}

// Flex is how its site may move its only leg.
func (t *transaction) Flex() grid.Flex { return t.flex }

// Counts reports whether its legs count once the present window of a job is replaced.
func (t *transaction) Counts(replaced string) bool {
	return t.state != grid.TxAborted && (replaced == "" || t.job.Name != replaced || t.open())
}

// Over reports whether the transaction is decided and all its legs have ended.
func (t *transaction) Over() bool { return t.over() }

// Windows are all transactions, in the order in which they became known.
func (x *transactions) Windows() iter.Seq[tenancy.Window] {
	return func(yield func(tenancy.Window) bool) {
		for _, t := range x.list {
			if !yield(t) {
				return
			}
		}
	}
}

// Takes is how much leg i counts towards its user's bounds.
func (t *transaction) Takes(i int) tenancy.Used {
	l := &t.legs[i]
	if t.state == grid.TxAborted || t.sites[i] == "" {
		return tenancy.Used{}
	}
	whole := int64(l.what.Nodes) * int64(l.what.Duration())
	paid := l.limit
	if l.priced {
		paid = l.fare.Total()
	}
	switch s := l.recorded(true); { // only by what is on record
	case !s.Terminal(), s == grid.Settled:
		return tenancy.Used{Time: whole, Credits: max(0, paid-l.back)}
	case l.charged: // released or lost: the part that was over by then
		over := min(l.end, l.what.End).Sub(l.what.Start)
		return tenancy.Used{Time: int64(l.what.Nodes) * int64(max(0, over)), Credits: max(0, paid-l.back)}
	}
	return tenancy.Used{}
}

// counted applies a fact and keeps the usage right: it subtracts what the legs concerned
// took before, and adds what they take after.
func (mem *memory) counted(f agents.Fact, apply func()) {
	id, leg := grid.TxID{}, tenancy.EveryLeg
	switch f := f.(type) {
	case facts.TxBegun:
		id = f.Tx
	case facts.TxDecided:
		if f.Commit {
			leg = tenancy.NoLeg
		}
		id = f.Tx
	case facts.TxReversed:
		id = f.Tx
	case facts.LegPriced:
		id, leg = f.Leg.Tx, f.Leg.Leg
	case facts.LegClosed:
		id, leg = f.Leg.Tx, f.Leg.Leg
	case facts.LegDone:
		id, leg = f.Leg.Tx, f.Leg.Leg
	case facts.LegAdopted:
		id, leg = f.Leg.Tx, f.Leg.Leg
	case facts.LegShifted:
		id, leg = f.Leg.Tx, f.Leg.Leg
	default:
		apply()
		return
	}
	mem.tenancy.Day(mem.now)
	t := mem.txs.get(id)
	known := t != nil
	if known {
		mem.tenancy.Count(t, leg, -1)
	}
	apply()
	if t = mem.txs.get(id); !known {
		mem.tenancy.Begin(t)
	}
	mem.tenancy.Count(t, leg, 1)
}

// count counts all transactions of a job in a tenancy. It looks at every transaction.
func (x *transactions) count(j *job, in *tenancy.Tenancy, sign int64) {
	for _, t := range x.list {
		if t.job == j {
			in.Count(t, tenancy.EveryLeg, sign)
		}
	}
	in.Moved()
}

// need is what the bounds of the job's user must leave for it.
func (j *job) need() tenancy.Need {
	r := j.request()
	return tenancy.Need{User: j.User, Nodes: fewest(j.Nodes, j.Sizes),
		Runtime: j.MinPerformance.Runtime(r.Shortest()), Ready: j.Ready, Deadline: j.Deadline}
}
