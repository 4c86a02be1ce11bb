package replica

import (
	"testing"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
)

// A leader that hands over takes nothing more, lets out what is committed, and then has the
// member with most of the log campaign at once.
func TestReplica_ALeaderHandsOverToTheMemberThatHasMost(t *testing.T) {
	t.Parallel()
	h := elected()
	h.step("client:1", write{N: 1, Value: 7})
	h.step("operator:o", agents.ReplicaHandOver{})
	h.step("client:1", write{N: 2, Value: 8})
	if list := h.others(); len(list) != 1 || list[0].Message.Kind() != (agents.ReplicaRedirect{}).Kind() {
		t.Errorf("a write after it hands over is answered %v", list)
	}
	if now := h.raft(2); len(now) > 0 {
		t.Errorf("it hands over before its last fact is committed: %v", now)
	}
	passed, replied := 0, 0
	for range 3 {
		h.says(2, &raftpb.Message{Type: raftpb.MsgAppResp.Enum(), Term: new(h.log.term), Index: new(h.log.last())})
		for _, m := range h.raft(2) {
			if m.GetType() == raftpb.MsgTimeoutNow {
				passed++
			}
		}
		for _, s := range h.others() {
			if _, is := s.Message.(reply); is {
				replied++
			}
		}
	}
	if passed != 1 || replied != 1 {
		t.Errorf("handed over %d times, the last write answered %d times", passed, replied)
	}
	if s := h.Status(); len(s.Members) != 3 || s.Members[0].Role != Leading || !s.Members[1].Reachable || s.Members[1].Behind != 0 || s.Members[2].Behind == 0 {
		t.Errorf("the leader says %+v", s)
	}
}

// A hand-over loses nothing and waits for no silence: another one leads at once, with
// Silence so long that no campaign of its own would come.
func TestReplica_AHandOverWaitsForNoSilence(t *testing.T) {
	t.Parallel()
	g := newGroup(3, 2, sim.Options{Seed: 11, Snapshot: 100}, func(c *Config) {
		if c.Self != "replica:1" {
			c.Silence = grid.Hour
		}
	})
	if err := g.Run(5000); err != nil {
		t.Fatal(err)
	}
	if _, leads := g.replica("replica:1").Leads(); !leads {
		t.Fatal("replica:1 does not lead")
	}
	g.Post(5000, "replica:1", agents.ReplicaHandOver{})
	if err := g.Run(5300); err != nil {
		t.Fatal(err)
	}
	led := agents.ID("")
	for _, id := range g.ids[1:] {
		if _, leads := g.replica(id).Leads(); leads {
			led = id
		}
	}
	if led == "" {
		t.Fatal("nobody leads 300 ms later")
	}
	before := len(g.clients[0].answered)
	if err := g.Run(40_000); err != nil {
		t.Fatal(err)
	}
	quieten(g, t)
	if _, leads := g.replica(led).Leads(); !leads || len(g.clients[0].answered) < before+20 {
		t.Errorf("%s leads: %v; %d answers since", led, leads, len(g.clients[0].answered)-before)
	}
}

// If no other member can take over, the leader leads on until it is gone.
func TestReplica_NobodyIsHandedOverToWhoIsNotThere(t *testing.T) {
	t.Parallel()
	h := elected()
	h.beats(h.cfg.Silence + h.cfg.Heartbeat) // nobody is heard meanwhile
	h.step("operator:o", agents.ReplicaHandOver{})
	for _, n := range []int{2, 3} {
		for _, m := range h.raft(n) {
			if m.GetType() == raftpb.MsgTimeoutNow {
				t.Errorf("replica %d is to lead, which is silent", n)
			}
		}
	}
}

// The log that a follower holds in memory is bounded in bytes, however large entries
// are: CompactBytes behind the image, or its size if that is more, half as much before it,
// and what one message brings.
func TestReplica_TheLogOfAFollowerIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	h := begin(2, nil)
	h.cfg.CompactEntries, h.cfg.CompactBytes = 10_000, 20_000
	most, images := 0, 0
	for i := range 400 {
		index, data := h.log.last(), []byte(nil)
		for range 20 {
			var err error
			if data, err = codec.Append(data, h.now, noted{N: i}); err != nil {
				t.Fatal(err)
			}
		}
		term, err := h.log.Term(index)
		if err != nil {
			t.Fatal(err)
		}
		base := h.log.baseIndex()
		h.says(1, &raftpb.Message{Type: raftpb.MsgApp.Enum(), Term: new(uint64(2)), Index: new(index), LogTerm: new(term), Commit: new(index + 1),
			Entries: []*raftpb.Entry{{Index: new(index + 1), Term: new(uint64(2)), Type: raftpb.EntryNormal.Enum(), Data: data}}})
		if h.log.last() != index+1 {
			t.Fatalf("entry %d is not taken", index+1)
		}
		if h.log.baseIndex() != base {
			images++
		}
		most = max(most, h.Status().Bytes)
	}
	bound := max(h.cfg.CompactBytes, h.log.base.size) + h.cfg.CompactBytes/2 + 2*1000
	if most > bound || most < h.cfg.CompactBytes || images < 5 {
		t.Errorf("%d bytes of the log in memory at most, of %d; %d images", most, bound, images)
	}
}
