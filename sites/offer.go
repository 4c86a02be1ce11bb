package sites

import (
	"fmt"

	"bourse"
	"bourse/agents"
	"bourse/policy/pricing"
)

// offers shows what is free from now to the horizon, group by group: what is
// admissible, and what is clear, that is, free even when the queue's plan is
// finished.
func (s *Site) offers(now bourse.Time, m agents.OfferRequest) agents.Offers {
	a := agents.Offers{Cycle: m.Cycle, Now: now, Version: s.view.version}
	for i, g := range s.cfg.Groups {
		admissible := s.view.states[i].Free
		clear := admissible
		if s.cfg.Pricing != pricing.Fixed {
			clear = s.view.book(i).Clear()
		}
		a.Groups = append(a.Groups, agents.GroupOffer{Group: g,
			Admissible: clip(admissible, now, m.Horizon), Clear: clip(clear, now, m.Horizon)})
	}
	return a
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
func (s *Site) quotes(now bourse.Time, from agents.ID, m agents.QuoteRequest) agents.Quotes {
	a := agents.Quotes{Ref: m.Ref, Version: s.view.version, Quotes: make([]bourse.Quote, len(m.Legs))}
	for i, l := range m.Legs {
		a.Quotes[i] = s.quote(now, from, m.User, l)
	}
	return a
}

// quote prices a leg on the present state, or says why it cannot be had.
func (s *Site) quote(now bourse.Time, from agents.ID, user string, l bourse.Leg) bourse.Quote {
	i, ok := s.groups[l.Group]
	if !ok {
		return refused(bourse.Unknown, "%s has no group %q", s.cfg.Name, l.Group)
	}
	if l.Nodes < 1 || l.End <= l.Start {
		return refused(bourse.Unknown, "%d nodes over [%v, %v) are no leg", l.Nodes, l.Start, l.End)
	}
	if l.Start < now {
		return refused(bourse.Past, "start %v lies before %s's now, %v", l.Start, s.cfg.Name, now)
	}
	if r := s.allowed(now, user, i, l); r.Refused() {
		return bourse.Quote{Refusal: r}
	}
	if s.view.states[i].Free.Min(l.Start, l.End) < l.Nodes {
		return bourse.Quote{Refusal: s.view.book(i).Obstacle(l.Start, l.Nodes, l.Duration())}
	}
	price := s.cfg.Groups[i].Price
	q := bourse.Quote{Fare: bourse.Fare{Base: bourse.Cost(price, l.Duration()).Times(l.Nodes)}}
	harm, _ := s.view.book(i).Additive(l.Start, l.Nodes, l.Duration())
	q.Fare.Additive = bourse.Cost(price, harm)
	return q
}

func refused(code bourse.Code, format string, args ...any) bourse.Quote {
	return bourse.Quote{Refusal: bourse.Reason{Code: code, Detail: fmt.Sprintf(format, args...)}}
}
