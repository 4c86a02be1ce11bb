package main

import (
	"fmt"

	"bourse/configs"

	"github.com/spf13/cobra"
)

// newCheck validates a file. Whatever is wrong with it is bad input: exit 2.
func newCheck() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check FILE.toml",
		Short: "Validate a scenario, site, broker or batch",
		Long: `Validates a TOML file and says what it is and holds. Which kind it is shows in
its tables: [[site]] a scenario, [[group]] a site, [broker] or [[broker]] a
broker, [[job]] a batch of jobs. Batch files that a scenario names are read too;
traces are not opened.

All problems are reported at once, each with its line, its key and what would be
right.`,
		Example: "  bourse check grid.toml\n  bourse check --json wave.toml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := configs.Check(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), found)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %v\n", args[0], found)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the figures as JSON")
	return cmd
}
