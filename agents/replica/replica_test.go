package replica

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
)

// hand is a replica that a test steps itself, with its journal.
type hand struct {
	*Replica
	now     grid.Time
	journal []agents.Fact
	out     agents.Outbox // of the last step
}

// begin is a life of a member of three, with the journal of the one before.
func begin(n int, journal []agents.Fact) *hand {
	h := &hand{Replica: New(config(three[n-1], three)), now: 1000, journal: slices.Clone(journal)}
	for _, f := range journal {
		h.Replay(h.now, f)
	}
	h.step(h.Self(), agents.Started{Nonce: uint64(n)})
	return h
}

func (h *hand) Self() agents.ID { return h.cfg.Self }

func (h *hand) step(from agents.ID, m agents.Message) {
	h.out.Reset()
	h.Step(h.now, from, m, &h.out)
	h.journal = append(h.journal, h.out.Facts...)
}

// beats has time pass, beat by beat.
func (h *hand) beats(d grid.Duration) {
	for end := h.now.Add(d); h.now < end; {
		h.now = h.now.Add(h.cfg.Heartbeat)
		h.step(h.Self(), beat{})
	}
}

// says hands it a message of the library from another member.
func (h *hand) says(from int, m *raftpb.Message) {
	m.From, m.To = new(uint64(from)), new(h.log.self)
	data, _ := proto.Marshal(m)
	h.step(three[from-1], agents.ReplicaStep{Group: groupName, Raft: data})
}

// raft lists the messages of the library that the last step has sent to a member.
func (h *hand) raft(to int) (list []*raftpb.Message) {
	for _, s := range h.out.Sends {
		if x, ok := s.Message.(agents.ReplicaStep); ok && s.To == three[to-1] {
			m := &raftpb.Message{}
			if err := proto.Unmarshal(x.Raft, m); err != nil {
				panic(err)
			}
			list = append(list, m)
		}
	}
	return list
}

// others lists what the last step has sent to anybody but members.
func (h *hand) others() (list []agents.Send) {
	for _, s := range h.out.Sends {
		if !slices.Contains(three, s.To) {
			list = append(list, s)
		}
	}
	return list
}

// elected has member 1 lead with the vote of member 2, and the first entry of its
// term committed.
func elected() *hand {
	h := begin(1, nil)
	h.beats(h.cfg.Silence + h.cfg.Stagger)
	h.says(2, &raftpb.Message{Type: raftpb.MsgPreVoteResp.Enum(), Term: new(uint64(2))})
	h.says(2, &raftpb.Message{Type: raftpb.MsgVoteResp.Enum(), Term: new(uint64(2))})
	h.acknowledged()
	return h
}

// acknowledged has member 2 acknowledge the whole log, until there is nothing more.
func (h *hand) acknowledged() {
	for range 3 {
		h.says(2, &raftpb.Message{Type: raftpb.MsgAppResp.Enum(), Term: new(h.log.term), Index: new(h.log.last())})
	}
}

func TestReplica_AFollowerThatHearsNothingCampaignsInItsTurn(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 3; n++ {
		h := begin(n, nil)
		wait := h.cfg.Silence + grid.Duration(n)*h.cfg.Stagger
		h.beats(wait - h.cfg.Heartbeat)
		if len(h.out.Sends) > 0 {
			t.Errorf("replica %d says %v before its turn", n, h.out.Sends)
		}
		h.beats(h.cfg.Heartbeat)
		if m := h.raft(n%3 + 1); len(m) != 1 || m[0].GetType() != raftpb.MsgPreVote {
			t.Errorf("replica %d says %v after %v of silence", n, m, wait)
		}
	}
}

func TestReplica_TheInnerAgentBeginsOnceTheTermHasACommittedEntry(t *testing.T) {
	t.Parallel()
	h := begin(1, nil)
	h.beats(h.cfg.Silence + h.cfg.Stagger)
	h.says(2, &raftpb.Message{Type: raftpb.MsgPreVoteResp.Enum(), Term: new(uint64(2))})
	h.says(2, &raftpb.Message{Type: raftpb.MsgVoteResp.Enum(), Term: new(uint64(2))})
	if _, leads := h.Leads(); leads || h.Inner().(*register).alive {
		t.Error("it leads before anything of its term is committed")
	}
	h.acknowledged()
	if term, leads := h.Leads(); !leads || term != 2 || !h.Inner().(*register).alive {
		t.Errorf("it leads: %t, in term %d", leads, term)
	}
}

func TestReplica_WhatFollowsFromFactsLeavesWhenTheyAreCommitted(t *testing.T) {
	t.Parallel()
	h := elected()
	h.step("client:1", write{1, 7})
	if list := h.others(); len(list) > 0 {
		t.Fatalf("%v left before a majority had the facts", list)
	}
	if v := h.Inner().(*register).value; v != 7 {
		t.Errorf("the leader's agent has %d", v)
	}
	h.says(2, &raftpb.Message{Type: raftpb.MsgAppResp.Enum(), Term: new(h.log.term), Index: new(h.log.last())})
	if list := h.others(); len(list) != 1 || list[0] != (agents.Send{To: "client:1", Message: reply{1, 7, true}}) {
		t.Errorf("%v left when the facts were committed", list)
	}
}

func TestReplica_AnAnswerWithoutFactsNeedsAMajorityThatConfirmsTheLeader(t *testing.T) {
	t.Parallel()
	h := elected()
	h.step("client:1", read{1})
	if list := h.others(); len(list) > 0 {
		t.Fatalf("%v left before anybody confirmed", list)
	}
	asked := h.raft(2)
	if len(asked) != 1 || asked[0].GetType() != raftpb.MsgHeartbeat || len(asked[0].GetContext()) == 0 {
		t.Fatalf("the leader asks with %v", asked)
	}
	h.says(2, &raftpb.Message{Type: raftpb.MsgHeartbeatResp.Enum(), Term: new(h.log.term)}) // to an earlier one
	if list := h.others(); len(list) > 0 {
		t.Fatalf("%v left by the answer to an earlier heartbeat", list)
	}
	h.says(2, &raftpb.Message{Type: raftpb.MsgHeartbeatResp.Enum(), Term: new(h.log.term), Context: asked[0].GetContext()})
	if list := h.others(); len(list) != 1 || list[0].Message != (reply{1, 0, false}) {
		t.Errorf("%v left when a majority confirmed", list)
	}
}

func TestReplica_ALeaderThatStepsDownForgetsWhatWasNotCommitted(t *testing.T) {
	t.Parallel()
	h := elected()
	h.step("client:1", write{1, 7})
	h.acknowledged()
	h.step("client:1", write{2, 8})
	h.says(3, &raftpb.Message{Type: raftpb.MsgApp.Enum(), Term: new(uint64(5)), Index: new(h.log.last() - 2), LogTerm: new(uint64(2)), Commit: new(h.log.last() - 2)})
	g := h.Inner().(*register)
	if _, leads := h.Leads(); leads || g.value != 7 || g.alive || len(g.changes) != 1 {
		t.Errorf("it leads: %t, its agent has %s", leads, g.lasting())
	}
	if list := h.others(); len(list) > 0 {
		t.Errorf("%v left", list)
	}
	h.step("client:1", read{3})
	if list := h.others(); len(list) != 1 || list[0].Message != (agents.ReplicaRedirect{Group: groupName, Leader: "replica:3"}) {
		t.Errorf("who asks now is told %v", list)
	}
}

func TestReplica_ALeaderWithoutAMajorityStepsDownWithinSilence(t *testing.T) {
	t.Parallel()
	h := elected()
	h.beats(h.cfg.Silence + h.cfg.Heartbeat)
	if _, leads := h.Leads(); leads {
		t.Errorf("it leads %v after it was last heard", h.cfg.Silence)
	}
}

// votes has a replica be asked for its vote of term 2, and reports whether it gives it.
func votes(h *hand, candidate int) bool {
	h.says(candidate, &raftpb.Message{Type: raftpb.MsgVote.Enum(), Term: new(uint64(2)), Index: new(uint64(1)), LogTerm: new(uint64(1))})
	m := h.raft(candidate)
	return len(m) == 1 && m[0].GetType() == raftpb.MsgVoteResp && !m[0].GetReject()
}

// votesTwice reports whether a replica that has begun anew votes for another one.
func votesTwice() bool {
	h := begin(3, nil)
	return votes(h, 1) && votes(begin(3, h.journal), 2)
}

func TestReplica_AVoteIsOnRecordBeforeItIsSaid(t *testing.T) {
	t.Parallel()
	h := begin(3, nil)
	if !votes(h, 1) || !slices.ContainsFunc(h.out.Facts, func(f agents.Fact) bool { s, ok := f.(State); return ok && s.Term == 2 && s.Vote == 1 }) {
		t.Fatalf("with its vote it records %v", h.out.Facts)
	}
	if votesTwice() {
		t.Error("after a restart it votes for another one in the same term")
	}
	if !votes(begin(3, h.journal), 1) {
		t.Error("after a restart it denies the vote that it gave")
	}
}

// An image tells the same as the facts before it, in parts or as a whole.
func TestReplica_ReplayAndImageAgree(t *testing.T) {
	t.Parallel()
	h := elected()
	for n := range 100 {
		h.step("client:1", write{n + 1, n})
		if n%3 > 0 {
			h.acknowledged()
		}
	}
	if h.log.base.index < 60 {
		t.Fatalf("the log was not cut: the image is of entry %d", h.log.base.index)
	}
	var parts []agents.Fact
	for i := range h.Parts() {
		parts = append(parts, h.Part(i))
	}
	replayed := begin(1, h.journal)
	for what, x := range map[string]*hand{"parts": begin(1, parts), "whole": begin(1, []agents.Fact{h.Image()})} {
		if got, want := x.Inner().(*register).lasting(), replayed.Inner().(*register).lasting(); got != want || x.applied != replayed.applied {
			t.Errorf("%s: %s after %d, want %s after %d", what, got, x.applied, want, replayed.applied)
		}
		if x.log.last() != h.log.last() || x.log.term != h.log.term || x.log.vote != h.log.vote || x.log.self != 1 {
			t.Errorf("%s: log to %d, term %d, vote %d", what, x.log.last(), x.log.term, x.log.vote)
		}
	}
}

func TestReplica_OnlyItsGroupIsHeard(t *testing.T) {
	t.Parallel()
	m, _ := proto.Marshal(&raftpb.Message{Type: raftpb.MsgVote.Enum(), From: new(uint64(2)), To: new(uint64(1)), Term: new(uint64(9)), Index: new(uint64(9)), LogTerm: new(uint64(9))})
	snap, _ := proto.Marshal(&raftpb.Message{Type: raftpb.MsgSnap.Enum(), From: new(uint64(2)), To: new(uint64(1)), Term: new(uint64(9))})
	for what, c := range map[string]struct {
		from agents.ID
		m    agents.Message
	}{
		"another group":    {"replica:2", agents.ReplicaStep{Group: "broker:other", Raft: m}},
		"another member":   {"replica:3", agents.ReplicaStep{Group: groupName, Raft: m}},
		"nobody":           {"", agents.ReplicaStep{Group: groupName, Raft: m}},
		"no message":       {"replica:2", agents.ReplicaStep{Group: groupName, Raft: []byte("x")}},
		"an image at once": {"replica:2", agents.ReplicaStep{Group: groupName, Raft: snap}},
		"a part of none":   {"replica:2", agents.ReplicaPart{Group: groupName, From: 2, To: 1, Term: 9, Part: []byte(`{"index":9,"part":1,"parts":1}`)}},
	} {
		h := begin(1, nil)
		if h.step(c.from, c.m); len(h.out.Facts)+len(h.out.Sends) > 0 || h.stray != 1 {
			t.Errorf("%s: %v, %v", what, h.out.Facts, h.out.Sends)
		}
	}
}

func TestReplica_ALeaderThatWaitsForTooMuchTakesNoMore(t *testing.T) {
	t.Parallel()
	h := begin(1, nil)
	h.cfg.WaitingSteps = 3
	h.beats(h.cfg.Silence + h.cfg.Stagger)
	h.says(2, &raftpb.Message{Type: raftpb.MsgPreVoteResp.Enum(), Term: new(uint64(2))})
	h.says(2, &raftpb.Message{Type: raftpb.MsgVoteResp.Enum(), Term: new(uint64(2))})
	h.acknowledged()
	for n := range 4 {
		h.step("client:1", write{n + 1, n})
	}
	if list := h.others(); len(list) != 1 || list[0].Message != (agents.ReplicaRedirect{Group: groupName}) || h.Inner().(*register).done["client:1"] != 3 {
		t.Errorf("the fourth is answered %v, %d are done", list, h.Inner().(*register).done["client:1"])
	}
	if h.step(groupName, alarmOf{2, ringing{1}}); len(h.out.Alarms) != 1 || h.Inner().(*register).rung > 0 {
		t.Errorf("an alarm is lost: %v", h.out.Alarms)
	}
	h.acknowledged()
	h.step("client:1", write{4, 3})
	if h.Inner().(*register).done["client:1"] != 4 {
		t.Error("it takes none when nothing waits any more")
	}
}

func TestReplica_TheFactsOfOneStepAreSplitAtTheBound(t *testing.T) {
	t.Parallel()
	h := elected()
	before := h.log.last()
	h.step("client:1", write{1, 7}) // two facts, of some 90 bytes each
	if n := h.log.last() - before; n != 2 {
		t.Errorf("%d entries", n)
	}
	h.says(2, &raftpb.Message{Type: raftpb.MsgAppResp.Enum(), Term: new(h.log.term), Index: new(before + 1)})
	if list := h.others(); len(list) > 0 {
		t.Errorf("%v left with half of its facts committed", list)
	}
}

// A member that has acknowledged more than its journal knows has the disk of the past.
func TestReplica_AJournalOfThePastTakesNoPart(t *testing.T) {
	t.Parallel()
	h := begin(2, nil)
	h.says(1, &raftpb.Message{Type: raftpb.MsgHeartbeat.Enum(), Term: new(uint64(4)), Commit: new(uint64(30))})
	h.says(3, &raftpb.Message{Type: raftpb.MsgVote.Enum(), Term: new(uint64(9)), Index: new(uint64(40)), LogTerm: new(uint64(4))})
	if !h.Lost() || len(h.out.Sends) > 0 {
		t.Errorf("lost: %t, it says %v", h.Lost(), h.out.Sends)
	}
}

// A member that was away for longer than the log reaches back gets the image, in
// parts, and goes on.
func TestReplica_AMemberFarBehindGetsTheImageInParts(t *testing.T) {
	t.Parallel()
	g := newGroup(3, 2, sim.Options{Seed: 3, Snapshot: 100, Faults: []sim.Fault{
		{Kind: sim.Partition, At: 2000, For: 20_000, Host: "replica:2"},
		{Kind: sim.Drop, At: 22_000, For: 3_000, Host: "replica:2", Share: 300, Salt: 1}, // parts are said again
		{Kind: sim.CrashSend, At: 22_300, For: 200, Host: "replica:2", Salt: 2},
	}}, nil)
	parts, most := 0, 0
	g.After(func(s *sim.Step) {
		if p, ok := s.Message.(agents.ReplicaPart); ok && s.ID == "replica:2" {
			parts++
			most = max(most, len(p.Part))
		}
	})
	if err := g.Run(22_000); err != nil {
		t.Fatal(err)
	}
	if first, last := g.replica("replica:1").log.begin(), g.replica("replica:2").log.last(); first <= last+1 {
		t.Fatalf("the log begins with %d, the member that was away has %d", first, last)
	}
	if err := g.Run(40_000); err != nil {
		t.Fatal(err)
	}
	quieten(g, t)
	if parts < 3 || most > 5000 {
		t.Errorf("%d parts of at most %d bytes", parts, most)
	}
}

// One command puts another member in a member's place, while clients go on; the same
// command again says that it is done. The one that is gone is not heard any more.
func TestReplica_AMemberIsReplaced(t *testing.T) {
	t.Parallel()
	for _, out := range three {
		g := newGroup(3, 2, sim.Options{Seed: 5, Snapshot: 100}, nil)
		g.join("replica:4", func(c *Config) { c.Joins = true })
		o := &operator{to: three, command: agents.ReplicaReplace{Group: groupName, Out: out, In: "replica:4"}}
		g.Add(sim.Host{ID: "operator", New: func() agents.Agent { return o }, Sturdy: true})
		g.Post(5000, "operator", poke{})
		g.Post(20_000, "operator", poke{})
		if err := g.Run(12_000); err != nil {
			t.Fatal(err)
		}
		var left []agents.ID
		for _, id := range append(slices.Clone(three), "replica:4") {
			if id != out {
				left = append(left, id)
			}
		}
		for _, id := range left {
			var have []string
			for _, m := range g.replica(id).Members() {
				have = append(have, string(m.Address))
			}
			if want := strings.Replace("replica:1 replica:2 replica:3 replica:4", string(out), "", 1); strings.Join(have, " ") != strings.Join(strings.Fields(want), " ") {
				t.Errorf("%s out: %s knows %v", out, id, have)
			}
		}
		g.ids = left
		for _, c := range g.clients {
			c.members, c.to = left, 0
		}
		if err := g.Run(40_000); err != nil {
			t.Fatal(err)
		}
		quieten(g, t)
		if len(o.done) < 2 || o.done[0].Reason.Refused() || o.done[len(o.done)-1].Reason.Refused() {
			t.Errorf("%s out: the operator is told %v", out, o.done)
		}
		if _, leads := g.replica(out).Leads(); leads {
			t.Errorf("%s leads and is no member", out)
		}
	}
}

// A member that joins while the log has never been cut, or not since the change, is sent
// an image in which it is a member. It would accept no other.
func TestReplica_AMemberJoinsAGroupWhoseLogWasNeverCut(t *testing.T) {
	t.Parallel()
	if r, g, parts := joins(t); r.Applied() < g.replica("replica:1").Applied()-5 || parts > 20 {
		t.Errorf("it has applied %d entries of %d, after %d parts", r.Applied(), g.replica("replica:1").Applied(), parts)
	}
}

// joins has a member be replaced while the log has never been cut.
func joins(t tester) (in *Replica, g *group, parts int) {
	g = newGroup(3, 2, sim.Options{Seed: 5, Snapshot: 100}, func(c *Config) { c.CompactEntries = 100_000 })
	g.join("replica:4", func(c *Config) { c.Joins, c.CompactEntries = true, 100_000 })
	o := &operator{to: three, command: agents.ReplicaReplace{Group: groupName, Out: "replica:3", In: "replica:4"}}
	g.Add(sim.Host{ID: "operator", New: func() agents.Agent { return o }, Sturdy: true})
	g.Post(5000, "operator", poke{})
	g.After(func(s *sim.Step) {
		if _, ok := s.Message.(agents.ReplicaPart); ok {
			parts++
		}
	})
	if err := g.Run(8_000); err != nil {
		t.Fatal(err)
	}
	return g.replica("replica:4"), g, parts
}

// Never two at once: the second command is refused while the first is under way.
func TestReplica_TwoMembersAreNotReplacedAtOnce(t *testing.T) {
	t.Parallel()
	h := elected()
	h.step("operator:o", agents.ReplicaReplace{Group: groupName, Out: "replica:3", In: "replica:4"})
	h.step("operator:o", agents.ReplicaReplace{Group: groupName, Out: "replica:2", In: "replica:5"})
	if list := h.others(); len(list) != 1 || !list[0].Message.(agents.ReplicaReplaced).Reason.Refused() {
		t.Errorf("the second is answered %v", list)
	}
}

// operator repeats its command to whoever leads until it is carried out.
type operator struct {
	to      []agents.ID
	n       int
	command agents.ReplicaReplace
	waits   bool
	done    []agents.ReplicaReplaced
}

func (o *operator) Step(now grid.Time, _ agents.ID, m agents.Message, out *agents.Outbox) {
	switch m := m.(type) {
	case agents.Started:
		return
	case agents.ReplicaReplaced:
		o.waits = false
		o.done = append(o.done, m)
		return
	case agents.ReplicaRedirect:
		return
	case poke:
		o.waits = true
	}
	if o.waits {
		o.n++
		out.Send(o.to[o.n%len(o.to)], o.command)
		out.Alarm(now.Add(300), again{})
	}
}

type again struct{}

func (again) Kind() string { return "again" }

// Facts from which nothing follows wait for others, and are proposed before those, or
// after Linger.
func TestReplica_FactsFromWhichNothingFollowsLinger(t *testing.T) {
	t.Parallel()
	h := elected()
	before := h.log.last()
	due := agents.Alarm{At: h.now.Add(h.cfg.Linger), Message: lingered{h.log.term}}
	for n := range 2 {
		h.step("client:1", knock{})
		if len(h.out.Sends) > 0 || h.log.last() != before || (len(h.out.Alarms) == 1) != (n == 0) {
			t.Fatalf("knock %d: %v sent, %d entries, alarms %v", n, h.out.Sends, h.log.last()-before, h.out.Alarms)
		}
		if n == 0 && h.out.Alarms[0] != due {
			t.Errorf("it waits for %v", h.out.Alarms[0])
		}
	}
	h.step("client:1", write{1, 7})
	var kinds []string
	for _, e := range h.log.after(before) {
		for line := range bytes.Lines(e.GetData()) {
			_, f, err := h.cfg.Codec.Decode(line)
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, f.Kind())
		}
	}
	if !slices.Equal(kinds, []string{"rang", "rang", "changed", "noted"}) {
		t.Errorf("proposed %q", kinds)
	}
	h.acknowledged()
	before = h.log.last()
	h.step("client:1", knock{})
	h.step(h.Self(), due.Message)
	if h.log.last() != before+1 {
		t.Errorf("%d entries after it lingered", h.log.last()-before)
	}
}

// Facts that linger are seen by nobody, are in no image, and are forgotten with the
// leadership.
func TestReplica_WhatLingersIsNotCommitted(t *testing.T) {
	t.Parallel()
	h := elected()
	h.step("client:1", knock{})
	h.compactNow()
	again := begin(1, nil)
	again.log.install(h.log.base)
	again.rebuild(again.log.baseIndex())
	if n := again.Inner().(*register).rung; n != 0 {
		t.Errorf("%d lie in an image", n)
	}
	h.step("operator:view#1", agents.ReplicaConfirm{})
	if list := h.others(); len(list) > 0 || h.Inner().(*register).rung != 1 {
		t.Errorf("%v: who has looked is told before a majority has it", list)
	}
	h.acknowledged()
	if list := h.others(); len(list) > 0 { // it left with the first acknowledgement
		t.Errorf("%v", list)
	}
	h.step("client:1", knock{})
	h.says(3, &raftpb.Message{Type: raftpb.MsgHeartbeat.Enum(), Term: new(uint64(9))})
	if n := h.Inner().(*register).rung; n != 1 || h.leadership.on {
		t.Errorf("who leads no more has %d", n)
	}
	h.step(h.Self(), lingered{2})
}
