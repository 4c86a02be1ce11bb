package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/web"
	"github.com/bourse-grid/bourse/web/client"
)

// calling holds the flags of every command that calls a federation: where it is, and
// how to print the answer.
type calling struct {
	context string
	json    bool
}

// flags adds the flags that all of them have.
func (c *calling) flags(cmd *cobra.Command) {
	flags.AddFlag(cmd, &c.context, flags.AsContext, "context", "", "context file of the federation (default $"+client.Variable+", then "+client.Default+")")
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")
}

// find reads the context file.
func (c *calling) find() (*client.Context, error) {
	found, err := client.Find(c.context)
	return found, flags.OfKind(cmp.Or(c.context, os.Getenv(client.Variable), client.Default), configs.KindContext, err)
}

// broker is the client of the federation's broker.
func (c *calling) broker() (*client.Client, error) {
	found, err := c.find()
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
		return flags.WriteJSON(out, answer)
	}
	_, err = fmt.Fprintln(out, words(&answer))
	return err
}

// site is the client of a site.
func (c *calling) site(name string) (*client.Client, error) {
	found, err := c.find()
	if err != nil {
		return nil, err
	}
	return found.ToSite(name)
}

// refused marks an error as a failure (exit 1) if the API refused the call or cannot be
// reached. A call that makes no sense is bad input (exit 2).
func refused(err error) error {
	var p *client.Problem
	var m misuse
	if err == nil || errors.As(err, &p) && p.Input() || errors.As(err, &m) {
		return err
	}
	return failure.Of(err)
}

// misuse is bad usage that shows only while a command runs.
type misuse struct{ error }

// arguments refuses a call with fewer or more arguments than a command takes.
func arguments(least, most int, wanted string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("%s takes %s; see %s --help", strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "), wanted, cmd.CommandPath())
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

// tableWidth is how many columns a table takes at most. jobLeast is how many of them
// remain for the identities of jobs, however wide the rest is.
const (
	tableWidth = report.Columns
	jobLeast   = 16
	helpWidth  = 80 // of help
	proseWidth = 78 // of sentences
)

// folded prints a sentence in lines that fit a terminal, without a break between a mean
// and its interval.
func folded(out io.Writer, sentence string) error {
	const joined = "\ue000±\ue000" // a character of private use, where no line breaks
	lines := report.Wrapped(strings.ReplaceAll(sentence, " ± ", joined), proseWidth)
	_, err := fmt.Fprintln(out, strings.ReplaceAll(strings.Join(lines, "\n"), joined, " ± "))
	return err
}

// cutMiddle shortens an identity in the middle, because both of its ends matter.
func cutMiddle(s string, width int) string {
	r := []rune(s)
	if len(r) <= width {
		return s
	}
	tail := width / 2
	return string(r[:width-1-tail]) + "…" + string(r[len(r)-tail:])
}

// fitting renders a table whose first column holds identities, and cuts them if the table
// would be wider than tableWidth. fill makes the table with identities of a given width.
// The table is measured with the shortest identities. A letter more of them makes it a
// column wider, so that tells how long they may be: however many rows there are, they are
// rendered three times at most, or once more for each letter that takes two columns.
func fitting(fill func(width int) table.Writer) string {
	const whole = 1000
	words := report.Unfitted(fill(whole))
	if text.LongestLineLen(words) <= tableWidth {
		return words
	}
	least := fill(jobLeast)
	words = report.Unfitted(least)
	narrow := text.LongestLineLen(words)
	if narrow > tableWidth {
		return least.Render()
	}
	for width := jobLeast + tableWidth - narrow; width > jobLeast; width-- {
		if wider := report.Unfitted(fill(width)); text.LongestLineLen(wider) <= tableWidth {
			return wider
		}
	}
	return words
}

// day shows an instant in local time as briefly as possible: the time if it is today,
// else also the date, and the year if it is another year.
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

// relative shows how far away an instant is: "in 12 min", "3 h ago".
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

// both shows an instant and how far away it is.
func both(i web.Instant, now time.Time) string {
	if i == 0 {
		return "-"
	}
	return day(i, now) + " " + relative(i, now)
}

// moment shows an instant in full: local time, RFC 3339 to the second.
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
