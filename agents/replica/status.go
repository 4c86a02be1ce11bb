package replica

import (
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/tracker"

	"github.com/bourse-grid/bourse/agents"
)

// Status is the state of a replica, for display and metrics.
type Status struct {
	Number        uint64 // its own number; 0 if it has none yet
	Term          uint64 // latest term that it knows
	Leads         bool
	Leader        agents.ID // "" if unknown
	Lost          bool      // see Replica.Lost
	Applied, Last uint64    // indexes of the last entry known to the inner agent and of the last on record
	Begun, Won    uint64    // campaigns in this life, and those after which it led
	Bytes         int       // bytes of the entries in memory
	Members       []MemberStatus
}

// MemberStatus is the state of a member. Only the leader knows how far others are.
type MemberStatus struct {
	Member
	Role      Role
	Known     bool // Applied, Behind and Reachable are known
	Applied   uint64
	Behind    uint64 // entries of the leader that it has not acknowledged
	Reachable bool   // heard from within Silence
}

// Role is the part that a member plays in its group.
type Role string

// The roles of members.
const (
	Leading   Role = "leader"
	Following Role = "follower"
	Joining   Role = "joins"  // it is replacing another member, and that is not finished
	Leaving   Role = "leaves" // it is being replaced by another member
)

// Status returns the state of the replica and, if it leads, of its group.
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

// roleOf returns a member's role as far as this one knows.
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

// held returns the size of all entries in memory, including those before the image.
func (l *log) held() (n int) {
	for _, e := range l.entries {
		n += len(e.GetData())
	}
	return n
}

// A leader that is about to leave hands over, so that the others need not first notice that
// it is gone. It accepts nothing more, and once all its effects are committed and released
// it has the library pass the leadership to the member with most of the log.

// passes hands the leadership to another member, and reports whether that is still in
// progress. A member that does not take over within Silence is given up, and the next is
// tried.
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
		return false // there is no member, or only the one just tried
	}
	r.node.TransferLeader(to)
	return true
}
