package slurmdump

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/grid"
	twin "github.com/bourse-grid/bourse/policy/slurm"
)

// takePartitions takes the partitions.
func (c *Cluster) takePartitions(list []entry, sets map[string]twin.Set, name string) error {
	var defaults []pair
	var unused []string
	shares := false
	for _, e := range inOrder(list) {
		if strings.EqualFold(e.pairs[0].value, "DEFAULT") {
			defaults = append(defaults, e.pairs[1:]...)
			continue
		}
		own := nameOf(e, "PartitionName")
		e.pairs = append(slices.Clone(defaults), e.pairs...)
		i, known := c.partition[own]
		if !known {
			i = len(c.Partitions)
			c.partition[own] = i
			c.Partitions = append(c.Partitions, twin.Partition{Name: own, Nodes: twin.NewSet(len(c.Nodes)), Tier: 1, JobFactor: 1, MaxNodes: twin.Unlimited, MaxTime: grid.MaxDuration})
		}
		c.places[own] = e.line
		for _, p := range e.pairs {
			if err := c.partitionKey(i, p, sets); err != nil {
				return e.fault(p.key, "%v", err)
			}
			if _, used := partitionKeys[strings.ToLower(p.key)]; !used && !slices.Contains(partitionWords, strings.ToLower(p.key)) {
				unused = append(unused, p.key)
			}
		}
		share, _ := e.get("OverSubscribe")
		shares = shares || !strings.EqualFold(share, "EXCLUSIVE")
	}
	if len(c.Partitions) == 0 {
		return fmt.Errorf("%s: names no partition; add the lines PartitionName of slurm.conf, or what scontrol show partition -o prints", name)
	}
	for i := range c.Partitions {
		if p := &c.Partitions[i]; p.Nodes.Count() == 0 {
			return c.places[p.Name].fault("Nodes", "partition %s has no nodes; name them", p.Name)
		}
	}
	if len(unused) > 0 {
		c.note("%s: not used of partitions: %s", filepath.Base(name), listed(unused))
	}
	if shares && slices.Max(c.CPUs) > 1 {
		c.note("%s: jobs may share nodes there; here a node in use is busy", filepath.Base(name))
	}
	return nil
}

// partitionWords are keys of partitions that are read elsewhere.
var partitionWords = []string{"partitionname", "nodes", "default", "state", "oversubscribe", "totalnodes", "totalcpus"}

// partitionKeys are the keys of a partition that may also be set.
var partitionKeys = map[string]func(p *twin.Partition, value string) error{
	"prioritytier": func(p *twin.Partition, v string) (err error) {
		p.Tier, err = whole(v, 0)
		return err
	},
	"priorityjobfactor": func(p *twin.Partition, v string) error {
		n, err := whole(v, 0)
		p.JobFactor = int64(n)
		return err
	},
	"priority": func(p *twin.Partition, v string) (err error) { // the older key: both
		p.Tier, err = whole(v, 0)
		p.JobFactor = int64(p.Tier)
		return err
	},
	"maxnodes": func(p *twin.Partition, v string) (err error) {
		p.MaxNodes, err = whole(v, 0)
		return err
	},
	"maxtime": func(p *twin.Partition, v string) (err error) {
		p.MaxTime, err = span(v, grid.Minute)
		return err
	},
	"defaulttime": func(p *twin.Partition, v string) (err error) {
		if p.DefaultTime, err = span(v, grid.Minute); p.DefaultTime == grid.MaxDuration {
			p.DefaultTime = 0
		}
		return err
	},
}

// partitionKey takes one key of a partition.
func (c *Cluster) partitionKey(i int, p pair, sets map[string]twin.Set) error {
	switch key := strings.ToLower(p.key); key {
	case "nodes":
		nodes, err := c.set(p.value, sets)
		if err == nil {
			c.Partitions[i].Nodes = nodes
		}
		return err
	case "default":
		if on, err := yes(p.value); err == nil && on {
			c.defaultPartition = c.Partitions[i].Name
		}
	case "state":
		if s := strings.ToUpper(p.value); s != "UP" && s != "" {
			c.note("partition %s is %s; it counts as UP", c.Partitions[i].Name, s)
		}
	default:
		if set, ok := partitionKeys[key]; ok {
			return set(&c.Partitions[i], p.value)
		}
	}
	return nil
}
