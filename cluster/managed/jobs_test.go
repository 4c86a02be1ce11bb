package managed

import (
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// Each job of a state is found in the look again, tasks of arrays among them.
func TestJobsOf_FindsTheJobsOfAState(t *testing.T) {
	t.Parallel()
	look := &grid.Look{At: 1000, Nodes: []grid.ManagedNode{{Name: "a", State: grid.NodeUp, Partitions: []string{"p"}}, {Name: "b", State: grid.NodeUp, Partitions: []string{"p"}}}}
	job := func(number, name string, state grid.ManagedState, nodes ...string) grid.ManagedJob {
		return grid.ManagedJob{Number: number, Name: name, State: state, Partition: "p", Count: 1, Limit: grid.Hour, Start: 10, End: 9000, Nodes: nodes}
	}
	look.Jobs = []grid.ManagedJob{
		job("7", "seven", grid.ManagedRunning, "a"), job("8_1", "task", grid.ManagedRunning, "b"),
		job("8_2", "next", grid.ManagedPending), job("9", "nine", grid.ManagedPending), job("5", "old", grid.ManagedEnded, "a"),
	}
	s := StateOf(look, View{Now: look.At, Groups: []grid.Group{{Name: "p", Nodes: 2}}, Nodes: [][]string{{"a", "b"}}, Policy: backfill.EASY})[0]
	found, of := map[string]bool{}, JobsOf(look)
	for _, r := range s.Running {
		found[of(r.ID).Name] = true
	}
	for _, q := range s.Queue {
		found[of(q.ID).Name] = true
	}
	if want := map[string]bool{"seven": true, "task": true, "next": true, "nine": true}; !reflect.DeepEqual(found, want) {
		t.Errorf("found %v", found)
	}
	if of(5) != nil || of(6) != nil || of(1<<40+9) != nil {
		t.Error("a job that is not in a state is found")
	}
}
