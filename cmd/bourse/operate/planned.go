package operate

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/web/api"
)

// planned is what an operator has planned at a site: a drain or a window of maintenance.
type planned struct {
	Site  string      `json:"site"`
	Name  string      `json:"name,omitempty"`  // of the maintenance
	Group string      `json:"group,omitempty"` // "": all
	Nodes int         `json:"nodes,omitempty"`
	Start api.Instant `json:"start,omitzero"`
	End   api.Instant `json:"end,omitzero"` // 0: until further notice
	Why   string      `json:"why,omitempty"`
}

// drains is the drain of a site.
func drains(s *api.SiteState) []planned {
	if s.Drained == nil {
		return nil
	}
	return []planned{{Site: s.Name, End: s.Drained.Until, Why: s.Drained.Why}}
}

// windows are a site's windows of maintenance.
func windows(s *api.SiteState) (list []planned) {
	for _, m := range s.Maintenance {
		list = append(list, planned{s.Name, m.Name, m.Group, m.Nodes, m.Start, m.End, m.Why})
	}
	return list
}

// orList makes a command that gets fewer than least arguments list what is planned: at the
// site that is named, or at all sites of the context. With other flags the site is missing.
func orList(c *calling, cmd *cobra.Command, least int, of func(*api.SiteState) []planned) {
	act := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) >= least {
			return act(cmd, args)
		}
		for _, flag := range []string{"until", "why", "resume", "group", "nodes", "start", "end", "force", "cancel"} {
			if cmd.Flags().Changed(flag) {
				return flags.Misuse(fmt.Errorf("--%s needs what it is for: bourse %s", flag, cmd.Use))
			}
		}
		return c.listPlanned(cmd.Context(), cmd.OutOrStdout(), args, of)
	}
}

// listPlanned asks sites what is planned there. It fails if one does not answer, after it
// has shown what the others say.
func (c *calling) listPlanned(ctx context.Context, out io.Writer, names []string, of func(*api.SiteState) []planned) error {
	if len(names) == 0 {
		found, err := c.Find()
		if err != nil {
			return err
		}
		names = slices.Sorted(maps.Keys(found.Sites))
	}
	list, failed := []planned{}, error(nil)
	for _, name := range names {
		server, err := c.Site(name)
		if err != nil {
			return err
		}
		s, err := server.Site(ctx)
		if err != nil {
			failed = failure.Of(fmt.Errorf("%s does not say what is planned there: %w", name, err))
			continue
		}
		list = append(list, of(&s)...)
	}
	if c.JSON {
		if err := flags.WriteJSON(out, list); err != nil {
			return err
		}
		return failed
	}
	printPlanned(out, list, time.Now())
	return failed
}

func printPlanned(out io.Writer, list []planned, now time.Time) {
	if len(list) == 0 {
		fmt.Fprintln(out, "nothing is planned")
		return
	}
	w := report.NewTable("<site", "<name", "<group", "nodes", "<from", "<to", "<why")
	for _, x := range list {
		from, to, nodes := "now", "further notice", "all"
		if x.Start != 0 {
			from = display.Both(x.Start, now)
		}
		if x.End != 0 {
			to = display.Both(x.End, now)
		}
		if x.Nodes > 0 {
			nodes = fmt.Sprint(x.Nodes)
		}
		w.AppendRow(table.Row{display.Cut(x.Site, display.SiteWidth), flags.Visible(x.Name), display.Cut(x.Group, display.GroupWidth), nodes, from, to, flags.Visible(x.Why)})
	}
	fmt.Fprintln(out, w.Render())
}
