package use

import (
	"fmt"
	"io"
	"time"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/web/api"
)

// printSites prints a line for each site that forecasts its queue: a place in it beside a window.
func printSites(out io.Writer, job string, list []api.SiteQuote, now time.Time) {
	for i := range list {
		line := siteLine(&list[i], now)
		if job != "" {
			line = job + " at " + line
		}
		_ = display.Folded(out, line)
	}
}

// siteLine says what one site has for a job.
func siteLine(q *api.SiteQuote, now time.Time) string {
	return fmt.Sprintf("%s: queued, %s; reserved: %s", q.Site, likely(&q.Queued, now), window(q.Reserved, now))
}

// likely says when a job would probably start in a queue, and how often such words have held.
func likely(b *api.BestEffort, now time.Time) string {
	if b.StartsNow {
		return "starts at once"
	}
	if b.Median == nil {
		return "not foreseen"
	}
	held := "not calibrated"
	if b.Calibrated && b.Held != nil {
		held = fmt.Sprintf("held %.0f %% of %s", 100**b.Held, display.Grouped(b.Of))
	}
	upper := "no end"
	if b.Upper != nil {
		upper = ahead(*b.Upper, now)
	}
	return fmt.Sprintf("likely %s (%d %%: %s to %s, %s)", ahead(*b.Median, now), b.Level, ahead(*b.Lower, now), upper, held)
}

// window says when a window begins and what it costs, or that there is none.
func window(o *api.Outlook, now time.Time) string {
	if o == nil || o.Cost == nil {
		return "no window"
	}
	cost := display.Credits(o.Cost)
	if o.AtLeast {
		cost = "at least " + cost
	}
	return fmt.Sprintf("%s, %s credits", ahead(o.Start, now), cost)
}

// ahead shows an instant as the time until then, to the minute and from ten hours on to the hour.
func ahead(i api.Instant, now time.Time) string {
	minutes := (int64(i) - now.UnixMilli() + 30_000) / 60_000
	if minutes <= 0 {
		return "now"
	}
	if minutes >= 600 {
		minutes = (minutes + 30) / 60 * 60
	}
	words := ""
	for _, u := range []struct {
		minutes int64
		name    string
	}{{24 * 60, "d"}, {60, "h"}, {1, "min"}} {
		if n := minutes / u.minutes; n > 0 {
			words += fmt.Sprintf(" %d %s", n, u.name)
			minutes %= u.minutes
		}
	}
	return words[1:]
}
