package replica

import (
	"encoding/json"
	"fmt"
	"slices"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// members are the members of the group, as they change.
type members struct{ Members }

func membersOf(m *Members) members {
	c := *m
	c.List, c.Voters, c.Before = slices.Clone(m.List), slices.Clone(m.Voters), slices.Clone(m.Before)
	return members{c}
}

func (m *members) conf() *raftpb.ConfState {
	return &raftpb.ConfState{Voters: m.Voters, VotersOutgoing: m.Before, AutoLeave: new(m.Leaves)}
}

// take adopts the library's result of a change.
func (m *members) take(c *raftpb.ConfState) {
	m.Voters, m.Before, m.Leaves = slices.Clone(c.Voters), slices.Clone(c.VotersOutgoing), c.GetAutoLeave()
	m.List = slices.DeleteFunc(m.List, func(x Member) bool {
		return !slices.Contains(m.Voters, x.Number) && !slices.Contains(m.Before, x.Number)
	})
}

// address returns the address of a member; "" if there is none with that number.
func (m *members) address(number uint64) agents.ID {
	for _, x := range m.List {
		if x.Number == number {
			return agents.ID(x.Address)
		}
	}
	return ""
}

// number returns the number of the member at an address; 0 if there is none.
func (m *members) number(address agents.ID) uint64 {
	for _, x := range m.List {
		if x.Address == string(address) {
			return x.Number
		}
	}
	return 0
}

// rank returns the position of a member among all, from 1.
func (m *members) rank(number uint64) int {
	for i, x := range m.List {
		if x.Number == number {
			return i + 1
		}
	}
	return len(m.List) + 1
}

// maxNewcomers bounds how many senders are remembered that this replica does not know as
// members.
const maxNewcomers = 16

// admits reports whether a message with a member's number may come from an address. It may
// unless a known member contradicts the number or the address: a member that is behind
// cannot know all others.
func (r *Replica) admits(from agents.ID, number uint64) bool {
	if a := r.members.address(number); a != "" || from == "" {
		return a != "" && a == from
	}
	if number <= r.members.Highest && r.members.Highest > 0 {
		return false // it was a member
	}
	i := slices.IndexFunc(r.newcomers, func(g Member) bool { return g.Number == number })
	switch {
	case i >= 0:
		r.newcomers[i].Address = string(from)
	case len(r.newcomers) < maxNewcomers:
		r.newcomers = append(r.newcomers, Member{Number: number, Address: string(from)})
	}
	return true
}

// addressOf returns where to send messages for a number.
func (r *Replica) addressOf(number uint64) agents.ID {
	if a := r.members.address(number); a != "" {
		return a
	}
	for _, g := range r.newcomers {
		if g.Number == number {
			return agents.ID(g.Address)
		}
	}
	return ""
}

// change is a replacement of a member under way at the leader.
type change struct {
	index uint64    // index of the first entry
	in    agents.ID // the new member
	asked agents.ID // who is told when it is done; "" if no one
}

// replace replaces one member by another. If that is done already, it says so.
func (r *Replica) replace(from agents.ID, m agents.ReplicaReplace, out *agents.Outbox) {
	in, gone := r.members.number(m.In), r.members.number(m.Out)
	answer := func(why grid.Reason) {
		out.Send(from, agents.ReplicaReplaced{Group: m.Group, In: m.In, Out: m.Out, Reason: why})
	}
	switch {
	case m.Group != r.cfg.Group:
		r.stray++
	case !r.leadership.on || r.leadership.leaves:
		r.redirect(from, out)
	case len(r.members.Before) > 0 || r.change.index > r.applied:
		if m.In == r.change.in {
			r.change.asked = from
			return
		}
		answer(grid.Because(grid.Busy, "another member of %s is being replaced", r.cfg.Group))
	case in != 0 && gone == 0:
		answer(grid.Reason{})
	case in != 0 || gone == 0:
		answer(grid.Because(grid.Unknown, "%s must be a member of %s, and %s none", m.Out, r.cfg.Group, m.In))
	default:
		r.proposeChange(m, gone)
		r.change.asked = from
	}
}

// proposeChange proposes a joint change: until it is over, majorities of both the old and
// the new members must agree.
func (r *Replica) proposeChange(m agents.ReplicaReplace, gone uint64) {
	x := Member{Number: r.members.Highest + 1, Address: string(m.In), Endpoint: m.Endpoint, API: m.API}
	context, err := json.Marshal(x)
	if err != nil {
		panic(err)
	}
	r.change = change{index: r.log.last() + 1, in: m.In}
	err = r.node.ProposeConfChange(&raftpb.ConfChangeV2{
		Transition: raftpb.ConfChangeTransitionJointImplicit.Enum(),
		Changes: []*raftpb.ConfChangeSingle{
			{Type: raftpb.ConfChangeAddNode.Enum(), NodeId: new(x.Number)},
			{Type: raftpb.ConfChangeRemoveNode.Enum(), NodeId: new(gone)},
		},
		Context: context,
	})
	if err != nil {
		panic(fmt.Sprintf("replica: a change of members is refused: %v", err)) // all possible reasons were checked before
	}
}

// changed applies an entry that changes the members.
func (r *Replica) changed(e *raftpb.Entry, out *agents.Outbox) {
	c := &raftpb.ConfChangeV2{}
	if err := proto.Unmarshal(e.GetData(), c); err != nil {
		panic(fmt.Sprintf("replica: a change of members: %v", err))
	}
	if len(c.GetContext()) > 0 {
		var x Member
		if err := json.Unmarshal(c.GetContext(), &x); err != nil {
			panic(fmt.Sprintf("replica: a change of members: %v", err))
		}
		r.members.Add(x)
	}
	r.members.take(r.node.ApplyConfChange(c))
	if r.leadership.on && r.change.asked != "" && len(r.members.Before) == 0 {
		out.Send(r.change.asked, agents.ReplicaReplaced{Group: r.cfg.Group, In: r.change.in})
		r.change = change{}
	}
}
