package world

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/replica"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
)

// In a third of the worlds each broker has three replicas, and a fourth process waits to
// replace one of them. A fault that strikes a broker strikes one of its replicas there,
// mostly the leader.

// The kinds of faults that only such worlds know.
const (
	SlowDisk       sim.Kind = "slow-disk"       // a replica takes its time after whatever it records
	MemberReplaced sim.Kind = "member-replaced" // an operator has another one take a replica's place
)

// atReplica is a fault of a world with replicas whose victim is found when it strikes.
const atReplica sim.Kind = "at-replica"

func ofReplicas(k sim.Kind) bool { return k == SlowDisk || k == MemberReplaced }

// ReplicasOf draws how many replicas each broker has in the world of a seed; 0 if it is not
// replicated. It has its own stream, so everything else of a seed stays the same.
func ReplicasOf(seed uint64) int {
	if rand.New(rand.NewPCG(seed, streamReplicas)).IntN(3) == 0 {
		return 3
	}
	return 0
}

// replicaID is the address of the k-th replica of a broker, from 1 on.
func replicaID(broker string, k int) agents.ID {
	return agents.ID(fmt.Sprintf("replica:%s/%d", broker, k))
}

// The times of a world's replicas.
const (
	heartbeat = grid.Second
	silence   = 8 * grid.Second
	stagger   = grid.Second

	// Electing is how much longer than a broker alone one of replicas may take when all
	// faults are over: one that has waited in vain before takes its time to campaign.
	Electing = grid.Minute
)

// Group is the processes that hold one broker.
type Group struct {
	Broker  agents.ID
	Members []*Member // the founders, and the one that waits
	slow    map[agents.ID]slowness
}

// Member is one replica, by its latest life.
type Member struct {
	Id      agents.ID
	Replica *replica.Replica
	steps   []*InnerStep // of the agent inside that nobody has taken yet
}

// slowness is how a disk is slow, and for how long.
type slowness struct {
	until grid.Time
	most  grid.Duration
}

// InnerStep is a step of the agent that replicas hold, at the one that leads: its deeds
// are not done before its facts are committed.
type InnerStep struct {
	sim.Step
	Term uint64
}

// Taken returns the steps that its agent has taken since they were last asked for.
func (m *Member) Taken() []*InnerStep {
	list := m.steps
	m.steps = nil
	return list
}

// Broker is the broker inside a replica.
func (m *Member) Broker() *broker.Broker { return m.Replica.Inner().(*watched).Broker }

// watched is the broker inside a replica. It tells its member of each step.
type watched struct {
	*broker.Broker
	at *Member
}

// Step hands the broker a message and keeps what came of it.
func (b *watched) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	out.WantRows = true
	b.Broker.Step(now, from, m, out)
	term, _ := b.at.Replica.Leads()
	b.at.steps = append(b.at.steps, &InnerStep{Term: term, Step: sim.Step{Now: now, From: from, Message: m,
		Facts: slices.Clone(out.Facts), Sends: slices.Clone(out.Sends), Rows: slices.Clone(out.Rows)}})
}

// addReplicas adds the processes that hold a broker. To sites and users they are one
// name.
func (w *World) addReplicas(v *VO) {
	name := v.Config.Name
	g := &Group{Broker: BrokerID(name), slow: map[agents.ID]slowness{}}
	var founders []agents.ID
	for k := range w.replicas {
		founders = append(founders, replicaID(name, k+1))
	}
	for k := range w.replicas + 1 {
		m := &Member{Id: replicaID(name, k+1)}
		g.Members = append(g.Members, m)
		w.Add(sim.Host{ID: m.Id, As: g.Broker, New: func() agents.Agent {
			m.steps = nil
			m.Replica = replica.New(replica.Config{
				Group: g.Broker, Self: m.Id, Founders: founders, Joins: k == w.replicas, Codec: w.Codec,
				New:       func() agents.Durable { return &watched{broker.New(v.Config), m} },
				Heartbeat: heartbeat, Silence: silence, Stagger: stagger, CompactEntries: 200,
			})
			return m.Replica
		}})
	}
	w.Groups[g.Broker] = g
	w.Add(sim.Host{ID: replacerID(name), Sturdy: true, New: func() agents.Agent { return &replacer{group: g.Broker} }})
}

// Leads is the member that leads: of two that believe so, the later one; nil if none
// does.
func (w *World) Leads(g *Group) *Member {
	var first *Member
	latest := uint64(0)
	for _, m := range g.Members {
		if w.Faulty.Agent(m.Id) == nil {
			continue
		}
		if term, leads := m.Replica.Leads(); leads && term > latest {
			first, latest = m, term
		}
	}
	return first
}

// Agent returns the living agent with a name, nil if there is none. For a replicated broker
// it is the one inside the leader.
func (w *World) Agent(id agents.ID) agents.Agent {
	g := w.Groups[id]
	if g == nil {
		return w.Faulty.Agent(id)
	}
	if m := w.Leads(g); m != nil {
		return m.Broker()
	}
	return nil
}

// Voice is the name in which an agent speaks.
func Voice(id agents.ID) agents.ID {
	if of, ok := strings.CutPrefix(string(id), "replica:"); ok {
		name, _, _ := strings.Cut(of, "/")
		return BrokerID(name)
	}
	return id
}

// groupFaults draws the faults of the replicas in a seed's world, beyond those that strike
// them as brokers. They are cut off from each other, die while leading, hang for so long
// that another one takes the lead, have slow disks, and are replaced. In one of four groups
// a disk forgets. A group cannot survive that together with anything else, so nothing else
// goes wrong there until that replica is replaced.
func groupFaults(seed uint64) (list []sim.Fault, forgets map[agents.ID]span) {
	r := rand.New(rand.NewPCG(seed, streamReplicas))
	r.IntN(3) // whether there are any
	between := func(lo, hi grid.Duration) grid.Duration { return lo + grid.Duration(r.Int64N(int64(hi-lo)+1)) }
	forgets = map[agents.ID]span{}
	for _, name := range BrokerNames {
		of := BrokerID(name)
		for _, k := range []sim.Kind{sim.CrashSync, sim.CrashSend, sim.CrashSend, sim.TornJournal, sim.Pause, sim.Pause, sim.OneWay, sim.OneWay, sim.Partition, sim.Flap, SlowDisk} {
			f := sim.Fault{Kind: k, Host: of, At: Start.Add(between(grid.Minute, Storm-5*grid.Minute)), For: between(5*grid.Second, 2*grid.Minute), Salt: 1 + r.Uint64N(1<<32)}
			switch k {
			case sim.CrashSync, sim.CrashSend, sim.TornJournal:
				f.For = between(100, 40*grid.Second)
			case sim.OneWay, sim.Partition, sim.Flap:
				f.Size = int64(between(grid.Second, 20*grid.Second))
				if r.IntN(2) == 0 {
					f.Peer = of // one of the others
				}
			case SlowDisk:
				f.Size = int64(between(100, 3*grid.Second))
			}
			list = append(list, f)
		}
		replaced := sim.Fault{Kind: MemberReplaced, Host: of, At: Start.Add(between(5*grid.Minute, Storm-15*grid.Minute)), Salt: 1 + r.Uint64N(1<<32)}
		if r.IntN(4) == 0 {
			old := sim.Fault{Kind: sim.OldJournal, Host: of, At: replaced.At, For: between(10*grid.Second, 5*grid.Minute), Salt: replaced.Salt}
			replaced.At = old.At.Add(old.For + 2*grid.Minute)
			forgets[of] = span{old.At.Add(-10 * grid.Minute), replaced.At.Add(3 * grid.Minute)}
			list = append(list, old)
		}
		list = append(list, replaced)
	}
	return list, forgets
}

// span is a time in which a group has trouble enough.
type span struct{ from, to grid.Time }

// toReplicas redirects the faults of a broker to one of its replicas, chosen when the fault
// strikes. A group cannot survive two processes with one replica's name, nor a forgetting
// disk beside that of groupFaults, so those are dropped.
func (w *World) toReplicas(list []sim.Fault) (kept []sim.Fault) {
	_, forgets := groupFaults(w.seed)
	for _, f := range list {
		of := f.Host
		if !strings.HasPrefix(string(of), "broker:") {
			of = f.Peer
		}
		trouble, forgetful := forgets[of]
		planned := forgetful && (f.Kind == sim.OldJournal || f.Kind == MemberReplaced) && f.Salt == w.forgetful(list, of)
		switch {
		case !strings.HasPrefix(string(of), "broker:") || f.Kind == BadQuote || f.Kind == Forgery || f.Kind == ForgedReassert || f.Kind == Discovery:
			kept = append(kept, f)
			continue
		case planned:
		case f.Kind == sim.Twin || f.Kind == sim.OldJournal || f.Kind == sim.BitFlip || f.Kind == sim.LyingSync || f.Kind == MemberReplaced && forgetful:
			continue
		case forgetful && f.At < trouble.to && f.At.Add(f.For) > trouble.from:
			continue
		}
		kept = append(kept, sim.Fault{Kind: atReplica, At: f.At, Size: int64(len(w.atReplicas))})
		w.atReplicas = append(w.atReplicas, f)
	}
	return kept
}

// forgetful returns the salt of the only replacement in a group, which a forgetting disk
// there shares.
func (w *World) forgetful(list []sim.Fault, of agents.ID) uint64 {
	i := slices.IndexFunc(list, func(f sim.Fault) bool { return f.Kind == MemberReplaced && f.Host == of })
	if i < 0 {
		return 0
	}
	return list[i].Salt
}

// strikeReplica makes a fault strike one of a broker's replicas, in three of four cases the
// leader. It does not handle forgetting disks.
func (w *World) strikeReplica(f sim.Fault) bool {
	g := w.Groups[f.Host]
	if g == nil {
		g = w.Groups[f.Peer]
	}
	if g == nil {
		return false
	}
	leader := w.Leads(g)
	present := g.Present(leader)
	one := present[f.Salt>>8%uint64(len(present))]
	if leader != nil && f.Salt%4 > 0 {
		one = leader
	}
	others := slices.DeleteFunc(slices.Clone(present), func(m *Member) bool { return m == one })
	other := others[f.Salt>>16%uint64(len(others))]
	if f.Host == f.Peer {
		f.Host, f.Peer = one.Id, other.Id
	}
	if f.Kind == sim.OldJournal && one == leader || f.Kind == MemberReplaced && w.Forgot[g.Broker] != nil {
		if one = other; f.Kind == MemberReplaced {
			one = w.Forgot[g.Broker]
		}
	}
	if f.Kind == sim.OldJournal {
		w.Forgot[g.Broker] = one
	}
	if f.Host == g.Broker {
		f.Host = one.Id
	}
	if f.Peer == g.Broker {
		f.Peer = one.Id
	}
	switch f.At = w.Now(); f.Kind {
	case SlowDisk:
		g.slow[one.Id] = slowness{w.Now().Add(f.For), grid.Duration(f.Size)}
		w.struckReplicas[f.Kind]++
	case MemberReplaced:
		w.Post(w.Now(), replacerID(g.name()), agents.ReplicaReplace{Group: g.Broker, Out: one.Id, In: g.Members[len(g.Members)-1].Id})
		w.struckReplicas[f.Kind]++
	default:
		w.Strike(f)
	}
	return false // what it has come to is counted there
}

func (g *Group) name() string { return strings.TrimPrefix(string(g.Broker), "broker:") }

// Present lists the members as the one that leads knows them, or the founders.
func (g *Group) Present(leader *Member) []*Member {
	if leader == nil {
		return g.Members[:len(g.Members)-1]
	}
	return slices.DeleteFunc(slices.Clone(g.Members), func(m *Member) bool {
		return !slices.ContainsFunc(leader.Replica.Members(), func(x replica.Member) bool { return x.Address == string(m.Id) })
	})
}

// hang makes a replica with a slow disk do nothing for a while after it has recorded
// something.
func (w *World) hang(s *sim.Step) {
	g := w.Groups[Voice(s.ID)]
	if g == nil || len(s.Facts) == 0 || s.Died {
		return
	}
	if x, ok := g.slow[s.ID]; ok && w.Now() < x.until {
		w.Strike(sim.Fault{Kind: sim.Pause, At: w.Now(), For: 1 + x.most*grid.Duration(1+w.Steps()%4)/4, Host: s.ID, Salt: w.Steps()})
	}
}

// replacerID is the operator of a group.
func replacerID(name string) agents.ID { return agents.ID("operator:" + name) }

// replacer asks for the replacement of a member, repeatedly until it is done.
type replacer struct {
	group agents.ID
	want  agents.ReplicaReplace
	done  bool
}

func (o *replacer) Step(now grid.Time, _ agents.ID, m agents.Message, out *agents.Outbox) {
	switch m := m.(type) {
	case agents.ReplicaReplace:
		o.want = m
	case agents.ReplicaReplaced:
		o.done = o.done || !m.Reason.Refused()
		return
	case sayAgain:
	default:
		return
	}
	if !o.done {
		out.Send(o.group, o.want)
		out.Alarm(now.Add(again), sayAgain{})
	}
}
