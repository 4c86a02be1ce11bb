package broker

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// feed begins the elements of arrays that have room, and ends the arrays that are over.
func (in *intake) feed(now grid.Time, out *agents.Outbox) {
	if !in.Stirred || !in.scheduler.idle() {
		return
	}
	in.Stirred = false
	begun := false
	for _, j := range slices.Clone(in.Arrays) {
		in.dropHopeless(j, out)
		if some := in.next(j); some.Len() > 0 {
			out.Row("B146")
			in.Record(facts.ElementsBegun{Job: j.Name, Elements: some}, out)
			begun = true
		}
		if a := j.Array; j.State.Open() && a.Ended == a.Spec.Indices.Len() {
			out.Row("B147")
			in.Record(a.Total(j.Name), out)
		}
	}
	in.Stirred = false // by what has just begun: there was room for no more
	if begun {
		in.Queue.CallNext()
		in.callFull()
	}
}

// next is the elements of an array that can begin now.
func (in *intake) next(j *jobs.Job) grid.Ranges {
	a := j.Array
	if j.Held || len(a.Waiting) == 0 {
		return nil
	}
	terms := in.Tenancy.User(j.User)
	room := min(in.cfg.batch()-a.Queued, terms.MaxWaiting()-in.Queue.Of(j.User), in.cfg.MaxQueue-in.Queue.Size())
	if t := terms.Tenant; t.Name != "" {
		room = min(room, t.MaxWaiting()-in.waitingOf(t.Name))
	}
	if a.Spec.AtOnce > 0 {
		room = min(room, a.Spec.AtOnce-a.InPlay())
	}
	whole := j.Whole()
	some := a.Waiting.Within(whole.Within(in.Now.Add(in.cfg.Horizon))) // nothing can be planned for the others yet
	for _, n := range j.Needs() {
		if n.On == grid.IfEach {
			some = some.Minus(n.Array.Waiting) // nothing can be planned behind those
		}
	}
	return some.First(room)
}

// dropHopeless gives up the elements that come after elements which are not done, and are
// no jobs that could say so.
func (in *intake) dropHopeless(j *jobs.Job, out *agents.Outbox) {
	for _, n := range j.Needs() {
		if n.On != grid.IfEach {
			continue
		}
		if some := j.Array.Waiting.Within(n.Array.Gone); some.Len() > 0 {
			out.Row("B148")
			in.Record(facts.ElementsDropped{Job: j.Name, User: j.User, Elements: some,
				Reason: reason(grid.After, "the element of %s that it comes after was given up, and it runs only if that %s", n.Name, grid.Phrase(grid.IfDone.Says()))}, out)
		}
	}
}

// unlike says why an array cannot come after another job element by element; no reason: it
// can.
func unlike(j *grid.Job, p *jobs.Job) grid.Reason {
	switch {
	case !j.Array.Some():
		return reason(grid.Invalid, "after_each is for arrays, and it is none; write after = [%q]", p.Name)
	case p.Array == nil:
		return reason(grid.Invalid, "after_each names %q, which is no array; write after = [%q]", p.Name, p.Name)
	case p.Array.Spec.Indices.String() != j.Array.Indices.String():
		return reason(grid.Invalid, "after_each names %q, whose indices are %s and not %s; they must be the same", p.Name,
			cmp.Or(p.Array.Spec.Indices.String(), "none"), j.Array.Indices.String())
	}
	return grid.Reason{}
}
