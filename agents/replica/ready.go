package replica

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// drain does what the library's state machine asks for, until there is nothing more.
func (r *Replica) drain(now grid.Time, out *agents.Outbox) {
	if r.node == nil || r.lost {
		return
	}
	for {
		for r.node.HasReady() {
			r.ready(now, out)
		}
		switch {
		case r.due:
			r.due = false
			r.lead(now, out)
		case r.leadership.asks():
			r.leadership.asked++
			r.node.ReadIndex(binary.LittleEndian.AppendUint64(nil, r.leadership.asked))
		default:
			r.release(out)
			if a := r.arriving; a != nil && a.index <= r.applied {
				r.arriving = nil // the log has caught up without it
			}
			r.compact()
			if !r.passes() {
				return
			}
		}
	}
}

// ready follows the library's contract: persist, then send, then apply. The runtime makes
// the facts of this step durable before sending any of its messages.
func (r *Replica) ready(now grid.Time, out *agents.Outbox) {
	rd := r.node.Ready()
	r.persist(now, rd, out)
	if s := r.node.BasicStatus(); s.RaftState != raft.StateLeader || r.leadership.on && s.GetTerm() != r.leadership.term {
		r.stepDown(now)
	}
	for _, m := range rd.Messages {
		r.deliver(now, m, out)
	}
	for _, e := range rd.CommittedEntries {
		r.apply(e, out)
	}
	for _, s := range rd.ReadStates {
		r.leadership.heard = max(r.leadership.heard, binary.LittleEndian.Uint64(s.RequestCtx))
	}
	r.node.Advance(rd)
}

// persist records, in this order, an image that was adopted, a new term or vote, and
// entries. Wherever a torn journal ends, it then contains nothing that this member may not
// have promised.
func (r *Replica) persist(now grid.Time, rd raft.Ready, out *agents.Outbox) {
	if s := rd.Snapshot; !raft.IsEmptySnap(s) {
		if r.arriving == nil || !r.arriving.whole() || r.arriving.index != s.GetMetadata().GetIndex() {
			panic(fmt.Sprintf("replica: no image is here for entry %d", s.GetMetadata().GetIndex()))
		}
		r.record(Installed{Index: r.arriving.index, Term: r.arriving.term}, out)
		r.rebuild(r.log.base.index)
		r.members = r.log.members()
	}
	if h := rd.HardState; !raft.IsEmptyHardState(h) {
		if h.GetTerm() != r.log.term || h.GetVote() != r.log.vote {
			if v := h.GetVote(); v != r.log.vote && v != 0 && v != r.log.self {
				r.heard, r.tries = now, 0 // the candidate needs time
			}
			s := State{Self: r.log.self, Term: h.GetTerm(), Vote: h.GetVote(), Commit: min(r.log.commit, r.log.last())}
			r.record(s, out)
		}
	}
	for _, e := range rd.Entries {
		r.log.append(e)
		out.Record(r.entryFact(e))
	}
	if h := rd.HardState; !raft.IsEmptyHardState(h) {
		r.log.commitTo(h.GetCommit())
	}
}

// deliver sends a message of the library to another member.
func (r *Replica) deliver(now grid.Time, m *raftpb.Message, out *agents.Outbox) {
	to := r.addressOf(m.GetTo())
	if to == "" {
		return
	}
	if m.GetType() == raftpb.MsgSnap {
		r.transfer(now, m.GetTo(), out)
		return
	}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("replica: %v", err))
	}
	out.Send(to, agents.ReplicaStep{Group: r.cfg.Group, Raft: data})
}

// apply applies a committed entry. A leader's inner agent already knows the facts of its
// own leadership.
func (r *Replica) apply(e *raftpb.Entry, out *agents.Outbox) {
	own := r.leadership.on && e.GetIndex() > r.leadership.since
	switch {
	case e.GetType() == raftpb.EntryConfChangeV2:
		r.changed(e, out)
	case len(e.GetData()) > 0 && !own:
		r.replay(e.GetData())
	}
	r.applied = e.GetIndex()
	if r.leadership.on {
		return
	}
	if s := r.node.BasicStatus(); s.RaftState == raft.StateLeader && s.GetTerm() == e.GetTerm() {
		r.due = true
	}
}

// replay hands the inner agent the facts of an entry.
func (r *Replica) replay(lines []byte) {
	for len(lines) > 0 {
		end := bytes.IndexByte(lines, '\n') + 1
		r.replayOne(lines[:end])
		lines = lines[end:]
	}
}

func (r *Replica) replayOne(record []byte) {
	at, f, err := r.cfg.Codec.Decode(record)
	if err != nil {
		panic(fmt.Sprintf("replica: a fact of %s cannot be read: %v", r.cfg.Group, err))
	}
	r.at = max(r.at, at)
	r.inner.Replay(at, f)
}

// rebuild replaces the inner agent by one made from the committed facts up to an entry.
func (r *Replica) rebuild(upto uint64) {
	r.inner = r.made(upto)
	r.applied = upto
}

// made returns an inner agent in its state after an entry, which must not be before the
// image.
func (r *Replica) made(upto uint64) agents.Durable {
	was := r.inner
	r.inner = r.cfg.New()
	if b := r.log.base; b != nil {
		for i := range b.parts {
			if f := b.part(i).Fact; len(f) > 0 {
				r.replayOne(append(f, '\n'))
			}
		}
		for _, e := range r.log.after(b.index) {
			if e.GetIndex() > upto {
				break
			}
			if e.GetType() == raftpb.EntryNormal {
				r.replay(e.GetData())
			}
		}
	}
	made := r.inner
	r.inner = was
	return made
}
