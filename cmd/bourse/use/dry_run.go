package use

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// DryRun says what the jobs of a batch or a script would get from a federation, for
// "bourse quote" and "bourse submit --dry-run"; the file "-" is what in holds. Nothing is submitted.
func DryRun(ctx context.Context, file string, at flags.Calling, in io.Reader, out, messages io.Writer) error {
	c := submitting{calling: calling{at}, dryRun: true, in: in}
	return c.run(ctx, source{file: file}, out, messages)
}

// foresee prints what jobs would get.
func foresee(ctx context.Context, c *calling, server *client.Client, jobs []api.JobRequest, from string, out io.Writer) error {
	answer, err := server.Quote(ctx, api.QuoteWish{Jobs: jobs})
	if err != nil {
		return flags.Refused(fmt.Errorf("%s: %w", from, err))
	}
	if c.JSON {
		return flags.WriteJSON(out, answer)
	}
	printQuotes(out, answer.Jobs, time.Now())
	printGPUHours(out, answer.Jobs, jobs)
	return nil
}

// printGPUHours says of each job that asks for GPUs of its nodes what an hour of one would cost.
func printGPUHours(out io.Writer, list []api.JobQuote, jobs []api.JobRequest) {
	for i := range list {
		q := &list[i]
		k := slices.IndexFunc(jobs, func(j api.JobRequest) bool { return j.Name == q.Name })
		if k < 0 || jobs[k].GPUsPerNode == 0 || q.Now == nil || q.Now.Cost == nil {
			continue
		}
		hours := float64(q.Now.Nodes*jobs[k].GPUsPerNode) * grid.Time(q.Now.End).Sub(grid.Time(q.Now.Start)).Hours()
		_ = display.Folded(out, fmt.Sprintf("%s: %.2f GPU-hours, %.2f credits each.", q.Name, hours, q.Now.Cost.Float()/hours))
	}
}

// printQuotes prints a row for each job: what it would get, and beside that half an hour later
// and on other sites; then why some get nothing, and what the figures mean.
func printQuotes(out io.Writer, list []api.JobQuote, now time.Time) {
	guess := false
	cell := func(o *api.Outlook, when bool, where bool) string {
		if o == nil || o.Cost == nil {
			return "-"
		}
		words := display.Credits(o.Cost)
		if o.AtLeast {
			words, guess = words+"+", true
		}
		if where {
			words += " " + display.Cut(sitesOf(o), display.SiteWidth)
		}
		if when {
			words += " " + display.Day(o.Start, now)
		}
		return words
	}
	rows := func(width int) table.Writer {
		w := report.NewTable("job", "<start", "<end", "<sites", "nodes", "cost", "<later", "<elsewhere")
		for i := range list {
			q := &list[i]
			row := table.Row{display.CutMiddle(q.Name, width), "-", "-", "-", "-", "-", "-", "-"}
			if o := q.Now; o != nil && o.Cost != nil {
				row = table.Row{row[0], display.Day(o.Start, now), display.Day(o.End, now), display.Cut(sitesOf(o), display.SiteWidth), o.Nodes,
					cell(o, false, false), cell(q.Later, true, false), cell(q.Elsewhere, true, true)}
			}
			w.AppendRow(row)
		}
		return w
	}
	fmt.Fprintln(out, display.Fitting(rows))
	for i := range list {
		if q := &list[i]; q.Now != nil && q.Now.Reason != nil {
			fmt.Fprintf(out, "%s gets no window now: %s\n", q.Name, q.Now.Reason)
		}
	}
	fmt.Fprintln(out)
	for i := range list {
		if q := &list[i]; q.Queue != nil && len(list) <= mostUnfolded {
			_ = display.Folded(out, fmt.Sprintf("%s would probably begin at %s in the queue of %s, by the estimates of the jobs there: no price, and no promise.",
				q.Name, display.Day(q.Queue.Start, now), sitesOf(q.Queue)))
		}
	}
	for i := range list {
		if q := &list[i]; len(list) <= mostUnfolded {
			printSites(out, q.Name, q.Sites, now)
		}
	}
	for i := range list {
		q := &list[i]
		if q.Elements > 0 {
			_ = display.Folded(out, fmt.Sprintf("%s asks for %s, each with a price of its own: what is shown is the first.", q.Name, grid.Count(q.Elements, "window")))
		}
		if q.Capped {
			whole := api.Credits{Credits: q.Budget.Times(max(1, q.Elements))}
			fmt.Fprintf(out, "%s pays at most %v credits per node-hour, the broker's price_cap, and %s in all.\n", q.Name, q.MaxPrice, display.Credits(&whole))
		}
	}
	legend := "Nothing is held. Later: ready half an hour after that start. Elsewhere: on none of those sites."
	if guess {
		legend += " +: jobs wait there for these nodes, and the site has not said what it adds for their delay."
	}
	_ = display.Folded(out, legend)
}

// sitesOf names the sites of a window, each once.
func sitesOf(o *api.Outlook) string {
	var names []string
	for i := range o.Legs {
		if !slices.Contains(names, o.Legs[i].Site) {
			names = append(names, o.Legs[i].Site)
		}
	}
	return strings.Join(names, ",")
}
