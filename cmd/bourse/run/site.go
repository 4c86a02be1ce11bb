package run

import (
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cmd/bourse/supervise"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/process"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/sites"
)

// newSite builds "bourse site".
func newSite(below []*cobra.Command) *cobra.Command {
	var f processFlags
	var s shadowFlags
	var force bool
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
restart: prices, nodes and groups, limits and terms, the simulated workload, which VOs
it serves, their shares and accounts, and revoked certificates. What is promised stays
as it was promised. A start, too, refuses a file that takes nodes away from legs (exit
status 2); with --force they are lost.

With --shadow, or sell = false in the file, nothing is sold and nobody is joined:
beside a Slurm cluster (kind = "slurm"), with the rights of a user who may only look, it
finds what would have been sold to a demand that is drawn from the jobs that local users
submit, or that a trace records (--asks), at which prices, and who would have waited
longer. What it finds goes to a file of events; when it is stopped, or after --for, it
reports. --report reports at any time. --record follows a dump of sacct in virtual time
instead.

bourse site lost NAME is a different command: it tells a broker that a site will not
come back.`,
		Example: "  bourse check north.toml && bourse site north.toml\n" +
			"  bourse site --shadow north.toml --for 7d\n" +
			"  bourse site --shadow north.toml --record year.sacct --slurm-conf slurm.conf",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := s.chosen(cmd, args[0])
			if err != nil {
				return err
			}
			if cfg != nil {
				return s.run(cmd, args[0], cfg)
			}
			o := f.options(cmd)
			o.Force = force
			return process.RunSite(cmd.Context(), args[0], o)
		},
	})
	cmd.Flags().BoolVar(&force, "force", false, "start although the file takes nodes away from legs: they are lost, with refund and penalty")
	s.add(cmd)
	cmd.AddCommand(below...)
	cmd.AddCommand(newSiteLogin())
	return cmd
}

// processFlags are the flags of both kinds of processes.
type processFlags struct{ untilEOF bool }

func (f *processFlags) add(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&f.untilEOF, "until-eof", false, "stop when standard input ends, not on Ctrl-C")
	if err := cmd.Flags().MarkHidden("until-eof"); err != nil { // for bourse up
		panic(err)
	}
	return cmd
}

// options are what the process of a command gets.
func (f *processFlags) options(cmd *cobra.Command) process.Options {
	o := process.Options{Stderr: cmd.ErrOrStderr(), Supervisor: supervise.Command, Simulated: simulatedCluster}
	if f.untilEOF {
		o.Child = cmd.InOrStdin()
	}
	return o
}

// simulatedCluster says how to make simulated nodes with local jobs from a trace or a model.
func simulatedCluster(cfg *configs.SiteProcess, agent *sites.Config) (cluster.Nodes, []string, error) {
	var work simulation.LocalWork
	var remarks []string
	if w := cfg.Workload; w != nil {
		work.Seed = w.Seed
		loads := simulation.NewWorkloads()
		var err error
		if work.Feed, err = loads.Endless(&cfg.Site, w.Seed, w.SpeedUp.Float()); err != nil {
			return cluster.Nodes{}, nil, err
		}
		remarks = loads.Remarks()
	}
	simulation.NewBackend(&cfg.Site, work, agent) // agent gets its streams
	spare := *agent
	return cluster.Nodes{Groups: cfg.Groups, New: func() cluster.Backend { return simulation.NewBackend(&cfg.Site, work, &spare) }}, remarks, nil
}
