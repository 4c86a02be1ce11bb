package use

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/client"
)

// watchEvery is how often the screen is drawn at most.
const watchEvery = time.Second

// clearScreen moves to the top left and clears what is below.
const clearScreen = "\x1b[H\x1b[2J"

// watch draws the list, or the job, again whenever it has changed: in place on a terminal,
// elsewhere below the last. It ends with ctx or, for one job, when that is over, with an error
// if it did not succeed.
func (c *jobsCommand) watch(ctx context.Context, api *client.Client, id string, out io.Writer) error {
	if id != "" {
		j, err := api.Job(ctx, id)
		if err != nil {
			return flags.Refused(err)
		}
		id = j.ID
	}
	follow, leave := context.WithCancel(ctx)
	defer leave()
	news := allNews(follow, api, id)
	screen := terminalOf(out)
	said := ""
	for {
		var text strings.Builder
		state, why, err := c.draw(ctx, api, id, &text)
		if ctx.Err() != nil {
			return flags.Refused(context.Cause(ctx))
		}
		if err != nil {
			return err
		}
		if now := text.String(); now != said {
			said = now
			if screen != nil {
				_, _ = io.WriteString(screen, clearScreen) // the text itself is escaped
			} else if said != "" {
				now += "\n"
			}
			if _, err := io.WriteString(out, now); err != nil {
				return err
			}
		}
		switch {
		case id != "" && state == grid.JobDone.String():
			return nil
		case id != "" && over(state):
			return flags.Refused(fmt.Errorf("%s", why))
		case !listen(ctx, watchEvery, news):
			return flags.Refused(context.Cause(ctx))
		}
	}
}

// draw prints the list, or one job with its state; an array with its elements.
func (c *jobsCommand) draw(ctx context.Context, api *client.Client, id string, out io.Writer) (state, why string, err error) {
	if id == "" {
		return "", "", c.list(ctx, api, out, io.Discard)
	}
	j, err := api.Job(ctx, id)
	if err != nil {
		return "", "", flags.Refused(err)
	}
	if j.Array != nil {
		return j.State, outcome(&j), c.showArray(ctx, api, &j, out, io.Discard)
	}
	printJob(out, &j, time.Now())
	return j.State, outcome(&j), nil
}

// allNews follows the events of all jobs, or of one. It sends whenever there was one since it
// was last looked at, and closes the channel if there is no stream to follow.
func allNews(ctx context.Context, api *client.Client, only string) <-chan struct{} {
	news := make(chan struct{}, 1)
	tell := func() {
		select {
		case news <- struct{}{}:
		default: // it has not been looked at yet
		}
	}
	go func() {
		defer close(news)
		_ = api.FollowOpened(ctx, only, tell, func(client.Event) error {
			tell()
			return nil
		})
	}()
	return news
}

// terminalOf is the terminal that results go to; nil: they go elsewhere.
func terminalOf(out io.Writer) io.Writer {
	if o, ok := out.(*flags.Output); ok {
		out = o.W
	}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}
