package replica

import (
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/tracker"

	"github.com/bourse-grid/bourse/agents"
)

// Status is how a replica stands, for people and measures.
type Status struct {
	Number        uint64 // its own; 0: it has not been given one
	Term          uint64 // the latest that it knows of
	Leads         bool
	Leader        agents.ID // "": none is known
	Lost          bool      // see Lost
	Applied, Last uint64    // entries: the last that the agent inside knows, the last on record here
	Begun, Won    uint64    // campaigns of this life, and those after which it led
	Bytes         int       // of the entries that it holds in memory
	Members       []MemberStatus
}

// MemberStatus is how a member stands. What another one has, the leader alone knows.
type MemberStatus struct {
	Member
	Role      Role
	Known     bool // Applied, Behind and Reachable are
	Applied   uint64
	Behind    uint64 // entries of the leader's that it has not acknowledged
	Reachable bool   // heard within Silence
}

// Role is what a member is in its group.
type Role string

// The roles of members.
const (
	Leading   Role = "leader"
	Following Role = "follower"
	Joining   Role = "joins"  // it comes in another's place, which is not over
	Leaving   Role = "leaves" // another one comes in its place
)

// Status says how the replica and, where it leads, its group stands.
func (r *Replica) Status() Status {
	s := Status{Number: r.log.self, Term: r.log.term, Leads: r.leadership.on, Leader: r.Leader(), Lost: r.lost,
		Applied: r.applied, Last: r.log.last(), Begun: r.begun, Won: r.won, Bytes: r.log.held()}
	var peers map[uint64]tracker.Progress
	if r.leadership.on {
		peers = map[uint64]tracker.Progress{}
		r.node.WithProgress(func(id uint64, _ raft.ProgressType, p tracker.Progress) { peers[id] = p })
	}
	for _, m := range r.members.List {
		x := MemberStatus{Member: m, Role: r.roleOf(m, s.Leader)}
		switch p, known := peers[m.Number]; {
		case m.Number == r.log.self:
			x.Known, x.Reachable, x.Applied = true, !r.lost, r.applied
		case known:
			x.Known, x.Reachable, x.Applied, x.Behind = true, p.RecentActive && p.Match > 0, min(p.Match, r.applied), s.Last-min(p.Match, s.Last)
		}
		s.Members = append(s.Members, x)
	}
	return s
}

// roleOf is what a member is as this one knows.
func (r *Replica) roleOf(m Member, leader agents.ID) Role {
	voter, before := slices.Contains(r.members.Voters, m.Number), slices.Contains(r.members.Before, m.Number)
	switch {
	case leader != "" && agents.ID(m.Address) == leader:
		return Leading
	case len(r.members.Before) > 0 && !before:
		return Joining
	case !voter:
		return Leaving
	}
	return Following
}

// held is the size of all entries in memory, those before the image too.
func (l *log) held() (n int) {
	for _, e := range l.entries {
		n += len(e.GetData())
	}
	return n
}

// A leader that is about to leave hands over, so that nobody has to notice first that it is
// gone: it takes nothing more, and once all that it has done is committed and let out it has
// the library pass the leadership to the member that has most of the log.

// passes has another member begin to lead, and reports whether there is something to do for
// that. One that does not take over in Silence is given up, and the next is tried.
func (r *Replica) passes() bool {
	g := &r.leadership
	if !g.on || !g.leaves || len(g.effects) > 0 || r.node.BasicStatus().LeadTransferee != raft.None {
		return false
	}
	to, most := uint64(0), uint64(0)
	r.node.WithProgress(func(id uint64, _ raft.ProgressType, p tracker.Progress) {
		if id != r.log.self && id != g.passed && p.RecentActive && slices.Contains(r.members.Voters, id) && (p.Match > most || p.Match == most && id < to) {
			to, most = id, p.Match
		}
	})
	if g.passed = to; to == 0 {
		return false // nobody is there, or only the one that was tried just now
	}
	r.node.TransferLeader(to)
	return true
}
