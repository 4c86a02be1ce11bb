package planning

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
)

// Question is what somebody outside is asked in a cycle whose strategy leaves the choice to
// them: jobs with their windows, no two of which have a node in common at the same time. So
// any combination of them can be had, if the money is enough.
type Question struct {
	Cycle  uint64
	Now    grid.Time
	Budget grid.Credits // what the VO's account covers
	Jobs   []Asked      // those with a window, in serving order
}

// Asked is one job of a Question.
type Asked struct {
	Job     *Job
	Left    grid.Credits // what its user can still spend; MaxCredits: no quota binds
	Windows []Asking
}

// Asking is a window that the job could have, at the prices quoted.
type Asking struct {
	Start, End grid.Time
	Time       grid.Duration // of its longest leg
	Cost       grid.Credits
	Legs       []AskingLeg
}

// AskingLeg is what a window takes of one group of a site.
type AskingLeg struct {
	Site string
	Leg  grid.Leg
	Part string // of a job of parts; else ""
	Cost grid.Credits
}

// Choice reads an answer: the number of a window, from 1, for each job by name. A job that it
// does not name gets none. The result is an index into Windows for each job, -1: none. What
// nobody can carry out is an error that names the job and what would be right.
func (q *Question) Choice(answer map[string]int) ([]int, error) {
	var sum grid.Credits
	users, named := map[string]grid.Credits{}, 0
	chosen := make([]int, len(q.Jobs))
	for i := range q.Jobs {
		a := &q.Jobs[i]
		chosen[i] = -1
		n, ok := answer[a.Job.Name]
		if !ok {
			continue
		}
		named++
		if n < 1 || n > len(a.Windows) {
			return nil, fmt.Errorf("alternative %d of job %q; must be 1 to %d, or the job left out", n, a.Job.Name, len(a.Windows))
		}
		chosen[i] = n - 1
		cost := a.Windows[n-1].Cost
		sum, users[a.Job.User] = sum.Plus(cost), users[a.Job.User].Plus(cost)
		if sum > q.Budget {
			return nil, fmt.Errorf("alternative %d of job %q makes the sum %v credits, the budget is %v; leave jobs out, or take cheaper windows", n, a.Job.Name, sum, q.Budget)
		}
		if users[a.Job.User] > a.Left {
			return nil, fmt.Errorf("alternative %d of job %q makes the sum of user %q %v credits, who has %v left; leave jobs out, or take cheaper windows", n, a.Job.Name, a.Job.User, users[a.Job.User], a.Left)
		}
	}
	if named < len(answer) {
		return nil, fmt.Errorf("job %q, which has no window in this cycle; name only jobs of the request", q.unknown(answer))
	}
	return chosen, nil
}

// unknown is the first name, in order of the alphabet, that no job of the question has.
func (q *Question) unknown(answer map[string]int) (first string) {
	known := map[string]bool{}
	for i := range q.Jobs {
		known[q.Jobs[i].Job.Name] = true
	}
	found := false
	for name := range answer {
		if !known[name] && (!found || name < first) {
			first, found = name, true
		}
	}
	return first
}

// askOutside has somebody outside choose among the windows of all jobs that have any. Jobs
// without a choice are postponed, all of them if there is no answer.
func (c *chooser) askOutside() {
	q := Question{Cycle: c.d.in.Cycle, Budget: max(0, c.q.Left)}
	var index []int
	for i := range c.o.Jobs {
		if p := &c.o.Jobs[i]; !p.Over && len(p.Alternatives) > 0 {
			j := &c.d.in.Jobs[i]
			q.Jobs = append(q.Jobs, Asked{Job: j, Left: max(0, c.q.userLeft(j.User)), Windows: c.d.asking(j, p.Alternatives)})
			index = append(index, i)
		}
	}
	if len(q.Jobs) == 0 {
		return
	}
	chosen := c.Outside(&q)
	for k, i := range index {
		if k >= len(chosen) || chosen[k] < 0 {
			c.giveUp(i, reason(grid.Waits, "the program that chooses for the broker took none of its %s", grid.Count(len(q.Jobs[k].Windows), "window")))
			continue
		}
		p := &c.o.Jobs[i]
		p.Choice = chosen[k]
		c.o.Time += p.Alternatives[p.Choice].Time
		c.o.Cost = c.o.Cost.Plus(p.Alternatives[p.Choice].Cost)
	}
}

// asking shows a job's alternatives to somebody outside.
func (d *Draft) asking(j *Job, list []Alternative) []Asking {
	windows := make([]Asking, len(list))
	for i := range list {
		a := &list[i]
		windows[i] = Asking{Start: a.Start(), End: a.End, Time: a.Time, Cost: a.Cost}
		for k := range a.Legs {
			l := &a.Legs[k]
			x := AskingLeg{Site: d.in.Sites[l.Site].Name, Leg: l.What, Cost: a.Quotes[k].Fare.Total()}
			if j.Request.Composed() {
				x.Part = j.Request.Parts[l.Part].Name
			}
			windows[i].Legs = append(windows[i].Legs, x)
		}
	}
	return windows
}
