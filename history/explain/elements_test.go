package explain

import (
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// An array never takes part in a cycle, and has the state of its elements: the furthest that an
// open one has come. A sieve leaves what is needed for that.
func TestExplain_AnOpenArrayHasTheStateOfItsElements(t *testing.T) {
	t.Parallel()
	indices := grid.Ranges{{First: 0, Last: 3}}
	leg := func(i uint64) grid.LegID { return grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Seq: i + 1}} }
	begins := func(i uint64) facts.TxBegun {
		return facts.TxBegun{Tx: leg(i).Tx, Job: grid.ElementName("sweep", int(i)), Sites: []string{"north"}, Legs: []grid.Leg{{Nodes: 1, Start: 5000, End: 9000}}, Limits: []grid.Credits{7}}
	}
	commits := func(i uint64) facts.TxDecided {
		return facts.TxDecided{Tx: leg(i).Tx, Job: grid.ElementName("sweep", int(i)), Commit: true}
	}
	all := []agents.Fact{
		facts.JobSubmitted{Job: grid.Job{Name: "sweep", Request: grid.Request{Nodes: 1}, Array: grid.Array{Indices: indices}}},
		facts.JobSubmitted{Job: grid.Job{Name: "sweep[0]x", Request: grid.Request{Nodes: 1}}},
		facts.ElementsBegun{Job: "sweep", Elements: grid.Ranges{{First: 0, Last: 1}}},
		begins(0), commits(0),
		facts.LegStarted{Leg: leg(0)},
		facts.LegDone{Leg: leg(0), End: 9000, State: grid.Settled, Result: &grid.WorkResult{Known: true, Exit: 3}},
		begins(1), commits(1),
		facts.LegStarted{Leg: leg(1)},
		facts.LegDone{Leg: leg(1), End: 9000, State: grid.Settled, Result: &grid.WorkResult{Known: true}},
		facts.ElementsDropped{Job: "sweep", Elements: grid.One(2)},
		facts.ElementsBegun{Job: "sweep", Elements: grid.One(3)},
		begins(3),
		facts.ArrayOver{Job: "sweep", State: "failed", Reason: grid.Because(grid.Failed, "1 failed")},
	}
	for n, want := range map[int]string{
		1: "waiting 4 waiting", 3: "waiting 4 waiting", 4: "trying 1 trying, 3 waiting", 5: "placed 1 placed, 3 waiting", 6: "running 1 running, 3 waiting",
		7: "waiting 3 waiting, 1 failed", 11: "waiting 1 done, 2 waiting, 1 failed", 14: "trying 1 done, 1 trying, 1 failed, 1 withdrawn",
		15: "failed 1 done, 1 trying, 1 failed, 1 withdrawn",
	} {
		for name, list := range map[string][]agents.Fact{"all": all[:n], "sieved": sieved(t, "sweep", all[:n])} {
			e, err := Explain(told(list), "sweep", Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := e.State + " " + e.Elements; got != want {
				t.Errorf("%s after %d facts: %s, want %s", name, n, got, want)
			}
			if text := e.Text(nil); strings.Contains(text, "no cycle has looked") || strings.Contains(text, "bourse modify") || !strings.Contains(text, "sweep[INDEX]") {
				t.Errorf("%s", text)
			}
		}
	}
}

// told has a fact in each second.
func told(list []agents.Fact) iter.Seq2[grid.Time, agents.Fact] {
	return func(yield func(grid.Time, agents.Fact) bool) {
		for i, f := range list {
			if !yield(grid.Time(i+1)*1000, f) {
				return
			}
		}
	}
}

// sieved is what a sieve leaves of facts.
func sieved(t *testing.T, job string, list []agents.Fact) (some []agents.Fact) {
	t.Helper()
	s := NewSieve(job)
	for i, f := range list {
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if s.Look(uint64(i+1), f.Kind(), text) {
			s.Learn(uint64(i+1), f)
		}
	}
	for _, place := range s.Places() {
		some = append(some, list[place-1])
	}
	return some
}
