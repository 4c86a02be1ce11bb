package operate

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// reserving holds the flags.
type reserving struct {
	calling
	user, site string
	most       int
}

// newReservations builds "bourse reservations".
func newReservations() *cobra.Command {
	var c reserving
	cmd := &cobra.Command{
		Use:   "reservations",
		Short: "Show the committed legs that have not ended",
		Long: `Reservations lists the legs of committed windows that have not ended, as the broker
knows them. With --at it asks a site, which knows those of all brokers. Users see
their own legs, operators all.`,
		Example: "  bourse reservations\n  bourse reservations --user ana\n  bourse reservations --at north",
		Args:    flags.Arguments(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	c.AddFlags(cmd)
	flags.AddFlag(cmd, &c.user, flags.AsUser, "user", "", "only this user's legs (operators only)")
	flags.AddFlag(cmd, &c.site, flags.AsSiteName, "at", "", "ask this site instead of the broker")
	flags.AddFlag(cmd, &c.most, flags.AsNumber, "most", 100, "how many to list at most")
	return cmd
}

func (c *reserving) run(ctx context.Context, out, messages io.Writer) error {
	if c.most < 1 || c.most > 100_000 {
		return fmt.Errorf("--most %d: must be 1 to 100,000", c.most)
	}
	var server *client.Client
	var err error
	if c.site != "" {
		server, err = c.calling.Site(c.site)
	} else {
		server, err = c.Broker()
	}
	if err != nil {
		return err
	}
	list, more, err := server.Reservations(ctx, c.user, c.most)
	if err != nil {
		return flags.Refused(err)
	}
	if more {
		fmt.Fprintf(messages, "only the first %d are shown; --most shows more\n", len(list))
	}
	if c.JSON {
		return flags.WriteJSON(out, api.ReservationList{Reservations: append([]api.Reservation{}, list...)})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(out, "No open reservations.")
		return err
	}
	now := time.Now()
	w := report.NewTable("job", "<user", "<site", "<group", "nodes", "<start", "<end", "<state", "cost")
	for i := range list {
		r := &list[i]
		w.AppendRow(table.Row{r.Job, display.Cut(r.User, display.UserWidth), display.Cut(r.Site, display.SiteWidth), display.Cut(r.Group, display.GroupWidth), r.Nodes,
			display.Day(r.Start, now), display.Day(r.End, now), r.State, display.Credits(&r.Cost)})
	}
	_, err = fmt.Fprintln(out, w.Render())
	return err
}
