package simulation

import (
	"fmt"
	"maps"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history/invariant"
	"github.com/bourse-grid/bourse/sites"
)

// Invariants checks from outside what must hold in every world: the rules of
// history/invariant over the facts that agents record and, as facts cannot show these, the
// nodes that clusters keep (I1) and the present accounts (I8).
type Invariants struct {
	facts    *invariant.Audit
	numbers  map[agents.ID]uint64 // of facts, by agent
	sites    map[agents.ID]*sites.Site
	clusters map[agents.ID]*cluster.Agent
	brokers  map[agents.ID]*broker.Broker
	instant  grid.Time
	moved    bool // a fact was recorded in the present instant
}

// newInvariants returns a checker of the agents of w.
func newInvariants(w *world) *Invariants {
	nodes, groups := map[string]int{}, map[string]grid.Group{}
	for _, s := range w.scenario.Sites {
		for _, g := range s.Groups {
			nodes[s.Name+"/"+g.Name], groups[s.Name+"/"+g.Name] = g.Nodes, g
		}
	}
	capped := map[string]bool{}
	for _, b := range w.scenario.Brokers {
		capped[b.Name] = b.Algorithm.CapsPrice()
	}
	v := &Invariants{facts: invariant.New(nodes), numbers: map[agents.ID]uint64{}, sites: w.sites, clusters: w.clusters, brokers: w.brokers}
	v.facts.Watch()
	v.facts.Groups(func(site, group string) (grid.Group, bool) {
		g, ok := groups[site+"/"+group]
		return g, ok
	}, func(broker string) bool { return capped[broker] })
	allowed := map[string]invariant.Allowance{}
	for _, s := range w.scenario.Sites {
		x := invariant.Allowance{Span: w.longestHorizon(), Share: int(s.VOShare), Shares: map[string]int{}, AtOnce: s.Limits.Reservations().MaxShare}
		for _, vo := range s.VOShares {
			x.Shares[vo.VO] = int(vo.Share)
		}
		allowed[s.Name] = x
	}
	v.facts.Allow(func(site string) (invariant.Allowance, bool) {
		x, ok := allowed[site]
		return x, ok
	})
	return v
}

// After checks what one step did. It returns the first invariant that is broken.
func (v *Invariants) After(now grid.Time, id agents.ID, out *agents.Outbox) error {
	if now > v.instant {
		if err := v.atRest(); err != nil {
			return fmt.Errorf("at rest after %v: %w", v.instant, err)
		}
		v.instant = now
	}
	for _, f := range out.Facts {
		v.moved = true
		v.numbers[id]++
		v.facts.Trail(id).Take(invariant.Place{Number: v.numbers[id]}, now, f)
		if err := v.found(); err != nil {
			return fmt.Errorf("at %v, %s: %w", now, id, err)
		}
	}
	if err := v.agent(now, id); err != nil {
		return fmt.Errorf("at %v, after a step of %s: %w", now, id, err)
	}
	return nil
}

// found returns the first invariant that the facts show to be broken.
func (v *Invariants) found() error {
	for _, f := range v.facts.Found() {
		if !f.Note {
			return fmt.Errorf("%s: %s", f.Invariant, f.What)
		}
	}
	return nil
}

// atRest checks the instant that has just ended. Messages take no time here, so the world is
// at rest between instants.
func (v *Invariants) atRest() error {
	if !v.moved {
		return nil
	}
	v.moved = false
	v.facts.AtRest()
	if err := v.found(); err != nil {
		return err
	}
	return v.nothingPending()
}

// agent checks the agent that has just stepped: the nodes of a cluster (I1), or the money of
// a site or a broker (I8).
func (v *Invariants) agent(now grid.Time, id agents.ID) error {
	if c, ok := v.clusters[id]; ok {
		if err := c.Audit(now); err != nil {
			return fmt.Errorf("I1: %w", err)
		}
	}
	if s, ok := v.sites[id]; ok {
		if err := s.Ledger().Check(); err != nil {
			return fmt.Errorf("I8: %w", err)
		}
	}
	if b, ok := v.brokers[id]; ok {
		return checkBudget(b)
	}
	return nil
}

// checkBudget checks I8 for a broker: its ledger balances, and what it has spent and
// reserved is within its budget.
func checkBudget(b *broker.Broker) error {
	if err := b.Ledger().Check(); err != nil {
		return fmt.Errorf("I8: %w", err)
	}
	a := b.Ledger().Account(b.Account())
	if err := a.Covered(); err != nil {
		return fmt.Errorf("I8: %w", err)
	}
	return nil
}

// nothingPending checks that reserved money is spent or free again by the end of the instant
// (I8), as every transaction is then closed.
func (v *Invariants) nothingPending() error {
	for _, id := range slices.Sorted(maps.Keys(v.brokers)) {
		b := v.brokers[id]
		if a := b.Ledger().Account(b.Account()); a.PendingDebit != 0 {
			return fmt.Errorf("I8: %s still has %v credits pending", id, a.PendingDebit)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(v.sites)) {
		if a := v.sites[id].Ledger().Account("income"); a.PendingCredit != 0 {
			return fmt.Errorf("I8: %s still has %v credits pending", id, a.PendingCredit)
		}
	}
	return nil
}
