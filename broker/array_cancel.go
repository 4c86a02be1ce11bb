package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// cancelling is the cancellation of several elements of an array, whose asker gets one
// answer. It is of this life only, as askers are.
type cancelling struct {
	word  string // what was cancelled, as the asker named it
	asker agents.ID
	left  int // elements some of whose legs are not released yet
	back  grid.Credits
}

// meant is the array that a word names, and which of its elements: all, or those in
// brackets. nil: it names none.
func (in *intake) meant(word string) (*jobs.Job, grid.Ranges) {
	if j := in.Names[word]; j != nil {
		if j.Array != nil {
			return j, j.Array.Spec.Indices
		}
		return nil, nil
	}
	name, some, ok := grid.ElementsOf(word)
	if j := in.Names[name]; ok && j != nil && j.Array != nil {
		return j, some
	}
	return nil, nil
}

// cancelElements gives up an array, or some elements of it. Those that are not jobs yet are
// dropped; the others are cancelled as any job is, and those that are over stay as they are.
// The answer comes when all legs are released, with the refunds together. Row B149.
func (in *intake) cancelElements(now grid.Time, from agents.ID, m agents.JobCancel, j *jobs.Job, some grid.Ranges, out *agents.Outbox) {
	a := j.Array
	no := grid.Reason{}
	switch live := in.open(j, some); {
	case j.User != m.User:
		no = reason(grid.NotAllowed, "job %q is not %s's", j.Name, m.User)
	case len(some.Minus(a.Spec.Indices)) > 0:
		no = reason(grid.Unknown, "%s has the elements %s, and not %s", j.Name, a.Spec.Indices.String(), some.Minus(a.Spec.Indices).String())
	case live.Len() == 0 && len(some.Within(a.Over[grid.JobWithdrawn])) == 0:
		no = reason(grid.BadState, "no element of %s is waiting, placed or running any more", m.Job)
	}
	if no.Refused() {
		if from != "" {
			out.Send(from, agents.JobReply{Job: m.Job, Reason: no})
		}
		return
	}
	out.Row("B149")
	if j.State.Open() && len(a.Spec.Indices.Minus(some)) == 0 {
		in.withdraw(now, j, grid.Reason{}, out)
	} else {
		in.withdrawSome(now, j, some, grid.Reason{}, out)
	}
	if from != "" {
		in.gather(m.Job, from, j, some, out)
	}
}

// withdrawSome gives up those of some elements that are not over.
func (in *intake) withdrawSome(now grid.Time, j *jobs.Job, some grid.Ranges, why grid.Reason, out *agents.Outbox) {
	if drop := some.Within(j.Array.Waiting); drop.Len() > 0 {
		in.Record(facts.ElementsDropped{Job: j.Name, User: j.User, Elements: drop, Reason: why}, out)
	}
	in.withdrawJobs(now, j, some, why, out)
}

// withdrawJobs gives up those of some elements that are jobs and not over.
func (in *intake) withdrawJobs(now grid.Time, j *jobs.Job, some grid.Ranges, why grid.Reason, out *agents.Outbox) {
	for _, e := range j.Array.Elements {
		if _, i := e.Place(); e.State.Open() && some.Has(i) {
			in.withdraw(now, e, why, out)
		}
	}
}

// open is those of some elements that are not over.
func (in *intake) open(j *jobs.Job, some grid.Ranges) grid.Ranges {
	for _, over := range j.Array.Over {
		some = some.Minus(over)
	}
	return some
}

// gather answers whoever has cancelled elements once none of their legs holds anything.
func (in *intake) gather(word string, from agents.ID, j *jobs.Job, some grid.Ranges, out *agents.Outbox) {
	g := &cancelling{word: word, asker: from, left: 1}
	busy := false
	for _, e := range j.Array.Elements {
		if _, i := e.Place(); e.State == grid.JobWithdrawn && some.Has(i) {
			if in.groups[e] != nil {
				busy = true
				continue
			}
			in.groups[e] = g
			g.left++
			in.answerCancel(e, out)
		}
	}
	if busy {
		out.Row("B117")
		g.asker = ""
		out.Send(from, agents.JobReply{Job: word, Reason: reason(grid.QueueFull, "%s is withdrawn, and another one waits for the refund", word)})
	}
	g.released(0, out)
}

// released notes that an element holds nothing any more, and what came back for it.
func (g *cancelling) released(back grid.Credits, out *agents.Outbox) {
	g.left--
	if g.back = g.back.Plus(back); g.left == 0 && g.asker != "" {
		out.Send(g.asker, agents.JobReply{Job: g.word, Refund: g.back})
	}
}
