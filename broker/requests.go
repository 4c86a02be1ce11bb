package broker

import (
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// A request for offers or quotes, or its answer, may get lost like any message.
// Sites that have not answered are asked again, at the intervals of a step, as
// long as the wait lasts: otherwise one lost message would cost every job of a
// cycle the whole wait. A site that is asked again before it has answered answers
// once. Row B112.

// askAgainDue asks the sites again that have not answered a request.
type askAgainDue struct {
	Ref   uint64 // the cycle, or an errand's
	Phase phase
	Wait  bourse.Duration
}

// Kind names the alarm.
func (askAgainDue) Kind() string { return "AskAgainDue" }

// askOffers asks a site for offers in the name of this life.
func (mem *memory) askOffers(id agents.ID, ref uint64, horizon bourse.Time, out *agents.Outbox) {
	life := mem.lives.current()
	out.Send(id, agents.OfferRequest{Cycle: ref, Horizon: horizon, Incarnation: life.Incarnation, Nonce: life.Nonce})
}

// quoteRequest asks a site for the quotes that the cycle wants of it.
func (c *cycle) quoteRequest(site int) agents.QuoteRequest {
	w := &c.wanted[site]
	m := agents.QuoteRequest{Ref: c.quoteRef(), Legs: w.Legs, Together: c.phase == quotingSets}
	if slices.ContainsFunc(w.Users, func(u string) bool { return u != "" }) {
		m.Users = w.Users
	}
	return m
}

// quoteRef is the reference of the present requests for quotes.
func (c *cycle) quoteRef() uint64 {
	if c.phase == quotingSets {
		return setRef | c.number
	}
	return c.number
}

// setRef marks the requests for quotes for sets: a late answer for legs by themselves
// is none to them.
const setRef = 1 << 63

// askAgainLater has sites asked again that have not answered by then.
func (sch *scheduler) askAgainLater(now bourse.Time, ref uint64, p phase, wait bourse.Duration, out *agents.Outbox) {
	out.Alarm(now.Add(wait), askAgainDue{ref, p, wait})
}

func (sch *scheduler) askAgainDue(now bourse.Time, m askAgainDue, out *agents.Outbox) {
	switch c, e := &sch.cycle, sch.errands.errand(m.Ref); {
	case e != nil && e.wait:
		sch.offersAskedAgain(&e.poll, m.Ref, e.horizon, out)
	case e != nil || m.Ref != c.number || m.Phase != c.phase:
		return
	case c.phase == gathering:
		sch.offersAskedAgain(&c.poll, c.number, c.horizon, out)
	default:
		for site, waits := range c.waits {
			if waits {
				out.Send(sch.sites[site], c.quoteRequest(site))
			}
		}
	}
	sch.askAgainLater(now, m.Ref, m.Phase, min(2*m.Wait, lastRepeat), out)
}

// offersAskedAgain asks the sites again whose offers are waited for.
func (sch *scheduler) offersAskedAgain(p *poll, ref uint64, horizon bourse.Time, out *agents.Outbox) {
	for i, id := range p.ids {
		if p.open(int32(i)) && !p.spared[i] {
			sch.askOffers(id, ref, horizon, out)
		}
	}
}
