package run

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/supervise"
	"github.com/bourse-grid/bourse/process/failure"
)

// newSupervise builds "bourse supervise", which only sites call. Called as they do, the
// program is a supervisor from its first instruction, and never comes here.
func newSupervise() *cobra.Command {
	return &cobra.Command{
		Use:    supervise.Command + " FOLDER",
		Short:  "Run the work of a leg, for a site of kind local",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(*cobra.Command, []string) error {
			return failure.Of(errors.New("supervise takes one folder and no options, on Linux only"))
		},
	}
}
