package broker

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
)

// A request for offers or quotes, or its answer, may get lost like any message. Otherwise
// one lost message would cost every job of a cycle the whole wait, so sites that have not
// answered are asked again while the wait lasts, at the same intervals as a transaction's
// steps. A site that is asked twice before it answers answers once. Row B112.

// askAgainDue is the alarm to ask again the sites that have not answered a request.
type askAgainDue struct {
	Ref   uint64 // the cycle, or an errand's
	Phase phase
	Wait  grid.Duration
}

// Kind names the alarm.
func (askAgainDue) Kind() string { return "AskAgainDue" }

// quoteRequest is the request for the quotes that the cycle wants from a site.
func (c *cycle) quoteRequest(site int) agents.QuoteRequest {
	w := &c.wanted[site]
	m := agents.QuoteRequest{Ref: c.quoteRef(), Legs: w.Legs, Together: c.phase == quotingSets}
	if slices.ContainsFunc(w.Users, func(u string) bool { return u != "" }) {
		m.Users = w.Users
	}
	return m
}

// quoteRef is the reference of the current requests for quotes.
func (c *cycle) quoteRef() uint64 {
	if c.phase == quotingSets {
		return setRef | c.number
	}
	return c.number
}

// setRef marks requests for quotes for sets, so that a late answer for single legs is not
// taken for theirs.
const setRef = 1 << 63

// askAgainLater sets the alarm to ask again the sites that have not answered by then.
func (sch *scheduler) askAgainLater(now grid.Time, ref uint64, p phase, wait grid.Duration, out *agents.Outbox) {
	out.Alarm(now.Add(wait), askAgainDue{ref, p, wait})
}

func (sch *scheduler) askAgainDue(now grid.Time, m askAgainDue, out *agents.Outbox) {
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
				out.Row("B112")
				out.Send(sch.sites[site], c.quoteRequest(site))
			}
		}
	}
	sch.askAgainLater(now, m.Ref, m.Phase, min(2*m.Wait, transaction.LastRepeat), out)
}

// offersAskedAgain asks again the sites whose offers are missing.
func (sch *scheduler) offersAskedAgain(p *poll, ref uint64, horizon grid.Time, out *agents.Outbox) {
	for i, id := range p.ids {
		if p.open(int32(i)) && !p.spared[i] {
			out.Row("B112")
			sch.Tx.AskOffers(id, ref, horizon, out)
		}
	}
}
