package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history/explain"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/danielgtaylor/huma/v2"
)

// Explain explains the state of a job of the broker that was submitted at since or later, in
// words for a terminal and as a value for programs. It ends with ctx.
type Explain func(ctx context.Context, job string, since grid.Time) (words string, value any, err error)

type explainOutput struct{ Body api.Explanation }

// explanations bounds how many explanations are made at once.
type explanations struct {
	quotes *quotes
	*jobs
	slots   chan struct{} // a place for each one under way
	callers tally         // the places of each caller
}

// explainExtra is how much longer than Limits.Wait an explanation may take, because it
// reads a journal. It must end before the server's write timeout.
const explainExtra = 15 * time.Second

func (s *explanations) explain(ctx context.Context, in *jobInput) (*explainOutput, error) {
	e, err := s.resolve(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if s.opt.Explain == nil {
		return nil, huma.Error501NotImplemented("this broker cannot explain jobs; bourse journal show prints the facts in its journal")
	}
	var since grid.Time
	if err := s.broker(ctx, func(_ grid.Time, b *broker.Broker) {
		if v, ok := b.Job(e.id); ok {
			since = v.Submit
		}
	}); err != nil {
		return nil, err
	}
	leave, err := s.enter(caller(ctx))
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, stop := context.WithTimeout(ctx, s.opt.Limits.Wait+explainExtra)
	defer stop()
	words, value, err := s.opt.Explain(ctx, e.id, since)
	var unknown *explain.ErrUnknown
	switch {
	case errors.As(err, &unknown):
		return nil, huma.Error404NotFound(fmt.Sprintf("the journal no longer has anything about %s: %v", e.id, err))
	case err != nil:
		return nil, s.unanswered(err)
	}
	out := api.Explanation{ID: e.id, Words: words, Value: value}
	out.Sites, err = s.quotes.again(ctx, e.id)
	return &explainOutput{out}, err
}

// enter takes a place for an explanation, or says when to try again.
func (s *explanations) enter(who Caller) (leave func(), err error) {
	again := http.Header{"Retry-After": {"2"}}
	if !s.callers.enter(who, share(who, s.opt.Limits.Explains)) {
		s.count.busy.Inc()
		return nil, huma.ErrorWithHeaders(huma.Error429TooManyRequests("another explanation for you is in progress; try again when it is done"), again)
	}
	select {
	case s.slots <- struct{}{}:
		return func() { <-s.slots; s.callers.leave(who) }, nil
	default:
		s.callers.leave(who)
		s.count.busy.Inc()
		return nil, huma.ErrorWithHeaders(huma.Error503ServiceUnavailable("too many explanations are in progress; try again in two seconds"), again)
	}
}
