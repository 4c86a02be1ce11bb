package jobs

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/tenancy"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// counted applies a fact and keeps the usage right: it subtracts what the legs concerned
// took before, and adds what they take after.
func (rec *State) counted(f agents.Fact, apply func()) {
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
	rec.Tenancy.Day(rec.Now)
	t := rec.Txs.Get(id)
	known := t != nil
	if known {
		rec.Tenancy.Count(t, leg, -1)
	}
	apply()
	if t = rec.Txs.Get(id); !known {
		rec.Tenancy.Begin(t)
	}
	rec.Tenancy.Count(t, leg, 1)
}
