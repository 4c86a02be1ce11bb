package broker

import (
	"github.com/bourse-grid/bourse/grid"
)

// element is what is known of an element of an array that is no job: not yet, or not any
// more.
func (b *Broker) element(name string) (JobView, bool) {
	of, i, ok := grid.ElementOf(name)
	j := b.mem.Names[of]
	if !ok || j == nil || !j.Owns(name) {
		return JobView{}, false
	}
	whole := j.Whole()
	v := JobView{Job: whole.Element(i), State: grid.JobWaiting, Since: j.Since, Element: true}
	for s, over := range j.Array.Over {
		if over.Has(i) {
			v.State = grid.JobState(s)
		}
	}
	switch {
	case v.State == grid.JobWaiting && j.Held:
		v.Reason = j.Reason
	case v.State == grid.JobWaiting && !whole.Within(b.mem.Now.Add(b.mem.cfg.Horizon)).Has(i):
		v.Reason = reason(grid.NoWindow, "it is ready at %v, and the broker plans %v ahead", v.Ready, grid.Phrase(b.mem.cfg.Horizon.Words()))
	case v.State == grid.JobWaiting && j.Array.Spec.AtOnce > 0:
		v.Reason = reason(grid.Busy, "at most %s of %s may be in play at once", grid.Count(j.Array.Spec.AtOnce, "element"), j.Name)
	case v.State == grid.JobWaiting:
		v.Reason = reason(grid.Busy, "it waits behind %s of %s", grid.Count(j.Array.InPlay(), "element"), j.Name)
	case v.State == grid.JobWithdrawn:
		v.Reason = reason(grid.Withdrawn, "its user cancelled it")
	}
	return v, true
}

// among reports of names whether they are those of the elements that a word means.
func (b *Broker) among(word string) func(name string) bool {
	j, some := b.intake.meant(word)
	return func(name string) bool {
		of, i, ok := grid.ElementOf(name)
		return j != nil && ok && of == j.Name && some.Has(i)
	}
}

// Elements returns up to n elements of an array from an index on, in order of index, and the
// index at which to go on; more says that others follow. None if there is no such array.
func (b *Broker) Elements(name string, from, n int) (list []JobView, next int, more bool) {
	j := b.mem.Names[name]
	if j == nil || j.Array == nil {
		return nil, 0, false
	}
	for i := range j.Array.Spec.Indices.From(from).All() {
		if len(list) == n {
			return list, i, true
		}
		if v, ok := b.Job(grid.ElementName(name, i)); ok {
			list = append(list, v)
		}
	}
	return list, 0, false
}

// Bought is what the windows of an array's elements come to so far; nothing if there is no such
// array. It walks the elements that are on record.
func Bought(b *Broker, name string) grid.Bought {
	if j := b.mem.Names[name]; j != nil && j.Array != nil {
		return j.Array.Bought()
	}
	return grid.Bought{}
}

// InPlay returns the latest elements of a broker's array that are jobs, up to n, in the order
// in which they began. None if there is no such array.
func InPlay(b *Broker, name string, n int) (list []JobView) {
	j := b.mem.Names[name]
	if j == nil || j.Array == nil {
		return nil
	}
	all := j.Array.Elements
	for _, x := range all[max(0, len(all)-n):] {
		list = append(list, viewOfJob(x))
	}
	return list
}

// Withdrawn reports whether a job, or all elements of an array that a word means, are
// cancelled or over.
func (b *Broker) Withdrawn(word string) bool {
	if j, some := b.intake.meant(word); j != nil {
		return b.intake.open(j, some).Len() == 0
	}
	v, ok := b.Job(word)
	return ok && v.State == grid.JobWithdrawn
}
