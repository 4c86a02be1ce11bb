// Package replica is an agent that runs in several processes: 2F+1 replicas, of which F may
// fail. Inside each is the ordinary agent, outside it the state machine of
// go.etcd.io/raft/v3 with its contract: persist, then send, then apply.
//
// It replicates facts, not inputs. Only the leader hands messages to its inner agent. The
// facts of each such step are proposed, and its effects (sends, alarms) are released when
// the facts are committed. The others only replay committed facts. A replica that begins to
// lead has replayed everything committed, and hands its inner agent Started. That is a new
// life of the agent, as after a restart, with everything that its protocol does to deal
// with an earlier life that does not know yet that it is over. What a leader has decided
// but not committed is lost with its leadership: its inner agent is made anew from
// committed facts.
//
// A Replica is a deterministic state machine like any agent. It campaigns by its own
// alarms, in the order of the members' numbers; the library's random timeouts never occur.
// It trusts its group: a member whose journal forgets what it had synced may be noticed,
// see Lost, but need not be.
package replica

import (
	"fmt"

	"go.etcd.io/raft/v3"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Config describes a replica and its group.
type Config struct {
	Group agents.ID // the agent that the replicas form; it knows itself by this name
	Self  agents.ID // the address of this replica
	// Founders are the first members, numbered 1, 2, ... in this order, and must be the
	// same for all. They matter only to a replica without a journal.
	Founders []agents.ID
	// Joins is set for a replica that is not a founder: without a journal it waits until a
	// leader sends it an image. Only such a member may begin without a journal. A founder
	// that has lost its disk must not come back as a founder, since it has forgotten its
	// votes.
	Joins bool
	// Past is the founder that brings the past of an agent that has so far run alone; "" if
	// there is none. The other founders vote, but do not campaign before they have it.
	Past    agents.ID
	Brought Brought
	New     func() agents.Durable // makes the inner agent as configured, without any state
	Codec   Codec                 // of the inner agent's facts
	// Answers reports whether the sender of a message is told where the leader is; nil: for
	// requests of users and operators.
	Answers func(m agents.Message) bool

	// Committed, if set, is called while this replica leads with the facts of its inner
	// agent as they are committed, before their effects are released. It must not call
	// back.
	Committed func(at grid.Time, f agents.Fact)

	// Heartbeat is the interval at which a leader announces itself: 100 ms. A leader not
	// heard from for Silence, 1 s, counts as gone, and a leader that hears from no majority
	// for that long steps down. The member of rank k, counted from 1, campaigns k times
	// Stagger, 200 ms, later. Stagger must be longer than a message and two syncs take.
	Heartbeat, Silence, Stagger grid.Duration

	// Linger is how long facts for which no message and no alarm waits are held back to be
	// proposed with others: 10 ms.
	Linger grid.Duration

	// EntryBytes is the most bytes of an entry, except for one with a single fact: 1 MiB.
	EntryBytes int
	// WaitingBytes and WaitingSteps bound what is proposed but not committed: 16 MiB, 1024
	// steps. Beyond that, messages are answered as if there were no leader, and alarms are
	// set again.
	WaitingBytes, WaitingSteps int
	// CompactEntries and CompactBytes say after how much the log is cut behind a new image:
	// 10,000 entries or 16 MiB. A member that is behind by more than half of the entries is
	// sent the image.
	CompactEntries, CompactBytes int
}

// Brought is the past of an agent that has run alone, at the replica that brings it.
type Brought struct {
	Agent agents.Durable
	At    grid.Time // time of its last fact
}

// Codec writes and reads the inner agent's facts; *journal.Codec is one.
type Codec interface {
	Append(b []byte, at grid.Time, f agents.Fact) ([]byte, error)
	Decode(payload []byte) (grid.Time, agents.Fact, error)
}

func (c *Config) defaults() {
	for _, d := range []struct {
		v *grid.Duration
		d grid.Duration
	}{{&c.Heartbeat, 100}, {&c.Silence, grid.Second}, {&c.Stagger, 200}, {&c.Linger, 10}} {
		if *d.v == 0 {
			*d.v = d.d
		}
	}
	for _, n := range []struct {
		v *int
		d int
	}{{&c.EntryBytes, 1 << 20}, {&c.WaitingBytes, 16 << 20}, {&c.WaitingSteps, 1024}, {&c.CompactEntries, 10_000}, {&c.CompactBytes, 16 << 20}} {
		if *n.v == 0 {
			*n.v = n.d
		}
	}
	if c.Answers == nil {
		c.Answers = func(m agents.Message) bool {
			p, known := agents.Lookup(m.Kind())
			return known && p.Class == agents.Request && (p.From == agents.User || p.From == agents.Operator)
		}
	}
}

// Replica is one of the processes in which an agent runs.
type Replica struct {
	cfg Config
	log log // content of the journal; everything else follows from it

	// Of this life.
	node       *raft.RawNode // nil while it has no number
	nonce      uint64
	members    members // as of the applied log
	newcomers  []Member
	inner      agents.Durable
	applied    uint64
	at         grid.Time // time of the last applied fact
	heard      grid.Time // when the leader was last heard from, or a vote given
	tries      int       // campaigns since heard
	begun, won uint64    // campaigns in this life, and those won
	due        bool      // elected, and everything committed before is applied
	leadership leadership
	transfers  []*transfer
	arriving   *image // image arriving from the leader, as far as received
	change     change
	lost       bool
	stray      uint64
}

// New returns a replica. It panics if the configuration lacks a group, an inner agent or a
// codec, or if the replica neither joins nor is a founder.
func New(cfg Config) *Replica {
	cfg.defaults()
	r := &Replica{cfg: cfg}
	if cfg.Group == "" || cfg.New == nil || cfg.Codec == nil || !cfg.Joins && r.founder() == 0 {
		panic(fmt.Sprintf("replica: %s is not configured as one of %s, founded by %v", cfg.Self, cfg.Group, cfg.Founders))
	}
	r.inner = cfg.New()
	return r
}

// founder returns its number among the founders, 0 if it is none.
func (r *Replica) founder() uint64 {
	for i, id := range r.cfg.Founders {
		if id == r.cfg.Self {
			return uint64(i + 1)
		}
	}
	return 0
}

// Step hands the replica one message, from its group or for its inner agent.
func (r *Replica) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	switch m := m.(type) {
	case agents.Started:
		r.start(now, m, out)
	case beat:
		r.beat(now, out)
	case agents.ReplicaStep:
		r.hear(now, from, m, out)
	case agents.ReplicaPart:
		r.part(now, from, m, out)
	case agents.ReplicaPartTaken:
		r.taken(now, from, m, out)
	case agents.ReplicaReplace:
		r.replace(from, m, out)
	case agents.ReplicaConfirm:
		r.confirm(from, out)
	case agents.ReplicaHandOver:
		r.leadership.leaves = r.leadership.on
	case alarmOf:
		r.alarm(now, m, out)
	case lingered:
		if r.leadership.on && m.term == r.leadership.term {
			r.propose()
		}
	default:
		r.input(now, from, m, out)
	}
	r.drain(now, out)
}

// start begins a life.
func (r *Replica) start(now grid.Time, m agents.Started, out *agents.Outbox) {
	r.nonce, r.heard = m.Nonce, now
	if r.log.base == nil && !r.cfg.Joins {
		r.found(out)
	}
	if r.log.self != 0 {
		r.open()
	}
	out.Alarm(now.Add(r.cfg.Heartbeat), beat{})
}

// found records the beginning of a group: its members, and an agent that has no facts or
// the past that this replica brings. A brought past counts as one more entry, so that no
// member without it can lead.
func (r *Replica) found(out *agents.Outbox) {
	list := &Members{}
	for i, id := range r.cfg.Founders {
		n := uint64(i + 1)
		list.Add(Member{Number: n, Address: string(id)})
		list.Voters = append(list.Voters, n)
	}
	base := &image{index: 1, term: 1}
	base.add(Part{Index: 1, Term: 1, Parts: 1, Members: list})
	if r.cfg.Past == r.cfg.Self {
		base = r.image(r.cfg.Brought.Agent, 2, 1, r.cfg.Brought.At, list)
	}
	r.cfg.Brought = Brought{} // the image has all of it
	for k := range base.parts {
		r.record(base.part(k), out)
	}
	r.record(Installed{Index: base.index, Term: 1}, out)
	r.record(State{Self: r.founder(), Term: 1, Commit: base.index}, out)
}

// open makes the state machine of a replica that has a number.
func (r *Replica) open() {
	node, err := raft.NewRawNode(&raft.Config{
		ID: r.log.self, Storage: &r.log, Applied: r.log.baseIndex(), Logger: quiet{},
		// beat gives a leader its ticks, and no others get any, so nothing ever happens at
		// an election tick.
		HeartbeatTick: 1, ElectionTick: max(2, int(r.cfg.Silence/r.cfg.Heartbeat/2)),
		MaxSizePerMsg: uint64(r.cfg.EntryBytes), MaxInflightMsgs: 64, MaxInflightBytes: uint64(max(r.cfg.WaitingBytes, r.cfg.EntryBytes)),
		CheckQuorum: true, PreVote: true, ReadOnlyOption: raft.ReadOnlySafe,
		DisableProposalForwarding: true, StepDownOnRemoval: true,
	})
	if err != nil {
		panic(err)
	}
	r.node = node
	r.rebuild(r.log.baseIndex())
	r.members = r.log.members()
}

// Stopped reports whether the agent has stopped of its own accord, as a committed fact,
// because a process outside this group acts for it.
func (r *Replica) Stopped() bool {
	s, can := r.inner.(interface{ Stopped() bool })
	return can && r.leadership.on && len(r.leadership.effects) == 0 && s.Stopped()
}

// Leads reports whether this replica hands messages to its inner agent now, and since which
// term.
func (r *Replica) Leads() (term uint64, yes bool) { return r.leadership.term, r.leadership.on }

// Leader returns the address of the leading member as far as this one knows, "" if it knows
// none.
func (r *Replica) Leader() agents.ID {
	if r.node == nil {
		return ""
	}
	return r.addressOf(r.node.BasicStatus().Lead)
}

// Applied returns the index of the last committed entry that the inner agent knows.
func (r *Replica) Applied() uint64 { return r.applied }

// Inner returns the agent inside, which must not be changed. While this replica leads it
// may be ahead of what is committed.
func (r *Replica) Inner() agents.Durable { return r.inner }

// Lost reports whether the group remembers more of this replica than its journal does,
// because the journal is an old one. The replica then takes no further part and must be
// replaced.
func (r *Replica) Lost() bool { return r.lost }

// Members lists the members by number, as of the applied log.
func (r *Replica) Members() []Member { return r.members.List }

// record records a fact in the journal and applies it.
func (r *Replica) record(f agents.Fact, out *agents.Outbox) {
	r.Replay(0, f)
	out.Record(f)
}
