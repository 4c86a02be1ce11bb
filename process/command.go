package process

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/command"
	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/cluster/slurm"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/sites"
)

// driverNeeds are the verbs that a driver must know, by [cluster] claims.
var driverNeeds = map[string][]string{
	configs.ClaimsReservations: {string(agents.Reserve), string(agents.Assign), string(agents.Run), string(agents.End), string(agents.Delete), "output"},
	configs.ClaimsNone:         {string(agents.Run), string(agents.End), string(agents.Delete), "output"},
	configs.ClaimsPilots:       {string(agents.Claim), string(agents.Grant), string(agents.Run), string(agents.End), string(agents.Delete), "output"},
}

// commandCluster makes a cluster of the nodes that a driver of somebody else shows.
func commandCluster(p *process, _ Options, cfg *configs.SiteProcess, agent *sites.Config) (behind, error) {
	prefix := slurmPrefix(cfg.Name)
	d, err := command.New(context.Background(), command.Config{Command: cfg.Cluster.Command, Dir: cfg.Cluster.Dir, Env: cfg.Cluster.Env, Site: cfg.Name, Prefix: prefix,
		Needs: driverNeeds[cfg.Cluster.Claims], Log: func(line string) { p.log.Warn().Str("driver", cfg.Cluster.Command[0]).Msg(line) }})
	var lacks *command.MissingError
	switch {
	case errors.As(err, &lacks):
		return behind{}, err // bad input: other claims, or another driver
	case err != nil:
		return behind{}, failure.Of(err)
	}
	b, err := throughDriver(p, d, cfg, agent, prefix)
	if err != nil {
		d.Close()
		return behind{}, err
	}
	return b, nil
}

// throughDriver makes the cluster behind a driver that has said hello.
func throughDriver(p *process, d *command.Driver, cfg *configs.SiteProcess, agent *sites.Config, prefix string) (behind, error) {
	// What an account is at the manager only the driver knows. If this machine has one of that
	// name, work may well run here, beside the site's keys.
	b := behind{driver: d, account: keptApart(cfg, func(string) (string, error) { return "", nil }), close: d.Close}
	b.again = func(cfg *configs.SiteProcess, agent *sites.Config) (cluster.Nodes, []string, error) {
		return drivenNodes(p, d, cfg, agent, prefix)
	}
	if err := b.settle(p, cfg, agent); err != nil {
		return behind{}, failure.Of(err)
	}
	remarks, err := b.accounts(cfg.Mapping())
	if err != nil {
		return behind{}, failure.Of(err)
	}
	for _, remark := range remarks {
		p.log.Warn().Msg(remark)
	}
	return b, nil
}

// drivenNodes makes the settings of a cluster by a file and by what its driver shows now.
func drivenNodes(p *process, d *command.Driver, cfg *configs.SiteProcess, agent *sites.Config, prefix string) (cluster.Nodes, []string, error) {
	look, err := firstLook(p, d)
	if err != nil {
		return cluster.Nodes{}, nil, err
	}
	if err := partitioned(look, cfg.Groups); err != nil {
		return cluster.Nodes{}, nil, err
	}
	groups, nodes, remarks, err := slurm.Groups(look, slurm.Partitions(look), cfg.Groups)
	if err != nil {
		return cluster.Nodes{}, nil, err
	}
	agent.Groups, cfg.Groups = groups, groups
	c := managedConfig(cfg)
	p.keepsLearned(&c, cfg)
	c.Nodes, c.Reserves, c.Prefix = nodes, cfg.Cluster.Claims == configs.ClaimsReservations, prefix
	if agent.Pilots = cfg.Cluster.Claims == configs.ClaimsPilots; agent.Pilots {
		c.Pilots = cfg.Cluster.MaxPilots
	}
	// A command that was not answered in time is unknown until a look that began 60 s after
	// it was asked for.
	within := grid.Duration(command.CommandLimit / time.Millisecond)
	c.Limits = managed.Limits{Skew: 5 * grid.Second, LookTimeout: grid.Duration(command.LookLimit/time.Millisecond) + 5*grid.Second,
		CommandTimeout: within + 5*grid.Second, Late: grid.Minute - within}
	pad(agent, 2*grid.Minute)
	return reconciled(c), remarks, nil
}

// partitioned puts the nodes of a look that knows no partitions into one, that of the site's
// only group.
func partitioned(look *grid.Look, groups []grid.Group) error {
	if len(slurm.Partitions(look)) > 0 {
		return nil
	}
	if len(groups) != 1 {
		return fmt.Errorf("the driver's nodes name no partitions, and the file has %d [[group]]s; must be one, or the driver must say of each node in which partitions it is", len(groups))
	}
	for i := range look.Nodes {
		look.Nodes[i].Partitions = []string{groups[0].Name}
	}
	return nil
}

// firstLook looks at the cluster, and tries again for a while if it does not answer.
func firstLook(p *process, d *command.Driver) (*grid.Look, error) {
	const tries, pause = 12, 5 * time.Second
	for i := 1; ; i++ {
		look, err := d.Look(context.Background())
		if err == nil || i == tries {
			return look, err
		}
		p.log.Warn().Err(err).Msg("the driver's manager does not answer; trying again")
		time.Sleep(pause)
	}
}
