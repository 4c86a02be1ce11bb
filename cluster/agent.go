// Package cluster is the cluster behind a site: an agent that knows nodes and work,
// but neither money nor brokers. It locks nodes for legs, runs their work, and tells
// its site how that went.
//
// Agent does what every cluster must do: it keeps a lock for each leg and gives the
// same answer to the same question, releases replaced legs, repeats notices until they
// are heard, lists the inventory, and keeps the journal and its image. What differs
// between clusters is in a Backend: packages queue and share simulate one, package
// managed drives real nodes. A replay decides nothing; docs/decisions/0010 says why
// facts describe effects rather than messages.
package cluster

import (
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Config says whose cluster it is.
type Config struct {
	Site agents.ID // to which the cluster reports
	// Groups are those of its backend, for the record of their sizes; nil: sizes are not on
	// record.
	Groups []grid.Group
	// Volatile makes the cluster record only what reports need, because it will not
	// outlive its process: for simulations in virtual time.
	Volatile bool
	// Lossless says that every message arrives exactly once, in the instant in which
	// it is sent, as in a simulation in virtual time. The site is then told only once.
	Lossless bool
	// Unwatched is the instant until which nobody looks at the local jobs. Until then,
	// what is due for local jobs alone may wait for the next message. It is then
	// carried out at its own instants, but recorded later. This is for a volatile
	// cluster of which only totals are needed; 0: everything is done when it is due.
	Unwatched grid.Time
}

// Agent is the cluster behind a site. It is not safe for concurrent use. Time passes
// for it while its process is down: at its next start it first carries out what was
// due meanwhile, at the true instants.
//
// Any message may come twice, late or never, so the same question gets the same answer,
// and the site is told again what it must know until it acknowledges. If the
// configuration has changed between two lives, the new one applies: what no longer fits
// on the nodes is lost, reservations last.
type Agent struct {
	cfg     Config
	backend Backend

	// What follows from the facts.
	locks  map[grid.LegID]*lock
	order  []*lock // in order of creation; dropped locks stay until they are a fifth of it
	beside int     // locks that count, or counted, on another's nodes: mostly none, and then NodesFreed concerns no other lock
	past   past
	number int       // locks and confirmations so far
	begun  grid.Time // when the local work began
	fed    bool      // the local work has begun
	sizes  []grid.GroupNodes
	now    grid.Time // of the current message; before the first, how far earlier lives got

	// What a restart resets.
	out      *agents.Outbox
	made     uint64                 // locks made so far
	owed     []*lock                // that the site may have to be told about
	armed    grid.Time              // when the earliest pending alarm fires
	reminds  bool                   // an alarm that repeats notices is pending
	taken    grid.Reason            // while a reload begins: why locks are lost
	reloaded agents.ClusterReloaded // the last answer to a ClusterReload
}

// tick is the alarm for what is next due.
type tick struct{}

// Kind names the alarm.
func (tick) Kind() string { return "Tick" }

// New returns a cluster that has not started: facts may be replayed to it, then it
// needs agents.Started before any other message.
func New(cfg Config, b Backend) *Agent {
	return &Agent{cfg: cfg, backend: b, locks: map[grid.LegID]*lock{}, armed: grid.Never}
}

// Step hands the cluster one message. It panics on a message that neither it nor its
// backend knows.
func (a *Agent) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	if m, ok := m.(agents.Started); ok {
		a.start(now, m, out)
		return
	}
	late := a.now < now && now <= a.cfg.Unwatched // own events come first within an instant
	a.out, a.now = out, now
	_, due := m.(tick)
	if due && now >= a.armed {
		a.armed = grid.Never
	}
	a.backend.Reach(now, due || late)
	switch m := m.(type) {
	case tick:
	case remind:
		a.remindAgain(now, m)
	case agents.SnapshotRequest:
		s := a.backend.Show(m.Have)
		s.Ref = m.Ref
		if f, ok := a.backend.(Forecaster); ok && len(m.Queued) > 0 {
			s.BestEffort = f.BestEffort(m.Queued)
		}
		out.Send(from, s)
	case agents.ClusterInventory:
		a.inventory(from, m)
	case agents.ClusterHold:
		a.answerHold(now, from, m)
	case agents.ClusterConfirm:
		a.confirm(now, from, m)
	case agents.ClusterRelease:
		a.release(now, m.Leg)
		out.Send(from, agents.ClusterDone{Leg: m.Leg, Step: m.Kind()})
	case agents.ClusterHeard:
		a.heard(m)
	case agents.ClusterReload:
		a.reload(now, from, m)
	case agents.ClusterOutputRequest:
		if !a.backend.Hear(now, from, m) {
			out.Send(from, agents.ClusterOutput{Leg: m.Leg, Ref: m.Ref, Failure: grid.Because(grid.NoOffer,
				"its nodes are simulated; nothing runs on them, so there is no output")})
		}
	case agents.ClusterPilotsRequest:
		if !a.backend.Hear(now, from, m) {
			out.Send(from, agents.ClusterPilots{For: m.For, Pilots: agents.Pilots{Ref: m.Ask.Ref, Refusal: grid.Because(grid.NotAllowed,
				"its nodes are had by windows; it takes no pilots")}})
		}
	default:
		if !a.backend.Hear(now, from, m) {
			panic(fmt.Sprintf("cluster of %s got %s from %s", a.cfg.Site, m.Kind(), from))
		}
	}
	a.backend.Settle(now)
	a.arm(now)
}

// start begins a life. It carries out at once what was due before now. In virtual time,
// where alarms come first in an instant, what is due at now is left to its own alarm.
func (a *Agent) start(now grid.Time, m agents.Started, out *agents.Outbox) {
	at := min(a.now, now)
	a.out, a.now = out, now
	if !a.fed {
		at = now
		a.Record(facts.WorkBegun{At: now, Groups: grid.Sizes(a.cfg.Groups, nil)})
	} else if a.sizes != nil && !grid.SameSizes(a.cfg.Groups, a.sizes) {
		a.Record(facts.NodesSet{Groups: grid.Sizes(a.cfg.Groups, a.sizes)})
	}
	a.backend.Begin(a, a.life(at, now, m.Nonce))
	for l := range a.each {
		a.owe(l)
	}
	a.remindAgain(now, remind{firstWait / 2})
	if now < a.cfg.Unwatched {
		out.Alarm(a.cfg.Unwatched, tick{})
	}
	a.backend.Reach(now, !a.cfg.Volatile)
	a.backend.Settle(now)
	a.arm(now)
}

// arm sets the alarm for what is due next, unless one at least as early is pending.
// Unwatched local jobs have a single alarm, set at the start.
func (a *Agent) arm(now grid.Time) {
	next := max(a.backend.Next(), now)
	if s, ok := a.backend.(Sleeper); ok && now < next && now < a.cfg.Unwatched {
		next = s.Wake()
	}
	if next < a.armed {
		a.armed = next
		a.out.Alarm(next, tick{})
	}
}

// Refuse answers a message that the runtime does not hand to the cluster.
func (a *Agent) Refuse(_ grid.Time, from agents.ID, m agents.Message, why grid.Reason, out *agents.Outbox) {
	switch m := m.(type) {
	case agents.ClusterHold:
		out.Send(from, agents.ClusterHeld{Leg: m.Leg, Refusal: why})
	case agents.ClusterReload:
		out.Send(from, agents.ClusterReloaded{Ref: m.Ref, Refusal: why})
	}
}

// Audit checks that no node is taken twice at any instant from now on, and that
// everything the site has not heard yet will be repeated. It looks at every lock.
func (a *Agent) Audit(now grid.Time) error {
	for l := range a.each {
		if l.unheard() && !l.owed && !a.cfg.Lossless {
			return fmt.Errorf("cluster of %s at %v: nobody tells the site again what came of leg %v", a.cfg.Site, now, l.Leg)
		}
	}
	if err := a.backend.Audit(); err != nil {
		return fmt.Errorf("cluster of %s at %v: %w", a.cfg.Site, now, err)
	}
	return nil
}
