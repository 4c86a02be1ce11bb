package web

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/danielgtaylor/huma/v2"
)

// Dry runs: what jobs would get that nobody has submitted. The broker asks its sites what is
// free, as for anybody who looks at them; the plan is made outside of its turns.

type quoteInput struct{ Body api.QuoteWish }

type quoteOutput struct{ Body api.QuoteAnswer }

// The bounds of dry runs.
const (
	mostQuoted   = 100 // jobs of one
	quotesAtOnce = 2   // under way at once; others wait for their turn
	quotePace    = 60  // of one caller in a minute
)

// quotes answers dry runs.
type quotes struct {
	*batches
	slots chan struct{} // a place for each plan under way
	pace  pace
}

func (s *quotes) quote(ctx context.Context, in *quoteInput) (*quoteOutput, error) {
	b := &api.Batch{Jobs: in.Body.Jobs}
	if err := s.ownNames(ctx, b); err != nil {
		return nil, err
	}
	if !in.Body.Prices {
		if n := len(b.Jobs); n > mostQuoted {
			return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("the batch has %d jobs; a dry run takes at most %d: leave some out", n, mostQuoted))
		}
		if !s.pace.enter(caller(ctx), time.Now()) {
			s.count.busy.Inc()
			return nil, huma.ErrorWithHeaders(huma.Error429TooManyRequests(fmt.Sprintf("you have asked for %d dry runs in this minute, the most there are; try again in the next", quotePace)),
				http.Header{"Retry-After": {"60"}})
		}
		s.look(ctx, caller(ctx))
	}
	now, err := s.price(ctx, b)
	if err != nil {
		return nil, err
	}
	jobs, err := b.Vocabulary(now, b.Suffixes())
	if err != nil {
		return nil, err
	}
	if err := s.named(ctx, jobs); err != nil {
		return nil, err
	}
	out := &quoteOutput{api.QuoteAnswer{At: api.Instant(now), Jobs: make([]api.JobQuote, len(jobs))}}
	for i := range jobs {
		out.Body.Jobs[i] = api.JobQuote{Name: b.Jobs[i].Name, MaxPrice: api.Price{Price: jobs[i].MaxPrice}, Budget: api.Credits{Credits: jobs[i].Budget}, Capped: b.Jobs[i].Capped, Elements: jobs[i].Array.Indices.Len()}
	}
	if in.Body.Prices {
		return out, nil
	}
	return out, s.foresee(ctx, jobs, out.Body.Jobs)
}

// foresee plans the jobs, which takes no turn of the broker, and says what each gets.
func (s *quotes) foresee(ctx context.Context, jobs []grid.Job, out []api.JobQuote) error {
	names, after := make([]string, len(jobs)), make([][]string, len(jobs))
	for i := range jobs {
		names[i], after[i] = jobs[i].Name, grid.Names(jobs[i].After)
	}
	order, _ := grid.InOrder(names, after)
	sorted := make([]grid.Job, len(jobs))
	for n, i := range order {
		sorted[n] = jobs[i]
	}
	var f *broker.Foresight
	if err := s.broker(ctx, func(now grid.Time, b *broker.Broker) { f = b.Foresee(now, sorted) }); err != nil {
		return err
	}
	list, err := s.planned(ctx, f)
	if err != nil {
		return err
	}
	for n, i := range order {
		got, q := &list[n], &out[i]
		q.Now = outlookOf(&got.Now)
		if got.Now.Taken() != nil {
			q.Later, q.Elsewhere = outlookOf(&got.Later), outlookOf(&got.Elsewhere)
		}
		if x := got.Queue; x != nil {
			q.Queue = &api.Outlook{Start: api.Instant(x.Start), End: api.Instant(x.End), Legs: []api.OutlookLeg{{Site: x.Site, Nodes: sorted[n].Nodes}}}
		}
		q.Sites = siteQuotes(got)
	}
	return nil
}

// planned plans jobs, once it is their turn.
func (s *quotes) planned(ctx context.Context, f *broker.Foresight) ([]broker.Foreseen, error) {
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, s.unanswered(ctx.Err())
	}
	defer func() { <-s.slots }()
	return broker.Foresee(f, s.prices(ctx)), nil
}

// again says what each site that forecasts its queues has for a job that waits; nil: it does not
// wait, or none forecasts.
func (s *quotes) again(ctx context.Context, job string) ([]api.SiteQuote, error) {
	var f *broker.Foresight
	if err := s.broker(ctx, func(now grid.Time, b *broker.Broker) { f = broker.ForeseeAgain(b, now, job) }); err != nil || f == nil {
		return nil, err
	}
	list, err := s.planned(ctx, f)
	if err != nil {
		return nil, err
	}
	return siteQuotes(&list[0]), nil
}

// siteQuotes shows what the sites that forecast have for a job.
func siteQuotes(got *broker.Foreseen) (list []api.SiteQuote) {
	for k := range got.Sites {
		x := &got.Sites[k]
		list = append(list, api.SiteQuote{Site: x.Site, Queued: api.BestEffortOf(&x.Queued), Reserved: outlookOf(&x.Reserved)})
	}
	return list
}

// pricesWait bounds how long a dry run waits for prices in all. What no site has named by then
// is shown as at least its base price.
const pricesWait = 1500 * time.Millisecond

// prices asks the broker what sites would charge, until the time for that is over.
func (s *quotes) prices(ctx context.Context) func(agents.PricesLook) agents.PricesLooked {
	until, who := time.Now().Add(pricesWait), caller(ctx).ID()
	return func(m agents.PricesLook) agents.PricesLooked {
		ctx, stop := context.WithDeadline(ctx, until)
		defer stop()
		answer, err := s.opt.Host.Ask(ctx, who, s.opt.Agent, m)
		if err != nil {
			s.opt.Log.Debug().Err(err).Msg("the sites were not asked for the prices of a dry run")
		}
		looked, _ := answer.(agents.PricesLooked)
		return looked
	}
}

// outlookOf shows what a plan has for a job.
func outlookOf(o *broker.Prospect) *api.Outlook {
	got := o.Taken()
	if got == nil {
		return &api.Outlook{Reason: api.ReasonOf(o.Reason)}
	}
	x := &api.Outlook{Start: api.Instant(got.Start), End: api.Instant(got.End), Cost: &api.Credits{Credits: got.Fare.Total()}, AtLeast: got.Guessed()}
	for i := range got.Legs {
		l := &got.Legs[i]
		x.Nodes += l.Leg.Nodes
		x.Legs = append(x.Legs, api.OutlookLeg{Site: l.Site, Group: l.Leg.Group, Nodes: l.Leg.Nodes, Cost: api.Credits{Credits: l.Fare.Total()}})
	}
	return x
}

// price gives the jobs that name neither a price nor a budget the broker's price cap, and
// returns the time by its clock.
func (s *batches) price(ctx context.Context, b *api.Batch) (now grid.Time, err error) {
	lacks, never := -1, grid.Reason{}
	err = s.view(ctx, func(t grid.Time, x agents.Agent) {
		now = t
		lacks, never = capPrices(b, now, x.(*broker.Broker))
	})
	if err == nil && lacks >= 0 && !never.Refused() { // nobody has asked the sites yet
		s.look(ctx, caller(ctx))
		err = s.broker(ctx, func(t grid.Time, x *broker.Broker) {
			now = t
			lacks, never = capPrices(b, now, x)
		})
	}
	switch {
	case err != nil || lacks < 0:
		return now, err
	case never.Refused():
		return now, huma.Error422UnprocessableEntity(fmt.Sprintf("body.jobs[%d]: can never run here: %s", lacks, never.Detail))
	}
	return now, huma.Error422UnprocessableEntity(fmt.Sprintf("body.jobs[%d].maxPrice: missing, and no site that has answered has nodes that suit the job, by whose prices the broker would cap it; give maxPrice (credits per node-hour) or budget (credits), and the job waits for the other sites", lacks))
}

// capPrices sets the price cap of the jobs without a price, up to the first for which none is
// known, and returns that one's index, and why it can never run if that is so; -1: none lacks one.
func capPrices(b *api.Batch, now grid.Time, x *broker.Broker) (lacks int, never grid.Reason) {
	for i := range b.Jobs {
		r := &b.Jobs[i]
		if !r.Unpriced() {
			continue
		}
		tried := *r
		tried.MaxPrice = &api.Price{}
		j, _, err := tried.Job(now)
		if err != nil { // which is said of it as of any other job
			r.MaxPrice = tried.MaxPrice
			continue
		}
		price, known := x.PriceCap(now, &j.Request)
		if !known {
			return i, broker.Never(x, now, &j.Request)
		}
		r.MaxPrice, r.Capped = &api.Price{Price: price}, true
	}
	return -1, never
}

// pace counts what callers ask for in a minute.
type pace struct {
	mu     sync.Mutex
	minute int64
	asked  map[Caller]int
}

// enter counts one more for a caller, unless the caller has had the most for this minute.
func (p *pace) enter(who Caller, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := now.Unix() / 60; m != p.minute || p.asked == nil {
		p.minute, p.asked = m, map[Caller]int{}
	}
	if p.asked[who] >= quotePace {
		return false
	}
	p.asked[who]++
	return true
}
