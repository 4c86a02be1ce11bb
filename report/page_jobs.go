package report

import (
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/view"
)

// documentJobs returns the jobs of all VOs, up to a limit, and the stories of the first of
// each VO by job id.
func (r *Report) documentJobs(o documentOptions) ([]view.Job, map[string]*view.Story) {
	var jobs []view.Job
	stories := map[string]*view.Story{}
	for _, b := range r.brokers {
		for i, j := range b.order[:min(len(b.order), max(o.jobs/len(r.brokers), 1))] {
			one := j.shown(b.name, r.until)
			jobs = append(jobs, one)
			if i < o.stories && j.story != nil {
				stories[one.ID] = j.story.shown()
			}
		}
	}
	return jobs, stories
}

// jobsNote says which jobs are not shown.
func (r *Report) jobsNote(shown int) string {
	notes := []string{"The sites' own jobs are in jobs.csv."}
	all := 0
	for _, b := range r.brokers {
		all += len(b.order)
		if d := &b.detail; d.looked == 0 && b.cycles > 0 {
			notes = append(notes, fmt.Sprintf("What alternatives the jobs of %s had is not on record.", b.name))
		} else if d.unclear > 0 {
			notes = append(notes, fmt.Sprintf("The alternatives of %s of %s are left out: %s.", grid.Count(d.unclear, "cycle"), b.name, d.why))
		}
	}
	if shown < all {
		notes = append(notes, fmt.Sprintf("These are %d of %s; jobs.csv has all.", shown, grid.Count(all, "job")))
	}
	return strings.Join(notes, " ")
}

// shown is the job as a page shows it.
func (j *voJob) shown(vo string, until grid.Time) view.Job {
	one := view.Job{ID: jobID(vo, j.Name), VO: vo, User: j.User, Name: j.Name, State: j.state.String(), Submit: int64(j.Submit), Nodes: j.Nodes, Why: j.why()}
	if len(j.window) == 0 {
		return one
	}
	start, end := j.window.span()
	if e, ok := j.window.finished(); ok {
		end = e
	}
	one.Start, one.End, one.Sites, one.State = view.At(start), view.At(end), j.window.sites(), ""
	var cost grid.Credits
	hours, nodes := 0.0, 0
	for k := range j.window {
		l := j.window.at(k)
		cost += l.Posted
		hours += NodeHours(l.What)
		nodes += l.What.Nodes
		if state := status(l, until); one.State == "" {
			one.State = state
		} else if !strings.Contains(one.State, state) {
			one.State += ", " + state
		}
	}
	paid := int64(cost)
	one.Cost, one.Nodes = &paid, nodes // a moldable job asks for another number perhaps
	if hours > 0 {
		one.Price = rounded(cost.Float() / hours)
	}
	return one
}

// why returns the shortest explanation.
func (j *voJob) why() string {
	switch {
	case len(j.window) == 0 && j.reason.Refused():
		return j.reason.String()
	case len(j.window) == 0:
		return "no cycle has looked at it yet"
	case j.window.failure().Refused():
		return j.window.failure().String()
	case j.story != nil && j.story.look != nil && j.story.look.chosen > 0:
		return fmt.Sprintf("no. %d of %s", j.story.look.chosen, grid.Count(j.story.look.found, "alternative"))
	}
	return "placed"
}

// shown describes what became of a job, and which alternatives it had.
func (s *story) shown() *view.Story {
	one := &view.Story{}
	for i, t := range s.turns {
		if i == firstTurns && s.dropped > 0 {
			one.Turns = append(one.Turns, fmt.Sprintf("(%s left out)", grid.Count(s.dropped, "turn")))
		}
		words := moment(t.At) + ": " + string(t.Words)
		if t.times > 1 {
			words = fmt.Sprintf("%s to %s, %s: %s", moment(t.At), moment(t.last), grid.Count(t.times, "time"), t.Words)
		}
		one.Turns = append(one.Turns, words)
	}
	l := s.look
	if l == nil {
		return one
	}
	one.Found = l.finding()
	for i := range l.options {
		o := &l.options[i]
		one.Options = append(one.Options, view.Option{Number: o.Number, Start: int64(o.Start), End: int64(o.End), Cost: int64(o.Fare.Total()), On: on(o), Outcome: l.words(o)})
	}
	return one
}

// finding says in one sentence what a cycle had for a job.
func (l *look) finding() string {
	switch {
	case l.found == 0:
		return fmt.Sprintf("cycle %d found no alternative", l.cycle)
	case l.chosen == 0:
		return fmt.Sprintf("cycle %d found %s and took none", l.cycle, grid.Count(l.found, "alternative"))
	case l.found == 1:
		return fmt.Sprintf("the only alternative of cycle %d", l.cycle)
	}
	s := fmt.Sprintf("no. %d of %s of cycle %d, for the least %s of the batch", l.chosen, grid.Count(l.found, "alternative"), l.cycle, l.goal)
	if l.found > len(l.options) {
		s += fmt.Sprintf("; %d are shown", len(l.options))
	}
	return s
}

// on names where an alternative's legs are, with their nodes.
func on(o *planning.Option) string {
	s := ""
	for i, l := range o.Legs {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%d of %s/%s", l.Leg.Nodes, l.Site, l.Leg.Group)
		if l.Part != "" {
			s += " for " + l.Part
		}
	}
	return s
}
