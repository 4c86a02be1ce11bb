package main

import (
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
		Long: `Runs the agent of one cluster until it is told to stop by SIGTERM or Ctrl-C: it
then tells the others that it leaves, and what it has promised waits in its journal
for the next start. Behind it is what [cluster] says: simulated nodes, which is the
default, or with kind = "local" processes of this machine, which go on when the site
stops and are found again by its next start.

The file has the keys of a scenario's [[site]] at its top level, its groups as
[[group]], its local jobs as [workload] (with speed_up to have a day's jobs in
an hour), and the tables of a process: [listen], [gossip], [tls], [journal],
[http], [log]. bourse check says what is wrong with it. Certificates are made by
bourse ca; bourse up makes everything for trying it. The key that the site knows
its own answers by, should it ever lose its journal, is made at the first start:
proof_key, site-NAME.proof beside the file.

Logs go to stderr, as JSON where that is no terminal; the line "ready" says that
others can reach it. Before that its clock is compared with
others'; while that disagrees, or the journal is of a later time, it waits and
says so. Exit status 1: the journal cannot be written, an address is taken, a
certificate is refused.

On SIGHUP, or bourse site reload NAME, the file is read again: VOs are taken in and
let go, and shares, accounts and revoked certificates changed, without a restart.

bourse site lost NAME is another command: it tells a broker that a site will not
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
	if b, ok := nodes.backend.(*managed.Backend); ok {
		p.tells = append(p.tells, clusterMetrics{p, clusterID, b.Counts})
	}
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
	}, func(o web.Options) (api, error) { return web.NewSite(o) })
}

// proofKeyMade tells of a key that was made: a warning where the site has a journal, and so
// may have had another key. In a new one nothing was sold yet.
func (p *process) proofKeyMade(file string) {
	const words = "a key was made that this site knows its own answers by; keep a copy of it"
	if files, err := os.ReadDir(p.folder(p.name)); err == nil && len(files) == 0 || errors.Is(err, fs.ErrNotExist) {
		p.log.Info().Str("file", file).Msg(words)
		return
	}
	p.log.Warn().Str("file", file).Msg(words + ". If there was one before, what was sold until now cannot be restored should the journal be lost")
}
