package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"bourse/broker/report"
)

// newOffers builds "bourse offers".
func newOffers() *cobra.Command {
	var c calling
	steps := 6
	cmd := &cobra.Command{
		Use:   "offers [SITE]",
		Short: "Show what the sites offered, over time",
		Long: `Offers shows what each group of nodes offered when the broker last asked, which
is when a cycle last had jobs to place: how many nodes can be reserved from each
instant on (free), and how many at base price (clear). It is data of that moment
and no promise.`,
		Example: "  bourse offers\n  bourse offers north --steps 50",
		Args:    arguments(0, 1, "at most one site"),
		RunE: func(cmd *cobra.Command, args []string) error {
			site := ""
			if len(args) > 0 {
				site = args[0]
			}
			return c.offers(cmd.Context(), site, steps, cmd.OutOrStdout())
		},
	}
	c.flags(cmd)
	cmd.Flags().IntVar(&steps, "steps", steps, "steps to show of each group")
	return cmd
}

func (c *calling) offers(ctx context.Context, site string, steps int, out io.Writer) error {
	if steps < 1 {
		return fmt.Errorf("--steps %d: 1 or more are wanted", steps)
	}
	api, err := c.broker()
	if err != nil {
		return err
	}
	list, err := api.Offers(ctx, site)
	if err != nil {
		return refused(err)
	}
	if c.json {
		return writeJSON(out, list)
	}
	if len(list.Offers) == 0 {
		_, err := fmt.Fprintln(out, "No site has offered anything yet; they are asked when a job is to be placed.")
		return err
	}
	now := time.Now()
	w := report.NewTable("site", "<group", "nodes", "price", "<from", "free", "clear")
	for i := range list.Offers {
		o := &list.Offers[i]
		for k, step := range o.Free[:min(steps, len(o.Free))] {
			row := table.Row{cut(o.Site, siteWidth), cut(o.Group, groupWidth), o.Nodes, o.Price, both(step.From, now), step.Free, step.Clear}
			if k > 0 {
				row[0], row[1], row[2], row[3] = "", "", "", ""
			}
			w.AppendRow(row)
		}
		if o.More || len(o.Free) > steps {
			w.AppendRow(table.Row{"", "", "", "", "and later", "", ""})
		}
	}
	_, err = fmt.Fprintln(out, w.Render())
	return err
}
