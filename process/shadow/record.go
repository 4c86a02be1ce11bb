package shadow

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/cluster/slurm"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/shadow"
	"github.com/bourse-grid/bourse/workload/slurmdump"
)

// Replay follows a record of the cluster of a site's file, in virtual time: a dump of sacct,
// with the nodes of each job, and the files of the cluster; the slurm.conf by default is that
// of the site's file. A group of the site is a partition, or begins with its name and "-".
func Replay(cfg *configs.SiteProcess, dump string, from slurmdump.Files, zone *time.Location, o Options) (shadow.Report, error) {
	if err := follows(cfg); err != nil {
		return shadow.Report{}, err
	}
	if len(from.Conf) == 0 {
		if cfg.Cluster.Conf == "" {
			return shadow.Report{}, fmt.Errorf("a record needs the cluster's slurm.conf: name it with --slurm-conf, or as conf in [cluster]")
		}
		from.Conf = []string{cfg.Cluster.Conf}
	}
	c, err := slurmdump.Open(from, zone)
	if err != nil {
		return shadow.Report{}, err
	}
	jobs, err := c.OpenJobs(dump, zone)
	if err != nil {
		return shadow.Report{}, err
	}
	if !jobs.Placed() {
		return shadow.Report{}, fmt.Errorf("%s: a shadow needs the nodes of each job; print the column NodeList too: sacct -aXPD --format ALL", dump)
	}
	for _, note := range append(c.Notes, jobs.Remarks(dump)...) {
		fmt.Fprintln(o.Messages, note)
	}
	groups, err := offered(cfg, c)
	if err != nil {
		return shadow.Report{}, err
	}
	t, err := terms(cfg, o)
	if err != nil {
		return shadow.Report{}, err
	}
	market := shadow.NewMarket(t)
	j := &journal{}
	if o.Events != "" {
		if j, err = open(o.Events, cfg.Name, market, len(t.Recorded)); err != nil {
			return shadow.Report{}, err
		}
		defer j.file.Close()
		if at := j.tally.Report().To; at != 0 {
			return shadow.Report{}, fmt.Errorf("%s has events already; name another file with --events", o.Events)
		}
	}
	tell := func(e shadow.Event) {
		if err == nil {
			err = j.write(e)
		}
	}
	tell(began(cfg, &t, o, jobs.List[0].Submit))
	shadow.Follow(market, &c.Config, groups, c.Nodes, jobs.List, o.Every, tell)
	return j.tally.Report(), err
}

// offered finds the nodes of a site's groups: the first of their partition that are in no
// group before.
func offered(cfg *configs.SiteProcess, c *slurmdump.Cluster) ([]shadow.Group, error) {
	var groups []shadow.Group
	taken := map[string]bool{}
	for _, g := range cfg.Groups {
		best := -1
		for p := range c.Partitions {
			name := c.Partitions[p].Name
			if (g.Name == name || strings.HasPrefix(g.Name, name+"-")) && (best < 0 || len(name) > len(c.Partitions[best].Name)) {
				best = p
			}
		}
		if best < 0 {
			return nil, fmt.Errorf("[[group]] %s is no partition of the record's configuration, nor does it begin with the name of one and \"-\"", g.Name)
		}
		one := shadow.Group{Group: g}
		one.Padding = slurm.Padding
		one.Longest = cmp.Or(g.Longest, longest(c.Partitions[best].MaxTime))
		c.Partitions[best].Nodes.Each(func(n int) {
			if name := c.Nodes[n]; len(one.Names) < g.Nodes && !taken[name] {
				taken[name] = true
				one.Names = append(one.Names, name)
			}
		})
		one.Nodes = len(one.Names)
		groups = append(groups, one)
	}
	return groups, nil
}

// longest is a partition's MaxTime as a group has it.
func longest(d grid.Duration) grid.Duration {
	if d >= grid.MaxDuration {
		return 0
	}
	return d
}
