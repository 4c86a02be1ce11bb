package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// newExplain builds "bourse explain".
func newExplain() *cobra.Command {
	var c calling
	cmd := &cobra.Command{
		Use:   "explain ID",
		Short: "Say why a job stands where it stands, and what would change it",
		Long: `Explain says, from the broker's journal alone, what the sites offered, which
alternatives were found for a job, which one was taken and why the others lost,
what became of it, and what would have changed the answer: credits, minutes, a
site, fewer nodes. Of a waiting job it says why, since when, and the earliest
start now quoted, which is an estimate.

ID is a job's identity, or its name where only one job has it.`,
		Example: "  bourse explain wave",
		Args:    arguments(1, 1, "one job"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.explain(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
	c.flags(cmd)
	return cmd
}

func (c *calling) explain(ctx context.Context, id string, out io.Writer) error {
	api, err := c.broker()
	if err != nil {
		return err
	}
	e, err := api.Explain(ctx, id)
	if err != nil {
		return refused(err)
	}
	if c.json {
		return writeJSON(out, e.Value)
	}
	_, err = fmt.Fprintln(out, strings.TrimRight(e.Words, "\n"))
	return err
}
