package invariant

import (
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// brokenBy reads a broker's facts, a step each, and returns what they break.
func brokenBy(list ...agents.Fact) []string {
	a := New(nil)
	t := a.Trail("broker:vo1")
	for i, f := range append([]agents.Fact{facts.LifeBegun{Incarnation: 1}}, list...) {
		t.Take(Place{Number: uint64(i + 1)}, grid.Time(i), f)
	}
	a.Settle()
	var out []string
	for _, f := range a.Found() {
		out = append(out, f.Invariant+" "+f.What)
	}
	return out
}

// windowFacts are the facts of a window of a job.
func windowFacts(seq uint64, job string, start, end grid.Time) []agents.Fact {
	tx := grid.TxID{Broker: "vo1", Incarnation: 1, Seq: seq}
	return []agents.Fact{
		facts.TxBegun{Tx: tx, Job: job, Alternative: 1, Sites: []string{"north"}, Legs: []grid.Leg{{Group: "main", Nodes: 1, Start: start, End: end}}, Limits: []grid.Credits{0}},
		facts.LegPriced{Leg: grid.LegID{Tx: tx}},
		facts.TxDecided{Tx: tx, Job: job, Commit: true},
		facts.LegClosed{Leg: grid.LegID{Tx: tx}, Commit: true},
	}
}

func settledAt(seq uint64, at grid.Time) agents.Fact {
	return facts.LegDone{Leg: grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Seq: seq}}, End: at, State: grid.Settled}
}

func TestArrays_AnElementBeginsOnceAndWithinTheThrottle(t *testing.T) {
	t.Parallel()
	array := grid.Job{Name: "a", Request: grid.Request{Nodes: 1, Length: 100, MinPerformance: grid.Unit, Deadline: grid.Never},
		Array: grid.Array{Indices: grid.Ranges{{First: 0, Last: 4}}, AtOnce: 2}}
	begin := func(first, last int) agents.Fact {
		return facts.ElementsBegun{Job: "a", Elements: grid.Ranges{{First: first, Last: last}}}
	}
	taken := facts.JobSubmitted{Job: array}
	after := array
	after.Name, after.Array, after.After = "b", grid.Array{}, grid.Dependencies(grid.IfDone, "a")
	single := array
	single.Name, single.Array = "a", grid.Array{Indices: grid.One(0)}
	for name, c := range map[string]struct {
		facts []agents.Fact
		want  string
	}{
		"two begin":                {[]agents.Fact{taken, begin(0, 1)}, ""},
		"three begin":              {[]agents.Fact{taken, begin(0, 2)}, "I33 3 elements of array a are in play"},
		"one begins twice":         {[]agents.Fact{taken, begin(0, 0), begin(0, 1)}, "I33 elements 0 of array a begin and have begun before"},
		"one is none of the array": {[]agents.Fact{taken, begin(4, 5)}, "I33 elements 5 of array a begin and are none"},
		"one was dropped":          {[]agents.Fact{taken, facts.ElementsDropped{Job: "a", Elements: grid.One(1)}, begin(0, 1)}, "I33 elements 1 of array a begin and were given up"},
		"of no array":              {[]agents.Fact{begin(0, 0)}, "I33 elements of a begin, which is no array"},
		"one is over":              {slices.Concat([]agents.Fact{taken, begin(0, 1)}, windowFacts(1, "a[0]", 10, 110), []agents.Fact{settledAt(1, 110), begin(2, 2)}), ""},
		"one is cancelled":         {[]agents.Fact{taken, begin(0, 1), facts.JobCancelled{Job: "a[0]"}, begin(2, 2)}, ""},
		"what comes after ends later": {slices.Concat([]agents.Fact{facts.JobSubmitted{Job: single}, begin(0, 0)}, windowFacts(1, "a[0]", 10, 110),
			[]agents.Fact{facts.JobSubmitted{Job: after}}, windowFacts(2, "b", 110, 210)), ""},
		"what comes after begins too early": {slices.Concat([]agents.Fact{facts.JobSubmitted{Job: single}, begin(0, 0)}, windowFacts(1, "a[0]", 10, 110),
			[]agents.Fact{facts.JobSubmitted{Job: after}}, windowFacts(2, "b", 100, 200)), "I18 b has a window from"},
	} {
		got := brokenBy(c.facts...)
		if c.want == "" && len(got) > 0 || c.want != "" && !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, c.want) }) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
