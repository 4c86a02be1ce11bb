package main

import (
	"fmt"

	"github.com/bourse-grid/bourse/configs"

	"github.com/spf13/cobra"
)

// newCheck validates a file. Whatever is wrong with it is bad input: exit 2.
func newCheck() *cobra.Command {
	var asJSON bool
	var traces string
	cmd := &cobra.Command{
		Use:   "check FILE.toml",
		Short: "Validate a scenario, site, broker or batch",
		Long: `Validates a TOML file and says what it is and holds. Which kind it is shows in
its tables: [[site]] a scenario, [[group]] a site, [broker] or [[broker]] a
broker, [[job]] a batch of jobs. Batch files that a scenario names are read too;
of its traces it looks whether they are there, in the folder of --traces or the
scenario's own, and does not open them.

All problems are reported at once, each with its line, its key and what would be
right.`,
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
					return fmt.Errorf("%s: the file is sound, but not all that it names is there: %w", args[0], err)
				}
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), found)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %v\n", args[0], found)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the figures as JSON")
	addFlag(cmd, &traces, asFolder, "traces", "", "folder of the traces that the scenario names")
	return cmd
}
