package simulation

import (
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// users is the agent that submits a VO's jobs to its broker, each at its time, and carries
// out the wishes of their users. The jobs are in order of submission. It sets one alarm for
// the next submission at a time, which keeps the heap small.
type users struct {
	broker agents.ID
	jobs   []grid.Job
	next   int
	wishes []wish         // by job; nil: there are no wishes
	index  map[string]int // of the jobs with a wish that have had no window yet
}

// newUsers returns users with their wishes, nil for none.
func newUsers(broker agents.ID, jobs []grid.Job, wishes []wish) *users {
	u := &users{broker: broker, jobs: jobs, wishes: wishes, index: map[string]int{}}
	for i := range wishes {
		if wishes[i].cancels || wishes[i].modifies {
			u.index[jobs[i].Name] = i
		}
	}
	return u
}

// due is the alarm for the next submission.
type due struct{}

// Kind names the alarm.
func (due) Kind() string { return "Due" }

// Step submits what is due and sets the alarm for what comes next.
func (u *users) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	switch m := m.(type) {
	case agents.Started, due:
	case agents.SubmitReply, agents.JobReply:
		return // the broker's facts tell the outcome of a job
	case booked:
		u.book(now, m, out)
		return
	case turnOf:
		u.wish(m, out)
		return
	default:
		panic(fmt.Sprintf("studies: users of %s got %s from %s", u.broker, m.Kind(), from))
	}
	for u.next < len(u.jobs) && u.jobs[u.next].Submit <= now {
		out.Send(u.broker, agents.Submit{Job: u.jobs[u.next]})
		u.next++
	}
	if u.next < len(u.jobs) {
		out.Alarm(u.jobs[u.next].Submit, due{})
	}
}
