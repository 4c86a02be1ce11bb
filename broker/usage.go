package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/tenancy"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

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
	t := mem.txs.Get(id)
	known := t != nil
	if known {
		mem.tenancy.Count(t, leg, -1)
	}
	apply()
	if t = mem.txs.Get(id); !known {
		mem.tenancy.Begin(t)
	}
	mem.tenancy.Count(t, leg, 1)
}

// need is what the bounds of the job's user must leave for it.
func (j *job) need() tenancy.Need {
	r := j.request()
	x := tenancy.Need{User: j.User, Nodes: r.AtOnce(),
		Runtime: j.MinPerformance.Runtime(r.Shortest()), Ready: j.Ready, Deadline: j.Deadline}
	if r.Composed() {
		x.Parts = j.Parts
	}
	return x
}
