package history

import (
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A manager's refusal is told in its own words, once, and stands there while the job waits.
func TestGathered_ARefusalIsToldInItsOwnWords(t *testing.T) {
	t.Parallel()
	state := grid.Gathering{Zero: 1000, Tries: 1, Parts: []grid.GatheringPart{{Site: "north", Lost: -1}, {Site: "south", Lost: 60, Denials: 2, Words: "Invalid account"}},
		Pilots: []grid.GatheringPilot{{Part: 1, Begin: -1, Given: true}, {Part: 0, Begin: 5}}}
	var turns Turns
	told := turns.Take(61_000, facts.Gathered{Job: "wave", State: state})
	if len(told) != 1 || told[0].Words != "gathers its pilots: south has refused its pilot: Invalid account" {
		t.Fatalf("told is %+v", told)
	}
	var now Standing
	now.Take(&Turn{What: Submitted})
	now.Take(&told[0])
	if want := "gathering, try 2: north idles; south has not kept 2 pilots: Invalid account"; now.State != grid.JobGathering || now.Since != 1000 || now.Reason.Detail != want {
		t.Errorf("it is %+v; must wait because of %q", now, want)
	}
	if again := turns.Take(71_000, facts.Gathered{Job: "wave", State: state}); again != nil {
		t.Errorf("later is told %+v", again)
	}
	state.Parts[1].Denials = 0
	if got := (&state).Words() + state.Refusals(); got != "gathering, try 2: north idles" {
		t.Errorf("it is %q", got)
	}
}
