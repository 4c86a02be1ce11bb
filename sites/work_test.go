package sites

import (
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// workLeg is a leg of a broker, and what it is to run.
var (
	workLeg = grid.LegID{Tx: grid.TxID{Broker: "physics", Incarnation: 1, Nonce: 7, Seq: 1}}
	handed  = &grid.Handover{Work: grid.Work{Command: []string{"hostname"}}, Job: "wave", User: "ana", Legs: 1}
)

// confirmedStory is a story in which a leg with work is confirmed and the cluster has
// not heard of it.
func confirmedStory() (*tale, *[]agents.ClusterConfirm) {
	s := newStory(storyConfig(4), backfill.EASY, nil)
	var told []agents.ClusterConfirm
	s.check = func(_ agents.ID, out *agents.Outbox) {
		for _, x := range out.Sends {
			if m, ok := x.Message.(agents.ClusterConfirm); ok {
				told = append(told, m)
			}
		}
	}
	s.say("broker:physics", agents.Hold{Leg: workLeg, What: grid.Leg{Group: "main", Nodes: 2, Start: 100_000, End: 200_000}, Job: "wave", User: "ana",
		Limit: grid.MaxBudget, For: 30 * grid.Second})
	s.silent = true
	s.say("broker:physics", agents.Confirm{Leg: workLeg, DecidedBy: 1, Work: handed})
	return s, &told
}

// Between Confirm and the cluster's confirmation the work is in the site's hands: a
// restart, from facts or from an image, does not lose it.
func TestWork_OutlivesTheSiteUntilTheClusterHasIt(t *testing.T) {
	t.Parallel()
	for _, image := range []bool{false, true} {
		s, told := confirmedStory()
		if image {
			s.facts = []recorded{{s.now, s.site.Image()}}
		}
		*told = nil
		s.silent = false
		s.born()
		s.advance(s.now.Add(10 * grid.Second))
		if len(*told) == 0 {
			t.Fatalf("image %t: the cluster is not told", image)
		}
		for _, m := range *told {
			if !reflect.DeepEqual(m, agents.ClusterConfirm{Leg: workLeg, Work: handed}) {
				t.Errorf("image %t: the cluster is told %+v", image, m)
			}
		}
	}
}

// The work is on record once, and is kept no longer than it is of use.
func TestWork_IsRecordedOnceAndKeptUntilItRuns(t *testing.T) {
	t.Parallel()
	s, _ := confirmedStory()
	s.silent = false
	s.advance(150_000)
	if l := s.site.legs[workLeg]; l.State != grid.Running || l.real != nil {
		t.Errorf("%v with %+v", l.State, l.real)
	}
	s.advance(250_000)
	n := 0
	for _, f := range s.facts {
		if f, ok := f.fact.(facts.LegMoved); ok && f.Real != nil && f.Real.Work != nil {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the work is on record %d times", n)
	}
}

// The result of work is repeated with Settled until it is acknowledged, listed to a later
// life of the broker, and known after a restart.
func TestWork_ItsResultIsTold(t *testing.T) {
	t.Parallel()
	s, _ := confirmedStory()
	s.silent, s.mute = false, true // what the real cluster says is put into its mouth
	s.now = 210_000
	result := &grid.WorkResult{Begin: 100_500, End: 150_000, Exit: 3, Known: true, Output: "/work/wave"}
	var said []agents.Message
	s.check = func(_ agents.ID, out *agents.Outbox) {
		for _, x := range out.Sends {
			if x.To == "broker:physics" {
				said = append(said, x.Message)
			}
		}
	}
	end := func() {
		s.mute = false
		s.say(theCluster, agents.ClusterEnded{Leg: workLeg, End: 150_000, Result: result})
		s.mute = true
	}
	end()
	s.born()
	s.advance(s.now.Add(10 * grid.Second))
	s.say("broker:physics", agents.List{Broker: "physics", Incarnation: 2, Nonce: 8})
	settled, listed := 0, 0
	for _, m := range said {
		switch m := m.(type) {
		case agents.Settled:
			settled++
			if !reflect.DeepEqual(m.Result, result) {
				t.Errorf("%+v", m)
			}
		case agents.Listing:
			listed++
			if !reflect.DeepEqual(m.Legs[0].Result, result) {
				t.Errorf("%+v", m)
			}
		}
	}
	if settled < 2 || listed != 1 {
		t.Errorf("%d times settled, %d listings", settled, listed)
	}
}

// Reading output is bounded by the second, and asked of the cluster under
// numbers of its own.
func TestOutputs_AreBoundedAndGoToWhoAsked(t *testing.T) {
	t.Parallel()
	s, _ := confirmedStory()
	s.silent = false
	s.advance(150_000)
	asked, refused := 0, map[grid.Code]int{}
	s.check = func(id agents.ID, out *agents.Outbox) {
		for _, x := range out.Sends {
			switch m := x.Message.(type) {
			case agents.ClusterOutputRequest:
				asked++
			case agents.LegOutput:
				if m.Ref < 40 || x.To != "broker:physics" {
					t.Errorf("%s is sent %+v", x.To, m)
				}
				refused[m.Failure.Code]++
			}
		}
	}
	for i := range uint64(maxReads + 3) {
		s.say("broker:physics", agents.LegOutputRequest{Leg: workLeg, Ref: 40 + i})
	}
	if asked != maxReads || refused[grid.QueueFull] != 3 || refused[grid.NoOffer] != maxReads {
		t.Errorf("%d asked, answered %v", asked, refused)
	}
	s.advance(s.now.Add(grid.Second))
	s.say("broker:physics", agents.LegOutputRequest{Leg: workLeg, Ref: 90})
	s.say("broker:chemistry", agents.LegOutputRequest{Leg: workLeg, Ref: 91}) // not its own
	other := workLeg
	other.Leg = 5
	s.say("broker:physics", agents.LegOutputRequest{Leg: other, Ref: 92}) // not known any more: the cluster may still have its files
	s.say("broker:physics", agents.LegOutputRequest{Leg: workLeg, Ref: 93, Source: grid.Source{What: grid.ReadFile, Path: "../x"}})
	if asked != maxReads+2 || refused[grid.Invalid] != 1 {
		t.Errorf("%d asked, answered %v", asked, refused)
	}
}
