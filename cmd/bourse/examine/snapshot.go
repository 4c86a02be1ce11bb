package examine

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/input"
	"github.com/bourse-grid/bourse/process/failure"
)

// newSnapshot builds "bourse snapshot".
func newSnapshot() *cobra.Command {
	var l lookFlags
	cmd := &cobra.Command{
		Use:   "snapshot --slurm",
		Short: "Save a snapshot of a live cluster",
		Long: `Reads the state of a Slurm cluster and writes its visible nodes, jobs and reservations to
stdout as JSON, with times in seconds. It changes nothing on the cluster and needs no
rights; what the cluster hides from other users is missing.

bourse quote and bourse forecast can read such a file instead of the cluster. From
saved snapshots, forecast also learns how much of their limits jobs use, and --gather takes a
folder of them for a log. A line of cron keeps one, each under a name of its own.`,
		Example: "  bourse snapshot --slurm > now.json\n" +
			"  bourse snapshot --slurm --conf /etc/slurm-b/slurm.conf \\\n      | bourse forecast - --nodes 4 --duration 2h",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("snapshot writes to stdout and takes no file; %q given", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !l.slurm {
				return errors.New("the cluster is missing; use bourse snapshot --slurm")
			}
			look, err := l.look(cmd.Context())
			if err != nil {
				return err
			}
			l.rules(cmd.Context(), look)
			if n := unknownReasons(look); n != "" {
				fmt.Fprintln(cmd.ErrOrStderr(), n)
			}
			return failure.Of(input.WriteLook(cmd.OutOrStdout(), look))
		},
	}
	l.addSource(cmd)
	return cmd
}
