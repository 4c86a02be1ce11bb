package file

import (
	"fmt"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/process"
	"github.com/bourse-grid/bourse/process/failure"

	"github.com/spf13/cobra"
)

// newCheck builds "bourse check". Any problem in the file is bad input: exit 2.
func newCheck() *cobra.Command {
	var asJSON, live bool
	var traces string
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Validate a scenario, site, broker, batch or script",
		Long: `Validates a TOML file and says what it holds. The tables tell the kind of file:
[[site]] a scenario, [[group]] a site, [broker] or [[broker]] a broker, [[job]] a
batch of jobs. Of a script, which begins with #!, the lines "#BOURSE key = value" are
checked. Batch files that a scenario names are read too. Its traces are not
read: they only have to exist, in the folder of --traces or beside the scenario.

All problems are reported at once, each with its line, its key and the remedy. What is
valid and hardly meant, such as a job that takes longer than the horizon, is a warning
on stderr, with exit status 0.

Of a site's file it also reads the journals of the site, if it can: a file that takes
nodes away from legs, or the account of their user, is refused, as a start by it is.
Names of real nodes it does not know; bourse site reload NAME --dry-run does.

--live also tries what a site's process needs of its machine and its cluster, as the
account that runs the command, which should be that of the site: certificates, ports,
folders and the clock; of Slurm, that the controller answers, that a reservation can be
made and deleted, and that it would take work of each account (sbatch --test-only). It
leaves nothing behind, and a site may run meanwhile. Each line says ok, warning or
missing; if something is missing, the exit status is 1.`,
		Example: "  bourse check grid.toml\n  bourse check --json wave.toml\n  sudo bourse check --live /etc/bourse/site.toml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := configs.Check(args[0])
			if err != nil {
				return err
			}
			if found.Kind == kinds.Scenario && found.Traces > 0 {
				s, err := configs.ReadScenario(args[0])
				if err == nil {
					err = s.ResolveTraces(traces)
				}
				if err != nil {
					return fmt.Errorf("%s: the file is valid, but a file that it names is missing: %w", args[0], err)
				}
			}
			for _, warning := range found.Warnings {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s: warning: %s\n", args[0], flags.Visible(warning))
			}
			if err := promised(cmd, args[0], found); err != nil {
				return err
			}
			if live {
				return checkLive(cmd.Context(), args[0], found, asJSON, cmd.OutOrStdout())
			}
			if asJSON {
				return flags.WriteJSON(cmd.OutOrStdout(), found)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %v\n", args[0], found)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the figures as JSON")
	cmd.Flags().BoolVar(&live, "live", false, "also try what a site's process needs of its machine and its cluster")
	flags.AddFlag(cmd, &traces, flags.AsFolder, "traces", "", "folder of the traces that the scenario names")
	return cmd
}

// told returns an error of a file, and warns of one of the disk that its journals are on.
func told(cmd *cobra.Command, err error) error {
	if !failure.Is(err) {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "warning: the journals were not looked at: %v\n", err)
	return nil
}

// promised refuses the file of a site's process that takes away what the site has promised. If
// its journals cannot be read, that is a warning.
func promised(cmd *cobra.Command, file string, found *configs.Checked) error {
	switch found.Kind {
	case kinds.BrokerProcess:
		cfg, err := configs.ReadBrokerProcess(file)
		if err != nil || cfg.Replica.Number > 0 {
			return err
		}
		return told(cmd, process.Strange(file, &cfg.Process, "broker", cfg.Name))
	case kinds.SiteProcess:
	default:
		return nil
	}
	cfg, err := configs.ReadSiteProcess(file)
	if err != nil {
		return err
	}
	if err := told(cmd, process.Strange(file, &cfg.Process, "site", cfg.Name)); err != nil {
		return err
	}
	looked, err := process.Promised(cfg)
	switch {
	case err != nil && !looked:
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: warning: what the site has promised was not looked at: %v\n", file, err)
	case err != nil:
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
