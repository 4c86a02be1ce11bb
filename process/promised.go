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
	for id, replay := range map[agents.ID]func(grid.Time, agents.Fact){site: s.Replay, behind: c.Replay} {
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
		lost = c.Loses(accounted(cfg, c))
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

// accounted are all nodes that legs have been given: what is then lost has no account.
func accounted(cfg *configs.SiteProcess, c *cluster.Agent) cluster.Nodes {
	m := managedConfig(cfg)
	m.Groups, m.Nodes = slices.Clone(cfg.Groups), make([][]string, len(cfg.Groups))
	taken := map[string]bool{}
	for i := range m.Groups {
		g := &m.Groups[i]
		for _, n := range append(c.Given(g.Name), "none of "+g.Name) { // no group is empty
			if !taken[n] {
				taken[n] = true
				m.Nodes[i] = append(m.Nodes[i], n)
			}
		}
		g.Nodes = len(m.Nodes[i])
	}
	return reconciled(m)
}
