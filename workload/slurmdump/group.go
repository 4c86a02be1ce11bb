package slurmdump

import (
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/grid"
	twin "github.com/bourse-grid/bourse/policy/slurm"
)

// Group returns what the controller knows of a partition that is served by itself: its nodes are all
// nodes. An error says that there is no such partition, or that it has another number of nodes.
func (c *Cluster) Group(partition string, nodes int) (*twin.Config, error) {
	i, known := c.partition[partition]
	if !known {
		var names []string
		for k := range c.Partitions {
			names = append(names, c.Partitions[k].Name)
		}
		return nil, fmt.Errorf("has no partition %s for the group of that name; it has %s", partition, listed(names))
	}
	if n := c.Partitions[i].Nodes.Count(); n != nodes {
		return nil, fmt.Errorf("has %s in partition %s, and the group of that name %d; must be as many", grid.Count(n, "node"), partition, nodes)
	}
	own := c.Config
	own.CPUs = nil
	c.Partitions[i].Nodes.Each(func(n int) { own.CPUs = append(own.CPUs, c.CPUs[n]) })
	p := c.Partitions[i]
	p.Nodes = twin.NewSet(nodes)
	for n := range nodes {
		p.Nodes.Add(n)
	}
	own.Partitions, own.Reservations = []twin.Partition{p}, nil
	return &own, nil
}

// QOSOf is the place of a quality of service, -1 if there is none of the name.
func (c *Cluster) QOSOf(name string) int {
	if i, known := c.qos[strings.ToLower(name)]; known {
		return i
	}
	return -1
}
