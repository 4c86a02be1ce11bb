// Package cluster is the cluster behind a site: an agent that knows nodes and work,
// but no money and no broker. It locks nodes for legs, has their work run, and
// tells its site what came of them.
//
// What every cluster must do is in Agent: locks by leg, with the same answer to
// the same question; replaced legs; notices that are repeated until they are
// heard; the inventory; the journal and its image. What differs from cluster to
// cluster is a Backend: packages queue and share have the simulated ones. A
// replay decides nothing: docs/decisions/0010 says why facts tell effects and not
// messages.
package cluster

import (
	"fmt"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// Config says whose cluster it is.
type Config struct {
	Site agents.ID // whom it tells
	// Volatile has it record only what reports need, for it will not outlive its
	// process: in a simulation of virtual time.
	Volatile bool
	// Lossless says that messages arrive in the instant in which they are sent, each
	// once, as in a simulation of virtual time: the site is told once.
	Lossless bool
	// Unwatched is until when nobody looks at the local jobs: what is due of them alone
	// may wait until the cluster is spoken to, or until then, and is lived through at its
	// own instants. Only when it is recorded differs. For a volatile cluster of which sums
	// are wanted; 0: everything is done when it is due.
	Unwatched bourse.Time
}

// Agent is the cluster behind a site. Time passes for it while its process is
// down: at its next start it lives through what was due meanwhile, at the true
// instants, before it hears anything.
//
// Every message may come twice, late or never: what is asked again gets the same
// answer, and what its site must know is repeated until the site lets go. A
// configuration that has changed between two lives is taken as it is: what no
// longer fits on the nodes is lost, reservations last.
type Agent struct {
	cfg     Config
	backend Backend

	// What follows from the facts.
	locks  map[bourse.LegID]*lock
	order  []*lock // in which they were made; one that is no more stays until a fifth are
	beside int     // locks that count on another's nodes, or did: mostly none, and then no end of one concerns the others
	past   past
	number int         // how many locks and confirmations there were
	begun  bourse.Time // of the local work
	fed    bool        // that has begun
	now    bourse.Time // of the message in hand; before the first, what has been lived through

	// What a restart begins anew.
	out     *agents.Outbox
	made    uint64      // how many locks
	owed    []*lock     // of which the site may have something to hear
	armed   bourse.Time // the next alarm on its way
	reminds bool        // an alarm is on its way that repeats notices
}

// tick is the alarm for what is next due.
type tick struct{}

// Kind names the alarm.
func (tick) Kind() string { return "Tick" }

// New returns a cluster that has not begun to live: facts may be replayed, then it
// must be Started.
func New(cfg Config, b Backend) *Agent {
	return &Agent{cfg: cfg, backend: b, locks: map[bourse.LegID]*lock{}, armed: bourse.Never}
}

// Step hands the cluster one message.
func (a *Agent) Step(now bourse.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	if m, ok := m.(agents.Started); ok {
		a.start(now, m, out)
		return
	}
	late := a.now < now && now <= a.cfg.Unwatched // its own events come first in an instant
	a.out, a.now = out, now
	_, due := m.(tick)
	if due && now >= a.armed {
		a.armed = bourse.Never
	}
	a.backend.Reach(now, due || late)
	switch m := m.(type) {
	case tick:
	case remind:
		a.remindAgain(now, m)
	case agents.SnapshotRequest:
		s := a.backend.Show(m.Have)
		s.Ref = m.Ref
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
	case agents.ClusterOutputRequest:
		if !a.backend.Hear(now, from, m) {
			out.Send(from, agents.ClusterOutput{Leg: m.Leg, Ref: m.Ref, Failure: bourse.Because(bourse.NoOffer,
				"its nodes are simulated; nothing runs on them, so there is no output")})
		}
	default:
		if !a.backend.Hear(now, from, m) {
			panic(fmt.Sprintf("cluster of %s got %s from %s", a.cfg.Site, m.Kind(), from))
		}
	}
	a.backend.Settle(now)
	a.arm(now)
}

// start begins a life. What was due before now is done at once. What is due at
// now is left to its own alarm in virtual time, where alarms come first in an
// instant.
func (a *Agent) start(now bourse.Time, m agents.Started, out *agents.Outbox) {
	at := min(a.now, now)
	a.out, a.now = out, now
	if !a.fed {
		at = now
		a.Record(bourse.WorkBegun{At: now})
	}
	life := Life{At: at, Now: now, Begun: a.begun, Durable: !a.cfg.Volatile, Number: int64(a.number)}
	if life.Durable {
		life.Nonce = m.Nonce
	}
	for l := range a.each {
		life.Locks = append(life.Locks, &l.LockMemory)
	}
	a.backend.Begin(a, life)
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

// arm sets the alarm for what is due next, unless one at least as early is on its
// way. What nobody watches has one alarm, from the start on.
func (a *Agent) arm(now bourse.Time) {
	next := max(a.backend.Next(), now)
	if s, ok := a.backend.(Sleeper); ok && now < next && now < a.cfg.Unwatched {
		next = s.Wake()
	}
	if next < a.armed {
		a.armed = next
		a.out.Alarm(next, tick{})
	}
}

// Refuse answers what the runtime does not hand to the cluster.
func (a *Agent) Refuse(_ bourse.Time, from agents.ID, m agents.Message, why bourse.Reason, out *agents.Outbox) {
	if m, ok := m.(agents.ClusterHold); ok {
		out.Send(from, agents.ClusterHeld{Leg: m.Leg, Refusal: why})
	}
}

// Audit checks that no node is taken twice at any instant from now on, and that nothing
// is left out that the site has not heard yet.
func (a *Agent) Audit(now bourse.Time) error {
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
