package operate

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// newSiteReload builds "bourse site reload".
func newSiteReload() *cobra.Command {
	var c calling
	var w api.ReloadWish
	cmd := &cobra.Command{
		Use:   "reload NAME",
		Short: "Make a site read its file again",
		Long: `Reload makes the process of a site read its file again, like SIGHUP. It checks the
whole file first; if anything is wrong, nothing changes. These changes apply at once:
prices and their curve; groups and their nodes; limits, and the terms by which legs
are held, refunded and compensated; the local workload of simulated nodes; a [[vo]]
that was added or removed, or that has let_go = true; the shares and accounts of VOs;
and lists of revoked certificates. Other changes need a restart and are listed.

What is promised stays as it was promised: legs keep their prices, nodes and times. A
file that takes nodes away from legs, or the account of their user, is refused.
--dry-run changes nothing, shows which legs those are, and exits as the reload would:
with status 1 if it needs --force. With --force they are lost, with refund and penalty, and their
brokers look for replacements. After a refusal put the file back as it was: the site
would not start by it either. A site beside a resource manager asks that what nodes there are,
so a reload also takes in nodes that were added there.

The site no longer listens to a VO that it has let go, but keeps its legs until they
end. Leave the VO's table in the file, with let_go = true, until then.`,
		Example: "  bourse site reload north --dry-run\n  bourse site reload north\n  bourse site reload north --force --why \"rack 4 is sold\"",
		Args:    flags.Arguments(1, 1, "one site"),
		RunE: func(cmd *cobra.Command, args []string) error {
			server, err := c.Site(args[0])
			if err != nil {
				return err
			}
			r, err := server.Reload(cmd.Context(), w)
			if err != nil {
				return flags.Refused(err)
			}
			if c.JSON {
				err = flags.WriteJSON(cmd.OutOrStdout(), r)
			} else {
				printReloaded(cmd.OutOrStdout(), &r, time.Now())
			}
			if err == nil && r.Refused != "" {
				return flags.Refused(fmt.Errorf("the reload would be refused unless you say --force, with refund and penalty: %s", r.Refused))
			}
			return err
		},
	}
	c.AddFlags(cmd)
	cmd.Flags().BoolVar(&w.DryRun, "dry-run", false, "change nothing, and show what would come of it")
	cmd.Flags().BoolVar(&w.Force, "force", false, "take nodes away from legs that hold them")
	flags.AddFlag(cmd, &w.Why, flags.AsText, "why", "", "reason, shown to those whose legs are lost")
	return cmd
}

// printReloaded shows what a reload has changed, or would change.
func printReloaded(out io.Writer, r *api.Reloaded, now time.Time) {
	changed, lost := "changed:", "lost:"
	if r.DryRun {
		changed, lost = "would change:", "would be lost:"
	}
	if len(r.Changed) == 0 {
		fmt.Fprintln(out, "nothing changed")
	}
	for _, what := range r.Changed {
		fmt.Fprintln(out, changed, flags.Visible(what))
	}
	for i := range r.Lost {
		l := &r.Lost[i]
		whose := "maintenance " + l.Name
		if l.Broker != "" {
			whose = fmt.Sprintf("job %s of %s at %s", cmp.Or(l.Job, "?"), cmp.Or(l.User, "nobody"), l.Broker)
		}
		if l.Nodes == 0 {
			fmt.Fprintf(out, "%s leg %s, which is over for the site\n", lost, l.Leg)
			continue
		}
		fmt.Fprintf(out, "%s %s, %s of %s, %s to %s%s\n", lost, flags.Visible(whose), grid.Count(l.Nodes, "node"), flags.Visible(l.Group),
			display.Both(l.Start, now), display.Day(l.End, now), strings.TrimRight(", "+l.State, ", "))
	}
	if more := r.Legs - len(r.Lost); more > 0 {
		fmt.Fprintln(out, "and", grid.Count(more, "more leg"))
	}
	if r.Jobs > 0 {
		fmt.Fprintln(out, lost, grid.Count(r.Jobs, "local job"))
	}
	for _, what := range r.Restart {
		fmt.Fprintln(out, "needs a restart:", flags.Visible(what))
	}
}
