package jobs

import (
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// An array is a job that never waits for a cycle itself. It feeds its elements into the queue,
// and from then on an element is a job like any other, whose name tells its array and index.
// Before that an element is part of a range of numbers, and after it has been forgotten again.
// So an array costs what its elements in play cost, and a few ranges.
//
// Elements begin, in order of index, while fewer than BatchSize of their array wait and fewer
// than its throttle are in play, and while their user and the broker may have more jobs
// waiting. That is looked at between cycles, so that one fact begins as many as have room. An
// array is over with its last element. Rows B146 to B149.
type array struct {
	Spec     grid.Array
	from     *submission // of its elements
	Waiting  grid.Ranges // not jobs yet
	Gone     grid.Ranges // no jobs any more, or never, and not done
	Over     [grid.AllJobStates]grid.Ranges
	Ended    int         // elements in over
	Queued   int         // elements that wait or are tried
	Elements []*Job      // that are jobs, in the order in which they began
	first    grid.Reason // why the first that is not done is not
	last     grid.Time   // when the last work ended
	before   grid.Bought // by transactions that are forgotten
}

// newArray is an array none of whose elements has begun.
func newArray(j *Job, spec grid.Array) *array {
	from := *j.From
	from.Array = j
	return &array{Spec: spec, from: &from, Waiting: spec.Indices}
}

// InPlay is the number of elements that are jobs and not over.
func (a *array) InPlay() int { return a.Spec.Indices.Len() - a.Waiting.Len() - a.Ended }

// Spoilt is why the first element that has ended other than done has, unless its user wished
// that; no reason: none has.
func (a *array) Spoilt() grid.Reason {
	if a.first.Code == grid.Withdrawn || len(a.Over[grid.JobFailed])+len(a.Over[grid.JobAbandoned]) == 0 {
		return grid.Reason{}
	}
	return a.first
}

// spoilt reports whether an element has ended other than done.
func (a *array) spoilt() bool { return a.Ended > a.Over[grid.JobDone].Len() }

// Owns reports whether a name is that of an element of an array.
func (j *Job) Owns(name string) bool {
	array, i, ok := grid.ElementOf(name)
	return ok && array == j.Name && j.Array != nil && j.Array.Spec.Indices.Has(i)
}

// Place is a job's name for the order of the queue: of an element, its array's and the index.
func (j *Job) Place() (name string, i int) {
	if j.From.Array == nil {
		return j.Name, -1
	}
	name, i, _ = grid.ElementOf(j.Name)
	return name, i
}

// applyArray makes a job that has just been submitted an array.
func (rec *State) applyArray(j *Job, spec grid.Array) {
	if spec.Some() {
		j.own().Array = newArray(j, spec)
		rec.Arrays, rec.Stirred = append(rec.Arrays, j), true
	}
}

// applyBegun makes elements of an array jobs.
func (rec *State) applyBegun(f facts.ElementsBegun) {
	a := rec.Names[f.Job]
	a.Array.Waiting = a.Array.Waiting.Minus(f.Elements)
	whole := a.Whole()
	for i := range f.Elements.All() {
		e := whole.Element(i)
		if j := rec.Names[e.Name]; j != nil { // a stub, which comes after its array from now on
			rec.Jobs = append(slices.DeleteFunc(rec.Jobs, func(x *Job) bool { return x == j }), j)
		}
		rec.texts.came = a.Array.from
		rec.applySubmitted(facts.JobSubmitted{Job: e})
	}
}

// takes is the bytes that a job's work takes. An element has that of its array.
func (j *Job) takes() int {
	if j.From.Array != nil {
		return 0
	}
	return WorkSize(j.Work, j.Parts)
}

// elementBecomes notes that an element of an array is about to enter a state.
func (rec *State) elementBecomes(j *Job, s grid.JobState) {
	if j.From.Array == nil {
		return
	}
	a := j.From.Array.Array
	rec.Stirred = true
	switch was, will := j.State.Queued(), s.Queued(); {
	case was && !will:
		a.Queued--
	case !was && will:
		a.Queued++
	}
	_, i := j.Place()
	shown := s.Shown(j.Reason.Code)
	for state := range a.Over {
		if a.Over[state].Has(i) && grid.JobState(state) != shown {
			a.Over[state], a.Ended = a.Over[state].Minus(grid.One(i)), a.Ended-1
		}
	}
	if s.Open() {
		return
	}
	a.end(grid.One(i), shown, grid.Because(j.Reason.Code, "%s: %v", j.Name, j.Reason))
	a.last = max(a.last, j.Ended)
}

// end notes that elements are over.
func (a *array) end(some grid.Ranges, s grid.JobState, why grid.Reason) {
	before := a.Over[s].Len()
	a.Over[s] = a.Over[s].Plus(some)
	a.Ended += a.Over[s].Len() - before
	if s != grid.JobDone && !a.first.Refused() {
		a.first = why
	}
}

// drop gives up elements that are not jobs yet, by their user or for a reason.
func (rec *State) drop(j *Job, some grid.Ranges, why grid.Reason) {
	if some.Len() == 0 {
		return
	}
	a := j.Array
	if !why.Refused() {
		why = grid.Because(grid.Withdrawn, "its user cancelled it")
	}
	a.Waiting, a.Gone = a.Waiting.Minus(some), a.Gone.Plus(some)
	a.end(some, grid.JobWithdrawn.Shown(why.Code), grid.Because(why.Code, "%s: %v", grid.ElementName(j.Name, some[0].First), why))
	rec.Stirred = true
	rec.Touch(j)
}

// applyArrayOver ends an array.
func (rec *State) applyArrayOver(f facts.ArrayOver) {
	j := rec.Names[f.Job]
	j.because(f.Reason)
	j.Ended = f.End
	state, _ := grid.ParseJobState(f.State)
	rec.become(j, state)
	rec.closeArray(j)
}

// closeArray takes an array that is over from those that are looked at.
func (rec *State) closeArray(j *Job) {
	rec.Arrays = slices.DeleteFunc(rec.Arrays, func(x *Job) bool { return x == j })
}

// forgetElements drops elements from their arrays' records, which keep in which state they
// ended.
func (rec *State) forgetElements(gone map[*Job]bool) {
	var arrays []*Job
	for j := range gone {
		a := j.From.Array
		if a == nil {
			continue
		}
		if _, i := j.Place(); j.State != grid.JobDone {
			a.Array.Gone = a.Array.Gone.Plus(grid.One(i))
		}
		if !slices.Contains(arrays, a) {
			arrays = append(arrays, a)
		}
	}
	for _, a := range arrays {
		a.Array.Elements = slices.DeleteFunc(a.Array.Elements, func(j *Job) bool { return gone[j] })
	}
}

// Total is what an array has come to, all of whose elements are over.
func (a *array) Total(name string) facts.ArrayOver {
	f := facts.ArrayOver{Job: name, State: grid.JobDone.String(), End: a.last, Done: a.Over[grid.JobDone].Len(), Failed: a.Over[grid.JobFailed].Len(),
		Abandoned: a.Over[grid.JobAbandoned].Len(), Withdrawn: a.Over[grid.JobWithdrawn].Len()}
	for _, s := range []grid.JobState{grid.JobWithdrawn, grid.JobAbandoned, grid.JobFailed} {
		if len(a.Over[s]) > 0 {
			f.State = s.String()
		}
	}
	if a.spoilt() {
		f.Reason = grid.Because(a.first.Code, "%v; first %v", grid.Phrase(grid.Tally(a.Counts())), a.first)
	}
	return f
}

// Counts is the number of elements in each state that users see. It looks at each that is
// on record.
func (a *array) Counts() (n [grid.AllJobStates]int) {
	n[grid.JobWaiting] = a.Waiting.Len()
	for s := range a.Over {
		n[s] += a.Over[s].Len()
	}
	for _, j := range a.Elements {
		if j.State.Open() {
			s, _ := j.Standing()
			n[s]++
		}
	}
	return n
}

// standingOf is the state that users see of an array: while it is open, the furthest that
// any of its open elements has come.
func (j *Job) standingOf() grid.JobState {
	s := j.State.Shown(j.Reason.Code)
	if !j.State.Open() {
		return s
	}
	return grid.Furthest(j.Array.Counts())
}

// image is what an image keeps of an array.
func (a *array) image() *facts.ArrayMemory {
	m := &facts.ArrayMemory{Waiting: a.Waiting, Gone: a.Gone, First: a.first, End: a.last, Bought: a.before}
	for s := range a.Over {
		if len(a.Over[s]) > 0 {
			m.Over = append(m.Over, facts.ElementsEnded{State: grid.JobState(s), Elements: a.Over[s]})
		}
	}
	return m
}

// load sets an array to what an image has of it.
func (a *array) load(m *facts.ArrayMemory) {
	a.Waiting, a.Gone, a.first, a.last, a.before = m.Waiting, m.Gone, m.First, m.End, m.Bought
	for _, x := range m.Over {
		a.Over[x.State] = x.Elements
		a.Ended += x.Elements.Len()
	}
}

// endsAll is the planned end of an array's last window; false if an element has none.
func (j *Job) endsAll() (grid.Time, bool) {
	a := j.Array
	end := a.last
	if len(a.Waiting) > 0 || a.Queued > 0 {
		return 0, false
	}
	for _, x := range a.Elements {
		if x.State.Open() {
			at, ok := x.Ends()
			if !ok {
				return 0, false
			}
			end = max(end, at)
		}
	}
	return end, true
}
