package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/web"
)

// newSiteLost builds "bourse site lost".
func newSiteLost() *cobra.Command {
	var c calling
	var w web.LostWish
	var undo bool
	cmd := &cobra.Command{
		Use:   "lost NAME",
		Short: "Tell the broker that a site will not come back",
		Long: `Lost has the broker give up all that it has reserved at a site: other nodes are
looked for in its place, and where there are none the rest of the window is given
back, with a full refund. A site that stays silent is lost by itself before its
parts start (lost_after in the broker's file); this is for those who know sooner.

If the site comes back all the same, it is told to release what it still carries.
With --undo it is used again once it has listed that; what was given up stays so.`,
		Example: "  bourse site lost north --why \"the machine was sold\"\n  bourse site lost north --undo",
		Args:    arguments(1, 1, "one site"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.siteLost(cmd.Context(), args[0], w, undo, cmd.OutOrStdout())
		},
	}
	c.flags(cmd)
	addFlag(cmd, &w.Why, asText, "why", "", "what those whose jobs it concerns are told")
	cmd.Flags().BoolVar(&undo, "undo", false, "take that back")
	cmd.MarkFlagsMutuallyExclusive("why", "undo")
	return cmd
}

func (c *calling) siteLost(ctx context.Context, name string, w web.LostWish, undo bool, out io.Writer) error {
	api, err := c.broker()
	if err != nil {
		return err
	}
	var list web.SiteList
	if undo {
		list, err = api.FindSite(ctx, name)
	} else {
		list, err = api.LoseSite(ctx, name, w)
	}
	if err != nil {
		return refused(err)
	}
	return c.printSites(&list, out)
}
