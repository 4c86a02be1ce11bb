package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// The commands with which an operator runs a site. Each prints the site's new state.

// wish builds a command that asks something of the site named first.
func wish(c *calling, cmd *cobra.Command, ask func(ctx context.Context, server *client.Client, args []string) (api.SiteState, error)) *cobra.Command {
	c.AddFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		server, err := c.Site(args[0])
		if err != nil {
			return err
		}
		s, err := ask(cmd.Context(), server, args[1:])
		if err != nil {
			return flags.Refused(err)
		}
		if c.JSON {
			return flags.WriteJSON(cmd.OutOrStdout(), s)
		}
		printSite(cmd.OutOrStdout(), &s, time.Now())
		return nil
	}
	return cmd
}

// newDrain builds "bourse drain".
func newDrain() *cobra.Command {
	var c calling
	var w api.DrainWish
	var resume bool
	cmd := wish(&c, &cobra.Command{
		Use:   "drain [SITE]",
		Short: "Stop a site from accepting new work, or list drains",
		Long: `Drain makes a site refuse new work (requests for offers, and new legs) until a given
time, or until --resume. Legs that are held, committed or running go on, and so do
local jobs. A later drain replaces an earlier one. A drain survives a restart of the
site. Without SITE it lists which sites of the context drain, and until when.`,
		Example: "  bourse drain\n  bourse drain north --until 2h --why \"new switch\"\n  bourse drain north --until 2026-03-01T18:00:00Z\n  bourse drain north --resume",
		Args:    flags.Arguments(0, 1, "at most one site"),
	}, func(ctx context.Context, server *client.Client, _ []string) (api.SiteState, error) {
		if resume {
			return server.Resume(ctx)
		}
		return server.Drain(ctx, w)
	})
	flags.AddFlag(cmd, &w.Until, flags.AsMoment, "until", "", "a span from now such as 2h, or RFC 3339 (default: until --resume)")
	flags.AddFlag(cmd, &w.Why, flags.AsText, "why", "", "reason, shown to whoever is refused")
	cmd.Flags().BoolVar(&resume, "resume", false, "end the drain")
	orList(&c, cmd, 1, drains)
	return cmd
}

// newMaintenance builds "bourse maintenance".
func newMaintenance() *cobra.Command {
	var c calling
	var w api.MaintenanceWish
	var cancel bool
	cmd := wish(&c, &cobra.Command{
		Use:   "maintenance [SITE [NAME]]",
		Short: "Take nodes out of service for a time, or list what is planned",
		Long: `Maintenance announces a window in which nodes of a group are out of service: the
site offers and starts nothing on them. If running jobs, reservations or legs are in
the way, it is refused as busy, unless you give --force: then local jobs are killed,
committed legs are lost with refund and penalty, and their brokers look for
replacements.

You choose NAME; until the window ends, the same name means the same window. With
--cancel the nodes return to service, before or during the window. Without NAME it
lists what is planned at the site; without SITE, at all sites of the context.`,
		Example: "  bourse maintenance\n  bourse maintenance north disks --group main --nodes 8 \\\n      --start 2026-03-01T18:00:00Z --end 2026-03-01T22:00:00Z\n" +
			"  bourse maintenance north disks --group main --end 4h --force\n  bourse maintenance north disks --cancel",
		Args: flags.Arguments(0, 2, "a site and a name for the window"),
	}, func(ctx context.Context, server *client.Client, args []string) (api.SiteState, error) {
		if cancel {
			return server.EndMaintenance(ctx, args[0])
		}
		if w.Name = args[0]; w.Group == "" || w.End == "" {
			return api.SiteState{}, flags.Misuse(errors.New("give --group and --end, or --cancel"))
		}
		return server.Maintain(ctx, w)
	})
	f := cmd.Flags()
	flags.AddFlag(cmd, &w.Group, flags.AsNodeGroup, "group", "", "group of nodes")
	flags.AddFlag(cmd, &w.Nodes, flags.AsNumber, "nodes", 0, "number of nodes (default: all of the group)")
	flags.AddFlag(cmd, &w.Start, flags.AsMoment, "start", "", "a span from now such as 2h, or RFC 3339 (default: now)")
	flags.AddFlag(cmd, &w.End, flags.AsMoment, "end", "", "a span from now such as 6h, or RFC 3339")
	flags.AddFlag(cmd, &w.Why, flags.AsText, "why", "", "reason, shown to whoever is refused")
	f.BoolVar(&w.Force, "force", false, "kill or drop the work that is in the way")
	f.BoolVar(&cancel, "cancel", false, "return the nodes to service")
	orList(&c, cmd, 2, windows)
	return cmd
}

// newClose builds "bourse close".
func newClose() *cobra.Command {
	var c calling
	var w api.CloseWish
	cmd := wish(&c, &cobra.Command{
		Use:   "close SITE",
		Short: "Close a site to a VO or a user",
		Long: `Close makes a site refuse new legs of a VO (given by the name of its broker), of a
user of any VO, or, with both flags, of that user of that VO. Legs that they already
hold go on. Brokers are told why they are refused. End it with bourse open and the
same names.

If the site does not know the VO, close fails and lists the VOs that it knows, unless
you add --ahead for a VO that is yet to come.`,
		Example: "  bourse close north --vo vo2 --why \"unpaid\"\n  bourse close north --user ben",
		Args:    flags.Arguments(1, 1, "one site"),
	}, func(ctx context.Context, server *client.Client, _ []string) (api.SiteState, error) {
		if w.VO == "" && w.User == "" {
			return api.SiteState{}, flags.Misuse(errors.New("give --vo, --user or both; bourse drain closes a site to all"))
		}
		return server.CloseTo(ctx, w)
	})
	flags.AddFlag(cmd, &w.VO, flags.AsVO, "vo", "", "the VO, by the name of its broker")
	flags.AddFlag(cmd, &w.User, flags.AsUser, "user", "", "the user")
	flags.AddFlag(cmd, &w.Why, flags.AsText, "why", "", "reason, shown to whoever is refused")
	cmd.Flags().BoolVar(&w.Ahead, "ahead", false, "allow a VO that the site does not know yet")
	return cmd
}

// newOpen builds "bourse open".
func newOpen() *cobra.Command {
	var c calling
	var w api.OpenWish
	cmd := wish(&c, &cobra.Command{
		Use:   "open SITE",
		Short: "Open a site to a VO or a user again",
		Long: `Open undoes bourse close with the same --vo and --user. To end a drain, use
bourse drain --resume.`,
		Example: "  bourse open north --vo vo2",
		Args:    flags.Arguments(1, 1, "one site"),
	}, func(ctx context.Context, server *client.Client, _ []string) (api.SiteState, error) {
		if w.VO == "" && w.User == "" {
			return api.SiteState{}, flags.Misuse(errors.New("give --vo, --user or both, the same as for bourse close; to end a drain, use bourse drain --resume"))
		}
		s, err := server.Site(ctx)
		if err != nil {
			return api.SiteState{}, err
		}
		if !slices.ContainsFunc(s.Closed, func(c api.Closed) bool { return c.VO == w.VO && c.User == w.User }) {
			return api.SiteState{}, notClosed(&s, w)
		}
		return server.OpenTo(ctx, w)
	})
	flags.AddFlag(cmd, &w.VO, flags.AsVO, "vo", "", "the VO, by the name of its broker")
	flags.AddFlag(cmd, &w.User, flags.AsUser, "user", "", "the user")
	return cmd
}

// notClosed is the error that there is nothing to open. It lists what is closed, because
// names are easily mistyped.
func notClosed(s *api.SiteState, w api.OpenWish) error {
	name := func(vo, user string) string {
		return strings.Join(slices.DeleteFunc([]string{flagged("--vo ", vo), flagged("--user ", user)}, func(s string) bool { return s == "" }), " ")
	}
	var list []string
	for _, c := range s.Closed {
		list = append(list, name(c.VO, c.User))
	}
	if len(list) == 0 {
		list = []string{"nobody"}
	}
	return failure.Of(fmt.Errorf("%s is not closed to %s; it is closed to %s", s.Name, name(w.VO, w.User), strings.Join(list, ", ")))
}

func flagged(before, s string) string {
	if s == "" {
		return ""
	}
	return before + s
}

// printSite shows the state of a site.
func printSite(out io.Writer, s *api.SiteState, now time.Time) {
	for _, line := range s.Sentences(func(i api.Instant) string { return display.Moment(i, now) }) {
		fmt.Fprintln(out, line)
	}
	for _, m := range s.Maintenance {
		fmt.Fprintf(out, "maintenance %s: %s of %s, %s to %s%s\n", m.Name, grid.Count(m.Nodes, "node"), m.Group, display.Both(m.Start, now), display.Day(m.End, now), because(m.Why))
	}
	if m := s.Mirror; m != nil && m.Current {
		fmt.Fprintf(out, "its journal is mirrored to %s\n", m.Place)
	} else if m != nil {
		fmt.Fprintf(out, "its journal has ONE COPY since %s: the mirror %s is behind: %s\n", display.Both(m.Since, now), m.Place, m.Why)
	}
	if len(s.Groups) == 0 {
		fmt.Fprintln(out, "its cluster has not answered yet")
		return
	}
	bounded := anyBounded(s.Groups)
	w := report.NewTable(withLongest([]string{"group", "nodes", "free", "clear", "performance", "price"}, bounded)...)
	for _, g := range s.Groups {
		w.AppendRow(longestIn(table.Row{display.Cut(g.Name, display.GroupWidth), g.Nodes, g.Free, g.Clear, g.Performance, g.Price}, g.Longest, bounded))
	}
	fmt.Fprintf(out, "\n%s\n", w.Render())
	if len(s.Shares) > 0 {
		w := report.NewTable("VO", "share", "held", "<state")
		for _, v := range s.Shares {
			state := ""
			if v.LetGo {
				state = "let go: no longer heard"
			}
			w.AppendRow(table.Row{cmp.Or(v.VO, "all"), percent(v.Share), percent(v.Held), state})
		}
		fmt.Fprintf(out, "\n%s\nshares of the node-time of the next %s\n", w.Render(), s.Shares[0].Span)
	}
	if len(s.Brokers) > 0 {
		w := report.NewTable("broker", "paid", "pending")
		for i := range s.Brokers {
			b := &s.Brokers[i]
			w.AppendRow(table.Row{b.Broker, display.Credits(&b.Paid), display.Credits(&b.Pending)})
		}
		fmt.Fprintf(out, "\n%s\n", w.Render())
	}
}

// percent writes a share to a tenth of a percent.
func percent(share float64) string {
	return strconv.FormatFloat(math.Round(1000*share)/10, 'f', -1, 64) + " %"
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}
