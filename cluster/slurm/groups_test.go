package slurm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// mixed has six nodes: batch of n1 to n4, of which n4 is another kind; gpu of n4 to n6.
func mixed() *grid.Look {
	look := &grid.Look{}
	for i := 1; i <= 6; i++ {
		n := grid.ManagedNode{Name: fmt.Sprintf("n%d", i), CPUs: 4, Memory: 8 << 30, Features: []string{"ssd", "ib"}, Partitions: []string{"batch"}}
		if i >= 4 {
			n.CPUs, n.Memory, n.Features, n.Partitions = 8, 1000<<20, nil, []string{"gpu"}
		}
		if i == 4 {
			n.Partitions = []string{"batch", "gpu"}
		}
		look.Nodes = append(look.Nodes, n)
	}
	return look
}

func TestGroups_EachKindOfNodeOfAPartitionIsAGroup(t *testing.T) {
	t.Parallel()
	want := []grid.Group{{Name: "batch-4c-8g-ib+ssd", Nodes: 2, Price: 7}, {Name: "gpu", Nodes: 5, Machine: grid.Machine{Memory: 1, Features: []string{"own"}}}, {Name: "batch-8c-1000m", Nodes: 1}}
	groups, nodes, remarks, err := Groups(mixed(), []string{"batch", "gpu"}, want)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(nodes); got != "[[n1 n2] [n5 n6] [n4]]" {
		t.Errorf("nodes %s", got)
	}
	if groups[0].Price != 7 || groups[0].Machine.Memory != 8<<30 || fmt.Sprint(groups[0].Machine.Features) != "[ib ssd]" || groups[1].Nodes != 2 || groups[1].Machine.Memory != 1 || groups[1].Machine.Features[0] != "own" {
		t.Errorf("groups %+v", groups)
	}
	if len(remarks) != 2 || !strings.Contains(remarks[0], "first by name") || !strings.Contains(remarks[1], "of which Slurm has 2") {
		t.Errorf("remarks %q", remarks)
	}
	if _, _, remarks, err := Groups(mixed(), []string{"gpu", "batch"}, []grid.Group{{Name: "gpu", Nodes: 3}}); err != nil || len(remarks) != 1 || !strings.Contains(remarks[0], "3 nodes of partition batch are not offered; a [[group]] named batch would offer them") {
		t.Errorf("a node of two partitions belongs to the first: %q, %v", remarks, err)
	}
}

func TestGroups_WhatThereIsNotIsSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		partitions []string
		group      string
		words      string
	}{
		{[]string{"batch"}, "batch", "there are batch-4c-8g-ib+ssd (3 nodes), batch-8c-1000m (1 node)"},
		{[]string{"gpu"}, "batch", "there are gpu (3 nodes)"},
		{[]string{"long"}, "long", "there are batch, gpu"},
	} {
		if _, _, _, err := Groups(mixed(), c.partitions, []grid.Group{{Name: c.group, Nodes: 1}}); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("partitions %q, group %q: %v; must say %q", c.partitions, c.group, err, c.words)
		}
	}
}
