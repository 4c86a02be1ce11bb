package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
)

// Dry runs: what jobs would get that nobody has submitted. The broker asks its sites what is
// free, as for anybody who looks at them; the plan is made outside of its turns.

// QuoteWish is a batch that is not submitted.
type QuoteWish struct {
	Jobs   []JobRequest `json:"jobs" minItems:"1" maxItems:"5000" doc:"as in a batch; at most 100, if more than prices is wanted"`
	Prices bool         `json:"prices,omitempty" doc:"only say each job's price and budget, and whether the price is the broker's price cap"`
}

// QuoteAnswer says of each job what it would get, in the order of the batch.
type QuoteAnswer struct {
	At   Instant    `json:"at"`
	Jobs []JobQuote `json:"jobs"`
}

// JobQuote is what a job would get. Nothing is held: when it is submitted it may get something
// else.
type JobQuote struct {
	Name      string   `json:"name"`
	MaxPrice  Price    `json:"maxPrice" doc:"the most that it pays for a node-hour"`
	Budget    Credits  `json:"budget" doc:"the most that it pays"`
	Capped    bool     `json:"capped,omitempty" doc:"it gives neither price nor budget, and maxPrice is the broker's price cap"`
	Now       *Outlook `json:"now,omitempty" doc:"in the next cycle"`
	Later     *Outlook `json:"later,omitempty" doc:"if it were ready half an hour after that window begins; absent: it gets none"`
	Elsewhere *Outlook `json:"elsewhere,omitempty" doc:"on none of the sites of that window; absent: it gets none"`
}

// Outlook is a window, or why there is none.
type Outlook struct {
	Start   Instant      `json:"start,omitzero"`
	End     Instant      `json:"end,omitzero"`
	Nodes   int          `json:"nodes,omitempty"`
	Cost    *Credits     `json:"cost,omitempty"`
	AtLeast bool         `json:"atLeast,omitempty" doc:"jobs wait there for nodes of the window, and the site may add to the cost for their delay"`
	Legs    []OutlookLeg `json:"legs,omitempty" doc:"its parts, by site"`
	Reason  *Reason      `json:"reason,omitempty" doc:"why there is no window"`
}

// OutlookLeg is one site's part of such a window.
type OutlookLeg struct {
	Site  string  `json:"site"`
	Group string  `json:"group"`
	Nodes int     `json:"nodes"`
	Cost  Credits `json:"cost"`
}

type quoteInput struct{ Body QuoteWish }

type quoteOutput struct{ Body QuoteAnswer }

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
	b := &Batch{Jobs: in.Body.Jobs}
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
	jobs, err := b.vocabulary(now, b.suffixes())
	if err != nil {
		return nil, err
	}
	out := &quoteOutput{QuoteAnswer{At: Instant(now), Jobs: make([]JobQuote, len(jobs))}}
	for i := range jobs {
		out.Body.Jobs[i] = JobQuote{Name: b.Jobs[i].Name, MaxPrice: Price{jobs[i].MaxPrice}, Budget: Credits{jobs[i].Budget}, Capped: b.Jobs[i].Capped}
	}
	if in.Body.Prices {
		return out, nil
	}
	return out, s.foresee(ctx, jobs, out.Body.Jobs)
}

// foresee plans the jobs, which takes no turn of the broker, and says what each gets.
func (s *quotes) foresee(ctx context.Context, jobs []grid.Job, out []JobQuote) error {
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
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return s.unanswered(ctx.Err())
	}
	defer func() { <-s.slots }()
	list := broker.Foresee(f)
	for n, i := range order {
		got, q := &list[n], &out[i]
		q.Now = outlookOf(&got.Now)
		if got.Now.Taken() != nil {
			q.Later, q.Elsewhere = outlookOf(&got.Later), outlookOf(&got.Elsewhere)
		}
	}
	return nil
}

// outlookOf shows what a plan has for a job.
func outlookOf(o *broker.Prospect) *Outlook {
	got := o.Taken()
	if got == nil {
		return &Outlook{Reason: reasonOf(o.Reason)}
	}
	x := &Outlook{Start: Instant(got.Start), End: Instant(got.End), Cost: &Credits{got.Fare.Total()}, AtLeast: got.Guessed()}
	for i := range got.Legs {
		l := &got.Legs[i]
		x.Nodes += l.Leg.Nodes
		x.Legs = append(x.Legs, OutlookLeg{Site: l.Site, Group: l.Leg.Group, Nodes: l.Leg.Nodes, Cost: Credits{l.Fare.Total()}})
	}
	return x
}

// price gives the jobs that name neither a price nor a budget the broker's price cap, and
// returns the time by its clock.
func (s *batches) price(ctx context.Context, b *Batch) (now grid.Time, err error) {
	var lacks []int
	err = s.view(ctx, func(t grid.Time, x agents.Agent) {
		now = t
		lacks = b.cap(now, x.(*broker.Broker))
	})
	if err == nil && len(lacks) > 0 { // nobody has asked the sites yet
		s.look(ctx, caller(ctx))
		err = s.broker(ctx, func(t grid.Time, x *broker.Broker) {
			now = t
			lacks = b.cap(now, x)
		})
	}
	if err != nil || len(lacks) == 0 {
		return now, err
	}
	return now, huma.Error422UnprocessableEntity(fmt.Sprintf("body.jobs[%d].maxPrice: missing, and no site that suits the job has answered, by whose prices the broker would cap it; give maxPrice (credits per node-hour) or budget (credits)", lacks[0]))
}

// cap sets the price cap of the jobs without a price, and lists those for which none is known.
func (b *Batch) cap(now grid.Time, x *broker.Broker) (lacks []int) {
	for i := range b.Jobs {
		r := &b.Jobs[i]
		if !r.unpriced() {
			continue
		}
		tried := *r
		tried.MaxPrice = &Price{}
		j, _, err := tried.job(now)
		if err != nil { // which is said of it as of any other job
			r.MaxPrice = tried.MaxPrice
			continue
		}
		price, known := x.PriceCap(now, &j.Request)
		if !known {
			lacks = append(lacks, i)
			continue
		}
		r.MaxPrice, r.Capped = &Price{price}, true
	}
	return lacks
}

// unpriced reports whether neither the job nor a part of it says what it may cost.
func (r *JobRequest) unpriced() bool {
	return r.MaxPrice == nil && r.Budget == nil && !slices.ContainsFunc(r.Parts, func(p PartRequest) bool { return p.MaxPrice != nil })
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
