package use

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// How often settle asks for a batch: soon at first, later at most once a second; and once a
// while though no event came, for the one that may have been lost.
const (
	firstAsk  = 20 * time.Millisecond
	slowAsk   = time.Second
	silentAsk = 30 * time.Second
)

// settle waits until every job of a batch is placed, has ended or was given up. It asks
// for the batch when the broker's stream of events says that a job of it has another state,
// and only if there is no stream again and again. It leaves out batches of other users with
// the same identity, which an operator would see. With an error it returns the jobs as last
// seen.
func (c *submitting) settle(ctx context.Context, server *client.Client, answer api.BatchAnswer, messages io.Writer) ([]api.Job, error) {
	said := ""
	own := map[string]bool{}
	for _, j := range answer.Jobs {
		if j.Taken {
			own[j.ID] = true
		}
	}
	follow, leave := context.WithCancel(ctx)
	defer leave()
	news := batchNews(follow, server, own)
	var seen []api.Job
	for wait := firstAsk; ; wait = min(wait*3/2, slowAsk) {
		list, err := server.Jobs(ctx, client.Filter{Batch: answer.ID})
		if ctx.Err() != nil {
			return seen, context.Cause(ctx)
		}
		if err != nil {
			return seen, err
		}
		list = slices.DeleteFunc(list, func(j api.Job) bool { return !own[j.ID] })
		seen = list
		var open []string
		for i := range list {
			if s := list[i].State; !over(s) && (pending(&list[i]) || c.wait == "done") {
				open = append(open, list[i].Name+" ("+s+")")
			}
		}
		if len(open) == 0 {
			return list, nil
		}
		if now := waitsFor(open, len(list), c.wait); now != said {
			said = now
			fmt.Fprintln(messages, now)
		}
		if !listen(ctx, wait, news) {
			return seen, context.Cause(ctx)
		}
	}
}

// listen waits for news, but at least so long, and reports false if ctx ended.
func listen(ctx context.Context, least time.Duration, news <-chan struct{}) bool {
	select {
	case <-time.After(least):
	case <-ctx.Done():
		return false
	}
	silent := time.NewTimer(silentAsk)
	defer silent.Stop()
	select {
	case <-news:
	case <-silent.C:
	case <-ctx.Done():
		return false
	}
	return true
}

// batchNews follows the events of a batch's jobs. It sends when a stream has been opened,
// for what happened before, and when a job has another state. It closes the channel if
// there is no stream to follow.
func batchNews(ctx context.Context, server *client.Client, own map[string]bool) <-chan struct{} {
	news := make(chan struct{}, 1)
	tell := func() {
		select {
		case news <- struct{}{}:
		default: // it has not been looked at yet
		}
	}
	only := ""
	if len(own) == 1 {
		for id := range own {
			only = id
		}
	}
	go func() {
		defer close(news)
		states := map[string]string{}
		_ = server.FollowOpened(ctx, only, tell, func(e client.Event) error {
			j := e.Job
			if j == nil {
				j = &e.Turn.Job
			}
			if own[row(j)] && states[j.ID] != j.State {
				states[j.ID] = j.State
				tell()
			}
			return nil
		})
	}()
	return news
}

// waitsFor says how far a batch is, and names the first jobs that are still open.
func waitsFor(open []string, all int, until string) string {
	names := open
	if len(names) > 3 {
		names = append(slices.Clone(names[:3]), fmt.Sprintf("%d more", len(open)-3))
	}
	return fmt.Sprintf("%d of %d %s; waiting for %s", all-len(open), all, until, strings.Join(names, ", "))
}
