package world

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// users are a VO's users: they submit jobs, each again until it is answered, and
// change their minds about some at any moment, again until that is answered. They
// forget nothing.
type users struct {
	broker  agents.ID
	jobs    []grid.Job
	next    int
	unsaid  []grid.Job     // submitted and not answered, in order
	wishes  []wish         // not answered, in order
	tries   map[string]int // of a wish
	answers int
}

// wish is to give a job up, to have it otherwise, or to answer an offer to shift it.
type wish struct {
	job string
	m   agents.Message
}

func newUsers(broker agents.ID, jobs []grid.Job) *users {
	return &users{broker: broker, jobs: jobs, tries: map[string]int{}}
}

// ask is the alarm for what is to be said next; giveUp the wish, from outside, to
// cancel a job that has been submitted.
type (
	ask    struct{}
	giveUp struct{ Draw uint64 }
)

// Kind names the alarm.
func (ask) Kind() string { return "Ask" }

// Kind names the wish.
func (giveUp) Kind() string { return "GiveUp" }

// again is the time between two tries of the same.
const again = 10 * grid.Second

// Step sends what is due, and repeats what was not answered.
func (u *users) Step(now grid.Time, _ agents.ID, m agents.Message, out *agents.Outbox) {
	switch m := m.(type) {
	case agents.SubmitReply:
		u.answered(m.Job)
	case agents.JobReply:
		u.granted(m.Job)
	case giveUp:
		if u.next == 0 {
			return
		}
		j := u.jobs[m.Draw%uint64(u.next)]
		u.wishes = append(u.wishes, changed(j, m.Draw))
		out.Send(u.broker, u.wishes[len(u.wishes)-1].m)
	case reply:
		u.wishes = append(u.wishes, wish{m.Job, m.OfferAnswer})
		out.Send(u.broker, m.OfferAnswer)
	case agents.ReplicaRedirect: // it is said again
	default:
		u.say(now, out)
	}
}

// changed draws what a user now wants for a job: mostly to cancel it, sometimes other
// nodes, another length or a later time.
func changed(j grid.Job, draw uint64) wish {
	if draw>>8%3 > 0 {
		return wish{j.Name, agents.JobCancel{Job: j.Name, User: j.User}}
	}
	r := j.Request
	if draw>>40%3 == 0 { // the same, but another choice of when
		r.Flexible, r.Phi = grid.Duration(draw>>44%60)*grid.Minute, int(300*(draw>>52%7))
		return wish{j.Name, agents.JobModify{Job: j.Name, User: j.User, Request: r}}
	}
	r.Nodes = max(1, r.Nodes+int(draw>>16%5)-2)
	r.Length += grid.Duration(draw>>24%5) * grid.Minute
	r.Deadline = r.Deadline.Add(grid.Duration(draw>>32%4) * 20 * grid.Minute)
	return wish{j.Name, agents.JobModify{Job: j.Name, User: j.User, Request: r}}
}

// say submits what is due and repeats what was not answered.
func (u *users) say(now grid.Time, out *agents.Outbox) {
	for u.next < len(u.jobs) && u.jobs[u.next].Submit <= now {
		u.unsaid = append(u.unsaid, u.jobs[u.next])
		u.next++
	}
	for _, j := range u.unsaid {
		out.Send(u.broker, agents.Submit{Job: j})
	}
	for _, c := range u.wishes {
		if u.tries[c.job]++; u.tries[c.job] > 30 {
			u.granted(c.job) // it was never taken, or is forgotten
			break
		}
		out.Send(u.broker, c.m)
	}
	next := now.Add(again)
	if u.next < len(u.jobs) {
		next = min(next, max(u.jobs[u.next].Submit, now+1))
	}
	out.Alarm(next, ask{})
}

// answered strikes a job off those to be submitted again.
func (u *users) answered(job string) {
	for i := range u.unsaid {
		if u.unsaid[i].Name == job {
			u.unsaid = append(u.unsaid[:i:i], u.unsaid[i+1:]...)
			u.answers++
			return
		}
	}
}

// granted strikes a wish off.
func (u *users) granted(job string) {
	for i := range u.wishes {
		if u.wishes[i].job == job {
			u.wishes = append(u.wishes[:i:i], u.wishes[i+1:]...)
			return
		}
	}
}
