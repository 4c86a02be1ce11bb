package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/web"
	"github.com/bourse-grid/bourse/web/client"
)

// calling is what every command that calls a federation has: where it is, and
// how to print.
type calling struct {
	context string
	json    bool
}

// flags adds the flags that all of them have.
func (c *calling) flags(cmd *cobra.Command) {
	addFlag(cmd, &c.context, asContext, "context", "", "context file of the federation (default $"+client.Variable+", then "+client.Default+")")
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")
}

// broker is the client of the federation's broker.
func (c *calling) broker() (*client.Client, error) {
	found, err := client.Find(c.context)
	if err != nil {
		return nil, err
	}
	return found.ToBroker()
}

// told prints what the broker answers, as JSON or in words.
func told[T any](ctx context.Context, c *calling, out io.Writer, ask func(context.Context, *client.Client) (T, error), words func(*T) string) error {
	api, err := c.broker()
	if err != nil {
		return err
	}
	answer, err := ask(ctx, api)
	if err != nil {
		return refused(err)
	}
	if c.json {
		return writeJSON(out, answer)
	}
	_, err = fmt.Fprintln(out, words(&answer))
	return err
}

// site is the client of a site.
func (c *calling) site(name string) (*client.Client, error) {
	found, err := client.Find(c.context)
	if err != nil {
		return nil, err
	}
	return found.ToSite(name)
}

// refused marks what an API has refused, or that it cannot be reached, as
// failed; only what makes no sense is bad input.
func refused(err error) error {
	var p *client.Problem
	var m misuse
	if err == nil || errors.As(err, &p) && p.Input() || errors.As(err, &m) {
		return err
	}
	return failed(err)
}

// misuse is bad usage that is found on the way.
type misuse struct{ error }

// arguments refuses a call with fewer or more arguments than a command takes.
func arguments(least, most int, wanted string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("%s takes %s; see bourse %s --help", cmd.Name(), wanted, cmd.Name())
		}
		return nil
	}
}

// Widths that keep the tables within a terminal.
const (
	siteWidth  = 14
	userWidth  = 10
	groupWidth = 12
)

// cut shortens a text for a column.
func cut(s string, width int) string {
	if len([]rune(s)) <= width {
		return s
	}
	return text.Trim(s, width-1) + "…"
}

// tableWidth is how many columns a table takes at most, and jobLeast how many of
// them the identities of jobs are left where the rest is wide.
const (
	tableWidth = report.Columns
	jobLeast   = 16
	helpWidth  = 80 // of help
	proseWidth = 78 // of sentences
)

// folded prints a sentence in lines that fit a terminal. A mean and its interval stay
// together.
func folded(out io.Writer, sentence string) error {
	const joined = "\ue000±\ue000" // of nothing that is taken for a space
	lines := report.Wrapped(strings.ReplaceAll(sentence, " ± ", joined), proseWidth)
	_, err := fmt.Fprintln(out, strings.ReplaceAll(strings.Join(lines, "\n"), joined, " ± "))
	return err
}

// cutMiddle shortens an identity, of which both ends tell something.
func cutMiddle(s string, width int) string {
	r := []rune(s)
	if len(r) <= width {
		return s
	}
	tail := width / 2
	return string(r[:width-1-tail]) + "…" + string(r[len(r)-tail:])
}

// fitting renders a table whose first column holds identities, which are cut where
// it would be wider than tableWidth. fill makes it with identities of a width.
func fitting(fill func(width int) table.Writer) string {
	const whole = 1000
	words := report.Unfitted(fill(whole))
	wide := text.LongestLineLen(words)
	if wide <= tableWidth {
		return words
	}
	for width := tableWidth; wide > tableWidth && width >= jobLeast; width-- {
		words = report.Unfitted(fill(width))
		wide = text.LongestLineLen(words)
	}
	if wide > tableWidth {
		words = fill(jobLeast).Render()
	}
	return words
}

// day shows an instant in local time as briefly as it is clear: the time of
// today, the date and time of another day, the year where it is another.
func day(i web.Instant, now time.Time) string {
	if i == 0 {
		return "-"
	}
	t := i.Time().In(now.Location())
	switch {
	case t.Year() != now.Year():
		return t.Format("2006-01-02 15:04")
	case t.YearDay() != now.YearDay():
		return t.Format("01-02 15:04")
	}
	return t.Format("15:04:05")
}

// relative is how far an instant is away: "in 12 min", "3 h ago".
func relative(i web.Instant, now time.Time) string {
	d := i.Time().Sub(now)
	away := max(d, -d)
	words := ""
	switch {
	case away < time.Second:
		return "now"
	case away < 90*time.Second:
		words = fmt.Sprintf("%d s", int(away.Seconds()))
	case away < 90*time.Minute:
		words = fmt.Sprintf("%d min", int(away.Minutes()+.5))
	case away < 36*time.Hour:
		words = fmt.Sprintf("%d h", int(away.Hours()+.5))
	default:
		words = fmt.Sprintf("%d d", int(away.Hours()/24+.5))
	}
	if d < 0 {
		return words + " ago"
	}
	return "in " + words
}

// both is an instant and how far it is away.
func both(i web.Instant, now time.Time) string {
	if i == 0 {
		return "-"
	}
	return day(i, now) + " " + relative(i, now)
}

// moment is an instant in full, for one job: RFC 3339 to the second, local.
func moment(i web.Instant, now time.Time) string {
	if i == 0 {
		return "-"
	}
	return fmt.Sprintf("%s (%s)", i.Time().In(now.Location()).Format("2006-01-02 15:04:05Z07:00"), relative(i, now))
}

// span shows seconds as people write them.
func span(s web.Seconds) string { return s.Words() }

// credits shows an amount with two decimals.
func credits(c *web.Credits) string {
	if c == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", c.Float())
}
