package main

import (
	"fmt"

	"github.com/bourse-grid/bourse/configs"

	"github.com/spf13/cobra"
)

// newCheck builds "bourse check". Any problem in the file is bad input: exit 2.
func newCheck() *cobra.Command {
	var asJSON bool
	var traces string
	cmd := &cobra.Command{
		Use:   "check FILE.toml",
		Short: "Validate a scenario, site, broker or batch",
		Long: `Validates a TOML file and says what it holds. The tables tell the kind of file:
[[site]] a scenario, [[group]] a site, [broker] or [[broker]] a broker, [[job]] a
batch of jobs. Batch files that a scenario names are read too. Its traces are not
read: they only have to exist, in the folder of --traces or beside the scenario.

All problems are reported at once, each with its line, its key and the remedy.`,
		Example: "  bourse check grid.toml\n  bourse check --json wave.toml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := configs.Check(args[0])
			if err != nil {
				return err
			}
			if found.Kind == configs.KindScenario && found.Traces > 0 {
				s, err := configs.ReadScenario(args[0])
				if err == nil {
					err = s.ResolveTraces(traces)
				}
				if err != nil {
					return fmt.Errorf("%s: the file is valid, but a file that it names is missing: %w", args[0], err)
				}
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), found)
			}
			for _, remark := range found.Remarks {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s: warning: %s\n", args[0], remark)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %v\n", args[0], found)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the figures as JSON")
	addFlag(cmd, &traces, asFolder, "traces", "", "folder of the traces that the scenario names")
	return cmd
}
