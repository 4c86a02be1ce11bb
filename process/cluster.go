package process

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/live"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/local"
	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/sites"
)

// behind is what a site's process has behind it: the nodes and, if they are real, the
// driver that reaches them.
type behind struct {
	nodes  cluster.Nodes
	driver live.Driver // nil: the nodes are simulated
	// again makes the settings anew from another reading of the file, for the same driver,
	// and with them what the agent has to know.
	again func(cfg *configs.SiteProcess, agent *sites.Config) (nodes cluster.Nodes, remarks []string, err error)
	// account returns an error if no work can run as a local account, and otherwise what the
	// operator should know about it; nil: no work runs.
	account func(as string) (remark string, err error)
	close   func() // ends what the driver has started; nil: nothing
}

// accounts tries the accounts of a mapping, each once, and returns remarks for the operator.
func (b *behind) accounts(list []configs.Account) (remarks []string, err error) {
	tried := map[string]bool{}
	for _, a := range list {
		if b.account == nil || tried[a.As] {
			continue
		}
		tried[a.As] = true
		remark, err := b.account(a.As)
		if err != nil {
			return nil, err
		}
		if remark != "" {
			remarks = append(remarks, remark)
		}
	}
	return remarks, nil
}

// clusters makes a cluster, by [cluster] kind.
var clusters = map[string]func(p *process, o Options, cfg *configs.SiteProcess, agent *sites.Config) (behind, error){
	"simulated": simulatedNodes,
	"local":     localCluster,
	"slurm":     slurmCluster,
	"command":   commandCluster,
}

// driverOf is the name of the driver of a site's cluster.
func driverOf(site string) agents.ID { return agents.ID(string(agents.Driver) + ":" + site) }

// settle makes the first settings of a cluster, and logs what its operator should know.
func (b *behind) settle(p *process, cfg *configs.SiteProcess, agent *sites.Config) error {
	nodes, remarks, err := b.again(cfg, agent)
	if err != nil {
		return err
	}
	b.nodes = nodes
	for _, remark := range remarks {
		p.log.Warn().Msg(remark)
	}
	return nil
}

// simulatedNodes makes simulated nodes.
func simulatedNodes(p *process, o Options, cfg *configs.SiteProcess, agent *sites.Config) (behind, error) {
	b := behind{again: o.Simulated}
	err := b.settle(p, cfg, agent)
	return b, err
}

// reconciled are the settings of a cluster of real nodes.
func reconciled(c managed.Config) cluster.Nodes {
	return cluster.Nodes{Groups: c.Groups, New: func() cluster.Backend { return managed.New(c) }}
}

// managedConfig is the common configuration of clusters with real nodes.
func managedConfig(cfg *configs.SiteProcess) managed.Config {
	c := managed.Config{Site: cfg.Name, Driver: driverOf(cfg.Name), Groups: cfg.Groups, Prefix: "bourse.", Keep: cfg.Cluster.Keep, Policy: cfg.Policy}
	c.Accounts = mapped(cfg)
	if cfg.Forecast {
		c.Oracle = func(group string) managed.Oracle { return cfg.Oracle(group) }
	}
	return c
}

// lasting is a duration as drivers take it.
func lasting(d grid.Duration) time.Duration { return time.Duration(d) * time.Millisecond }

// pad makes a site offer its groups with the padding that its cluster leaves after a
// window.
func pad(agent *sites.Config, by grid.Duration) {
	agent.Groups = slices.Clone(agent.Groups)
	for i := range agent.Groups {
		agent.Groups[i].Padding = by
	}
}

// mapped lists the local accounts of users.
func mapped(cfg *configs.SiteProcess) (list []managed.Account) {
	for _, a := range cfg.Mapping() {
		list = append(list, managed.Account{User: a.User, As: a.As, Options: a.Submission()})
	}
	return list
}

// localCluster makes a cluster of processes of this machine. The machine answers at once,
// so looks are more frequent than with a resource manager.
func localCluster(p *process, o Options, cfg *configs.SiteProcess, agent *sites.Config) (behind, error) {
	binary, err := os.Executable()
	if err != nil {
		return behind{}, failure.Of(err)
	}
	d, err := local.New(local.Config{Folder: cfg.Cluster.Folder, Site: cfg.Name, Nodes: slices.Concat(localNodes(cfg.Groups)...), Supervisor: []string{binary, o.Supervisor},
		Keep: lasting(cfg.Cluster.Keep),
		Warn: func(words string) { p.log.Error().Msg(words) },
		Now:  func() grid.Time { return p.host.Now() }})
	if err != nil {
		return behind{}, failure.Of(err)
	}
	b := behind{driver: d, account: keptApart(cfg, d.Check)}
	b.again = func(cfg *configs.SiteProcess, agent *sites.Config) (cluster.Nodes, []string, error) {
		c := managedConfig(cfg)
		p.keepsLearned(&c, cfg)
		c.Nodes = localNodes(cfg.Groups)
		c.Limits = managed.Limits{LookEvery: 500 * grid.Millisecond, LookWithin: 2 * grid.Second, CommandTimeout: grid.Minute,
			Late: 2 * grid.Second, RetryEvery: 2 * grid.Second, Padding: grid.Second}
		pad(agent, c.Limits.Padding)
		d.Offer(slices.Concat(c.Nodes...))
		return reconciled(c), nil, nil
	}
	if err := b.settle(p, cfg, agent); err != nil {
		return behind{}, failure.Of(err)
	}
	p.tells = append(p.tells, workMetrics{d})
	remarks, err := b.accounts(cfg.Mapping())
	if err != nil {
		return behind{}, failure.Of(err)
	}
	for _, remark := range remarks {
		p.log.Warn().Msg(remark)
	}
	return b, nil
}

// localNodes names the nodes of groups of this machine.
func localNodes(groups []grid.Group) [][]string {
	all := make([][]string, len(groups))
	for k, g := range groups {
		all[k] = make([]string, g.Nodes)
		for i := range all[k] {
			all[k][i] = fmt.Sprintf("%s-%d", g.Name, i+1)
		}
	}
	return all
}
