package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/sites"
)

// Promised returns an error if a start by the file of a site would be refused because its
// journal has promised what the file takes away: nodes, or the account of a leg's user. It
// changes nothing, and asks no resource manager, so it counts nodes and does not know their
// names: of real nodes a start may still find some gone. It reads both journals whole. looked
// is false where it cannot tell: there is no journal yet, or the site has no queues; an error
// is then that of the file system.
func Promised(cfg *configs.SiteProcess) (looked bool, err error) {
	site, behind := agents.ID("site:"+cfg.Name), agents.ID("cluster:"+cfg.Name)
	if cfg.SLA != nil || cfg.Shared != nil || cfg.Cluster.Claims == configs.ClaimsPilots {
		return false, nil
	}
	agent, err := cfg.Agent(behind, cfg.ShareSpan, cfg.Lead)
	if err != nil {
		return false, err
	}
	p := &process{cfg: &cfg.Process, name: site}
	s := sites.New(agent)
	c := cluster.New(cluster.Config{Site: site}, counted(cfg).New())
	names := make([][]string, len(cfg.Groups))
	for id, replay := range map[agents.ID]func(grid.Time, agents.Fact){site: s.Replay, behind: func(at grid.Time, f agents.Fact) {
		c.Replay(at, f)
		name(cfg, names, f)
	}} {
		if err := replayed(p.folder(id), replay); errors.Is(err, fs.ErrNotExist) {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	if err := s.Divides(); err != nil {
		return true, err
	}
	lost := c.Loses(counted(cfg))
	if cfg.Cluster.Real() && len(lost) == 0 {
		lost = c.Loses(accounted(cfg, names))
	}
	if len(lost) == 0 {
		return true, nil
	}
	return true, fmt.Errorf("with this file %s. A start by it is refused, and so is a reload: put the file back as it was, or see bourse site reload %s --dry-run", takes(len(lost), &lostLegs(s, lost[:1])[0]), cfg.Name)
}

// replayed hands on the facts of a journal.
func replayed(dir string, replay func(grid.Time, agents.Fact)) error {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	folder, err := journal.LookInto(dir)
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }()
	_, err = journal.Read(folder, journal.NewCodec(), func(r journal.Record) error {
		replay(r.At, r.Fact)
		return nil
	})
	return err
}

// counted are nodes without names.
func counted(cfg *configs.SiteProcess) cluster.Nodes {
	options := make([]queue.Options, len(cfg.Groups))
	for i, g := range cfg.Groups {
		options[i] = queue.Options{Nodes: g.Nodes, Policy: cfg.Policy}
	}
	return cluster.Nodes{Groups: cfg.Groups, New: func() cluster.Backend { return queue.NewBackend(cfg.Groups, options, nil) }}
}

// name adds to the names of each group's nodes those that legs were given.
func name(cfg *configs.SiteProcess, names [][]string, f agents.Fact) {
	add := func(x *facts.NodesLocked) {
		i := slices.IndexFunc(cfg.Groups, func(g grid.Group) bool { return g.Name == x.What.Group })
		for _, n := range x.Names {
			if i >= 0 && !slices.ContainsFunc(names, func(list []string) bool { return slices.Contains(list, n) }) {
				names[i] = append(names[i], n)
			}
		}
	}
	switch f := f.(type) {
	case facts.NodesLocked:
		add(&f)
	case facts.ClusterImage:
		for i := range f.Locks {
			add(&f.Locks[i].NodesLocked)
		}
	}
}

// accounted are all nodes that legs have ever been given: what is then lost has no account.
func accounted(cfg *configs.SiteProcess, names [][]string) cluster.Nodes {
	c := managedConfig(cfg)
	c.Groups, c.Nodes = slices.Clone(cfg.Groups), slices.Clone(names)
	for i := range c.Groups {
		if len(c.Nodes[i]) == 0 {
			c.Nodes[i] = []string{"none of " + c.Groups[i].Name}
		}
		c.Groups[i].Nodes = len(c.Nodes[i])
	}
	return reconciled(c)
}
