package history

import (
	"os"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// docs/EVENTS.md tells the turns of the list, in its order and its words.
func TestTurns_TheDocumentHasTheList(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/EVENTS.md")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	want.WriteString("| turn | fact | what it says |\n|---|---|---|\n")
	for _, e := range All() {
		want.WriteString("| `" + string(e.What) + "` | " + e.Fact + " | " + e.Says + " |\n")
	}
	if !strings.Contains(string(text), want.String()) {
		t.Errorf("docs/EVENTS.md has another table than the list of turns, which is:\n%s", &want)
	}
}

// A turn that leads to a state for good has its name: no view needs another word.
func TestStanding_TheTurnIntoAStateHasItsName(t *testing.T) {
	t.Parallel()
	for _, s := range []struct {
		before []What
		turn   What
		want   grid.JobState
	}{
		{nil, Submitted, grid.JobWaiting},
		{[]What{Submitted}, Trying, grid.JobTrying},
		{[]What{Submitted, Postponed}, Gathering, grid.JobGathering},
		{[]What{Submitted, Gathering}, Trying, grid.JobTrying},
		{[]What{Submitted, Gathering, Trying}, TryFailed, grid.JobGathering},
		{[]What{Submitted, Gathering, Trying, Placed}, Broken, grid.JobGathering},
		{[]What{Submitted, Gathering, Withdrawn, Forgotten}, Submitted, grid.JobWaiting},
		{[]What{Submitted, Trying}, TryFailed, grid.JobWaiting},
		{[]What{Submitted, Trying}, Placed, grid.JobPlaced},
		{[]What{Submitted, Trying, Placed}, Started, grid.JobRunning},
		{[]What{Submitted, Trying, Placed, Trying}, Moved, grid.JobPlaced},
		{[]What{Submitted, Trying, Placed}, Broken, grid.JobWaiting},
		{[]What{Submitted, Trying, Placed}, Reversed, grid.JobWaiting},
		{[]What{Submitted, Trying, Placed}, Done, grid.JobDone},
		{[]What{Submitted, Postponed}, Abandoned, grid.JobAbandoned},
		{[]What{Submitted, Trying, Placed}, Withdrawn, grid.JobWithdrawn},
		{[]What{Submitted, Trying, Withdrawn}, Placed, grid.JobWithdrawn},
		{[]What{Submitted, Withdrawn, Forgotten}, Submitted, grid.JobWaiting},
	} {
		var now Standing
		for _, what := range append(s.before, s.turn) {
			now.Take(&Turn{What: what})
		}
		if !now.Known || now.State != s.want || now.Word() != s.want.String() {
			t.Errorf("%v then %s: %q, want %s", s.before, s.turn, now.Word(), s.want)
		}
		if name, ok := grid.ParseJobState(string(s.turn)); ok && name != s.want && s.turn != Placed {
			t.Errorf("turn %s leads to %s", s.turn, s.want)
		}
	}
	var over Standing
	for _, what := range []What{Submitted, Gathering, Withdrawn, Gathering} { // its pilots are released
		over.Take(&Turn{What: what})
	}
	if over.State != grid.JobWithdrawn {
		t.Errorf("a job that was withdrawn while it was gathered is %s", over.Word())
	}
	var refused Standing
	refused.Take(&Turn{What: NotTaken, Reason: grid.Reason{Code: grid.QueueFull}})
	if refused.Word() != "not-taken" {
		t.Errorf("a job that was only refused is %q", refused.Word())
	}
}

// A fact tells a turn that is streamed exactly if it is behind one in the list: a stream
// asks the broker for no others.
func TestTells_TheFactsBehindStreamedTurns(t *testing.T) {
	t.Parallel()
	kinds := map[string]bool{}
	for _, f := range facts.Facts() {
		kinds[f.Kind()] = true
	}
	for kind := range telling {
		if !kinds[kind] {
			t.Errorf("the list names %q, which is no kind of facts", kind)
		}
	}
	for kind, want := range map[string]bool{"job-postponed": true, "leg-closed": true, "leg-done": true, "tx-decided": true, "leg-priced": false, "jobs-forgotten": false, "leg-proved": false} {
		if Tells(kind) != want {
			t.Errorf("%s tells=%t", kind, !want)
		}
	}
}
