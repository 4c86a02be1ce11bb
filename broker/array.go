package broker

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/agents"
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
	spec     grid.Array
	from     *submission // of its elements
	waiting  grid.Ranges // not jobs yet
	gone     grid.Ranges // no jobs any more, or never, and not done
	over     [grid.AllJobStates]grid.Ranges
	ended    int         // elements in over
	queued   int         // elements that wait or are tried
	elements []*job      // that are jobs, in the order in which they began
	first    grid.Reason // why the first that is not done is not
	last     grid.Time   // when the last work ended
}

// newArray is an array none of whose elements has begun.
func newArray(j *job, spec grid.Array) *array {
	from := *j.from
	from.array = j
	return &array{spec: spec, from: &from, waiting: spec.Indices}
}

// inPlay is the number of elements that are jobs and not over.
func (a *array) inPlay() int { return a.spec.Indices.Len() - a.waiting.Len() - a.ended }

// spoilt reports whether an element has ended other than done.
func (a *array) spoilt() bool { return a.ended > a.over[grid.JobDone].Len() }

// owns reports whether a name is that of an element of an array.
func (j *job) owns(name string) bool {
	array, i, ok := grid.ElementOf(name)
	return ok && array == j.Name && j.array != nil && j.array.spec.Indices.Has(i)
}

// place is a job's name for the order of the queue: of an element, its array's and the index.
func (j *job) place() (name string, i int) {
	if j.from.array == nil {
		return j.Name, -1
	}
	name, i, _ = grid.ElementOf(j.Name)
	return name, i
}

// applyArray makes a job that has just been submitted an array.
func (mem *memory) applyArray(j *job, spec grid.Array) {
	if spec.Some() {
		j.own().array = newArray(j, spec)
		mem.arrays, mem.stirred = append(mem.arrays, j), true
	}
}

// applyBegun makes elements of an array jobs.
func (mem *memory) applyBegun(f facts.ElementsBegun) {
	a := mem.names[f.Job]
	a.array.waiting = a.array.waiting.Minus(f.Elements)
	whole := a.whole()
	for i := range f.Elements.All() {
		e := whole.Element(i)
		if j := mem.names[e.Name]; j != nil { // a stub, which comes after its array from now on
			mem.jobs = append(slices.DeleteFunc(mem.jobs, func(x *job) bool { return x == j }), j)
		}
		mem.texts.came = a.array.from
		mem.applySubmitted(facts.JobSubmitted{Job: e})
	}
}

// takes is the bytes that a job's work takes. An element has that of its array.
func (j *job) takes() int {
	if j.from.array != nil {
		return 0
	}
	return workSize(j.Work, j.Parts)
}

// elementBecomes notes that an element of an array is about to enter a state.
func (mem *memory) elementBecomes(j *job, s grid.JobState) {
	if j.from.array == nil {
		return
	}
	a := j.from.array.array
	mem.stirred = true
	switch was, will := j.state.Queued(), s.Queued(); {
	case was && !will:
		a.queued--
	case !was && will:
		a.queued++
	}
	_, i := j.place()
	shown := s.Shown(j.reason.Code)
	for state := range a.over {
		if a.over[state].Has(i) && grid.JobState(state) != shown {
			a.over[state], a.ended = a.over[state].Minus(grid.One(i)), a.ended-1
		}
	}
	if s.Open() {
		return
	}
	a.end(grid.One(i), shown, grid.Because(j.reason.Code, "%s: %v", j.Name, j.reason))
	a.last = max(a.last, j.ended)
}

// end notes that elements are over.
func (a *array) end(some grid.Ranges, s grid.JobState, why grid.Reason) {
	before := a.over[s].Len()
	a.over[s] = a.over[s].Plus(some)
	a.ended += a.over[s].Len() - before
	if s != grid.JobDone && !a.first.Refused() {
		a.first = why
	}
}

// drop gives up elements that are not jobs yet, by their user or for a reason.
func (mem *memory) drop(j *job, some grid.Ranges, why grid.Reason) {
	if some.Len() == 0 {
		return
	}
	a := j.array
	if !why.Refused() {
		why = reason(grid.Withdrawn, "its user cancelled it")
	}
	a.waiting, a.gone = a.waiting.Minus(some), a.gone.Plus(some)
	a.end(some, grid.JobWithdrawn.Shown(why.Code), reason(why.Code, "%s: %v", grid.ElementName(j.Name, some[0].First), why))
	mem.stirred = true
	mem.touch(j)
}

// applyArrayOver ends an array.
func (mem *memory) applyArrayOver(f facts.ArrayOver) {
	j := mem.names[f.Job]
	j.because(f.Reason)
	j.ended = f.End
	state, _ := grid.ParseJobState(f.State)
	mem.become(j, state)
	mem.closeArray(j)
}

// closeArray takes an array that is over from those that are looked at.
func (mem *memory) closeArray(j *job) {
	mem.arrays = slices.DeleteFunc(mem.arrays, func(x *job) bool { return x == j })
}

// forgetElements drops elements from their arrays' records, which keep in which state they
// ended.
func (mem *memory) forgetElements(gone map[*job]bool) {
	var arrays []*job
	for j := range gone {
		a := j.from.array
		if a == nil {
			continue
		}
		if _, i := j.place(); j.state != grid.JobDone {
			a.array.gone = a.array.gone.Plus(grid.One(i))
		}
		if !slices.Contains(arrays, a) {
			arrays = append(arrays, a)
		}
	}
	for _, a := range arrays {
		a.array.elements = slices.DeleteFunc(a.array.elements, func(j *job) bool { return gone[j] })
	}
}

// feed begins the elements of arrays that have room, and ends the arrays that are over.
func (in *intake) feed(now grid.Time, out *agents.Outbox) {
	if !in.stirred || !in.scheduler.idle() {
		return
	}
	in.stirred = false
	begun := false
	for _, j := range slices.Clone(in.arrays) {
		in.dropHopeless(j, out)
		if some := in.next(j); some.Len() > 0 {
			out.Row("B146")
			in.record(facts.ElementsBegun{Job: j.Name, Elements: some}, out)
			begun = true
		}
		if a := j.array; j.state.Open() && a.ended == a.spec.Indices.Len() {
			out.Row("B147")
			in.record(a.total(j.Name), out)
		}
	}
	in.stirred = false // by what has just begun: there was room for no more
	if begun {
		in.queue.callNext()
		in.callFull()
	}
}

// next is the elements of an array that can begin now.
func (in *intake) next(j *job) grid.Ranges {
	a := j.array
	if j.held || len(a.waiting) == 0 {
		return nil
	}
	terms := in.tenancy.User(j.User)
	room := min(in.cfg.batch()-a.queued, terms.MaxWaiting()-in.queue.of(j.User), in.cfg.MaxQueue-in.queue.size())
	if t := terms.Tenant; t.Name != "" {
		room = min(room, t.MaxWaiting()-in.waitingOf(t.Name))
	}
	if a.spec.AtOnce > 0 {
		room = min(room, a.spec.AtOnce-a.inPlay())
	}
	some := a.waiting
	for _, n := range j.needs() {
		if n.on == grid.IfEach {
			some = some.Minus(n.array.waiting) // nothing can be planned behind those
		}
	}
	return some.First(room)
}

// dropHopeless gives up the elements that come after elements which are not done, and are
// no jobs that could say so.
func (in *intake) dropHopeless(j *job, out *agents.Outbox) {
	for _, n := range j.needs() {
		if n.on != grid.IfEach {
			continue
		}
		if some := j.array.waiting.Within(n.array.gone); some.Len() > 0 {
			out.Row("B148")
			in.record(facts.ElementsDropped{Job: j.Name, User: j.User, Elements: some,
				Reason: reason(grid.After, "the element of %s that it comes after was given up, and it runs only if that %s", n.Name, grid.Phrase(grid.IfDone.Says()))}, out)
		}
	}
}

// total is what an array has come to, all of whose elements are over.
func (a *array) total(name string) facts.ArrayOver {
	f := facts.ArrayOver{Job: name, State: grid.JobDone.String(), End: a.last, Done: a.over[grid.JobDone].Len(), Failed: a.over[grid.JobFailed].Len(),
		Abandoned: a.over[grid.JobAbandoned].Len(), Withdrawn: a.over[grid.JobWithdrawn].Len()}
	for _, s := range []grid.JobState{grid.JobWithdrawn, grid.JobAbandoned, grid.JobFailed} {
		if len(a.over[s]) > 0 {
			f.State = s.String()
		}
	}
	if a.spoilt() {
		f.Reason = reason(a.first.Code, "%v; first %v", grid.Phrase(grid.Tally(a.counts())), a.first)
	}
	return f
}

// counts is the number of elements in each state that users see. It looks at each that is
// on record.
func (a *array) counts() (n [grid.AllJobStates]int) {
	n[grid.JobWaiting] = a.waiting.Len()
	for s := range a.over {
		n[s] += a.over[s].Len()
	}
	for _, j := range a.elements {
		if j.state.Open() {
			s, _ := j.standing()
			n[s]++
		}
	}
	return n
}

// standingOf is the state that users see of an array: while it is open, the furthest that
// any of its open elements has come.
func (j *job) standingOf() grid.JobState {
	s := j.state.Shown(j.reason.Code)
	if !j.state.Open() {
		return s
	}
	n := j.array.counts()
	for _, s := range []grid.JobState{grid.JobRunning, grid.JobPlaced, grid.JobTrying} {
		if n[s] > 0 {
			return s
		}
	}
	return grid.JobWaiting
}

// image is what an image keeps of an array.
func (a *array) image() *facts.ArrayMemory {
	m := &facts.ArrayMemory{Waiting: a.waiting, Gone: a.gone, First: a.first, End: a.last}
	for s := range a.over {
		if len(a.over[s]) > 0 {
			m.Over = append(m.Over, facts.ElementsEnded{State: grid.JobState(s), Elements: a.over[s]})
		}
	}
	return m
}

// load sets an array to what an image has of it.
func (a *array) load(m *facts.ArrayMemory) {
	a.waiting, a.gone, a.first, a.last = m.Waiting, m.Gone, m.First, m.End
	for _, x := range m.Over {
		a.over[x.State] = x.Elements
		a.ended += x.Elements.Len()
	}
}

// endsAll is the planned end of an array's last window; false if an element has none.
func (j *job) endsAll() (grid.Time, bool) {
	a := j.array
	end := a.last
	if len(a.waiting) > 0 || a.queued > 0 {
		return 0, false
	}
	for _, x := range a.elements {
		if x.state.Open() {
			at, ok := x.ends()
			if !ok {
				return 0, false
			}
			end = max(end, at)
		}
	}
	return end, true
}

// unlike says why an array cannot come after another job element by element; no reason: it
// can.
func unlike(j *grid.Job, p *job) grid.Reason {
	switch {
	case !j.Array.Some():
		return reason(grid.Invalid, "after_each is for arrays, and it is none; write after = [%q]", p.Name)
	case p.array == nil:
		return reason(grid.Invalid, "after_each names %q, which is no array; write after = [%q]", p.Name, p.Name)
	case p.array.spec.Indices.String() != j.Array.Indices.String():
		return reason(grid.Invalid, "after_each names %q, whose indices are %s and not %s; they must be the same", p.Name,
			cmp.Or(p.array.spec.Indices.String(), "none"), j.Array.Indices.String())
	}
	return grid.Reason{}
}
