package use

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
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

// newOffers builds "bourse offers".
func newOffers() *cobra.Command {
	var c calling
	var accept, reject int
	steps := 6
	cmd := &cobra.Command{
		Use:   "offers [SITE | ID]",
		Short: "Show what sites offer, or answer a site's request to shift a job",
		Long: `Offers shows what each group of nodes offered when the broker last asked, in the
last cycle that had jobs to place: how many nodes could be reserved from each time
on (free), and how many of them at base price (clear). The figures are of that
moment and not a promise.

With the identity or name of a job, it shows what sites offer for shifting the job.
A site may offer a payment and another window nearby to make room for someone else.
--accept N shifts the job as in offer N and lowers its price by the payment.
--reject N keeps the job where it is; no answer does the same. If a site and a job
have the same name, the argument means the site, unless --accept or --reject is
given.`,
		Example: "  bourse offers\n  bourse offers north --steps 50\n  bourse offers wave\n  bourse offers wave --accept 1",
		Args:    flags.Arguments(0, 1, "at most one site or job"),
		RunE: func(cmd *cobra.Command, args []string) error {
			site := ""
			if len(args) > 0 {
				site = args[0]
			}
			given := cmd.Flags()
			if yes, no := given.Changed("accept"), given.Changed("reject"); yes || no {
				return c.answerOffer(cmd.Context(), site, accept, reject, yes && no, cmd.OutOrStdout())
			}
			err := c.offers(cmd.Context(), site, steps, cmd.OutOrStdout())
			var p *client.Problem
			if site != "" && errors.As(err, &p) && p.Status == http.StatusNotFound {
				return c.jobOffers(cmd.Context(), site, cmd.OutOrStdout())
			}
			return err
		},
	}
	c.AddFlags(cmd)
	flags.AddFlag(cmd, &steps, flags.AsNumber, "steps", steps, "time steps to show for each group")
	flags.AddFlag(cmd, &accept, flags.AsNumber, "accept", 0, "accept the offer of this number for a job")
	flags.AddFlag(cmd, &reject, flags.AsNumber, "reject", 0, "reject the offer of this number for a job")
	return cmd
}

func (c *calling) offers(ctx context.Context, site string, steps int, out io.Writer) error {
	if steps < 1 {
		return fmt.Errorf("--steps %d: must be 1 or more", steps)
	}
	server, err := c.Broker()
	if err != nil {
		return err
	}
	list, err := server.Offers(ctx, site)
	if err != nil {
		return flags.Refused(err)
	}
	if c.JSON {
		return flags.WriteJSON(out, list)
	}
	if len(list.Offers) == 0 {
		_, err := fmt.Fprintln(out, "No offers yet: the broker asks sites when it has a job to place.")
		return err
	}
	_, err = fmt.Fprintln(out, offersTable(list.Offers, steps, time.Now()).Render())
	return err
}

// offersTable has a row for each step of an offer, so many at most. Where some nodes are divided
// it says what an hour of one of their GPUs costs.
func offersTable(offers []api.Offer, steps int, now time.Time) table.Writer {
	byGPU := slices.ContainsFunc(offers, func(o api.Offer) bool { return o.GPUPrice.Price > 0 })
	head := []string{"site", "<group", "nodes", "price", "<from", "free", "clear"}
	if byGPU {
		head = append(head, "GPU-hour")
	}
	w := report.NewTable(head...)
	for i := range offers {
		o := &offers[i]
		for k, step := range o.Free[:min(steps, len(o.Free))] {
			row := table.Row{display.Cut(o.Site, display.SiteWidth), display.Cut(o.Group, display.GroupWidth), o.Nodes, o.Price, display.Both(step.From, now), step.Free, step.Clear}
			if k > 0 {
				row[0], row[1], row[2], row[3] = "", "", "", priceThen(o, step.From)
			}
			if byGPU {
				row = append(row, gpuPrice(o, row[3]))
			}
			w.AppendRow(row)
		}
		if o.More || len(o.Free) > steps {
			w.AppendRow(append(table.Row{"", "", "", "", "and later", "", ""}, slices.Repeat(table.Row{""}, len(head)-7)...))
		}
	}
	return w
}

// gpuPrice is the price of an hour of a GPU where that of a node is so much; "" where nodes are
// not divided, or that of the step before still holds.
func gpuPrice(o *api.Offer, node any) any {
	p, ok := node.(api.Price)
	if !ok || o.GPUs == 0 {
		return ""
	}
	return api.Price{Price: grid.Price(grid.Credits(p.Price).Over(1, int64(o.GPUs)))}
}

// priceThen is the price of an offer at a later step, "" if the price never changes.
func priceThen(o *api.Offer, at api.Instant) any {
	if len(o.Prices) == 0 {
		return ""
	}
	price := o.Price
	for _, p := range o.Prices {
		if p.From > at {
			break
		}
		price = p.Price
	}
	return price
}

// jobOffers shows what sites offer for shifting a job.
func (c *calling) jobOffers(ctx context.Context, id string, out io.Writer) error {
	server, err := c.Broker()
	if err != nil {
		return err
	}
	list, err := server.ShiftOffers(ctx, id)
	var p *client.Problem
	if errors.As(err, &p) && p.Status == http.StatusNotFound {
		return failure.Of(fmt.Errorf("no site and no job of yours is named %q", id))
	}
	if err != nil {
		return flags.Refused(err)
	}
	if c.JSON {
		return flags.WriteJSON(out, list)
	}
	if len(list.Offers) == 0 {
		_, err := fmt.Fprintf(out, "No site has asked to shift %s.\n", id)
		return err
	}
	now := time.Now()
	w := report.NewTable("offer", "<site", "<start", "<end", "<no later than", "pays", "<answer by", "<state")
	for i := range list.Offers {
		o := &list.Offers[i]
		w.AppendRow(table.Row{o.N, display.Cut(o.Site, display.SiteWidth), display.Day(o.Start, now), display.Day(o.End, now), display.Day(o.Closes, now), display.Credits(&o.Pay), display.Day(o.Expires, now), o.State})
	}
	if _, err = fmt.Fprintln(out, w.Render()); err != nil {
		return err
	}
	for i := range list.Offers {
		if o := &list.Offers[i]; o.Reason != nil {
			fmt.Fprintf(out, "%d: %s\n", o.N, o.Reason)
		}
	}
	return nil
}

// answerOffer accepts or rejects one of them.
func (c *calling) answerOffer(ctx context.Context, id string, accept, reject int, both bool, out io.Writer) error {
	n := max(accept, reject)
	switch {
	case both:
		return errors.New("give either --accept or --reject")
	case id == "":
		return errors.New("name the job whose offer you answer")
	case n < 1:
		return fmt.Errorf("offer %d: must be the number of an offer that bourse offers %s shows", min(accept, reject), id)
	}
	server, err := c.Broker()
	if err != nil {
		return err
	}
	j, err := server.AnswerShift(ctx, id, api.ShiftAnswer{N: n, Accept: accept > 0})
	if err != nil {
		return flags.Refused(err)
	}
	if c.JSON {
		return flags.WriteJSON(out, j)
	}
	printJob(out, &j, time.Now())
	return nil
}
