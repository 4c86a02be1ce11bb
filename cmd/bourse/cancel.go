package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// newCancel builds "bourse cancel".
func newCancel() *cobra.Command {
	var c calling
	cmd := &cobra.Command{
		Use:   "cancel ID",
		Short: "Give a job up, wherever it stands",
		Long: `Cancel gives a job up. What it holds is released; the sites give back what their
schedules say: the base price in full while the start is far, less and less as
it comes near, nothing once it runs. A user cancels their own jobs, an operator
any. Asking again changes nothing and tells the refund once it is known.

ID is a job's identity, or its name where only one job has it.`,
		Example: "  bourse cancel wave\n  bourse cancel wave-k3f9m2q7",
		Args:    arguments(1, 1, "one job"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.cancel(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
	c.flags(cmd)
	return cmd
}

func (c *calling) cancel(ctx context.Context, id string, out io.Writer) error {
	api, err := c.broker()
	if err != nil {
		return err
	}
	a, err := api.Cancel(ctx, id)
	if err != nil {
		return refused(err)
	}
	if c.json {
		return writeJSON(out, a)
	}
	_, err = fmt.Fprintln(out, a.Sentence())
	return err
}
