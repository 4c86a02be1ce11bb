package replica

import (
	"encoding/json"
	"fmt"
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// A member too far behind for the log is sent the image part by part, each after the
// previous one is durable there. So no message is larger than a part, one is under way at a
// time, and a member that restarts in between continues where it was.

// transfer is an image being sent to a member. The image does not change, whatever the
// leader does to its log in the meantime.
type transfer struct {
	to    uint64
	of    *image
	next  int       // the part sent last, not acknowledged yet
	said  grid.Time // when that was
	tries int       // how often it was sent
}

// partTries is how often a part is sent, once per Silence, before the transfer is given up.
// The library starts another one when the member is heard from again.
const partTries = 3

// transfer begins to send the image to a member.
func (r *Replica) transfer(now grid.Time, to uint64, out *agents.Outbox) {
	r.transfers = slices.DeleteFunc(r.transfers, func(t *transfer) bool { return t.to == to })
	if m := r.log.base.members(); m.address(to) == "" && r.members.address(to) != "" {
		r.compactNow() // the library takes no image of a group that it is no member of
	}
	t := &transfer{to: to, of: r.log.base}
	r.transfers = append(r.transfers, t)
	r.sendPart(now, t, out)
}

func (r *Replica) sendPart(now grid.Time, t *transfer, out *agents.Outbox) {
	data, err := json.Marshal(t.of.part(t.next))
	if err != nil {
		panic(fmt.Sprintf("replica: part %d of an image: %v", t.next, err))
	}
	t.said = now
	t.tries++
	out.Send(r.addressOf(t.to), agents.ReplicaPart{Group: r.cfg.Group, From: r.log.self, To: t.to, Term: r.log.term, Part: data})
}

// repeatParts sends parts again that were not acknowledged.
func (r *Replica) repeatParts(now grid.Time, out *agents.Outbox) {
	for _, t := range slices.Clone(r.transfers) {
		switch {
		case now.Sub(t.said) < r.cfg.Silence:
		case t.tries < partTries && r.addressOf(t.to) != "":
			r.sendPart(now, t, out)
		default:
			r.ended(t, raft.SnapshotFailure)
		}
	}
}

func (r *Replica) ended(t *transfer, how raft.SnapshotStatus) {
	r.transfers = slices.DeleteFunc(r.transfers, func(x *transfer) bool { return x == t })
	r.node.ReportSnapshot(t.to, how)
}

// taken handles a member's report of how far it has an image.
func (r *Replica) taken(now grid.Time, from agents.ID, m agents.ReplicaPartTaken, out *agents.Outbox) {
	i := slices.IndexFunc(r.transfers, func(t *transfer) bool {
		return r.addressOf(t.to) == from && t.of.index == m.Index && m.Next >= 0
	})
	if m.Group != r.cfg.Group || i < 0 {
		r.stray++
		return
	}
	t := r.transfers[i]
	switch {
	case m.Next >= len(t.of.parts):
		r.ended(t, raft.SnapshotFinish)
	case m.Next != t.next:
		t.next, t.tries = m.Next, 0
		r.sendPart(now, t, out)
	}
}

// part takes a part of an image, and installs the image once it is complete.
func (r *Replica) part(now grid.Time, from agents.ID, m agents.ReplicaPart, out *agents.Outbox) {
	var p Part
	if m.Group != r.cfg.Group || r.node == nil || r.lost || m.To != r.log.self || !r.admits(from, m.From) || m.Term < r.log.term ||
		json.Unmarshal(m.Part, &p) != nil || p.Part < 0 || p.Part >= p.Parts || p.Part == 0 && p.Members == nil {
		r.stray++
		return
	}
	r.heard, r.tries = now, 0
	answer := func(next int) {
		out.Send(from, agents.ReplicaPartTaken{Group: r.cfg.Group, Index: p.Index, Next: next})
	}
	if p.Index <= r.applied {
		answer(p.Parts)
		return
	}
	if p.Part == r.expects(p) {
		r.record(p, out)
	}
	answer(r.expects(p))
	if a := r.arriving; a != nil && a.index == p.Index && a.whole() {
		s := a.snapshot()
		_ = r.node.Step(&raftpb.Message{Type: raftpb.MsgSnap.Enum(), From: new(m.From), To: new(m.To), Term: new(m.Term), Snapshot: s})
	}
}

// expects returns the number of the next missing part of an image.
func (r *Replica) expects(p Part) int {
	if a := r.arriving; a != nil && a.index == p.Index && a.term == p.Term && a.parts[0].Parts == p.Parts {
		return len(a.parts)
	}
	return 0
}

// assemble adds the next part. A first part begins another image.
func (r *Replica) assemble(p Part) {
	if p.Part == 0 {
		r.arriving = &image{index: p.Index, term: p.Term}
	}
	r.arriving.add(p)
}

// compact makes an image of the inner agent when the log has grown, and cuts the log behind
// it. While this replica leads, its inner agent may be ahead of what is committed; if that
// lasts long, it makes another agent that is not.
func (r *Replica) compact() {
	base := r.log.base
	if base == nil || r.applied <= base.index {
		return
	}
	long := func(times int) bool {
		return int(r.applied-base.index) >= times*r.cfg.CompactEntries || r.log.size >= times*max(r.cfg.CompactBytes, base.size)
	}
	if !long(1) {
		return
	}
	if r.ahead() && !long(2) {
		return
	}
	r.compactNow()
}

// ahead reports whether the inner agent knows facts that are not committed.
func (r *Replica) ahead() bool {
	return r.leadership.on && (r.applied < r.log.last() || r.leadership.lingers)
}

// compactNow makes an image of what is applied.
func (r *Replica) compactNow() {
	inner := r.inner
	if r.ahead() {
		inner = r.made(r.applied)
	}
	r.log.compact(r.imageOf(inner), r.cfg.CompactEntries/2, r.cfg.CompactBytes/2)
}

// imageOf returns the image of an inner agent that matches the applied log.
func (r *Replica) imageOf(inner agents.Durable) *image {
	term, err := r.log.Term(r.applied)
	if err != nil {
		panic(fmt.Sprintf("replica: entry %d: %v", r.applied, err))
	}
	return r.image(inner, r.applied, term, r.at, &r.members.Members)
}

// image makes an image of an inner agent as of an entry.
func (r *Replica) image(inner agents.Durable, index, term uint64, at grid.Time, list *Members) *image {
	parts, part := 1, func(int) agents.Fact { return inner.Image() }
	if p, many := inner.(agents.Parted); many {
		parts, part = p.Parts(), p.Part
	}
	i := &image{index: index, term: term}
	for k := range parts {
		record, err := r.cfg.Codec.Append(nil, at, part(k))
		if err != nil {
			panic(fmt.Sprintf("replica: part %d of an image: %v", k, err))
		}
		p := Part{Index: i.index, Term: i.term, Part: k, Parts: parts, Fact: record[:len(record)-1]}
		if k == 0 {
			m := membersOf(list)
			p.Members = &m.Members
		}
		i.add(p)
	}
	return i
}
