package check

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// place checks that a broker places a leg that it has bought and that is not over where its
// site does (I28). A late shift may be under way.
func (c *Checker) place(m *mirror, id grid.LegID, l *legMirror, before grid.Time) error {
	t := m.txs[id.Tx]
	if _, claimed := c.claimed[id]; claimed {
		return nil // its broker has given it up and no longer follows it
	}
	if l == nil || !l.stands() || !t.commit || c.moved[id] > before || c.shifted[id] > before {
		return nil
	}
	if has := t.begun.Legs[id.Leg]; has != l.What {
		return fmt.Errorf("I28: at rest %s has leg %v as %d nodes of %s over [%v, %v), its site as %d of %s over [%v, %v)",
			m.id, id, has.Nodes, has.Group, has.Start, has.End, l.What.Nodes, l.What.Group, l.What.Start, l.What.End)
	}
	return nil
}

// eitherWindow checks, at rest, that nothing is left of a window that another one of the
// job has replaced (I27).
func (c *Checker) eitherWindow(before grid.Time) error {
	earlier := map[[2]string][]grid.TxID{} // committed, by broker and job
	for _, id := range c.order {
		t := c.txs[id]
		m := c.of(world.BrokerID(id.Broker))
		if m.txs[id] == nil || !m.txs[id].commit {
			continue
		}
		job := [2]string{id.Broker, t.begun.Job}
		if t.begun.Request.Nodes > 0 && t.at <= before && !c.forgotten(id) && c.takenEffect(m, id, before) {
			for _, old := range earlier[job] {
				for i, at := range c.txs[old].begun.Sites {
					leg := grid.LegID{Tx: old, Leg: i}
					_, claimed := c.claimed[leg]
					if l := c.of(world.SiteID(at)).legs[leg]; l != nil && l.stands() && c.moved[leg] <= before && !claimed && !c.exempt[leg] && !c.forgotten(old) {
						return fmt.Errorf("I27: at rest leg %v of job %s is %v, and %v has taken the place of its window", leg, t.begun.Job, l.State, id)
					}
				}
			}
		}
		earlier[job] = append(earlier[job], id)
	}
	return nil
}

// takenEffect reports whether any leg of a move was confirmed, some time ago.
func (c *Checker) takenEffect(m *mirror, move grid.TxID, before grid.Time) bool {
	any := false
	for i := range c.txs[move].begun.Legs {
		leg := grid.LegID{Tx: move, Leg: i}
		if c.moved[leg] > before {
			return false
		}
		any = any || m.closed[leg].Commit
	}
	return any
}
