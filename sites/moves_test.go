package sites

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"

	"pgregory.net/rapid"
)

// Moving a leg, however often and wherever to, and then giving it up never costs less than
// giving it up at once.
func TestMove_IsNeverACheaperWayToCancel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := storyConfig(8)
		cfg.Span = 10 * grid.Hour
		s := newStory(cfg, backfill.EASY, []grid.LocalJob{{ID: 1, Nodes: 5, Run: 900_000, Estimate: 1_800_000}, {ID: 2, Nodes: 6, Run: 900_000, Estimate: 1_800_000, Submit: 1000}}, nil)
		id := func(n int) grid.LegID {
			return grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: uint64(n)}}
		}
		paid := func() grid.Credits {
			a := s.site.Ledger().Account("broker:vo1")
			return a.Debit - a.Credit
		}
		n := 0
		take := func() bool { // leg n+1, in place of leg n if there is one
			start := s.now.Add(grid.Duration(rapid.IntRange(15, 9000).Draw(t, "ahead")) * grid.Second)
			m := agents.Hold{Leg: id(n + 1), Limit: grid.MaxBudget, For: grid.Minute, What: grid.Leg{Group: "main", Nodes: rapid.IntRange(1, 4).Draw(t, "nodes"),
				Start: start, End: start.Add(grid.Duration(rapid.IntRange(10, 3000).Draw(t, "length")) * grid.Second)}}
			if n > 0 {
				m.Replaces, m.Version = id(n), s.site.legs[id(n)].Version
			}
			s.say("broker:vo1", m)
			s.say("broker:vo1", agents.Confirm{Leg: m.Leg, DecidedBy: 1})
			return s.site.legs[m.Leg].State == grid.Confirmed
		}
		if !take() {
			return // no room
		}
		for n++; n < 20; {
			s.advance(s.now.Add(grid.Duration(rapid.IntRange(0, 3000).Draw(t, "wait")) * grid.Second))
			l := s.site.legs[id(n)]
			if l.State != grid.Confirmed {
				return // it runs
			}
			once := paid() - s.site.participant.refund(s.now, l)
			if take() {
				n++
				if now := paid() - s.site.participant.refund(s.now, s.site.legs[id(n)]); now < once {
					t.Fatalf("at %v giving up leg %v costs %v credits; moved to leg %v and given up then, %v", s.now, l.Leg, once, id(n), now)
				}
				continue
			}
			s.say("broker:vo1", agents.Release{Leg: l.Leg, DecidedBy: 1})
			if now := paid(); now != once {
				t.Fatalf("leg %v was to cost %v credits when given up, and cost %v", l.Leg, once, now)
			}
			return
		}
	})
}

// The cluster's word of where a leg lies is heeded within the leg's window, for its length, and
// in order. Row S81.
func TestShift_OnlyWithinTheWindowAndInOrder(t *testing.T) {
	t.Parallel()
	s := newStory(storyConfig(4), backfill.EASY, nil)
	id := grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: 1}}
	s.say("broker:vo1", agents.Hold{Leg: id, What: window(2, 1000, 1100), Limit: 100 * grid.Credit, For: grid.Minute, Flex: grid.Flex{Ready: 1_000_000, Due: 2_000_000}})
	s.say("broker:vo1", agents.Confirm{Leg: id, DecidedBy: 1})
	for _, c := range []struct {
		from, to grid.Time
		shifts   uint32
		want     grid.Time
	}{
		{1_200_000, 1_300_000, 2, 1_200_000},
		{900_000, 1_000_000, 3, 1_200_000},   // too early
		{1_950_000, 2_050_000, 3, 1_200_000}, // too late
		{1_400_000, 1_600_000, 3, 1_200_000}, // longer
		{1_500_000, 1_600_000, 2, 1_200_000}, // that was another one
		{1_500_000, 1_600_000, 1, 1_200_000}, // overtaken
		{1_900_000, 2_000_000, 3, 1_900_000},
	} {
		s.say(theCluster, agents.ClusterMoved{Leg: id, Start: c.from, End: c.to, Shifts: c.shifts})
		if l := s.site.legs[id]; l.What.Start != c.want || l.What.Duration() != 100*grid.Second {
			t.Errorf("after shift %d to [%v, %v) the leg lies at [%v, %v)", c.shifts, c.from, c.to, l.What.Start, l.What.End)
		}
	}
}

// A list brings the proof of each leg that may have to be asserted again: until it has ended.
// Row S58.
func TestList_BringsTheProofOfWhatHasNotEnded(t *testing.T) {
	t.Parallel()
	cfg := storyConfig(4)
	cfg.Key = agents.DerivedKey(1, "north")
	s := newStory(cfg, backfill.EASY, nil)
	id := grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: 1}}
	s.say("broker:vo1", agents.Hold{Leg: id, What: window(2, 100, 200), Limit: 100 * grid.Credit, For: grid.Minute})
	s.say("broker:vo1", agents.Confirm{Leg: id, DecidedBy: 1})
	lists := func(life uint32) int {
		before := len(s.proofs[id])
		s.say("broker:vo1", agents.List{Broker: "vo1", Incarnation: life, Nonce: 7})
		return len(s.proofs[id]) - before
	}
	if n := lists(2); n != 1 || s.proofs[id][len(s.proofs[id])-1].State != grid.Confirmed {
		t.Errorf("%d proofs of a leg that waits, of %v", n, s.proofs[id])
	}
	s.advance(201 * grid.Time(grid.Second))
	if n := lists(3); n != 0 {
		t.Errorf("%d proofs of a leg that has ended", n)
	}
}
