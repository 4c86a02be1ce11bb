package live

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/grid"
)

// A host may hold one of the replicas of an agent (agents/replica). While this replica
// leads, it stands for the agent towards askers, viewers and watchers. They are answered
// once a majority has confirmed that it leads and everything they saw is committed;
// otherwise with ElsewhereError. Watchers see the agent's facts as they are committed.

// Replicated is a replica of an agent that several processes hold.
type Replicated interface {
	agents.Durable
	Inner() agents.Durable
	Leads() (term uint64, yes bool)
	Leader() agents.ID
	Members() []grid.ReplicaMember
}

// Leadership says who leads, as far as a replica knows.
type Leadership struct {
	Term   uint64 // the term in which this replica leads
	Leads  bool
	Leader agents.ID // the replica that leads; "" if unknown
	// Members are the members of the group as far as this replica knows; nil if it does not
	// know yet. They must not be changed.
	Members []grid.ReplicaMember
}

// same reports whether both say the same about who leads.
func (l *Leadership) same(m *Leadership) bool {
	return l.Term == m.Term && l.Leads == m.Leads && l.Leader == m.Leader
}

// ElsewhereError says that another replica leads, or that this one has ceased to lead. In
// that case it is unknown whether the request was carried out.
type ElsewhereError struct {
	Agent  agents.ID
	Leader agents.ID // "" if unknown
}

func (e *ElsewhereError) Error() string {
	if e.Leader == "" {
		return fmt.Sprintf("no replica of %s is known to lead", e.Agent)
	}
	return fmt.Sprintf("%s leads %s", e.Leader, e.Agent)
}

// Committed collects the facts of an agent that have become committed since they were last
// shown to watchers. It belongs to the agent's actor.
type Committed struct{ facts []stamped }

// Add adds a fact. The replica calls it.
func (c *Committed) Add(at grid.Time, f agents.Fact) {
	c.facts = append(c.facts, stamped{at, f})
}

// held is what a life knows about its replica.
type held struct {
	replica   Replicated
	self      agents.ID
	committed *Committed
	led       atomic.Pointer[Leadership]
	changed   chan struct{}
}

// AddReplica is Add for a replica of an agent. self is its own name among the replicas, and
// committed is where it adds facts.
func (h *Host) AddReplica(id, self agents.ID, r Replicated, committed *Committed, disk journal.Disk, opt journal.Options) error {
	l := &life{host: h, id: id, agent: r, log: h.log.With().Str("agent", string(self)).Logger()}
	l.held = &held{replica: r, self: self, committed: committed, changed: make(chan struct{}, 1)}
	l.held.led.Store(&Leadership{})
	h.mu.Lock()
	h.replicas[self] = l
	h.mu.Unlock()
	return h.add(l, disk, opt)
}

// Leadership returns what a replica knows about who leads. Each time that this changes,
// changed receives a value.
func (h *Host) Leadership(id agents.ID) (now Leadership, changed <-chan struct{}, err error) {
	l, err := h.life(id)
	if err == nil && l.held == nil {
		err = fmt.Errorf("%s: %w", id, ErrUnknown)
	}
	if err != nil {
		return Leadership{}, nil, err
	}
	return *l.held.led.Load(), l.held.changed, nil
}

// ViewReplica calls look between two steps of a replica of an agent, whether it leads or
// not. What look sees need not be committed. It must be quick, change nothing and keep no
// reference.
func (h *Host) ViewReplica(ctx context.Context, id agents.ID, look func(now grid.Time, r agents.Agent)) error {
	return h.see(ctx, id, &view{look: look, bare: true, done: make(chan error, 1)})
}

// connectReplicas sets the network to the other replicas, and the function that learns
// where they are.
func (h *Host) connectReplicas(n Network, know func([]grid.ReplicaMember)) {
	h.mu.Lock()
	h.peers, h.know = n, know
	lives := slices.Collect(maps.Values(h.replicas))
	h.mu.Unlock()
	for _, l := range lives {
		know(l.held.led.Load().Members)
	}
}

// members tells the network where the members of a group are.
func (h *Host) members(list []grid.ReplicaMember) {
	h.mu.RLock()
	know := h.know
	h.mu.RUnlock()
	if know != nil {
		know(list)
	}
}

// as returns the name under which an agent speaks to another.
func (l *life) as(to agents.ID) agents.ID {
	if l.held != nil && roleOf(to) == replicaRole {
		return l.held.self
	}
	return l.id
}

const replicaRole = "replica"

// name returns the owner of the journal.
func (l *life) name() agents.ID {
	if l.held != nil {
		return l.held.self
	}
	return l.id
}

// led handles a change in whether the replica leads. When it ceases to lead, waiting askers
// get an error, since its unreleased results never leave it.
func (l *life) led() {
	if l.held == nil {
		return
	}
	var now Leadership
	now.Term, now.Leads = l.held.replica.Leads()
	now.Leader = l.held.replica.Leader()
	before := l.held.led.Load()
	now.Members = before.Members
	if list := l.held.replica.Members(); !slices.Equal(list, now.Members) {
		now.Members = slices.Clone(list)
		l.host.members(now.Members)
	} else if now.same(before) {
		return
	}
	l.held.led.Store(&now)
	if now.same(before) {
		return
	}
	if before.Leads && (!now.Leads || now.Term != before.Term) {
		why := &ElsewhereError{l.id, now.Leader}
		l.host.endAsks(l.id, why)
		l.endWatchers(why)
		l.watching.Lock()
		l.ended = nil // new watchers see what the next leadership commits
		l.watching.Unlock()
	}
	l.log.Info().Bool("leads", now.Leads).Uint64("term", now.Term).Str("leader", string(now.Leader)).Msg("leadership")
	select {
	case l.held.changed <- struct{}{}:
	default:
	}
}

// showCommitted shows watchers what has become committed.
func (l *life) showCommitted() {
	if l.held == nil || len(l.held.committed.facts) == 0 {
		return
	}
	l.publish(l.held.committed.facts)
	l.held.committed.facts = agents.Emptied(l.held.committed.facts)
}

// lookInside shows the agent inside the replica, and asks whether the replica still leads.
func (l *life) lookInside(v *view) {
	if !l.held.led.Load().Leads {
		v.answer(&ElsewhereError{l.id, l.held.replica.Leader()})
		return
	}
	if v.run(l.host.clock.now(), l.held.replica.Inner()) {
		l.step(v.asker, agents.ReplicaConfirm{})
	}
}

// viewInside is View for a replicated agent.
func (h *Host) viewInside(ctx context.Context, id agents.ID, look func(now grid.Time, a agents.Agent)) error {
	asker, a, err := h.asker("operator:view", id)
	if err != nil {
		return err
	}
	defer h.forget(asker)
	if err := h.see(ctx, id, &view{look: look, asker: asker, done: make(chan error, 1)}); err != nil {
		return err
	}
	select {
	case r := <-a.reply:
		return confirmed(id, r)
	case <-ctx.Done():
		return fmt.Errorf("nobody has confirmed what was seen of %s: %w", id, context.Cause(ctx))
	}
}

// confirmed turns the answer of a replica that does not lead into an error.
func confirmed(id agents.ID, r answer) error {
	if to, elsewhere := r.m.(agents.ReplicaRedirect); r.err == nil && elsewhere {
		return &ElsewhereError{id, to.Leader}
	}
	return r.err
}
