package broker

import (
	"bourse"
	"bourse/agents"
	"bourse/agents/plant"
)

// A request for offers or quotes may get lost, or its answer, as any message.
// Who is waited for and has not answered is asked again, with the repeats of a
// step, as long as the wait for offers or quotes lasts: else one lost message
// would cost every job of a cycle all of that wait. A site that is asked again
// before it has answered answers once. Row B112.

// askAgainDue asks those again that have not answered a request.
type askAgainDue struct {
	Ref   uint64 // the cycle, or an errand's
	Phase phase
	Wait  bourse.Duration
}

// Kind names the alarm.
func (askAgainDue) Kind() string { return "AskAgainDue" }

// askOffers asks a site for offers in the name of this life.
func (b *Broker) askOffers(id agents.ID, ref uint64, horizon bourse.Time, out *agents.Outbox) {
	life := b.life()
	out.Send(id, agents.OfferRequest{Cycle: ref, Horizon: horizon, Incarnation: life.Incarnation, Nonce: life.Nonce})
}

// askAgainLater has those asked again who have not answered by then.
func (b *Broker) askAgainLater(now bourse.Time, ref uint64, p phase, wait bourse.Duration, out *agents.Outbox) {
	if !plant.On("no-broker-repeat") {
		out.Alarm(now.Add(wait), askAgainDue{ref, p, wait})
	}
}

func (b *Broker) askAgainDue(now bourse.Time, m askAgainDue, out *agents.Outbox) {
	switch c, e := &b.cycle, b.errand(m.Ref); {
	case e != nil && e.wait:
		b.offersAskedAgain(&e.market, m.Ref, e.horizon, out)
	case e != nil || m.Ref != c.number || m.Phase != c.phase:
		return
	case c.phase == gathering:
		b.offersAskedAgain(&c.market, c.number, c.horizon, out)
	default:
		for site, legs := range c.asked {
			if len(legs) > 0 {
				out.Send(b.sites[site], c.requested[site])
			}
		}
	}
	b.askAgainLater(now, m.Ref, m.Phase, min(2*m.Wait, lastRepeat), out)
}

// offersAskedAgain asks those for offers again who are waited for.
func (b *Broker) offersAskedAgain(m *market, ref uint64, horizon bourse.Time, out *agents.Outbox) {
	for i, id := range m.sites {
		if m.answers[i] == silent && !m.away[i] && !m.spared[i] {
			b.askOffers(id, ref, horizon, out)
		}
	}
}
