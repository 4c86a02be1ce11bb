package check

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
	"github.com/bourse-grid/bourse/sites"
)

// agent checks what the agent that has just stepped keeps: nodes (I1), money
// (I8), limits (I4).
func (c *Checker) agent(s *sim.Step, m *mirror) error {
	if cl := c.w.Clusters[s.ID]; cl != nil {
		if err := cl.Audit(s.At); err != nil {
			return fmt.Errorf("I1: %w", err)
		}
		return nil
	}
	if s.Process < 0 {
		return nil // several hold it: see followed
	}
	switch a := c.w.AgentOf(s.Process).(type) {
	case *sites.Site:
		if err := a.Ledger().Check(); err != nil {
			return fmt.Errorf("I8: %w", err)
		}
		if len(s.Facts) > 0 {
			if err := c.promises(m); err != nil {
				return err
			}
			if err := m.books.ledger(a); err != nil {
				return err
			}
		}
		return c.inTime(s, m)
	case *broker.Broker:
		return c.budget(a, m)
	}
	return nil
}

// budget holds I8 for a broker: what it has spent and reserved is within its
// budget, and reserved is what its record says.
func (c *Checker) budget(b *broker.Broker, m *mirror) error {
	if err := b.Ledger().Check(); err != nil {
		return fmt.Errorf("I8: %w", err)
	}
	a := b.Ledger().Account(b.Account())
	if a.Debit+a.PendingDebit > a.Credit {
		return fmt.Errorf("I8: %s has spent %v and reserved %v of %v", a.Name, a.Debit, a.PendingDebit, a.Credit)
	}
	if x := b.Ledger().Account("overdraft"); x.Debit > b.Budget() {
		return fmt.Errorf("B99: the overdraft of %s has paid %v, its budget is %v", a.Name, x.Debit, b.Budget())
	}
	if err := cmp.Or(c.hasPaid(b, m), c.goesBy(b, m)); err != nil {
		return err
	}
	if a.PendingDebit != m.promised.sum {
		return fmt.Errorf("I8: the ledger of %s has %v pending, the record %v", a.Name, a.PendingDebit, m.promised.sum)
	}
	return nil
}

// promises checks I1 on a site's own record: of no group more nodes are
// promised at any instant than it has. A leg whose work is over, or whose nodes have
// failed, holds none, although the word of that may still be on its way. Shares of nodes are
// checked by their cluster's facts (divided.go).
func (c *Checker) promises(m *mirror) error {
	name := strings.TrimPrefix(string(m.id), "site:")
	free := map[string]int{}
	for _, g := range c.groups[name] {
		free[g.Name] = g.Nodes
	}
	var blocking []*legMirror
	for _, id := range sortedLegs(m.legs) {
		if l := m.legs[id]; l.State.Blocks() && l.What.Work == 0 && !c.exempt[id] && !c.vacated[lockKey{world.ClusterID(name), id}] {
			blocking = append(blocking, l)
		}
	}
	for _, l := range blocking {
		used, shared := 0, map[int32]grid.LegPart{}
		for _, o := range blocking {
			if !covers(o, l) {
				continue
			}
			for _, number := range o.on {
				x, p := shared[number], o.What.Part
				shared[number] = grid.LegPart{Slices: x.Slices + p.Slices, Of: p.Of, Cores: x.Cores + p.Cores, Memory: x.Memory + p.Memory, GPUs: x.GPUs + p.GPUs}
			}
			if !o.What.Part.Some() || len(o.on) == 0 {
				used += o.What.Nodes
				if r := m.legs[o.Replaces]; r != nil && o.State < grid.Confirmed && r.State.Blocks() && covers(r, l) {
					used -= min(o.What.Nodes, r.What.Nodes) // it may count on those
				}
			}
		}
		used += len(shared)
		for number, x := range shared {
			if g := c.groups[name][l.What.Group]; x.Slices > x.Of || int(x.Cores) > g.Cores || x.Memory > g.Machine.Memory || int(x.GPUs) > g.Machine.GPUs {
				return fmt.Errorf("I1: %s promises %+v of node %d of %s at %v", name, x, number, l.What.Group, l.What.Start)
			}
		}
		if used > free[l.What.Group] {
			return fmt.Errorf("I1: %s promises %d nodes of %s at %v and has %d", name, used, l.What.Group, l.What.Start, free[l.What.Group])
		}
	}
	return nil
}

// covers reports whether o is sure to hold nodes of l's group at the first instant
// at which l is.
func covers(o, l *legMirror) bool {
	at, end := l.sure()
	start, over := o.sure()
	return o.What.Group == l.What.Group && at < end && start <= at && at < over
}

// inTime checks I4: no hold outlives its limit, no prepared leg its in-doubt
// limit.
func (c *Checker) inTime(s *sim.Step, m *mirror) error {
	if s.Late {
		return nil // what was due in the pause is being done
	}
	for _, id := range m.open {
		limit, ok := c.limits[limitKey{s.Process, id}]
		if ok && s.Now > limit+1 {
			return fmt.Errorf("I4: leg %v is %v at %v, its limit was %v", id, m.legs[id].State, s.Now, limit)
		}
	}
	return nil
}
