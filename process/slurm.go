package process

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/cluster/slurm"
	"github.com/bourse-grid/bourse/cluster/ssh"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/sites"
)

// slurmCluster makes a cluster of the nodes of some partitions of Slurm.
func slurmCluster(p *process, _ Options, cfg *configs.SiteProcess, agent *sites.Config) (behind, error) {
	d, err := retried(p, func() (*slurm.Driver, error) { return slurm.New(slurmConfig(p, cfg)) }, afar(cfg))
	if err != nil {
		return behind{}, failure.Of(err)
	}
	b := behind{driver: d, account: keptApart(cfg, slurmAccount)}
	if afar(cfg) { // no work runs on this machine
		b.account = slurmAccountOf(d)
	}
	b.again = func(cfg *configs.SiteProcess, agent *sites.Config) (cluster.Nodes, []string, error) {
		return slurmNodes(p, d, cfg, agent)
	}
	if err := b.settle(p, cfg, agent); err != nil {
		return behind{}, failure.Of(err)
	}
	if _, err := b.accounts(cfg.Mapping()); err != nil { // what it remarks, the trial at the start says too
		return behind{}, failure.Of(err)
	}
	return b, nil
}

// slurmConfig is the configuration of a driver by a file.
func slurmConfig(p *process, cfg *configs.SiteProcess) slurm.Config {
	c := slurm.Config{Commands: slurm.Commands{Conf: cfg.Cluster.Conf, Shell: shellOf(cfg)}, Partitions: cfg.Cluster.Partitions, Holder: cfg.Cluster.Holder,
		Folder: cfg.Cluster.Folder, Keep: lasting(cfg.Cluster.Keep), Unreserved: cfg.Cluster.Claims != configs.ClaimsReservations}
	if p != nil {
		c.Now = func() grid.Time {
			if p.host == nil { // a first look, before there are agents
				return grid.Time(WallClock().UnixMilli())
			}
			return p.host.Now()
		}
	}
	return c
}

// slurmNodes makes the settings of a cluster by a file and by what Slurm has now.
func slurmNodes(p *process, d *slurm.Driver, cfg *configs.SiteProcess, agent *sites.Config) (cluster.Nodes, []string, error) {
	look, err := retried(p, func() (*grid.Look, error) { return d.Look(context.Background()) }, true)
	if err != nil {
		return cluster.Nodes{}, nil, err
	}
	groups, nodes, remarks, err := slurm.Groups(look, cfg.Cluster.Partitions, cfg.Groups)
	if err != nil {
		return cluster.Nodes{}, nil, err
	}
	if divides(groups) {
		if err := slurm.Dividable(context.Background(), slurm.Commands{Conf: cfg.Cluster.Conf, Shell: shellOf(cfg)}, cfg.Cluster.Partitions); err != nil {
			return cluster.Nodes{}, nil, fmt.Errorf("slices: %w", err)
		}
	}
	agent.Groups, cfg.Groups = groups, groups
	d.Offer(slurm.Offers(look, cfg.Cluster.Partitions, groups, nodes))
	c := managedConfig(cfg)
	p.keepsLearned(&c, cfg)
	c.Partitions = cfg.Cluster.Partitions
	c.Prompt, c.Mortal = !afar(cfg), !afar(cfg) && slurm.EndWithUs
	c.Nodes, c.Reserves, c.Prefix = nodes, cfg.Cluster.Claims == configs.ClaimsReservations, slurmPrefix(cfg.Name)
	if agent.Pilots = cfg.Cluster.Claims == configs.ClaimsPilots; agent.Pilots {
		c.Pilots = cfg.Cluster.MaxPilots
	}
	if c.Reserves {
		c.Denied = []string{cfg.Cluster.Holder}
	}
	// Slurm knows only whole seconds, by its own clock. After a restart, a submission that is not
	// visible may still take effect: for as long as a command may last, unless commands end with
	// this process. That is less than a leg may be late, so the truth is known in time.
	c.Limits = managed.Limits{Skew: 5 * grid.Second, Padding: slurm.Padding,
		CommandTimeout: grid.Duration(slurm.CommandLimit/time.Millisecond) + 5*grid.Second, Late: 10 * grid.Second}
	if afar(cfg) { // the driver spaces looks further where it may; what one shows may be a minute old
		c.Limits.LookEvery, c.Limits.LookWithin, c.Limits.Late = 10*grid.Second, 10*grid.Second, 20*grid.Second
		c.Limits.PlaceWithin = 90 * grid.Second
	}
	pad(agent, c.Limits.Padding)
	return reconciled(c), remarks, nil
}

// divides reports whether some group divides its nodes.
func divides(groups []grid.Group) bool {
	return slices.ContainsFunc(groups, func(g grid.Group) bool { return g.Divided() > 1 })
}

// slurmAccount says why no work can run as an account yet.
func slurmAccount(as string) (string, error) {
	if why := slurm.Check(as); why.Refused() {
		return why.String() + "; until then the work of its users is refused", nil
	}
	return "", nil
}

// slurmAccountOf refuses work as any account but that of the connection.
func slurmAccountOf(d *slurm.Driver) func(string) (string, error) {
	return func(as string) (string, error) {
		if why := d.Account(as); why.Refused() {
			return "", errors.New(why.String())
		}
		return "", nil
	}
}

// retried tries again for a minute, if that can help, and as long as there is no connection to
// the machine where Slurm is: a laptop may be without a network for hours.
func retried[T any](p *process, try func() (T, error), again bool) (T, error) {
	const tries, longest = 12, time.Minute
	pause := 5 * time.Second
	for i := 1; ; i++ {
		v, err := try()
		var cut *ssh.Error
		if off := errors.As(err, &cut); err == nil || !again || i >= tries && !off {
			return v, err
		} else if off && i >= tries {
			pause = longest
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
