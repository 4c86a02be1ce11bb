// Package replica is an agent that is held by several processes: 2F+1 replicas of
// which F may be gone. Inside each is the agent as it is, outside it the state
// machine of go.etcd.io/raft/v3 with its contract: persist, then send, then apply.
//
// What is replicated is facts, not inputs. The leader alone hands its inner agent
// messages; the facts of each such step are proposed, and what follows from them
// (sends, alarms) leaves when they are committed. The others replay committed facts
// and do nothing else. Who begins to lead has replayed all that is committed, and
// hands its inner agent Started: a new life of it, as after a restart, with all that
// the agent's protocol does then against a life that does not know yet that it is
// over. What a leader has made up its mind about and not committed is lost with its
// leadership: its inner agent is made anew from committed facts.
//
// A Replica is a deterministic state machine like any agent. It campaigns by its own
// alarms, in the order of the members' numbers; the library's timeouts, which are
// drawn at random, never come. It trusts its group: a member whose journal forgets
// what it had synced is noticed at best, see lost.
package replica

import (
	"fmt"

	"go.etcd.io/raft/v3"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// Config says whose replica it is, and of which group.
type Config struct {
	Group agents.ID // the agent that the replicas are together; it knows itself by this name
	Self  agents.ID // the address of this replica
	// Founders are the first members, numbered 1, 2, ... in this order, the same for all
	// of them. It counts for a replica without a journal only.
	Founders []agents.ID
	// Joins: it has not founded the group, and waits, without a journal, until a leader
	// sends it an image. Only then may a member begin without a journal: a founder whose
	// disk is lost must not come back as one, for it has forgotten its votes.
	Joins bool
	// Past is the founder that brings the past of the agent, which has run alone so far;
	// "": it has none. The other founders vote, and do not campaign before they have it.
	Past    agents.ID
	Brought Brought
	New     func() agents.Durable // the inner agent, as configured, without any memory
	Codec   Codec                 // of the inner agent's facts
	// Answers reports whether whoever sends a message is told where the leader is. nil:
	// requests of users and operators.
	Answers func(m agents.Message) bool

	// Committed is told, where this replica leads, of the facts of its inner agent as they
	// become committed, before what follows from them leaves. It must not call back.
	Committed func(at bourse.Time, f agents.Fact)

	// Heartbeat is how often a leader says that it leads: 100 ms. After Silence, 1 s,
	// without a word a leader counts as gone, and a leader that hears of no majority for
	// as long steps down. The member of rank k, counted from 1, campaigns Stagger, 200 ms,
	// times k later; it must be more than a message and two syncs take.
	Heartbeat, Silence, Stagger bourse.Duration

	// Linger is how long facts wait for others, before they are proposed, for which no
	// message and no alarm waits: 10 ms.
	Linger bourse.Duration

	// EntryBytes is how large an entry may be, unless it is of one fact: 1 MiB.
	EntryBytes int
	// WaitingBytes and WaitingSteps bound what has been proposed and is not committed: 16
	// MiB, 1024 steps. Beyond, messages are answered as if nobody led; alarms come again.
	WaitingBytes, WaitingSteps int
	// CompactEntries and CompactBytes are after how much the log is cut behind a new image:
	// 10,000 entries or 16 MiB. A member that is further behind than half of the entries
	// is sent the image.
	CompactEntries, CompactBytes int
}

// Brought is the past of an agent that has run alone, at the replica that brings it.
type Brought struct {
	Agent agents.Durable
	At    bourse.Time // of its last fact
}

// Codec writes and reads the inner agent's facts: a *journal.Codec.
type Codec interface {
	Append(b []byte, at bourse.Time, f agents.Fact) ([]byte, error)
	Decode(payload []byte) (bourse.Time, agents.Fact, error)
}

func (c *Config) defaults() {
	for _, d := range []struct {
		v *bourse.Duration
		d bourse.Duration
	}{{&c.Heartbeat, 100}, {&c.Silence, bourse.Second}, {&c.Stagger, 200}, {&c.Linger, 10}} {
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

// Replica is one of the processes that hold an agent.
type Replica struct {
	cfg Config
	log log // what the journal tells: all else follows from it

	// Of this life.
	node       *raft.RawNode // nil: it has no number yet
	nonce      uint64
	members    members // as far as the log is applied
	newcomers  []Member
	inner      agents.Durable
	applied    uint64
	at         bourse.Time // of the last fact applied
	heard      bourse.Time // when the leader was last heard, or somebody else voted for
	tries      int         // campaigns since
	begun, won uint64      // campaigns of this life, and leaderships after them
	due        bool        // it has been elected, and all that was committed before is applied
	leadership leadership
	transfers  []*transfer
	arriving   *image // that comes from the leader, as far as it is here
	change     change
	lost       bool
	stray      uint64
}

// New returns a replica. A configuration without a group, an inner agent or a codec,
// or, unless it joins, of whose founders it is none, is a broken invariant.
func New(cfg Config) *Replica {
	cfg.defaults()
	r := &Replica{cfg: cfg}
	if cfg.Group == "" || cfg.New == nil || cfg.Codec == nil || !cfg.Joins && r.founder() == 0 {
		panic(fmt.Sprintf("replica: %s is not configured as one of %s, founded by %v", cfg.Self, cfg.Group, cfg.Founders))
	}
	r.inner = cfg.New()
	return r
}

// founder is its number among the founders, 0 if it is none.
func (r *Replica) founder() uint64 {
	for i, id := range r.cfg.Founders {
		if id == r.cfg.Self {
			return uint64(i + 1)
		}
	}
	return 0
}

// Step hands the replica one message: of its group, or for the agent that it holds.
func (r *Replica) Step(now bourse.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
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
func (r *Replica) start(now bourse.Time, m agents.Started, out *agents.Outbox) {
	r.nonce, r.heard = m.Nonce, now
	if r.log.base == nil && !r.cfg.Joins {
		r.found(out)
	}
	if r.log.self != 0 {
		r.open()
	}
	out.Alarm(now.Add(r.cfg.Heartbeat), beat{})
}

// found records what a group begins with: its members, and an agent that has no
// facts, or the one that this replica brings. That is one entry further on, so that
// nobody leads who does not have it.
func (r *Replica) found(out *agents.Outbox) {
	list := &Members{}
	for i, id := range r.cfg.Founders {
		n := uint64(i + 1)
		list.Add(Member{Number: n, Address: string(id)})
		list.Voters = append(list.Voters, n)
	}
	base := &image{index: 1, term: 1, parts: []Part{{Index: 1, Term: 1, Parts: 1, Members: list}}}
	if r.cfg.Past == r.cfg.Self {
		base = r.image(r.cfg.Brought.Agent, 2, 1, r.cfg.Brought.At, list)
	}
	for _, p := range base.parts {
		r.record(p, out)
	}
	r.record(Installed{Index: base.index, Term: 1}, out)
	r.record(State{Self: r.founder(), Term: 1, Commit: base.index}, out)
}

// open makes the state machine of a replica that has a number.
func (r *Replica) open() {
	node, err := raft.NewRawNode(&raft.Config{
		ID: r.log.self, Storage: &r.log, Applied: r.log.baseIndex(), Logger: quiet{},
		// A leader's ticks are given by beat, and no others: what others do at an
		// election tick never comes.
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

// Stopped reports whether the agent has stopped by its own will, as a committed fact:
// another process, not of this group, acts for it.
func (r *Replica) Stopped() bool {
	s, can := r.inner.(interface{ Stopped() bool })
	return can && r.leadership.on && len(r.leadership.effects) == 0 && s.Stopped()
}

// Leads reports whether this replica hands its inner agent messages now, and since
// which term.
func (r *Replica) Leads() (term uint64, yes bool) { return r.leadership.term, r.leadership.on }

// Leader is the address of the member that leads as far as this one knows, "" if it
// knows of none.
func (r *Replica) Leader() agents.ID {
	if r.node == nil {
		return ""
	}
	return r.addressOf(r.node.BasicStatus().Lead)
}

// Applied is the index of the last entry that the inner agent knows as committed.
func (r *Replica) Applied() uint64 { return r.applied }

// Inner is the agent inside. Where this replica leads it may be ahead of what is
// committed. It must not be changed.
func (r *Replica) Inner() agents.Durable { return r.inner }

// Lost reports whether the group remembers more of this replica than its journal
// does: the journal is of the past. It takes no part any more, and must be replaced.
func (r *Replica) Lost() bool { return r.lost }

// Members lists the members by number, as far as this replica has applied the log.
func (r *Replica) Members() []Member { return r.members.List }

// record changes what the journal tells.
func (r *Replica) record(f agents.Fact, out *agents.Outbox) {
	r.Replay(0, f)
	out.Record(f)
}
