package slurm

import (
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

func TestKinds_AreNodesOfAPartitionThatAreAlike(t *testing.T) {
	t.Parallel()
	node := func(name string, cpus int, features []string, partitions ...string) grid.ManagedNode {
		return grid.ManagedNode{Name: name, State: grid.NodeUp, CPUs: cpus, Memory: 1 << 30, Features: features, Partitions: partitions}
	}
	look := &grid.Look{Nodes: []grid.ManagedNode{
		node("a", 8, []string{"ib", "gpu"}, "all", "batch"), node("b", 16, nil, "all", "batch"),
		node("c", 8, []string{"gpu", "ib"}, "all", "batch"), node("d", 8, nil, "all"),
	}}
	groups, nodes, err := Kinds(look, "batch")
	names := map[string][]string{}
	for i, g := range groups {
		names[g.Name] = nodes[i]
		if g.Nodes != len(nodes[i]) || g.Performance != grid.Unit {
			t.Errorf("%+v has %q", g, nodes[i])
		}
	}
	if want := map[string][]string{"batch-8c-1g-gpu+ib": {"a", "c"}, "batch-16c-1g": {"b"}}; err != nil || !reflect.DeepEqual(names, want) {
		t.Errorf("kinds %q, %v", names, err)
	}
	if groups, _, _ := Kinds(&grid.Look{Nodes: look.Nodes[3:]}, "all"); len(groups) != 1 || groups[0].Name != "all" {
		t.Errorf("one kind is %v", groups)
	}
	if _, _, err := Kinds(look, "none"); err == nil {
		t.Error("a partition that is not there has kinds")
	}
	if got := Partitions(look); !reflect.DeepEqual(got, []string{"all", "batch"}) {
		t.Errorf("partitions %q", got)
	}
}
