package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/sites"
	"github.com/bourse-grid/bourse/web"
)

// newSite builds "bourse site".
func newSite() *cobra.Command {
	var f processFlags
	cmd := f.add(&cobra.Command{
		Use:   "site CONFIG.toml",
		Short: "Run a site's agent as a process",
		Long: `Runs the agent of one cluster until SIGTERM or Ctrl-C. Then it tells the others that
it leaves, and keeps its promises in its journal for the next start. [cluster] says
what nodes it has: simulated ones by default; Slurm's with kind = "slurm"; with
kind = "local", processes of this machine, which go on when the site stops and which
its next start finds again.

The file has the keys of a scenario's [[site]] at its top level, its groups as
[[group]], its local jobs as [workload] (speed_up = 24.0 submits a day's jobs in an
hour), and the tables of a process: [listen], [gossip], [tls], [journal], [http],
[log]. bourse check reports what is wrong with it. bourse ca makes certificates;
bourse up makes a whole federation for trying it. The first start makes a key with
which the site can recognise its own answers if it ever loses its journal: proof_key,
by default site-NAME.proof beside the file.

Logs go to stderr, as JSON if it is not a terminal. The line "ready" means that
others can reach the site. First it compares its clock with those of its peers; while
they disagree, or the journal ends in the future, it waits and says so. Exit status
1: the journal cannot be written, an address is taken, or a certificate is refused.

On SIGHUP, or bourse site reload NAME, it reads the file again and changes, without a
restart: which VOs it serves, their shares and accounts, and revoked certificates.

bourse site lost NAME is a different command: it tells a broker that a site will not
come back.`,
		Example: "  bourse check north.toml && bourse site north.toml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSite(cmd, f, args[0])
		},
	})
	cmd.AddCommand(newSiteLost(), newSiteReload())
	return cmd
}

func runSite(cmd *cobra.Command, f processFlags, file string) error {
	text, cfg, err := readSite(file)
	if err != nil {
		return err
	}
	site, clusterID := agents.ID("site:"+cfg.Name), agents.ID("cluster:"+cfg.Name)
	agent, err := cfg.Agent(clusterID, cfg.ShareSpan, cfg.Lead)
	if err != nil {
		return err
	}
	p, err := f.newProcess(cmd, &cfg.Process, site, cfg.VOs...)
	if err != nil {
		return err
	}
	made := false
	if agent.Key, made, err = certificate.ProofKey(cfg.ProofKey); err != nil {
		return failed(err)
	}
	if made {
		p.proofKeyMade(cfg.ProofKey)
	}
	nodes, err := clusters[cfg.Cluster.Kind](p, cfg, &agent)
	if err != nil {
		return err
	}
	watch := newSiteWatch(p, cfg)
	if b, ok := nodes.backend.(*managed.Backend); ok {
		p.tells = append(p.tells, clusterMetrics{p, clusterID, b.Counts})
		watch.cluster, watch.troubles = clusterID, b.Troubles
	}
	watch.try(cmd.Context())
	p.lacks, p.after = watch.lacking, watch.begin
	p.reread = (&siteFile{process: p, file: file, text: text, cfg: cfg, cluster: clusterID, nodes: nodes, seen: map[*certificate.Store]uint64{}}).again
	behind := cluster.New(cluster.Config{Site: site}, nodes.backend)
	if meets := cfg.Rendezvous; meets.Address != "" {
		agent.Meeting = meets.Advertise
		stop, err := p.meet(meets.Address, agent.Key)
		if err != nil {
			return failed(err)
		}
		defer stop()
	}
	return p.run(cmd.Context(), func() error {
		if nodes.driver != nil {
			if err := p.host.AddDriver(driverOf(cfg.Name), nodes.driver); err != nil {
				return err
			}
		}
		err := p.add(clusterID, behind)
		if err != nil {
			return err
		}
		return p.add(site, sites.New(agent))
	}, func(o web.Options) (api, error) {
		if b, ok := nodes.backend.(*managed.Backend); ok {
			before := o.Ready
			o.Ready = func() error { return cmp.Or(before(), p.seesCluster(clusterID, b)) }
		}
		return web.NewSite(o)
	})
}

// proofKeyMade logs that a key was made. If the site has a journal, this is a warning: the
// site may have sold windows under another key.
func (p *process) proofKeyMade(file string) {
	const words = "made the key by which this site recognises its own answers; keep a copy of it"
	if files, err := os.ReadDir(p.folder(p.name)); err == nil && len(files) == 0 || errors.Is(err, fs.ErrNotExist) {
		p.log.Info().Str("file", file).Msg(words)
		return
	}
	p.log.Warn().Str("file", file).Msg(words + ". If there was another key before, windows sold until now cannot be restored if the journal is lost")
}
