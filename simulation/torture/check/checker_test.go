package check

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// A window is held to what its job asks for as far as the process knows that has
// planned it: not to a move that only its twin has committed, nor to one that came
// to nothing.
func TestMirror_AJobAsksForWhatItsOwnProcessKnows(t *testing.T) {
	t.Parallel()
	tx := grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: 1}
	moved := facts.TxBegun{Tx: tx, Job: "wave", Sites: []string{"ash"}, Legs: []grid.Leg{{Nodes: 2}}, Limits: []grid.Credits{5}, Request: grid.Request{Nodes: 2}}
	for _, c := range []struct {
		facts []agents.Fact
		want  int
	}{
		{nil, 4},
		{[]agents.Fact{facts.TxDecided{Tx: tx, Job: "wave"}}, 4},
		{[]agents.Fact{facts.TxDecided{Tx: tx, Job: "wave", Commit: true}}, 2},
		{[]agents.Fact{facts.TxDecided{Tx: tx, Job: "wave", Commit: true}, facts.LegClosed{Leg: grid.LegID{Tx: tx}}}, 4},
		{[]agents.Fact{facts.TxDecided{Tx: tx, Job: "wave", Commit: true}, facts.LegClosed{Leg: grid.LegID{Tx: tx}, Commit: true, Posted: 5}}, 2},
		{[]agents.Fact{facts.TxDecided{Tx: tx, Job: "wave", Commit: true}, facts.TxReversed{Tx: tx, Job: "wave"}}, 4},
	} {
		m := newMirror("broker:vo1")
		for _, f := range append([]agents.Fact{facts.JobSubmitted{Job: grid.Job{Name: "wave", Request: grid.Request{Nodes: 4}}}, moved}, c.facts...) {
			if err := m.apply(f); err != nil {
				t.Fatal(err)
			}
		}
		if got := m.jobs["wave"].Nodes; got != c.want {
			t.Errorf("after %v the job asks for %d nodes, want %d", c.facts, got, c.want)
		}
		m.cut(1)
		if got := m.jobs["wave"].Nodes; got != 4 {
			t.Errorf("a process that knows of no move has it ask for %d nodes", got)
		}
	}
}

// A leg whose cluster has ended its work, or lost its nodes, holds none, before its
// site has heard of that. One that the site itself has released does, on its record.
func TestChecker_ALegWhoseWorkIsOverHoldsNoNodes(t *testing.T) {
	t.Parallel()
	over := grid.LegID{Tx: grid.TxID{Broker: "vo1", Seq: 1}}
	for _, c := range []struct {
		freed   agents.Message // what has the cluster free the nodes; nil: it keeps them
		promise bool           // the nodes may be promised again
	}{
		{nil, false}, {agents.ClusterRelease{Leg: over}, false}, {agents.NodesLost{Group: "g1"}, true}, {agents.Started{}, true},
	} {
		check := New(world.NewPlain(1, nil, sim.Options{}))
		m := newMirror(world.SiteID("ash"))
		nodes := check.groups["ash"]["g1"].Nodes
		for seq, state := range []grid.LegState{grid.Running, grid.Confirmed} {
			id := over
			id.Tx.Seq += uint64(seq)
			m.set(facts.LegMoved{Leg: id, State: state, What: grid.Leg{Group: "g1", Nodes: nodes, Start: 1000, End: 9000}})
		}
		recorded := []agents.Fact{facts.NodesLocked{Leg: over}}
		if c.freed != nil {
			recorded = append(recorded, facts.NodesFreed{Leg: over})
		}
		for _, f := range recorded {
			check.clusterFact(&sim.Step{ID: world.ClusterID("ash"), Message: c.freed}, f)
		}
		if err := check.promises(m); (err == nil) != c.promise || err != nil && !strings.HasPrefix(err.Error(), "I1") {
			t.Errorf("freed by %T: %v", c.freed, err)
		}
	}
}

// A leg that runs by its cluster's word and may lie elsewhere by its site's record, because the word
// of its last place was lost, takes for sure only what it takes at every place. Once its window is
// narrowed to its place it takes all of that.
func TestChecker_ALegThatRunsMayHaveMovedBefore(t *testing.T) {
	t.Parallel()
	for _, fixed := range []bool{false, true} {
		check := New(world.NewPlain(1, nil, sim.Options{}))
		m := newMirror(world.SiteID("ash"))
		what := grid.Leg{Group: "g1", Nodes: check.groups["ash"]["g1"].Nodes, Start: 5000, End: 6000}
		moved, other := grid.LegID{Tx: grid.TxID{Broker: "vo1", Seq: 1}}, grid.LegID{Tx: grid.TxID{Broker: "vo1", Seq: 2}}
		m.set(facts.LegMoved{Leg: moved, State: grid.Running, What: what, Flex: grid.Flex{Ready: 1000, Due: 9000}})
		m.set(facts.LegMoved{Leg: other, State: grid.Confirmed, What: what})
		if fixed {
			if err := m.legs[moved].shift(facts.LegShifted{Leg: moved, Start: 5000, End: 6000, Shifts: 1, Fixed: true}); err != nil {
				t.Fatal(err)
			}
		}
		if err := check.promises(m); (err != nil) != fixed {
			t.Errorf("fixed %t: %v", fixed, err)
		}
	}
}

// An amount that a site has posted and its broker has not heard of is money under way, and nothing
// more: what the broker has heard must stand in both books alike.
func TestMirror_MoneyIsUnderWayUntilTheBrokerHasHeardOfIt(t *testing.T) {
	t.Parallel()
	leg := grid.LegID{Tx: grid.TxID{Broker: "vo1", Seq: 1}}
	posted := facts.LegClosed{Leg: leg, Commit: true, Posted: 7}
	for _, c := range []struct {
		state   grid.LegState
		back    grid.Credits
		penalty grid.Credits
		heard   []agents.Fact
		want    grid.Credits
	}{
		{state: grid.Confirmed, want: 7},
		{state: grid.Settled, want: 7},
		{state: grid.Confirmed, heard: []agents.Fact{posted}},
		{state: grid.Released, back: 4, want: 3},
		{state: grid.Lost, back: 7, penalty: 1, heard: []agents.Fact{posted}, want: -8},
		{state: grid.Lost, back: 7, penalty: 1, heard: []agents.Fact{posted, facts.LegDone{Leg: leg, State: grid.Lost, Refund: 5}}},
	} {
		broker := newMirror("broker:vo1")
		for _, f := range c.heard {
			if err := broker.apply(f); err != nil {
				t.Fatal(err)
			}
		}
		l := legMirror{LegMoved: facts.LegMoved{Leg: leg, State: c.state, Fare: grid.Fare{Base: 5, Additive: 2}, Refund: c.back, Penalty: c.penalty}}
		if got := l.unheard(broker); got != c.want {
			t.Errorf("a leg that is %v, of which its broker has heard %v: %d under way, want %d", c.state, c.heard, got, c.want)
		}
	}
}

// A COMMIT after a leg has gone is seen; one that was decided before and that replicas
// have agreed on only then is none.
func TestChecker_CommitsAreJudgedByWhenTheyWereDecided(t *testing.T) {
	t.Parallel()
	leg := grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Seq: 1}}
	for what, c := range map[string]struct {
		decided grid.Time
		want    string
	}{
		"before": {world.Start.Add(grid.Second), ""},
		"then":   {world.Start.Add(2 * grid.Second), "I15"},
		"after":  {world.Start.Add(3 * grid.Second), "I15"},
	} {
		check := New(world.NewPlain(1, nil, sim.Options{}))
		check.leg(leg).gone = world.Start.Add(2 * grid.Second)
		check.talk.heard[heardKey{0, 1, leg, "Held"}] = true
		check.talk.sent[sentKey{leg.Tx, "Hold"}] = world.Start.Add(grid.Hour)
		tx := &txTruth{begun: facts.TxBegun{Tx: leg.Tx, Legs: make([]grid.Leg, 1)}, by: [2]uint64{0, 1}}
		err := check.talk.mayCommit(&sim.Step{At: c.decided, Now: c.decided}, tx)
		if got := err != nil && strings.HasPrefix(err.Error(), c.want); err == nil && c.want != "" || err != nil && (c.want == "" || !got) {
			t.Errorf("decided %s its leg has gone: %v, want %q", what, err, c.want)
		}
	}
}

// Facts before a torn write were recorded before the process died, not when its next life finds
// them.
func TestChecker_WhatATornWriteLeftWasRecordedBefore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		moved grid.Time // when the move to an earlier start was recorded
		want  string
	}{{world.Start, ""}, {world.Start.Add(2 * grid.Hour), "I17: by the journal of cluster:ash, leg vo1/1/1.0 has begun"}} {
		check := New(world.NewPlain(1, nil, sim.Options{}))
		check.process(0, "cluster:ash")
		leg := first(firstTx)
		what := grid.Leg{Group: "g1", Nodes: 1, Start: world.Start.Add(grid.Hour), End: world.Start.Add(2 * grid.Hour)}
		err := check.life(&sim.Life{At: world.Start.Add(3 * grid.Hour), Now: world.Start.Add(3 * grid.Hour), Process: 0, ID: "cluster:ash", Facts: 2,
			Last: []agents.Fact{facts.NodesLocked{Leg: leg, What: what, Flex: grid.Flex{Ready: world.Start, Due: world.Start.Add(9 * grid.Hour)}},
				facts.NodesMoved{Leg: leg, Start: world.Start.Add(30 * grid.Minute), End: world.Start.Add(90 * grid.Minute)}},
			Times: []grid.Time{world.Start, c.moved}})
		holds(t, "moved at "+c.moved.String(), err, c.want)
	}
}
