package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// siteLost are the flags of "bourse site lost".
type siteLost struct {
	calling
	wish   api.LostWish
	undo   bool
	yes    bool
	dryRun bool
}

// newSiteLost builds "bourse site lost".
func newSiteLost() *cobra.Command {
	var c siteLost
	cmd := &cobra.Command{
		Use:   "lost NAME",
		Short: "Tell the broker that a site will not come back",
		Long: `Lost makes the broker abandon all legs that it has at a site. It looks for other
nodes; if there are none, the rest of the window is released with a full
refund, and the job waits again. A job that fits nowhere without the site waits for
as long as the broker plans ahead (horizon), and is abandoned after that. The broker
itself declares a silent site lost before its legs start (lost_after in the broker's
file); use this command if you know sooner.

First it says how many jobs and legs that is. On a terminal it then asks whether to go
on, unless --yes is given; with --dry-run it stops there.

If the site comes back after all, it is told to release what it still holds. With
--undo the broker uses the site again, once the site has listed what it holds. Legs
that the broker has abandoned stay so; their jobs, if they still wait, may get
new windows there.`,
		Example: "  bourse site lost north --dry-run\n  bourse site lost north --why \"the machine was sold\"\n  bourse site lost north --undo",
		Args:    flags.Arguments(1, 1, "one site"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.run(cmd.Context(), args[0], cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	c.AddFlags(cmd)
	flags.AddFlag(cmd, &c.wish.Why, flags.AsText, "why", "", "reason, shown to the owners of the jobs")
	cmd.Flags().BoolVar(&c.undo, "undo", false, "use the site again")
	cmd.Flags().BoolVar(&c.yes, "yes", false, "do not ask whether to go on")
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "only say what it would do")
	cmd.MarkFlagsMutuallyExclusive("why", "undo")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "undo")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "yes")
	return cmd
}

func (c *siteLost) run(ctx context.Context, name string, in io.Reader, out, stderr io.Writer) error {
	server, err := c.Broker()
	if err != nil {
		return err
	}
	if c.undo {
		list, err := server.FindSite(ctx, name)
		if err != nil {
			return flags.Refused(err)
		}
		return c.printSites(&list, out)
	}
	stake, err := c.stake(ctx, server, name)
	if err != nil {
		return err
	}
	if c.dryRun {
		if c.JSON {
			return flags.WriteJSON(out, stake)
		}
		fmt.Fprint(out, stakeWords(stake))
		return nil
	}
	if stake != nil {
		fmt.Fprint(stderr, stakeWords(stake))
	}
	if !c.yes && !flags.Agrees(in, stderr, fmt.Sprintf("Declare %s lost?", name)) {
		return failure.Of(errors.New("nothing was done"))
	}
	list, err := server.LoseSite(ctx, name, c.wish)
	if err != nil {
		return flags.Refused(err)
	}
	return c.printSites(&list, out)
}

// stake asks what is at stake; nil if a broker of an earlier version cannot say.
func (c *siteLost) stake(ctx context.Context, server *client.Client, name string) (*api.SiteStake, error) {
	s, err := server.SiteStake(ctx, name)
	var p *client.Problem
	if errors.As(err, &p) && p.Status == http.StatusMethodNotAllowed && !c.dryRun {
		return nil, nil
	}
	if err != nil {
		return nil, flags.Refused(err)
	}
	return &s, nil
}

// stakeWords say what declaring a site lost does.
func stakeWords(s *api.SiteStake) string {
	if s.Legs == 0 {
		return fmt.Sprintf("%s carries nothing of this broker. Jobs that fit nowhere without it wait for it for %v, and are then abandoned.\n", s.Site, display.Roughly(s.Horizon.Duration))
	}
	return fmt.Sprintf("%s carries %s of %s, %d running, for %v credits. Each of these jobs gets other nodes, or its window is released with a full refund and it waits again; "+
		"what runs may have to run again. Jobs that fit nowhere without %s wait for it for %v, and are then abandoned. --undo has the site used again, and does not bring windows back.\n",
		s.Site, grid.Count(s.Legs, "leg"), grid.Count(s.Jobs, "job"), s.Running, s.Cost, s.Site, display.Roughly(s.Horizon.Duration))
}
