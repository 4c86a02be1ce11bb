package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cluster/local"
)

// superviseName is the command with which a site of kind local supervises work.
const superviseName = "supervise"

// newSupervise builds "bourse supervise", which only sites call.
func newSupervise() *cobra.Command {
	return &cobra.Command{
		Use:    superviseName + " FOLDER",
		Short:  "Run the work of a leg, for a site of kind local",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return failed(local.Supervise(args[0], os.Stdout))
		},
	}
}
