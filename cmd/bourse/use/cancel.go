package use

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
)

// newCancel builds "bourse cancel".
func newCancel() *cobra.Command {
	var c calling
	cmd := &cobra.Command{
		Use:   "cancel ID",
		Short: "Cancel a job in any state",
		Long: `Cancel withdraws a job and releases its windows. Sites refund what their schedules
say: the full base price while the start is far off, less as it comes closer, and
nothing once the job runs. Users can cancel their own jobs, operators any job.
Cancelling again changes nothing, and shows the refund once it is known.

ID is a job's identity, or its name if no other job has it. The name of an array stands
for all of its elements that are not over, and "arr[3-7]" for some of them.`,
		Example: "  bourse cancel wave\n  bourse cancel wave-k3f9m2q7\n  bourse cancel 'arr[3-7,12]'",
		Args:    flags.Arguments(1, 1, "one job"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.cancel(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
	c.AddFlags(cmd)
	return cmd
}

func (c *calling) cancel(ctx context.Context, id string, out io.Writer) error {
	api, err := c.Broker()
	if err != nil {
		return err
	}
	a, err := api.Cancel(ctx, id)
	if err != nil {
		return flags.Refused(err)
	}
	if c.JSON {
		return flags.WriteJSON(out, a)
	}
	_, err = fmt.Fprintln(out, a.Sentence())
	return err
}
