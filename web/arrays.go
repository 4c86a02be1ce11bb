package web

import (
	"context"

	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// arrayOf shows an array; nil: the job is none.
func arrayOf(v *broker.JobView) *api.Array {
	if !v.Array.Some() {
		return nil
	}
	n := &v.Elements
	a := &api.Array{Elements: v.Array.String(), Words: grid.Tally(*n),
		Waiting: n[grid.JobWaiting], Trying: n[grid.JobTrying], Placed: n[grid.JobPlaced], Running: n[grid.JobRunning],
		Done: n[grid.JobDone], Failed: n[grid.JobFailed], Abandoned: n[grid.JobAbandoned], Withdrawn: n[grid.JobWithdrawn]}
	if v.Array.Every > 0 {
		a.Every = &api.Seconds{Duration: v.Array.Every}
	}
	return a
}

// elementOf says of which array a job is an element; nil: of none.
func elementOf(v *broker.JobView) *api.Element {
	name, i, ok := grid.ElementOf(v.Name)
	if !ok || !v.Element {
		return nil
	}
	return &api.Element{Array: name, Index: i}
}

// elements makes the entry of an array stand for some of its elements.
func (e entry) elements(some string) entry {
	e.id, e.label = e.id+some, e.label+some
	return e
}

// cutElements cuts "wave[3-7]" into the array and the elements, with their brackets.
func cutElements(word string) (array, some string, ok bool) {
	array, _, ok = grid.ElementsOf(word)
	return array, word[len(array):], ok
}

// ofArray returns the entry of an identity that may be that of an element. Elements are not
// in the list themselves.
func (c *catalogue) ofArray(id string) (entry, bool) {
	if e, ok := c.get(id); ok {
		return e, true
	}
	array, some, ok := cutElements(id)
	if !ok {
		return entry{}, false
	}
	e, ok := c.get(array)
	return e.elements(some), ok
}

// endElement records that the end of an element is reported, and returns whether this is the
// first time; the lock is held.
func (c *catalogue) endElement(id string) bool {
	array, i, ok := grid.ElementOf(id)
	if !ok || c.ids.get(array, "") == 0 || c.ended[array].Has(i) {
		return false
	}
	if c.ended == nil {
		c.ended = map[string]grid.Ranges{}
	}
	c.ended[array] = c.ended[array].Plus(grid.One(i))
	return true
}

// elements lists the elements of an array, in order of index.
func (s *jobs) elements(ctx context.Context, in *jobsInput) (*jobsOutput, error) {
	e, err := s.resolve(ctx, in.Array)
	if err != nil {
		return nil, err
	}
	limit := min(in.Limit, s.opt.Limits.Page)
	out := &jobsOutput{Body: api.JobList{Jobs: []api.Job{}}}
	from, more := int(min(in.Before, 1<<40)), true
	for step := 0; more && len(out.Body.Jobs) < limit && step < scanSteps; step++ {
		err := s.broker(ctx, func(_ grid.Time, b *broker.Broker) {
			var list []broker.JobView
			n := limit - len(out.Body.Jobs)
			if in.State != "" {
				n = s.opt.Limits.Page
			}
			list, from, more = b.Elements(e.id, from, n)
			for i := range list {
				v := &list[i]
				if !inState(v.State, in.State) {
					continue
				}
				_, some, _ := cutElements(v.Name)
				of := e.elements(some)
				out.Body.Jobs = append(out.Body.Jobs, jobOf(b, v, &of))
			}
			if extra := len(out.Body.Jobs) - limit; extra > 0 { // the rest is for the next page
				out.Body.Jobs = out.Body.Jobs[:limit]
				from, more = out.Body.Jobs[limit-1].Element.Index+1, true
			}
		})
		if err != nil {
			return nil, err
		}
	}
	if more {
		out.Body.Next = uint64(from)
	}
	return out, nil
}
