package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
	"github.com/bourse-grid/bourse/policy/selection"
)

// Bounds on the data that explains why jobs got what they got.
const (
	mostStories = 2000 // jobs of a VO with a story, in order of submission
	mostTurns   = 24   // of a job: the first ones and the latest
	firstTurns  = 8
	mostOptions = 8 // alternatives of a job that are shown
	mostBatches = 6 // of a VO, whose fronts are drawn
)

// detail is the data that explains why jobs got what they got: their turns and, from what each
// cycle saw and chose, their alternatives. A broker records the latter on demand
// (broker.Config.Explain).
type detail struct {
	turns   history.Turns
	seen    *facts.CycleSeen // of the cycle under way
	looked  int              // cycles planned again
	unclear int              // cycles on record that could not be
	why     string           // the first of them could not
	batches []batch          // the largest, in order of size
}

// story is the history of a job.
type story struct {
	turns   []turn
	dropped int
	look    *look // the cycle that placed it last, else the last that looked at it
}

// turn is a turn of a job, or the same turn several times.
type turn struct {
	history.Turn
	times int
	last  grid.Time
}

// look is what a cycle found for a job.
type look struct {
	cycle   uint64
	at      grid.Time
	goal    string
	found   int
	options []planning.Option // the chosen one, and the first of the others
	chosen  int
	reason  grid.Reason
}

// batch is a cycle's choice for the jobs that it placed.
type batch struct {
	cycle       uint64
	at          grid.Time
	goal        string
	jobs        [][]selection.Alternative
	waits       [][]grid.Credits // under the goal value: what each one's time until its end is worth
	chosen      []int
	size        int // alternatives in all
	open        int // jobs with a choice
	timeLimit   grid.Duration
	budgetLimit grid.Credits
}

// detailed follows a fact.
func (b *vo) detailed(now grid.Time, f agents.Fact) {
	switch f := f.(type) {
	case facts.CycleSeen:
		b.detail.seen = &f
		return
	case facts.CyclePlanned:
		if s := b.detail.seen; s != nil && s.Cycle == f.Cycle {
			b.rerun(now, s, &f)
		}
		b.detail.seen = nil
		return
	}
	for _, t := range b.detail.turns.Take(now, f) {
		if j := b.jobs[t.Job]; j != nil && j.story != nil {
			j.story.add(t)
		}
	}
}

// add adds a turn. A repeated cause is only counted.
func (s *story) add(t history.Turn) {
	if n := len(s.turns); n > 0 && t.What == history.Postponed {
		if last := &s.turns[n-1]; last.What == t.What && last.Reason.Code == t.Reason.Code {
			last.times, last.last, last.Words, last.Reason = last.times+1, t.At, t.Words, t.Reason
			return
		}
	}
	if len(s.turns) == mostTurns {
		s.turns = slices.Delete(s.turns, firstTurns, firstTurns+1)
		s.dropped++
	}
	s.turns = append(s.turns, turn{Turn: t, times: 1, last: t.At})
}

// rerun plans a cycle on record again, for the alternatives that it chose from.
func (b *vo) rerun(now grid.Time, seen *facts.CycleSeen, planned *facts.CyclePlanned) {
	again, err := planning.NewRerun(seen, planned)
	if err != nil {
		if b.detail.unclear++; b.detail.why == "" {
			b.detail.why = err.Error()
		}
		return
	}
	b.detail.looked++
	one := batch{cycle: seen.Cycle, at: now, goal: seen.Terms.Minimize, timeLimit: grid.MaxDuration, budgetLimit: grid.MaxCredits}
	outcomes := again.As()
	for i := range outcomes {
		o := &outcomes[i]
		one.take(o, seen)
		if j := b.jobs[o.Job]; j != nil && j.story != nil && (o.Chosen > 0 || j.story.look == nil || j.story.look.chosen == 0) {
			j.story.look = &look{cycle: seen.Cycle, at: now, goal: seen.Terms.Minimize, found: len(o.Options),
				options: shown(o), chosen: o.Chosen, reason: o.Reason}
		}
	}
	if one.open == 0 {
		return
	}
	list := append(b.detail.batches, one)
	slices.SortStableFunc(list, func(x, y batch) int { return cmp.Or(cmp.Compare(y.open, x.open), cmp.Compare(y.size, x.size)) })
	b.detail.batches = list[:min(len(list), mostBatches)]
}

// take adds a job that was placed, with the alternatives that took part.
func (b *batch) take(o *planning.JobOutcome, seen *facts.CycleSeen) {
	b.timeLimit, b.budgetLimit = o.TimeLimit, o.BudgetLimit
	if o.Chosen == 0 {
		return
	}
	at := slices.IndexFunc(seen.Jobs, func(j facts.CycleJob) bool { return j.Name == o.Job })
	var list []selection.Alternative
	var waits []grid.Credits
	chosen := -1
	for _, x := range o.Options {
		if x.Out.Refused() && x.Number != o.Chosen {
			continue
		}
		if x.Number == o.Chosen {
			chosen = len(list)
		}
		list = append(list, selection.Alternative{Time: x.Time, Cost: x.Fare.Total(), End: x.End})
		if b.goal == grid.GoalValue.String() {
			waits = append(waits, waitWorth(&seen.Jobs[at].Request, seen.Terms.Urgency, x.End))
		}
	}
	if chosen < 0 {
		return
	}
	b.jobs, b.chosen, b.size = append(b.jobs, list), append(b.chosen, chosen), b.size+len(list)
	if waits != nil {
		b.waits = append(b.waits, waits)
	}
	if len(list) > 1 {
		b.open++
	}
}

// waitWorth is the worth of the time until an end to a job, by its own urgency or its
// broker's.
func waitWorth(r *grid.Request, urgency grid.Urgency, end grid.Time) grid.Credits {
	hour := r.Urgency.Else(urgency).Of(r.Budget)
	return grid.Cost(grid.Price(hour), end.Sub(r.Ready))
}

// shown returns the alternatives of a job to show: the first ones, and always the one taken.
func shown(o *planning.JobOutcome) []planning.Option {
	list := slices.Clone(o.Options[:min(len(o.Options), mostOptions)])
	if taken := o.Taken(); taken != nil && taken.Number > mostOptions && len(list) > 0 {
		list[len(list)-1] = *taken
	}
	return list
}

// words compares an alternative with the one taken, and says where its search was bounded.
func (l *look) words(o *planning.Option) string {
	if o.Bounded {
		return l.beside(o) + "; bounded: there may be a better one"
	}
	return l.beside(o)
}

// beside compares an alternative with the one taken.
func (l *look) beside(o *planning.Option) string {
	taken := slices.IndexFunc(l.options, func(x planning.Option) bool { return x.Number == l.chosen })
	switch {
	case o.Number == l.chosen:
		return "taken"
	case o.Out.Refused():
		return o.Out.String()
	case taken < 0:
		return "not taken"
	}
	t := &l.options[taken]
	var list []string
	if d := o.Fare.Total() - t.Fare.Total(); d > 0 {
		list = append(list, fmt.Sprintf("%s credits dearer", money(d)))
	} else if d < 0 {
		list = append(list, fmt.Sprintf("%s credits cheaper", money(-d)))
	}
	if d := o.Time - t.Time; d > 0 {
		list = append(list, span(d)+" longer")
	} else if d < 0 {
		list = append(list, span(-d)+" shorter")
	}
	if d := o.End.Sub(t.End); d > 0 {
		list = append(list, "ends "+span(d)+" later")
	} else if d < 0 {
		list = append(list, "ends "+span(-d)+" sooner")
	}
	if len(list) == 0 {
		return "as good; the first is taken"
	}
	s := list[0]
	for _, more := range list[1:] {
		s += ", " + more
	}
	return s
}
