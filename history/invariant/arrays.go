package invariant

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// I33: an element of an array begins once, is one of the array's, and does not begin while as
// many as the array's throttle are in play.

// arrays is the rule I33 by a broker's journal.
type arrays struct {
	*journal
	jobs    jobs
	windows *windows
	of      map[string]*arrayTrail
}

// arrayTrail is what a journal shows of an array.
type arrayTrail struct {
	asks    grid.Job
	begun   grid.Ranges
	dropped grid.Ranges
	open    []string // elements that have begun and were not seen to be over
}

// submitted takes a job, if it is an array.
func (r *arrays) submitted(asks *grid.Job) {
	if asks.Array.Some() {
		if r.of == nil {
			r.of = map[string]*arrayTrail{}
		}
		r.of[asks.Name] = &arrayTrail{asks: *asks}
	}
}

// imaged takes an array from the image with which a journal begins.
func (r *arrays) imaged(m *facts.JobMemory) {
	if r.submitted(&m.Job); m.Array != nil {
		r.of[m.Job.Name].begun = m.Job.Array.Indices.Minus(m.Array.Waiting)
	}
}

// begins checks elements that begin, and takes them as jobs.
func (r *arrays) begins(f facts.ElementsBegun) {
	a := r.of[f.Job]
	if a == nil {
		if r.whole {
			r.breaks("I33", "elements of %s begin, which is no array", f.Job)
		}
		return
	}
	for _, x := range []struct {
		wrong grid.Ranges
		what  string
	}{{f.Elements.Minus(a.asks.Array.Indices), "are none of its elements"}, {f.Elements.Within(a.begun), "have begun before"}, {f.Elements.Within(a.dropped), "were given up before"}} {
		if len(x.wrong) > 0 {
			r.breaks("I33", "elements %s of array %s begin and %s", x.wrong.String(), f.Job, x.what)
		}
	}
	a.begun = a.begun.Plus(f.Elements)
	for i := range f.Elements.All() {
		e := a.asks.Element(i)
		r.windows.asks(&e)
		r.jobs.submitted(&e)
		a.open = append(a.open, e.Name)
	}
	a.open = slices.DeleteFunc(a.open, func(name string) bool { return r.jobs.named(name).past() })
	if most := a.asks.Array.AtOnce; most > 0 && len(a.open) > most {
		r.breaks("I33", "%d elements of array %s are in play, and its throttle is %d", len(a.open), f.Job, most)
	}
}

// drops takes elements that are given up before they began.
func (r *arrays) drops(f facts.ElementsDropped) {
	if a := r.of[f.Job]; a != nil {
		a.dropped = a.dropped.Plus(f.Elements)
	}
}

// past reports whether a job is given up, or nothing of the window that it had is to come.
func (j *job) past() bool {
	return j.gone || len(j.window) > 0 && !slices.ContainsFunc(j.window, func(x *tx) bool { return !x.over() })
}

// early says why a window that starts at an instant must not stay for a job that comes after
// an array; "" if it may.
func (r *order) early(name string, j *job, start grid.Time, d grid.Dependency, array *grid.Job) string {
	for i := range array.Array.Indices.All() {
		element := grid.ElementName(d.Job, i)
		p := r.jobs[element]
		if p == nil || d.On == grid.IfAny && p.gone {
			continue // it was given up, which leaves no window; or is long over
		}
		switch end, stands, known := p.ends(r.audit.exempt); {
		case known && stands && d.On == grid.IfDone && p.against(d.On):
			return fmt.Sprintf("%s has a window from %v on, and runs only if %s %s, which it has not", name, start, element, d.On.Says())
		case !known || r.audit.exemptsJob(j) || !stands && d.On == grid.IfFailed:
		case !stands:
			return fmt.Sprintf("%s has a window from %v on and comes after %s, which has none", name, start, element)
		case end.Add(j.asks.Gap) > start:
			return fmt.Sprintf("%s has a window from %v on and comes %v after %s, which ends at %v", name, start, j.asks.Gap, element, end)
		}
	}
	return ""
}

// elements are the conditions of a job with the elements of an array in its place.
func (r *order) elements(after []grid.Dependency) []grid.Dependency {
	if !slices.ContainsFunc(after, func(d grid.Dependency) bool { return r.jobs.named(d.Job).asks.Array.Some() }) {
		return after
	}
	var list []grid.Dependency
	for _, d := range after {
		a := r.jobs.named(d.Job).asks.Array
		if !a.Some() {
			list = append(list, d)
			continue
		}
		for i := range a.Indices.All() {
			if e := (grid.Dependency{Job: grid.ElementName(d.Job, i), On: d.On}); !r.jobs.named(e.Job).gone {
				list = append(list, e)
			}
		}
	}
	return list
}
