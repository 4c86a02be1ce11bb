package operate

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/web/api"
)

// newSites builds "bourse sites".
func newSites() *cobra.Command {
	var c calling
	cmd := &cobra.Command{
		Use:   "sites [SITE]",
		Short: "Show the sites that the broker knows, and what is free there",
		Long: `Sites lists the sites that the broker knows, with what they offered when last asked:
nodes that can be reserved (free), and those at base price (clear). If a group allows
no window of any length, a column says how long one may be. The state of a site is one of:

  usable     its latest offers count
  drained    accepts nothing new (shown at once)
  closed     accepts nothing from this VO, or its offers are invalid
  silent     did not answer in time
  skewed     its clock is more than two seconds off
  not-asked  was not asked yet
  left       its process was stopped, or cannot be reached
  lost       was silent for so long that the broker abandoned its legs, or an
             operator has declared it lost

With SITE it asks that site itself: its state, what is out of service, and what
brokers have paid.`,
		Example: "  bourse sites\n  bourse sites north",
		Args:    flags.Arguments(0, 1, "at most one site"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return c.oneSite(cmd.Context(), args[0], cmd.OutOrStdout())
			}
			return c.sites(cmd.Context(), cmd.OutOrStdout())
		},
	}
	c.AddFlags(cmd)
	return cmd
}

func (c *calling) sites(ctx context.Context, out io.Writer) error {
	server, err := c.Broker()
	if err != nil {
		return err
	}
	list, err := server.Sites(ctx)
	if err != nil {
		return flags.Refused(err)
	}
	return c.printSites(&list, out)
}

// printSites shows the sites that a broker knows.
func (c *calling) printSites(list *api.SiteList, out io.Writer) error {
	if c.JSON {
		return flags.WriteJSON(out, list)
	}
	now := time.Now()
	bounded := slices.ContainsFunc(list.Sites, func(s api.Site) bool { return anyBounded(s.Groups) })
	w := report.NewTable(withLongest([]string{"site", "<state", "<asked", "<group", "nodes", "free", "clear", "performance", "price"}, bounded)...)
	for i := range list.Sites {
		s := &list.Sites[i]
		said := strings.ReplaceAll(s.State, "-", " ")
		if len(s.Groups) == 0 {
			w.AppendRow(longestIn(table.Row{display.Cut(s.Name, display.SiteWidth), said, display.Both(s.Asked, now), "-", "", "", "", "", ""}, api.Seconds{}, bounded))
		}
		for _, g := range s.Groups {
			w.AppendRow(longestIn(table.Row{display.Cut(s.Name, display.SiteWidth), said, display.Both(s.Asked, now), display.Cut(g.Name, display.GroupWidth), g.Nodes, g.Free, g.Clear,
				g.Performance, g.Price}, g.Longest, bounded))
		}
	}
	fmt.Fprintln(out, w.Render())
	for i := range list.Sites {
		switch s := &list.Sites[i]; {
		case s.Lost != nil && s.Lost.Operator:
			fmt.Fprintf(out, "%s (since %s); to use it again: bourse site lost %s --undo\n", s.Lost.Reason, display.Both(s.Lost.Since, now), s.Name)
		case s.Lost != nil:
			fmt.Fprintf(out, "%s (since %s); the broker will use it again once it answers\n", s.Lost.Reason, display.Both(s.Lost.Since, now))
		case s.Refusal != nil:
			fmt.Fprintf(out, "%s is %s: %s\n", s.Name, s.State, s.Refusal)
		}
		if s := &list.Sites[i]; s.Last > 0 {
			fmt.Fprintf(out, "%s comes last until %s: it has broken its word (%s in all; bourse journal show --kind word-broken)\n", s.Name, display.Both(s.Last, now), grid.Count(int(s.Broken), "time"))
		}
	}
	return nil
}

// anyBounded reports whether some group allows no window of any length.
func anyBounded(list []api.Group) bool {
	return slices.ContainsFunc(list, func(g api.Group) bool { return g.Longest.Duration > 0 })
}

// withLongest adds the column of the longest windows, if any group has one.
func withLongest(columns []string, bounded bool) []string {
	if bounded {
		columns = append(columns, "longest")
	}
	return columns
}

// longestIn adds to a row the longest window of its group, if the table has that column.
func longestIn(row table.Row, longest api.Seconds, bounded bool) table.Row {
	switch {
	case !bounded:
		return row
	case longest.Duration == 0:
		return append(row, "")
	}
	return append(row, longest.Words())
}

func (c *calling) oneSite(ctx context.Context, name string, out io.Writer) error {
	server, err := c.Site(name)
	if err != nil {
		return err
	}
	s, err := server.Site(ctx)
	if err != nil {
		return flags.Refused(err)
	}
	if c.JSON {
		return flags.WriteJSON(out, s)
	}
	printSite(out, &s, time.Now())
	return nil
}
