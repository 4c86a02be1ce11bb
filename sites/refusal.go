package sites

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Refuse answers a message that the runtime does not hand to the site because the site
// failed on it before. The answer is the usual refusal for such a message. Row S95. A
// message whose sender could do nothing with a refusal gets no answer: a Confirm, Cancel or
// Release is repeated until the leg reaches its limit.
func (s *Site) Refuse(now grid.Time, from agents.ID, m agents.Message, why grid.Reason, out *agents.Outbox) {
	if s.foreign(from, m) {
		return
	}
	out.Row("S95")
	t := step{now, from, m, out}
	switch m := m.(type) {
	case agents.Hold, agents.Prepare:
		id := m.(agents.OfLeg).LegID()
		s.participant.refusal(t, id, events[m.Kind()], grid.Fare{}, why, id.Tx.Incarnation)
	case agents.OfferRequest, agents.QuoteRequest:
		s.offers.refuse(t, why)
	case agents.Reload:
		t.reply(agents.ReloadReply{Reason: why})
	default:
		if wish(m) {
			t.reply(agents.OperatorReply{To: m.Kind(), Reason: why})
		}
	}
}
