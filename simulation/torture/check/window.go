package check

import (
	"fmt"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history/invariant"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// obeys checks I9: a window, or its repair, against what its job asks for, in the form
// common to all who check it.
func (c *Checker) obeys(m *mirror, t *txTruth) error {
	id := t.begun.Tx
	w := invariant.Window{Asks: t.job.Request, Sites: t.begun.Sites, Legs: t.begun.Legs, Parts: t.begun.Parts, Group: c.group, PriceCap: c.capped[id.Broker]}
	if t.begun.Request.Nodes > 0 {
		w.Asks = t.begun.Request
	}
	for i := range t.begun.Legs {
		w.Cost = w.Cost.Plus(m.priced[grid.LegID{Tx: id, Leg: i}].Total())
	}
	if r := t.begun.Repairs; r != (grid.LegID{}) {
		w.Mends(&c.txs[r.Tx].begun, r.Leg)
		w.Others = c.stand(m, id)
		w.Spent, w.Penalties = c.spent(m, id)
	}
	return w.Obeys()
}

// stand are the legs, but those of a transaction itself, that its broker has on record as
// standing of the window to which it belongs.
func (c *Checker) stand(m *mirror, repair grid.TxID) (list []invariant.Standing) {
	window := c.window(repair)
	for _, id := range m.begun {
		t := m.txs[id]
		if id == repair || id.Broker != repair.Broker || c.window(id) != window || !t.decided || !t.commit {
			continue
		}
		for i := range t.begun.Legs {
			leg := grid.LegID{Tx: id, Leg: i}
			if f, closed := m.closed[leg]; closed && !f.Commit || m.done[leg].State == grid.Lost {
				continue
			}
			list = append(list, invariant.StandingOf(&t.begun, i))
		}
	}
	return list
}

// fate is what has become of a part of a window: of a leg, or of what has repaired it.
type fate uint8

const (
	moving fate = iota // or not to be judged
	stands             // confirmed or running
	over               // settled
	gone
)

// whole checks I2 for a committed window at rest: if one of its legs is gone and was not
// replaced, no other leg of it remains.
func (c *Checker) whole(id grid.TxID, before grid.Time, repairs map[grid.LegID]grid.TxID) error {
	t := c.txs[id]
	if t.begun.Repairs != (grid.LegID{}) || c.replaced[id] {
		return nil
	}
	var lost, left *grid.LegID
	for i := range t.begun.Legs {
		leg := grid.LegID{Tx: id, Leg: i}
		switch c.fate(leg, before, repairs) {
		case moving:
			return nil
		case stands:
			left = &leg
		case gone:
			lost = &leg
		}
	}
	if lost != nil && left != nil {
		return fmt.Errorf("I2: leg %v of job %s has gone, nothing has taken its place, and leg %v stands", *lost, t.begun.Job, *left)
	}
	return nil
}

// fate finds out what has become of a leg, or of the legs that have repaired it; the worst
// one counts.
func (c *Checker) fate(leg grid.LegID, before grid.Time, repairs map[grid.LegID]grid.TxID) fate {
	if repair, ok := repairs[leg]; ok {
		worst := over
		for i := range c.txs[repair].begun.Legs {
			f := c.fate(grid.LegID{Tx: repair, Leg: i}, before, repairs)
			if f == moving || f == gone {
				return f
			}
			worst = min(worst, f)
		}
		return worst
	}
	t := c.txs[leg.Tx]
	l := c.of(world.SiteID(t.begun.Sites[leg.Leg])).legs[leg]
	switch {
	case l == nil, c.moved[leg] > before, c.exempt[leg], c.claimed[leg] > before:
		return moving
	case c.claimed[leg] > 0:
		return gone
	case l.State == grid.Confirmed, l.State == grid.Running:
		return stands
	case l.State == grid.Settled:
		return over
	case l.State.Terminal():
		return gone
	}
	return moving
}

// spent returns what a broker's record has posted for the window that a transaction
// repairs, less refunds, and the penalties added to those. An earlier window that was lost
// after parts of it had run is not included: a job's budget is for one window.
func (c *Checker) spent(m *mirror, repair grid.TxID) (net, penalties grid.Credits) {
	window := c.window(repair)
	for _, id := range m.begun {
		if id.Broker != repair.Broker || c.window(id) != window {
			continue
		}
		for i := range m.txs[id].begun.Legs {
			leg := grid.LegID{Tx: id, Leg: i}
			net += m.closed[leg].Posted - m.done[leg].Refund
			penalties += m.done[leg].Penalty
		}
	}
	return net, penalties
}

// window is the transaction that placed what another one repairs: itself, if it
// repairs nothing.
func (c *Checker) window(id grid.TxID) grid.TxID {
	for t := c.txs[id]; t != nil && t.begun.Repairs != (grid.LegID{}); t = c.txs[id] {
		id = t.begun.Repairs.Tx
	}
	return id
}

// clockOff is by how much a clock that was right at the beginning of a life may be
// off: of the world's drifts the longest and fastest, twice.
const clockOff = 12 * grid.Second

// tooEarly holds a leg that runs, or is settled, against the true time: neither
// can be before its window begins. It is a part of I9: all legs of a window start
// together.
func tooEarly(now grid.Time, f *facts.LegMoved) error {
	if f.State != grid.Running && f.State != grid.Settled || !f.Flex.Early(f.What, now.Add(clockOff)) {
		return nil
	}
	return fmt.Errorf("I9: leg %v, which starts at %v, is %v %v before that", f.Leg, f.What.Start, f.State, f.What.Start.Sub(now))
}
