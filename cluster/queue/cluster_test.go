package queue

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// The network repeats and overtakes: what comes twice is done once, and a hold
// that comes after its own release locks nothing, unless it is asserted anew.
func TestCluster_SameMessageTwiceHasOneEffect(t *testing.T) {
	t.Parallel()
	s := newAlone(4)
	hold := agents.ClusterHold{Leg: testLeg(1), What: window(3, 100, 200)}
	for range 3 {
		if r := s.say(hold)[0].(agents.ClusterHeld).Refusal; r.Refused() || s.free(150) != 1 {
			t.Fatalf("hold is answered %v, %d nodes are free", r, s.free(150))
		}
	}
	for range 2 {
		s.say(agents.ClusterConfirm{Leg: testLeg(1)})
	}
	for range 2 {
		s.say(agents.ClusterRelease{Leg: testLeg(1)})
	}
	if s.free(150) != 4 {
		t.Fatalf("%d nodes are free after the release", s.free(150))
	}
	if r := s.say(hold)[0].(agents.ClusterHeld).Refusal; r.Code != grid.Withdrawn || s.free(150) != 4 {
		t.Errorf("a hold after its release is answered %v, %d nodes are free", r, s.free(150))
	}
	hold.Again = true
	if r := s.say(hold)[0].(agents.ClusterHeld).Refusal; r.Refused() || s.free(150) != 1 {
		t.Errorf("a hold asserted anew is answered %v, %d nodes are free", r, s.free(150))
	}
}

// A move may use the nodes of the leg that it replaces, and takes only what it needs
// beside them. It keeps its nodes whatever happens to that leg.
func TestCluster_MoveCountsOnTheNodesItReplaces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		then []agents.Message
		free [3]int // at 50, 150 and 250
	}{
		{"held", nil, [3]int{1, 0, 0}},
		{"confirmed", []agents.Message{agents.ClusterConfirm{Leg: testLeg(2)}}, [3]int{4, 0, 0}},
		{"given up", []agents.Message{agents.ClusterRelease{Leg: testLeg(2)}}, [3]int{1, 1, 4}},
		{"the old one released first", []agents.Message{agents.ClusterRelease{Leg: testLeg(1)}}, [3]int{4, 0, 0}},
		{"the old one released, then confirmed", []agents.Message{agents.ClusterRelease{Leg: testLeg(1)},
			agents.ClusterConfirm{Leg: testLeg(2)}, agents.ClusterRelease{Leg: testLeg(1)}}, [3]int{4, 0, 0}},
	} {
		s := newAlone(4)
		s.say(agents.ClusterHold{Leg: testLeg(1), What: window(3, 10, 200)})
		s.say(agents.ClusterConfirm{Leg: testLeg(1)})
		if r := s.say(agents.ClusterHold{Leg: testLeg(2), What: window(4, 100, 300), Replaces: testLeg(1)})[0].(agents.ClusterHeld).Refusal; r.Refused() {
			t.Fatalf("%s: the move is refused: %v", c.name, r)
		}
		for _, m := range c.then {
			s.say(m)
		}
		if got := [3]int{s.free(50), s.free(150), s.free(250)}; got != c.free {
			t.Errorf("%s: free are %v, want %v", c.name, got, c.free)
		}
		if err := s.cluster.Audit(0); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Nodes that fail are idle ones first, then those of local jobs, the latest to
// start first, then held ones, then those of the leg confirmed last.
func TestCluster_NodesFailInTheirOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		count int
		kills int
		lost  []uint64 // legs, in order
	}{
		{2, 0, nil}, {3, 1, nil}, {5, 1, nil}, {6, 2, nil}, {7, 2, nil},
		{8, 2, []uint64{2}}, {9, 2, []uint64{2, 3}}, {10, 2, []uint64{2, 3}}, {12, 2, []uint64{2, 3, 1}}, {50, 2, []uint64{2, 3, 1}},
	} {
		s := newAlone(12, grid.LocalJob{ID: 1, Nodes: 2, Run: 900_000, Estimate: 900_000},
			grid.LocalJob{ID: 2, Submit: 1000, Nodes: 3, Run: 900_000, Estimate: 900_000})
		s.advance(2000)
		for seq, nodes := range []int{0, 2, 1, 2} { // by sequence
			if seq > 0 {
				if r := s.say(agents.ClusterHold{Leg: testLeg(uint64(seq)), What: window(nodes, 3, 800)})[0].(agents.ClusterHeld).Refusal; r.Refused() {
					t.Fatal(r)
				}
			}
		}
		s.say(agents.ClusterConfirm{Leg: testLeg(1)})
		s.say(agents.ClusterConfirm{Leg: testLeg(3)})
		var out agents.Outbox
		s.cluster.Step(s.now, "", agents.NodesLost{Group: "main", Count: c.count, For: 900 * grid.Second}, &out)
		kills := 0
		for _, f := range out.Facts {
			if x, ok := f.(facts.JobEnded); ok && x.Killed {
				kills++
			}
		}
		var lost []uint64
		for _, x := range out.Sends {
			lost = append(lost, x.Message.(agents.ClusterLost).Leg.Tx.Seq)
		}
		if kills != c.kills || len(lost) != len(c.lost) {
			t.Errorf("%d nodes: %d jobs are killed, legs %v are lost; want %d and %v", c.count, kills, lost, c.kills, c.lost)
			continue
		}
		for i := range lost {
			if lost[i] != c.lost[i] {
				t.Errorf("%d nodes: legs %v are lost, want %v", c.count, lost, c.lost)
				break
			}
		}
		if err := s.cluster.Audit(s.now); err != nil {
			t.Errorf("%d nodes: %v", c.count, err)
		}
	}
}

// The start and end of work are repeated until the site has heard them.
func TestCluster_EndIsToldUntilReleased(t *testing.T) {
	t.Parallel()
	s := newAlone(4)
	s.say(agents.ClusterHold{Leg: testLeg(1), What: window(4, 10, 20)})
	s.say(agents.ClusterConfirm{Leg: testLeg(1)})
	s.advance(12_000)
	if told := s.told(agents.ClusterStarted{Leg: testLeg(1)}); told < 3 {
		t.Errorf("the start is told %d times", told)
	}
	s.say(agents.ClusterHeard{Leg: testLeg(1)})
	s.advance(19_000)
	s.said = nil
	s.advance(33_000)
	if told := s.told(agents.ClusterEnded{Leg: testLeg(1), End: 20_000}); told != 6 { // at 20, 20.5, 21.5, 23.5, 27.5 and, from there on, every 5 s
		t.Errorf("the end is told %d times", told)
	}
	locks := s.say(agents.ClusterInventory{Ref: 1})[0].(agents.ClusterLocks).Locks
	if len(locks) != 1 || !locks[0].Ended || locks[0].End != 20_000 {
		t.Errorf("the inventory shows %+v", locks)
	}
	s.say(agents.ClusterRelease{Leg: testLeg(1)})
	s.said = nil
	if s.advance(60_000); len(s.said) > 0 {
		t.Errorf("after the release there is still word of it: %v", s.said)
	}
}

// A cluster that locks nodes for the far future and releases them again does not keep
// every event of those locks until then.
func TestCluster_ForgetsTheTurnsOfReleasedLocks(t *testing.T) {
	t.Parallel()
	now := grid.Time(1_000_000)
	l := newLives(durableConfig(backfill.EASY, false, func(int, grid.Time, grid.Time) func() (grid.LocalJob, bool) { return Jobs(nil) }), now)
	for i := range uint64(1000) {
		far := now.Add(grid.Day)
		l.step(now, agents.ClusterHold{Leg: testLeg(i), What: grid.Leg{Group: "main", Nodes: 4, Start: far, End: far.Add(grid.Hour)}})
		l.step(now, agents.ClusterConfirm{Leg: testLeg(i)})
		l.step(now, agents.ClusterRelease{Leg: testLeg(i)})
	}
	if n := len(l.nodes.agenda.ends) + len(l.nodes.agenda.starts); n > 100 {
		t.Errorf("%d events are kept of %d locks", n, len(l.nodes.legs))
	}
}
