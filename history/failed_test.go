package history

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A job failed if the work of any of its legs did, whichever ended last, and even if another
// leg was repaired since. What was lost and replaced is no failure.
func TestTurns_AJobFailsWithAnyOfItsLegs(t *testing.T) {
	t.Parallel()
	tx := func(seq uint64) grid.TxID { return grid.TxID{Broker: "vo1", Incarnation: 1, Seq: seq} }
	leg := func(seq uint64, i int) grid.LegID { return grid.LegID{Tx: tx(seq), Leg: i} }
	part := grid.Leg{Group: "main", Nodes: 4, Start: 5, End: 9}
	bought := []agents.Fact{facts.JobSubmitted{Job: grid.Job{Name: "wave"}},
		facts.TxBegun{Tx: tx(1), Job: "wave", Sites: []string{"north", "south"}, Legs: []grid.Leg{part, part}}, facts.TxDecided{Tx: tx(1), Job: "wave", Commit: true}}
	ends := func(id grid.LegID, exit int) agents.Fact {
		return facts.LegDone{Leg: id, State: grid.Settled, End: 9, Result: &grid.WorkResult{Known: true, Exit: exit}}
	}
	repaired := []agents.Fact{facts.LegDone{Leg: leg(1, 1), State: grid.Lost, Reason: grid.Reason{Code: grid.Busy}},
		facts.TxBegun{Tx: tx(2), Job: "wave", Sites: []string{"west"}, Legs: []grid.Leg{part}, Repairs: leg(1, 1)}, facts.TxDecided{Tx: tx(2), Job: "wave", Commit: true}}
	list := func(parts ...[]agents.Fact) (all []agents.Fact) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	for name, c := range map[string]struct {
		facts []agents.Fact
		state grid.JobState
		why   string
	}{
		"both succeed":               {list(bought, []agents.Fact{ends(leg(1, 0), 0), ends(leg(1, 1), 0)}), grid.JobDone, ""},
		"the first fails":            {list(bought, []agents.Fact{ends(leg(1, 0), 3), ends(leg(1, 1), 0)}), grid.JobFailed, "its work at north exited with status 3"},
		"the last fails":             {list(bought, []agents.Fact{ends(leg(1, 0), 0), ends(leg(1, 1), 4)}), grid.JobFailed, "its work at south exited with status 4"},
		"one is still open":          {list(bought, []agents.Fact{ends(leg(1, 0), 3)}), grid.JobPlaced, ""},
		"repaired, and all succeed":  {list(bought, repaired, []agents.Fact{ends(leg(1, 0), 0), ends(leg(2, 0), 0)}), grid.JobDone, ""},
		"it fails before the repair": {list(bought, []agents.Fact{ends(leg(1, 0), 3)}, repaired, []agents.Fact{ends(leg(2, 0), 0)}), grid.JobFailed, "its work at north exited with status 3"},
		"the repair fails":           {list(bought, repaired, []agents.Fact{ends(leg(2, 0), 5), ends(leg(1, 0), 0)}), grid.JobFailed, "its work at west exited with status 5"},
		"nothing ran":                {list(bought, []agents.Fact{facts.LegDone{Leg: leg(1, 0), State: grid.Settled}, facts.LegDone{Leg: leg(1, 1), State: grid.Settled}}), grid.JobDone, ""},
	} {
		var turns Turns
		var is Standing
		for i, f := range c.facts {
			for _, u := range turns.Take(grid.Time(i), f) {
				is.Take(&u)
			}
		}
		if is.State != c.state || is.Reason.String() != c.why {
			t.Errorf("%s: %v, %q; want %v, %q", name, is.State, is.Reason, c.state, c.why)
		}
	}
}

// A job that is given up because of what it comes after is abandoned, and stays so when a
// COMMIT on its way is recorded.
func TestStanding_AbandonedWithWhatItComesAfter(t *testing.T) {
	t.Parallel()
	var turns Turns
	var is Standing
	id := grid.TxID{Broker: "vo1", Incarnation: 1, Seq: 1}
	for _, f := range []agents.Fact{facts.JobSubmitted{Job: grid.Job{Name: "next"}},
		facts.TxBegun{Tx: id, Job: "next", Sites: []string{"north"}, Legs: []grid.Leg{{Group: "main", Nodes: 1}}},
		facts.JobCancelled{Job: "next", Reason: grid.Because(grid.After, "wave, which it comes after, has failed")},
		facts.TxDecided{Tx: id, Job: "next", Commit: true}} {
		for _, u := range turns.Take(0, f) {
			is.Take(&u)
		}
	}
	if is.State != grid.JobAbandoned || is.Reason.Code != grid.After {
		t.Errorf("%v: %v", is.State, is.Reason)
	}
}

// A job that its user has withdrawn stays so when its window turns out to be lost, or its COMMIT is
// taken back.
func TestStanding_WithdrawnWhateverBecomesOfItsWindow(t *testing.T) {
	t.Parallel()
	for _, what := range []What{Broken, Reversed} {
		var is Standing
		for _, w := range []What{Submitted, Trying, Placed, Withdrawn, what} {
			is.Take(&Turn{What: w})
		}
		if is.State != grid.JobWithdrawn {
			t.Errorf("after %s it is %v", what, is.State)
		}
	}
}
