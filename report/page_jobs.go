package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/broker/planning"
)

// jobTable is the table of a VO's jobs, each with the way it took.
type jobTable struct {
	ID, Title, Note string
	Rows            []jobRow
}

type jobRow struct {
	Job, State, Sites                     string
	Submit, Start, Wait, End, Cost, Price sortable
	Nodes                                 int
	Why                                   string
	Turns                                 []string
	Found                                 string
	Options                               []optionRow
}

type optionRow struct {
	Number               int
	Start, End, Cost, On string
	Outcome              string
}

// sortable is a cell: the number it sorts by, "" at the end, and how it reads.
type sortable struct{ V, S string }

func at(t bourse.Time) sortable { return sortable{t.String(), moment(t)} }

// jobSection has a table for each VO, with at most so many jobs in all.
func (r *Report) jobSection(letter string, most int) pageSection {
	s := pageSection{Title: "Jobs of the VOs", About: "Times since the start of the run. A row opens on what became of the job, and on the alternatives it had. The sites' own jobs are in jobs.csv."}
	prefix := ""
	if letter != "" {
		s.Title, prefix = "Run "+letter+": jobs of the VOs", letter+"-"
	}
	for i, b := range r.brokers {
		t := jobTable{ID: fmt.Sprintf("%sjobs-%d", prefix, i+1), Title: b.name}
		shown := b.order[:min(len(b.order), max(most/len(r.brokers), 1))]
		if len(shown) < len(b.order) {
			t.Note = fmt.Sprintf("The first %d of %d jobs; jobs.csv has all.", len(shown), len(b.order))
		}
		if d := &b.detail; d.looked == 0 && b.cycles > 0 {
			t.Note += " What alternatives the jobs had is not on record."
		} else if d.unclear > 0 {
			t.Note += fmt.Sprintf(" The alternatives of %s are left out: %s.", count(d.unclear, "cycle"), d.why)
		}
		for _, j := range shown {
			t.Rows = append(t.Rows, j.row(r.until))
		}
		s.Jobs = append(s.Jobs, t)
	}
	return s
}

// row tells a job.
func (j *voJob) row(until bourse.Time) jobRow {
	row := jobRow{Job: j.Name, Submit: at(j.Submit), Nodes: j.Nodes, State: j.state.String()}
	if j.tx != nil {
		j.placed(&row, until)
	}
	if j.story != nil {
		j.story.tell(&row)
	}
	row.Why = j.why()
	return row
}

// placed tells the window that a job got.
func (j *voJob) placed(row *jobRow, until bourse.Time) {
	start, end := j.tx.window()
	if e, ok := j.tx.finished(); ok {
		end = e
	}
	row.Start, row.End = at(start), at(end)
	wait := start.Sub(j.Submit)
	row.Wait = sortable{wait.String(), span(wait)}
	var cost bourse.Credits
	var names []string
	hours := 0.0
	row.State = ""
	for k := range j.tx.Legs {
		l := &j.tx.Legs[k]
		cost += l.Posted
		hours += nodeHours(l.What)
		if !slices.Contains(names, l.Site) {
			names = append(names, l.Site)
		}
		if state := status(l, until); row.State == "" {
			row.State = state
		} else if !strings.Contains(row.State, state) {
			row.State += ", " + state
		}
	}
	row.Sites = strings.Join(names, ", ")
	row.Cost = sortable{cost.String(), money(cost)}
	if hours > 0 {
		price := strconv.FormatFloat(cost.Float()/hours, 'f', 3, 64)
		row.Price = sortable{price, price}
	}
}

// why is the shortest answer.
func (j *voJob) why() string {
	switch {
	case j.tx == nil && j.reason.Refused():
		return j.reason.String()
	case j.tx == nil:
		return "no cycle has looked at it yet"
	case j.story != nil && j.story.look != nil && j.story.look.chosen > 0:
		return fmt.Sprintf("no. %d of %s", j.story.look.chosen, count(j.story.look.found, "alternative"))
	}
	return "placed"
}

// tell fills in what became of a job, and what alternatives it had.
func (s *story) tell(row *jobRow) {
	for i, t := range s.turns {
		if i == firstTurns && s.dropped > 0 {
			row.Turns = append(row.Turns, fmt.Sprintf("(%s left out)", count(s.dropped, "turn")))
		}
		words := moment(t.At) + ": " + string(t.Words)
		if t.times > 1 {
			words = fmt.Sprintf("%s to %s, %s: %s", moment(t.At), moment(t.last), count(t.times, "time"), t.Words)
		}
		row.Turns = append(row.Turns, words)
	}
	l := s.look
	if l == nil {
		return
	}
	row.Found = l.finding()
	for i := range l.options {
		o := &l.options[i]
		row.Options = append(row.Options, optionRow{Number: o.Number, Start: moment(o.Start), End: moment(o.End),
			Cost: money(o.Fare.Total()), On: on(o), Outcome: l.words(o)})
	}
}

// finding is what a cycle had for a job, in one sentence.
func (l *look) finding() string {
	switch {
	case l.found == 0:
		return fmt.Sprintf("cycle %d found no alternative", l.cycle)
	case l.chosen == 0:
		return fmt.Sprintf("cycle %d found %s and took none", l.cycle, count(l.found, "alternative"))
	case l.found == 1:
		return fmt.Sprintf("the only alternative of cycle %d", l.cycle)
	}
	s := fmt.Sprintf("no. %d of %d alternatives of cycle %d, for the least %s of the batch", l.chosen, l.found, l.cycle, l.goal)
	if l.found > len(l.options) {
		s += fmt.Sprintf("; %d are shown", len(l.options))
	}
	return s
}

// on names where an alternative's legs lie, with their nodes.
func on(o *planning.Option) string {
	s := ""
	for i, l := range o.Legs {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%d of %s/%s", l.Leg.Nodes, l.Site, l.Leg.Group)
	}
	return s
}
