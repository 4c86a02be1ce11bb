package replica

import (
	"fmt"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// beat is the alarm at which a leader announces that it leads, and others check whether it
// does.
type beat struct{}

// Kind names the alarm.
func (beat) Kind() string { return "ReplicaBeat" }

// beat does what is due at a beat.
func (r *Replica) beat(now grid.Time, out *agents.Outbox) {
	out.Alarm(now.Add(r.cfg.Heartbeat), beat{})
	if r.node == nil || r.lost {
		return
	}
	if r.node.BasicStatus().RaftState == raft.StateLeader {
		r.node.Tick()
		r.repeatParts(now, out)
		return
	}
	silence := now.Sub(r.heard)
	if silence < r.cfg.Silence {
		return
	}
	if r.node.BasicStatus().Lead != raft.None {
		_ = r.node.ForgetLeader() // from now on others may get this member's vote
	}
	if silence >= r.turn() && !r.waitsForPast() {
		r.tries++
		r.begun++
		_ = r.node.Campaign()
	}
}

// waitsForPast reports whether another founder brings a past that this one does not have
// yet.
func (r *Replica) waitsForPast() bool {
	return r.cfg.Past != "" && r.cfg.Past != r.cfg.Self && r.log.last() <= 1
}

// turn returns the silence after which this member campaigns next. In every round each
// member has its own, one Stagger after that of the previous member. The intervals double
// with every round, up to slowest: if all are slow, one must have time to win before the
// next begins.
func (r *Replica) turn() grid.Duration {
	round := grid.Duration(len(r.members.List) + 1)
	apart := grid.Duration(1) << min(r.tries, slowest)
	before := round * (apart - 1 + apart*grid.Duration(max(r.tries-slowest, 0)))
	return r.cfg.Silence + r.cfg.Stagger*(apart*grid.Duration(r.members.rank(r.log.self))+before)
}

// slowest is the round from which the intervals no longer grow: 32 times Stagger.
const slowest = 5

// carried are the library's message types that members send each other. Images come in
// parts, and proposals and reads are not forwarded.
var carried = map[raftpb.MessageType]bool{
	raftpb.MsgApp: true, raftpb.MsgAppResp: true, raftpb.MsgVote: true, raftpb.MsgVoteResp: true,
	raftpb.MsgPreVote: true, raftpb.MsgPreVoteResp: true, raftpb.MsgHeartbeat: true, raftpb.MsgHeartbeatResp: true,
	raftpb.MsgTimeoutNow: true,
}

// hear handles a message of another member.
func (r *Replica) hear(now grid.Time, from agents.ID, s agents.ReplicaStep, out *agents.Outbox) {
	m := &raftpb.Message{}
	if s.Group != r.cfg.Group || proto.Unmarshal(s.Raft, m) != nil || !carried[m.GetType()] || !r.admits(from, m.GetFrom()) {
		r.stray++
		return
	}
	if r.node == nil && r.cfg.Joins && (m.GetType() == raftpb.MsgApp || m.GetType() == raftpb.MsgHeartbeat) && m.GetTo() != 0 {
		r.record(State{Self: m.GetTo()}, out) // a leader has assigned this replica its number
		r.open()
	}
	if r.node == nil || r.lost || m.GetTo() != r.log.self {
		r.stray++
		return
	}
	if m.GetType() == raftpb.MsgHeartbeat && m.GetTerm() >= r.log.term && m.GetCommit() > r.log.last() {
		r.lost = true // it has acknowledged entries that are not in its journal
		return
	}
	if err := r.node.Step(m); err != nil {
		r.stray++
		return
	}
	if st := r.node.BasicStatus(); st.RaftState == raft.StateFollower && st.Lead == m.GetFrom() && m.GetTerm() == st.GetTerm() {
		r.heard, r.tries = now, 0
	}
}

// quiet keeps the library from writing logs. A panic of the library means a broken
// invariant.
type quiet struct{}

func (quiet) Debug(...any)            {}
func (quiet) Debugf(string, ...any)   {}
func (quiet) Info(...any)             {}
func (quiet) Infof(string, ...any)    {}
func (quiet) Warning(...any)          {}
func (quiet) Warningf(string, ...any) {}
func (quiet) Error(...any)            {}
func (quiet) Errorf(string, ...any)   {}

func (quiet) Fatal(v ...any)            { panic(fmt.Sprint(v...)) }
func (quiet) Fatalf(f string, v ...any) { panic(fmt.Sprintf(f, v...)) }
func (quiet) Panic(v ...any)            { panic(fmt.Sprint(v...)) }
func (quiet) Panicf(f string, v ...any) { panic(fmt.Sprintf(f, v...)) }
