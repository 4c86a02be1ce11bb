package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse"
)

// newSnapshot builds "bourse snapshot".
func newSnapshot() *cobra.Command {
	var l lookFlags
	cmd := &cobra.Command{
		Use:   "snapshot --slurm",
		Short: "Save a look at a live cluster",
		Long: `Looks at a Slurm cluster and writes what it shows of itself on stdout as JSON:
its nodes, jobs and reservations, with times in seconds. It changes nothing there
and needs no rights; what the cluster hides from others is not seen.

bourse quote and bourse forecast read such a file in place of the cluster, and
forecast learns from those that are kept how much of their limits jobs run.`,
		Example: "  bourse snapshot --slurm > look.json\n" +
			"  bourse snapshot --slurm --conf /etc/slurm-b/slurm.conf \\\n      | bourse forecast - --nodes 4 --duration 2h",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("snapshot writes to stdout and takes no file; %q is given", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !l.slurm {
				return errors.New("say which cluster to look at: bourse snapshot --slurm")
			}
			look, err := l.look(cmd.Context())
			if err != nil {
				return err
			}
			return failed(writeLook(cmd.OutOrStdout(), look))
		},
	}
	l.addSource(cmd)
	return cmd
}

// writeLook writes a look as readLook reads it: a list that is empty is there.
func writeLook(out io.Writer, look *bourse.Look) error {
	whole := *look
	if whole.Nodes == nil {
		whole.Nodes = []bourse.ManagedNode{}
	}
	if whole.Jobs == nil {
		whole.Jobs = []bourse.ManagedJob{}
	}
	if whole.Reservations == nil {
		whole.Reservations = []bourse.ManagedReservation{}
	}
	return writeJSON(out, whole)
}
