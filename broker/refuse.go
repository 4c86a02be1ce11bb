package broker

import (
	"bourse"
	"bourse/agents"
)

// Refuse answers what the runtime does not hand to the broker, because the broker
// has failed over it before: users hear why. Sites get no answer; what they say
// is left out, as that of a site that is silent.
func (b *Broker) Refuse(_ bourse.Time, from agents.ID, m agents.Message, why bourse.Reason, out *agents.Outbox) {
	switch m := m.(type) {
	case agents.Submit:
		out.Send(from, agents.SubmitReply{Job: m.Job.Name, Reason: why})
	case agents.JobCancel:
		out.Send(from, agents.JobReply{Job: m.Job, Reason: why})
	case agents.JobModify:
		out.Send(from, agents.JobReply{Job: m.Job, Reason: why})
	case agents.OfferAnswer:
		out.Send(from, agents.JobReply{Job: m.Job, Reason: why})
	}
}
