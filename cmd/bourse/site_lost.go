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
		Long: `Lost makes the broker give up everything that it has reserved at a site. It looks for
other nodes; if there are none, the rest of the window is released with a full
refund. The broker by itself gives up a silent site before its legs start
(lost_after in the broker's file); use this command if you know sooner.

If the site comes back after all, it is told to release what it still holds. With
--undo the broker uses the site again, once the site has listed what it holds; legs
that were given up stay given up.`,
		Example: "  bourse site lost north --why \"the machine was sold\"\n  bourse site lost north --undo",
		Args:    arguments(1, 1, "one site"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.siteLost(cmd.Context(), args[0], w, undo, cmd.OutOrStdout())
		},
	}
	c.flags(cmd)
	addFlag(cmd, &w.Why, asText, "why", "", "reason, shown to the owners of the jobs")
	cmd.Flags().BoolVar(&undo, "undo", false, "use the site again")
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
