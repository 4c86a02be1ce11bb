package managed

import (
	"reflect"
	"testing"

	"bourse"
	"bourse/policy/backfill"
)

func TestKinds_AreNodesOfAPartitionThatAreAlike(t *testing.T) {
	t.Parallel()
	node := func(name string, cpus int, features []string, partitions ...string) bourse.ManagedNode {
		return bourse.ManagedNode{Name: name, State: bourse.NodeUp, CPUs: cpus, Memory: 1 << 30, Features: features, Partitions: partitions}
	}
	look := &bourse.Look{Nodes: []bourse.ManagedNode{
		node("a", 8, []string{"ib", "gpu"}, "all", "batch"), node("b", 16, nil, "all", "batch"),
		node("c", 8, []string{"gpu", "ib"}, "all", "batch"), node("d", 8, nil, "all"),
	}}
	groups, nodes := Kinds(look, "batch")
	var names []string
	for i, g := range groups {
		names = append(names, g.Name)
		if g.Nodes != len(nodes[i]) {
			t.Errorf("%s of %d nodes has %q", g.Name, g.Nodes, nodes[i])
		}
	}
	if want := []string{"batch.1", "batch.2"}; !reflect.DeepEqual(names, want) || !reflect.DeepEqual(nodes, [][]string{{"a", "c"}, {"b"}}) {
		t.Errorf("kinds %q of %q", names, nodes)
	}
	if groups, _ := Kinds(&bourse.Look{Nodes: look.Nodes[3:]}, "all"); len(groups) != 1 || groups[0].Name != "all" {
		t.Errorf("one kind is %v", groups)
	}
	if got := Partitions(look); !reflect.DeepEqual(got, []string{"all", "batch"}) {
		t.Errorf("partitions %q", got)
	}
	if got := InPartition(look, "batch"); !reflect.DeepEqual(got, []string{"a", "b", "c"}) {
		t.Errorf("nodes %q", got)
	}
}

// Each job of a state is found in the look again, tasks of arrays among them.
func TestJobsOf_FindsTheJobsOfAState(t *testing.T) {
	t.Parallel()
	look := &bourse.Look{At: 1000, Nodes: []bourse.ManagedNode{{Name: "a", State: bourse.NodeUp, Partitions: []string{"p"}}, {Name: "b", State: bourse.NodeUp, Partitions: []string{"p"}}}}
	job := func(number, name string, state bourse.ManagedState, nodes ...string) bourse.ManagedJob {
		return bourse.ManagedJob{Number: number, Name: name, State: state, Partition: "p", Count: 1, Limit: bourse.Hour, Start: 10, End: 9000, Nodes: nodes}
	}
	look.Jobs = []bourse.ManagedJob{
		job("7", "seven", bourse.ManagedRunning, "a"), job("8_1", "task", bourse.ManagedRunning, "b"),
		job("8_2", "next", bourse.ManagedPending), job("9", "nine", bourse.ManagedPending), job("5", "old", bourse.ManagedEnded, "a"),
	}
	groups, nodes := Kinds(look, "p")
	s := StateOf(look, View{Now: look.At, Groups: groups, Nodes: nodes, Policy: backfill.EASY})[0]
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
