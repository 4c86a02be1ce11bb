package sites

import (
	"math"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// offers answers requests for offers and quotes from the cluster's state: what is free,
// what it costs, and for whom.
type offers struct {
	mem      *memory
	cfg      *Config
	groups   map[string]int // index into cfg.Groups, by name
	limits   *limits
	requests *requests
	*view
}

func newOffers(m *memory, groups map[string]int, l *limits, q *requests) offers {
	o := offers{mem: m, cfg: m.cfg, groups: groups, limits: l, requests: q,
		view: &view{promises: m.cfg.Promises, books: make([]*pricing.Book, len(m.cfg.Groups))}}
	for i := range o.books {
		o.books[i] = pricing.NewBook()
		o.books[i].Price(m.cfg.Pricing)
	}
	return o
}

// add puts a request in line, unless it is there already or the line is full.
func (o *offers) add(t step, m agents.Message) {
	k := request{from: t.from, client: o, m: m}
	if o.requests.repeated(k) {
		t.out.Row("S116")
		return
	}
	if why := o.requests.full(t.from); why.Refused() {
		o.refuse(t, why)
		return
	}
	o.requests.add(t, k)
}

// ready answers a request from the state just received.
func (o *offers) ready(t step, k *request) bool {
	vo, _ := brokerOf(k.from)
	switch m := k.m.(type) {
	case agents.OfferRequest:
		a := o.offersTo(t.now, vo, m)
		t.out.Row(barredRow(a.Refusal.Code))
		t.out.Send(k.from, a)
	case agents.QuoteRequest:
		if m.Together {
			t.out.Row("S118")
		}
		t.out.Send(k.from, o.quotesTo(t.now, vo, m))
	}
	return false
}

// requested puts a request for offers in line. A broker's life that is over is told so
// instead, although it only asks. Rows S115, S117.
func (o *offers) requested(t step, m agents.OfferRequest) {
	vo, broker := brokerOf(t.from)
	f := o.mem.life(vo)
	if m.Incarnation != 0 && (f.twin(m.Incarnation, m.Nonce) || m.Incarnation < f.highest) {
		t.out.Row("S115")
		t.reply(agents.Offers{Cycle: m.Cycle, Now: t.now, Nonce: m.Nonce, Latest: f.highest, Stamp: o.mem.stamp(),
			Refusal: fenced("incarnation %d of %s has spoken to %s, %d is over", f.highest, vo, o.cfg.Name, m.Incarnation)})
		return
	}
	if broker && m.Horizon <= t.now { // it only asks for the stamp, which needs no cluster
		t.out.Row("S117")
		t.reply(agents.Offers{Cycle: m.Cycle, Now: t.now, Refusal: o.mem.barred(t.now, vo, ""), Stamp: o.mem.stamp()})
		return
	}
	o.add(t, m)
}

// offersTo is what is free from now to the horizon, by group: what is admissible, and what
// is clear, that is, free even with all jobs of the queue's plan in place.
func (o *offers) offersTo(now grid.Time, vo string, m agents.OfferRequest) agents.Offers {
	a := agents.Offers{Cycle: m.Cycle, Now: now, Version: o.version, Stamp: o.mem.stamp()}
	if a.Refusal = o.mem.barred(now, vo, ""); !a.Refusal.Refused() {
		a.Groups = o.free(now, m.Horizon, vo)
		if !m.Parts {
			for i := range a.Groups {
				a.Groups[i].Group.Slices, a.Groups[i].Opened = 0, nil
			}
		}
	}
	return a
}

// quotesTo prices each leg by itself or, if they are a set, with the legs before it held.
// Row S118.
func (o *offers) quotesTo(now grid.Time, vo string, m agents.QuoteRequest) agents.Quotes {
	a := agents.Quotes{Ref: m.Ref, Version: o.version, Quotes: make([]grid.Quote, len(m.Legs)), Stamp: o.mem.stamp()}
	var set *trial
	if m.Together {
		set = newTrial(o)
	}
	for i, l := range m.Legs {
		if i == maxTogether {
			set = nil
		}
		user := ""
		if i < len(m.Users) {
			user = m.Users[i]
		}
		if why := o.mem.barred(now, vo, user); why.Refused() {
			a.Quotes[i].Refusal = why
		} else {
			a.Quotes[i] = o.quote(now, vo, user, l, nil, set)
		}
		a.Quotes[i].Cancellation = o.cfg.Cancellation
		if set != nil && !a.Quotes[i].Refusal.Refused() {
			set.take(now, l)
		}
	}
	if len(m.Queued) > 0 && !o.mem.barred(now, vo, "").Refused() {
		a.BestEffort = o.requests.answered()
	}
	return a
}

// refuse answers a request for offers or quotes that is not served.
func (o *offers) refuse(t step, why grid.Reason) {
	switch m := t.m.(type) {
	case agents.OfferRequest:
		t.reply(agents.Offers{Cycle: m.Cycle, Now: t.now, Refusal: why, Stamp: o.mem.stamp()})
	case agents.QuoteRequest:
		q := make([]grid.Quote, len(m.Legs))
		for i := range q {
			q[i].Refusal = why
		}
		t.reply(agents.Quotes{Ref: m.Ref, Quotes: q, Stamp: o.mem.stamp()})
	}
}

// free is what is offered to a VO, by group, within its share.
func (o *offers) free(now, horizon grid.Time, vo string) []agents.GroupOffer {
	list := make([]agents.GroupOffer, 0, len(o.cfg.Groups))
	horizon = min(horizon, grid.MaxTime)
	x := o.limits.shareOf(now, vo, nil)
	left := x.most - x.held
	for i, g := range o.cfg.Groups {
		g = o.bounded(i, g)
		g.Curve = g.Curve.Within(now, horizon)
		if o.room != nil || o.cfg.Pilots {
			none := grid.NewProfile(now, 0)
			list = append(list, agents.GroupOffer{Group: g, Admissible: none, Clear: none, Shared: o.room != nil})
			continue
		}
		admissible := o.states[i].Firm()
		clear := admissible
		if p, promised := o.schedule(g.Name, now); promised {
			admissible, clear = o.shown(now, g, p)
		} else if o.cfg.Pricing.ByDelay() {
			if clear = o.book(i).Clear(); o.states[i].Sure != nil {
				clear = clear.Least(admissible)
			}
		}
		list = append(list, agents.GroupOffer{Group: g,
			Admissible: o.net(clip(admissible, now, horizon), now, left), Clear: o.net(clip(clear, now, horizon), now, left),
			Queued: o.states[i].Queued(), Opened: o.openedOn(i, now, horizon)})
	}
	return list
}

// net limits an offer to what the VOs' share has room for: within the span, no more nodes
// than the share has room for during a minute. Longer legs may still be refused, but if
// the share is used up nothing is offered.
func (o *offers) net(p grid.Profile, now grid.Time, left int64) grid.Profile {
	if left == math.MaxInt64 {
		return p
	}
	most := max(left, 0) / int64(grid.Minute)
	end := now.Add(o.cfg.Span)
	out := make(grid.Profile, 0, len(p)+1)
	add := func(at grid.Time, free int) {
		if n := len(out); n == 0 || out[n-1].Free != free {
			out = append(out, grid.Step{At: at, Free: free})
		}
	}
	for i, step := range p {
		if step.At >= end {
			add(step.At, step.Free)
			continue
		}
		add(step.At, int(min(int64(step.Free), most)))
		if last := i+1 == len(p); last || p[i+1].At > end {
			add(end, step.Free)
		}
	}
	return out
}

// clip returns a copy of p that begins at now and has no step at or after the horizon.
func clip(p grid.Profile, now, horizon grid.Time) grid.Profile {
	q := make(grid.Profile, 0, len(p))
	for i, step := range p {
		switch {
		case step.At >= horizon && len(q) > 0:
			return q
		case i+1 < len(p) && p[i+1].At <= now:
			continue
		}
		step.At = max(step.At, now)
		q = append(q, step)
	}
	return q
}

// quote prices a leg on the present state, or says why it cannot be had. old, the leg it
// replaces (nil: none), counts as given back; legs taken in the trial set (nil: none) count
// as held.
func (o *offers) quote(now grid.Time, vo, user string, l grid.Leg, old *leg, set *trial) grid.Quote {
	i, ok := o.groups[l.Group]
	if !ok {
		return refused(grid.Unknown, "%s has no group %q", o.cfg.Name, l.Group)
	}
	if !calendar(l) {
		return refused(grid.Unknown, "no leg: %s over [%v, %v)", grid.Count(l.Nodes, "node"), l.Start, l.End)
	}
	if l.Start < now {
		return refused(grid.Past, "start %v lies before %s's now, %v", l.Start, o.cfg.Name, now)
	}
	if o.room != nil {
		return o.quoteShare(now, vo, user, i, l, old, set.legs())
	}
	if l.Work > 0 {
		return refused(grid.NotAllowed, "%s has no time-shared nodes", o.cfg.Name)
	}
	if why := l.Part.Fault(&o.cfg.Groups[i]); why.Refused() {
		return grid.Quote{Refusal: why}
	}
	if p, promised := o.schedule(l.Group, now); promised {
		return o.quotePromise(now, vo, user, i, l, old, p, set.legs())
	}
	if g := o.bounded(i, o.cfg.Groups[i]); !g.Allows(l.Duration()) {
		return refused(grid.TooLarge, "a window of %s is longer than %s of %s allows: at most %s", l.Duration().Words(), l.Group, o.cfg.Name, g.Longest.Words())
	}
	state, book := &o.states[i], func() *pricing.Book { return o.book(i) }
	switch {
	case old != nil && old.What.Group == l.Group && !l.Part.Some() && !old.What.Part.Some():
		state, book = o.without(i, old.What)
	case set.touches(i):
		state, book = set.of(i)
	}
	own := o.opens(now, i, l, set)
	if r := o.limits.allowed(now, vo, user, i, own, old, state.Reserved, set.legs()...); r.Refused() {
		return grid.Quote{Refusal: r}
	}
	if state.Firm().Min(l.Start, l.End) < own.Nodes {
		return grid.Quote{Refusal: state.Refusal(l.Start, own.Nodes, l.Duration())}
	}
	g := &o.cfg.Groups[i]
	q := grid.Quote{Fare: grid.Fare{Base: g.CostOfLeg(&l)}}
	if own.Nodes == 0 {
		return q
	}
	harm, _ := book().Additive(l.Start, own.Nodes, l.Duration())
	q.Fare.Additive = grid.Cost(g.Price, harm) // at the base price: a delay costs the same at all hours
	return q
}

// without is group i as if a leg were given back, and its plan. A cluster may keep nodes
// for a while before and after a leg, and shows equal nodes as one reservation. So the
// leg's nodes are taken from the reservations that cover it, first from those that reach
// least beyond it. It needs a new plan, which is affordable because moves are rare.
func (o *offers) without(i int, old grid.Leg) (*backfill.State, func() *pricing.Book) {
	state := o.states[i].Clone()
	for left := old.Nodes; left > 0; {
		at := covering(&state, old, left)
		if at < 0 {
			break
		}
		r := &state.Reserved[at]
		n := min(left, r.Nodes)
		left -= n
		r.Nodes -= n
		state.Take(max(r.Start, state.Now), r.End, -n)
		if r.Nodes == 0 {
			state.Reserved = slices.Delete(state.Reserved, at, at+1)
		}
	}
	return &state, o.planOf(&state)
}

// keptBeyond is how long a cluster may keep nodes before and after a leg. A reservation
// that reaches further is not the leg's.
const keptBeyond = 10 * grid.Minute

// covering is the index of the reservation that covers a leg and reaches least beyond it;
// among equals one of n nodes, otherwise the first; -1 if there is none.
func covering(s *backfill.State, l grid.Leg, n int) (at int) {
	at, least := -1, grid.Duration(0)
	from := max(l.Start, s.Now)
	for k := range s.Reserved {
		r := &s.Reserved[k]
		before, after := from.Sub(max(r.Start, s.Now)), r.End.Sub(l.End)
		if r.Nodes < 1 || before < 0 || after < 0 || before > keptBeyond || after > keptBeyond {
			continue
		}
		if beyond := before + after; at < 0 || beyond < least || beyond == least && r.Nodes == n && s.Reserved[at].Nodes != n {
			at, least = k, beyond
		}
	}
	return at
}

// planOf makes the plan of a state's queue when it is first needed.
func (o *offers) planOf(s *backfill.State) func() *pricing.Book {
	return once(func() *pricing.Book {
		book := pricing.NewBook()
		book.Price(o.cfg.Pricing)
		book.Reset(s)
		return book
	})
}

// once returns a function that calls f the first time and then returns the same result.
func once(f func() *pricing.Book) func() *pricing.Book {
	var book *pricing.Book
	return func() *pricing.Book {
		if book == nil {
			book = f()
		}
		return book
	}
}

func refused(code grid.Code, format string, args ...any) grid.Quote {
	return grid.Quote{Refusal: grid.Because(code, format, args...)}
}
