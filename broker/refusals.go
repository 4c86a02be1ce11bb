package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// refusals counts the refused submissions recorded in the current hour. It is of this life
// only, since no state follows from those facts.
type refusals struct {
	hour  grid.Time
	users map[string]int
	all   int
}

// refusingUsers is the bound for all users together, in multiples of one user's bound.
const refusingUsers = 50

// notTaken records that a submission was refused, unless this hour's bound for its user or
// for all users is reached: refusals must not fill the disk. The user is told in any case.
func (in *intake) notTaken(now grid.Time, f facts.SubmissionRefused, out *agents.Outbox) {
	if most := in.cfg.Refusals; most > 0 {
		r := &in.refusals
		if hour := now / grid.Time(grid.Hour); r.users == nil || hour != r.hour {
			*r = refusals{hour: hour, users: map[string]int{}}
		}
		if r.users[f.User] >= most || r.all >= refusingUsers*most {
			return
		}
		r.users[f.User]++
		r.all++
	}
	in.Record(f, out)
}

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
