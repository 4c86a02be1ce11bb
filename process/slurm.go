package process

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/cluster/slurm"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/sites"
)

// slurmCluster makes a cluster of the nodes of some partitions of Slurm.
func slurmCluster(p *process, _ Options, cfg *configs.SiteProcess, agent *sites.Config) (behind, error) {
	d, err := slurm.New(slurm.Config{Commands: slurm.Commands{Conf: cfg.Cluster.Conf}, Partitions: cfg.Cluster.Partitions, Holder: cfg.Cluster.Holder,
		Folder: cfg.Cluster.Folder, Keep: lasting(cfg.Cluster.Keep), Now: func() grid.Time { return p.host.Now() }})
	if err != nil {
		return behind{}, failure.Of(err)
	}
	b := behind{driver: d, account: keptApart(cfg, slurmAccount)}
	b.again = func(cfg *configs.SiteProcess, agent *sites.Config) (cluster.Nodes, []string, error) {
		return slurmNodes(p, cfg, agent)
	}
	if err := b.settle(p, cfg, agent); err != nil {
		return behind{}, failure.Of(err)
	}
	if _, err := b.accounts(cfg.Mapping()); err != nil { // what it remarks, the trial at the start says too
		return behind{}, failure.Of(err)
	}
	return b, nil
}

// slurmNodes makes the settings of a cluster by a file and by what Slurm has now.
func slurmNodes(p *process, cfg *configs.SiteProcess, agent *sites.Config) (cluster.Nodes, []string, error) {
	look, err := slurmLook(p, slurm.Commands{Conf: cfg.Cluster.Conf})
	if err != nil {
		return cluster.Nodes{}, nil, err
	}
	groups, nodes, remarks, err := slurm.Groups(look, cfg.Cluster.Partitions, cfg.Groups)
	if err != nil {
		return cluster.Nodes{}, nil, err
	}
	agent.Groups, cfg.Groups = groups, groups
	c := managedConfig(cfg)
	c.Partitions = cfg.Cluster.Partitions
	c.Nodes, c.Reserves, c.Prefix, c.Denied = nodes, true, slurmPrefix(cfg.Name), []string{cfg.Cluster.Holder}
	// Slurm knows only whole seconds, by its own clock. After a restart, a
	// submission that is not visible may still take effect for as long as a command may
	// last. That is less than a leg may be late, so the truth is known in time.
	c.Limits = managed.Limits{Skew: 5 * grid.Second, Padding: slurm.Padding,
		CommandTimeout: grid.Duration(slurm.CommandLimit/time.Millisecond) + 5*grid.Second, Late: 10 * grid.Second}
	pad(agent, c.Limits.Padding)
	return reconciled(c), remarks, nil
}

// slurmAccount says why no work can run as an account yet.
func slurmAccount(as string) (string, error) {
	if why := slurm.Check(as); why.Refused() {
		return why.String() + "; until then the work of its users is refused", nil
	}
	return "", nil
}

// slurmLook looks at the cluster, and tries again for a while if it does not answer.
func slurmLook(p *process, c slurm.Commands) (*grid.Look, error) {
	const tries, pause = 12, 5 * time.Second
	for i := 1; ; i++ {
		look, err := slurm.Look(context.Background(), c)
		if err == nil || i == tries {
			return look, err
		}
		p.log.Warn().Err(err).Msg("Slurm does not answer; trying again")
		time.Sleep(pause)
	}
}

// slurmPrefix begins the names of a site's reservations and jobs. It differs between
// sites that have nodes of the same cluster.
func slurmPrefix(site string) string {
	plain := len(site) <= 40 && !strings.ContainsFunc(site, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	})
	if !plain {
		sum := sha256.Sum256([]byte(site))
		site = hex.EncodeToString(sum[:8])
	}
	return "bourse." + site + "."
}
