package sites

import (
	"math"
	"slices"

	"bourse"
	"bourse/agents"
	"bourse/policy/backfill"
	"bourse/policy/pricing"
)

// offers shows what is free from now to the horizon, group by group: what is
// admissible, and what is clear, that is, free even when the queue's plan is
// finished.
func (s *Site) offers(now bourse.Time, vo string, m agents.OfferRequest) agents.Offers {
	a := agents.Offers{Cycle: m.Cycle, Now: now, Version: s.view.version, Stamp: s.stamp()}
	if a.Refusal = s.barred(now, vo, ""); !a.Refusal.Refused() {
		a.Groups = s.free(now, m.Horizon, vo)
	}
	return a
}

// free is what is offered to a VO, group by group, net of its share.
func (s *Site) free(now, horizon bourse.Time, vo string) []agents.GroupOffer {
	list := make([]agents.GroupOffer, 0, len(s.cfg.Groups))
	horizon = min(horizon, bourse.MaxTime)
	x := s.shareOf(now, vo, nil)
	left := x.most - x.held
	for i, g := range s.cfg.Groups {
		if s.view.room != nil {
			none := bourse.NewProfile(now, 0)
			list = append(list, agents.GroupOffer{Group: g, Admissible: none, Clear: none, Shared: true})
			continue
		}
		admissible := s.view.states[i].Free
		clear := admissible
		if p, promised := s.schedule(g.Name, now); promised {
			admissible, clear = s.shown(now, g, p)
		} else if s.cfg.Pricing != pricing.Fixed {
			clear = s.view.book(i).Clear()
		}
		list = append(list, agents.GroupOffer{Group: g,
			Admissible: s.net(clip(admissible, now, horizon), now, left), Clear: s.net(clip(clear, now, horizon), now, left),
			Queued: s.view.states[i].Queued()})
	}
	return list
}

// net takes out of an offer what the share of VOs has no room for: over its
// span no more nodes than could be had for a minute. Longer legs may still be
// refused; but where the share is used up, nothing is offered.
func (s *Site) net(p bourse.Profile, now bourse.Time, left int64) bourse.Profile {
	if left == math.MaxInt64 {
		return p
	}
	most := max(left, 0) / int64(bourse.Minute)
	end := now.Add(s.cfg.Span)
	out := make(bourse.Profile, 0, len(p)+1)
	add := func(at bourse.Time, free int) {
		if n := len(out); n == 0 || out[n-1].Free != free {
			out = append(out, bourse.Step{At: at, Free: free})
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

// clip returns a copy of p that opens at now and has no step at or after the
// horizon.
func clip(p bourse.Profile, now, horizon bourse.Time) bourse.Profile {
	q := make(bourse.Profile, 0, len(p))
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

// quotes prices each leg by itself.
func (s *Site) quotes(now bourse.Time, vo string, m agents.QuoteRequest) agents.Quotes {
	a := agents.Quotes{Ref: m.Ref, Version: s.view.version, Quotes: make([]bourse.Quote, len(m.Legs)), Stamp: s.stamp()}
	for i, l := range m.Legs {
		user := ""
		if i < len(m.Users) {
			user = m.Users[i]
		}
		if why := s.barred(now, vo, user); why.Refused() {
			a.Quotes[i].Refusal = why
		} else {
			a.Quotes[i] = s.quote(now, vo, user, l, nil)
		}
		a.Quotes[i].Cancellation = s.cfg.Cancellation
	}
	return a
}

// quote prices a leg on the present state, or says why it cannot be had. What
// it replaces, if anything, counts as given back.
func (s *Site) quote(now bourse.Time, vo, user string, l bourse.Leg, old *leg) bourse.Quote {
	i, ok := s.groups[l.Group]
	if !ok {
		return refused(bourse.Unknown, "%s has no group %q", s.cfg.Name, l.Group)
	}
	if !calendar(l) {
		return refused(bourse.Unknown, "%d nodes over [%v, %v) are no leg", l.Nodes, l.Start, l.End)
	}
	if l.Start < now {
		return refused(bourse.Past, "start %v lies before %s's now, %v", l.Start, s.cfg.Name, now)
	}
	if s.view.room != nil {
		return s.quoteShare(now, vo, user, i, l, old)
	}
	if l.Work > 0 {
		return refused(bourse.NotAllowed, "%s has no time-shared nodes", s.cfg.Name)
	}
	if p, promised := s.schedule(l.Group, now); promised {
		return s.quotePromise(now, vo, user, i, l, old, p)
	}
	state, book := &s.view.states[i], func() *pricing.Book { return s.view.book(i) }
	if old != nil && old.What.Group == l.Group {
		state, book = s.without(i, old.What)
	}
	if r := s.allowed(now, vo, user, i, l, old, state.Reserved); r.Refused() {
		return bourse.Quote{Refusal: r}
	}
	if state.Free.Min(l.Start, l.End) < l.Nodes {
		return bourse.Quote{Refusal: state.Refusal(l.Start, l.Nodes, l.Duration())}
	}
	price := s.cfg.Groups[i].Price
	q := bourse.Quote{Fare: bourse.Fare{Base: bourse.Cost(price, l.Duration()).Times(l.Nodes)}}
	harm, _ := book().Additive(l.Start, l.Nodes, l.Duration())
	q.Fare.Additive = bourse.Cost(price, harm)
	return q
}

// without is group i as it would be if a leg were given back, and its plan.
// Reservations of one size and time are alike, so any of them may stand for the
// leg. It costs a plan of its own: moves are rare.
func (s *Site) without(i int, old bourse.Leg) (*backfill.State, func() *pricing.Book) {
	state := s.view.states[i].Clone()
	at := slices.IndexFunc(state.Reserved, func(r backfill.Reserved) bool {
		return r.Nodes == old.Nodes && r.Start == old.Start && r.End == old.End
	})
	if at >= 0 {
		state.Reserved = slices.Delete(state.Reserved, at, at+1)
		state.Free.Add(max(old.Start, state.Now), old.End, old.Nodes)
	}
	return &state, once(func() *pricing.Book {
		book := pricing.NewBook()
		book.Price(s.cfg.Pricing)
		book.Reset(&state)
		return book
	})
}

// once has f called once, when it is first needed.
func once(f func() *pricing.Book) func() *pricing.Book {
	var book *pricing.Book
	return func() *pricing.Book {
		if book == nil {
			book = f()
		}
		return book
	}
}

func refused(code bourse.Code, format string, args ...any) bourse.Quote {
	return bourse.Quote{Refusal: bourse.Because(code, format, args...)}
}
