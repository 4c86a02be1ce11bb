package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Refuse answers a message that the runtime does not hand to the broker because the broker
// failed on it before. Users are told why. Sites get no answer, as if they had sent
// nothing.
func (b *Broker) Refuse(_ grid.Time, from agents.ID, m agents.Message, why grid.Reason, out *agents.Outbox) {
	p, known := agents.Lookup(m.Kind())
	if !known {
		return
	}
	switch p.Answer.(type) {
	case agents.SubmitReply:
		out.Send(from, agents.SubmitReply{Job: agents.JobOf(m), Reason: why})
	case agents.JobReply:
		out.Send(from, agents.JobReply{Job: agents.JobOf(m), Reason: why})
	}
}
