package use

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
)

// newExplain builds "bourse explain".
func newExplain() *cobra.Command {
	var c calling
	cmd := &cobra.Command{
		Use:   "explain ID",
		Short: "Say why a job got what it got, and what would change it",
		Long: `Explain reads the broker's journal and says what the sites offered for a job, which
alternatives were found, which one was taken and why the others lost, what became
of it, and what would have changed the answer: credits, minutes, a site, fewer
nodes. For a waiting job it says why and since when it waits, and estimates the
earliest start by the current quotes. Times are local.

ID is a job's identity, or its name if no other job has it.`,
		Example: "  bourse explain wave",
		Args:    flags.Arguments(1, 1, "one job"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.explain(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
	c.AddFlags(cmd)
	return cmd
}

func (c *calling) explain(ctx context.Context, id string, out io.Writer) error {
	api, err := c.Broker()
	if err != nil {
		return err
	}
	e, err := api.Explain(ctx, id)
	if err != nil {
		return flags.Refused(err)
	}
	if c.JSON {
		return flags.WriteJSON(out, e.Value)
	}
	fmt.Fprintln(out, strings.TrimRight(e.Here(time.Now()), "\n"))
	if len(e.Sites) > 0 {
		fmt.Fprintln(out)
		printSites(out, "", e.Sites, time.Now())
	}
	return nil
}
