// Package display is how commands show things to people: instants, spans, amounts and
// identities, in sentences and tables that fit a terminal.
package display

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/web/api"
)

// Widths that keep the tables within a terminal.
const (
	SiteWidth  = 14
	UserWidth  = 10
	GroupWidth = 12
)

// Cut shortens a text for a column.
func Cut(s string, width int) string {
	if len([]rune(s)) <= width {
		return s
	}
	return text.Trim(s, width-1) + "…"
}

// TableWidth is how many columns a table takes at most. JobLeast is how many of them
// remain for the identities of jobs, however wide the rest is.
const (
	TableWidth = report.Columns
	JobLeast   = 16
	HelpWidth  = 80 // of help
	proseWidth = 78 // of sentences
)

// Folded prints a sentence in lines that fit a terminal, without a break between a mean
// and its interval.
func Folded(out io.Writer, sentence string) error {
	const joined = "\ue000±\ue000" // a character of private use, where no line breaks
	lines := report.Wrapped(strings.ReplaceAll(sentence, " ± ", joined), proseWidth)
	_, err := fmt.Fprintln(out, strings.ReplaceAll(strings.Join(lines, "\n"), joined, " ± "))
	return err
}

// CutMiddle shortens an identity in the middle, because both of its ends matter.
func CutMiddle(s string, width int) string {
	r := []rune(s)
	if len(r) <= width {
		return s
	}
	tail := width / 2
	return string(r[:width-1-tail]) + "…" + string(r[len(r)-tail:])
}

// Fitting renders a table whose first column holds identities, and cuts them if the table
// would be wider than TableWidth. fill makes the table with identities of a given width.
// The table is measured with the shortest identities. A letter more of them makes it a
// column wider, so that tells how long they may be: however many rows there are, they are
// rendered three times at most, or once more for each letter that takes two columns.
func Fitting(fill func(width int) table.Writer) string {
	const whole = 1000
	words := report.Unfitted(fill(whole))
	if text.LongestLineLen(words) <= TableWidth {
		return words
	}
	least := fill(JobLeast)
	words = report.Unfitted(least)
	narrow := text.LongestLineLen(words)
	if narrow > TableWidth {
		return least.Render()
	}
	for width := JobLeast + TableWidth - narrow; width > JobLeast; width-- {
		if wider := report.Unfitted(fill(width)); text.LongestLineLen(wider) <= TableWidth {
			return wider
		}
	}
	return words
}

// Day shows an instant in local time as briefly as possible: the time if it is today,
// else also the date, and the year if it is another year.
func Day(i api.Instant, now time.Time) string {
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
func relative(i api.Instant, now time.Time) string {
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

// Both shows an instant and how far away it is.
func Both(i api.Instant, now time.Time) string {
	if i == 0 {
		return "-"
	}
	return Day(i, now) + " " + relative(i, now)
}

// Moment shows an instant in full: local time, RFC 3339 to the second.
func Moment(i api.Instant, now time.Time) string {
	if i == 0 {
		return "-"
	}
	return fmt.Sprintf("%s (%s)", i.Time().In(now.Location()).Format("2006-01-02 15:04:05Z07:00"), relative(i, now))
}

// Span shows seconds as people write them.
func Span(s api.Seconds) string { return s.Words() }

// Minutes shows a span in minutes.
func Minutes(d time.Duration) string { return fmt.Sprintf("%d minutes", int(d.Minutes())) }

// Credits shows an amount with two decimals.
func Credits(c *api.Credits) string {
	if c == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", c.Float())
}

// Roughly shows a span in its two largest units, "2d 3h", "1h 5m", "42s".
func Roughly(d grid.Duration) string {
	units := []struct {
		span grid.Duration
		name string
	}{{grid.Day, "d"}, {grid.Hour, "h"}, {grid.Minute, "m"}, {grid.Second, "s"}}
	for i, u := range units {
		if d < u.span && u.span > grid.Second {
			continue
		}
		words := fmt.Sprintf("%d%s", d/u.span, u.name)
		if i+1 < len(units) && d%u.span >= units[i+1].span {
			words += fmt.Sprintf(" %d%s", d%u.span/units[i+1].span, units[i+1].name)
		}
		return words
	}
	panic("unreachable: the last unit fits")
}

// Grouped shows a count with a comma between thousands.
func Grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Definition explains a word in the help, with the text from a column on.
func Definition(word, is string, column int) string {
	lines := report.Wrapped(is, HelpWidth-column)
	return fmt.Sprintf("  %-*s%s\n", column-2, word, strings.Join(lines, "\n"+strings.Repeat(" ", column)))
}
