package process

import (
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history/explain"
)

// Instants in an agent's words are shown like the times beside them. A job's name that
// looks like an instant is not changed.
func TestExplain_ShowsInstantsInReasonsAsItShowsOthers(t *testing.T) {
	t.Parallel()
	at := grid.Time(1_795_226_481_773)
	facts := []agents.Fact{
		facts.JobSubmitted{Job: grid.Job{Name: "run-1795226481", Request: grid.Request{Nodes: 4, Deadline: grid.Never}}},
		facts.JobPostponed{Job: "run-1795226481", Reason: grid.Because(grid.NoWindow, "%s: at most 2400 nodes are free from %v on", "run-1795226481", at)},
	}
	e, err := explain.Explain(func(yield func(grid.Time, agents.Fact) bool) {
		for _, f := range facts {
			if !yield(at, f) {
				return
			}
		}
	}, "run-1795226481", explain.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e.Show(TimeOfDay)
	want := "waits: run-1795226481: at most 2400 nodes are free from Nov 21 02:01:21Z on"
	if text := e.Text(TimeOfDay); !strings.Contains(strings.Join(strings.Fields(text), " "), "Nov 21 02:01:21Z "+want) || e.Reason.Detail != strings.TrimPrefix(want, "waits: ") ||
		!slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool { return strings.HasPrefix(line, "Job run-1795226481: waiting since Nov 21") }) {
		t.Errorf("%s\n%+v", text, e.Reason)
	}
}
