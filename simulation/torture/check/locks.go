package check

import (
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// clusterFact follows what a cluster keeps for legs.
func (c *Checker) clusterFact(s *sim.Step, f agents.Fact) {
	if !strings.HasPrefix(string(s.ID), "cluster:") {
		return
	}
	c.set(s, f)
	switch f := f.(type) {
	case facts.NodesLocked:
		c.locks[lockKey{s.ID, f.Leg}] = true
		delete(c.vacated, lockKey{s.ID, f.Leg})
	case facts.TasksPlaced:
		if f.Leg != (grid.LegID{}) {
			c.locks[lockKey{s.ID, f.Leg}] = true
		}
	case facts.LockMoved: // of one that records them, and has no nodes to free
		if f.State == facts.LockReleased || f.State == facts.LockEnded || f.State == facts.LockLost {
			delete(c.locks, lockKey{s.ID, f.Leg})
		}
	case facts.NodesFreed:
		delete(c.locks, lockKey{s.ID, f.Leg})
		if _, asked := s.Message.(agents.ClusterRelease); !asked { // its work has ended, or its nodes have failed
			c.vacated[lockKey{s.ID, f.Leg}] = true
		}
	}
}

// lockKey is a leg at a cluster.
type lockKey struct {
	cluster agents.ID
	leg     grid.LegID
}

// clustersAtRest compares, once the world is at rest, what clusters keep with what their
// sites have on record. It also checks that work starts and ends, and that brokers have
// acknowledged what became of their legs.
func (c *Checker) clustersAtRest(before grid.Time) error {
	for i := range c.w.Sites {
		s := &c.w.Sites[i].Config
		m := c.of(world.SiteID(s.Name))
		for _, id := range sortedLegs(m.legs) {
			l := m.legs[id]
			if c.moved[id] > before || c.exempt[id] {
				continue
			}
			locked := c.locks[lockKey{s.Cluster, id}]
			switch {
			case l.State.Blocks() && !locked && l.What.End > c.w.Now():
				return fmt.Errorf("I1: leg %v is %v, the cluster of %s keeps no nodes for it", id, l.State, s.Name)
			case !l.State.Blocks() && locked:
				return fmt.Errorf("I2: leg %v is %v, the cluster of %s still keeps nodes for it", id, l.State, s.Name)
			case l.State == grid.Confirmed && l.What.Start < before:
				return fmt.Errorf("I13: leg %v was to start at %v and is confirmed still", id, l.What.Start)
			case l.State == grid.Running && l.What.End < before:
				return fmt.Errorf("I13: leg %v was to end at %v and is running still", id, l.What.End)
			case (l.State == grid.Heuristic || l.State == grid.Lost || l.State == grid.Settled) && !l.noted && !l.restored && !c.notesInVain(m, id):
				return fmt.Errorf("I13: leg %v is %v, and its broker has not noted it", id, l.State)
			}
		}
	}
	for _, k := range sortedLocks(c.locks) {
		m := c.of(agents.ID("site:" + string(k.cluster[len("cluster:"):])))
		if l := m.legs[k.leg]; l == nil && c.txs[k.leg.Tx] != nil && c.txs[k.leg.Tx].at < before && !c.exempt[k.leg] {
			return fmt.Errorf("I2: %s keeps nodes for leg %v, which its site does not know", k.cluster, k.leg)
		}
	}
	return nil
}

// notesInVain reports whether a broker has a leg's end on record, but as a life before the one
// that has listed its legs, as when the later one of two twins has gone: its site does not take
// its word (S56), and it hears of that only once it asks for something.
func (c *Checker) notesInVain(site *mirror, id grid.LegID) bool {
	b := c.of(world.BrokerID(id.Tx.Broker))
	_, over := b.done[id]
	return over && !b.fenced && b.life < site.listed[id.Tx.Broker]
}

// clusterForgets takes note of what a cluster loses with its journal: nodes that it no longer
// keeps, though its site may not have heard, and work that it no longer knows to have begun.
func (c *Checker) clusterForgets(id agents.ID, m *mirror, lost []agents.Fact) {
	if d := c.divided[id]; d != nil {
		d.cut(len(m.facts))
	}
	for _, f := range lost {
		switch f := f.(type) {
		case facts.NodesLocked:
			c.vacated[lockKey{id, f.Leg}] = true
		case facts.TasksPlaced:
			c.vacated[lockKey{id, f.Leg}] = true
		case facts.LockMoved:
			c.behind.begins[c.behind.name(f.Leg)] = false
		}
	}
	for _, f := range m.facts {
		if f, ok := f.(facts.LockMoved); ok {
			c.behind.begins[c.behind.name(f.Leg)] = f.State == facts.LockRunning
		}
	}
}
