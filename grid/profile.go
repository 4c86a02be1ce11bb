package grid

import (
	"cmp"
	"fmt"
	"slices"
)

// Step says that Free nodes are free from At until the next step.
type Step struct {
	At   Time
	Free int
}

// Profile is a step function of time: how many nodes of a group are free. The
// first step opens it, the last one holds for ever; steps are in order of time
// and neighbours differ. The zero Profile is not usable; see NewProfile.
type Profile []Step

// NewProfile returns a profile of n nodes free from t on.
func NewProfile(t Time, n int) Profile { return Profile{{t, n}} }

// Clone returns a copy that shares nothing.
func (p Profile) Clone() Profile { return slices.Clone(p) }

// Index returns the index of the step that holds at t, or 0 for times before the first.
func (p Profile) Index(t Time) int {
	if len(p) < 2 || t < p[1].At {
		return 0 // the common case: now
	}
	low, high := 1, len(p) // p[low] is not after t, p[high] is
	for high-low > 1 {
		if mid := int(uint(low+high) >> 1); p[mid].At <= t {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// At returns the number of nodes free at t.
func (p Profile) At(t Time) int { return p[p.Index(t)].Free }

// Min returns the least number of nodes free anywhere in [s, e), e > s.
func (p Profile) Min(s, e Time) int {
	i := p.Index(s)
	low := p[i].Free
	for i++; i < len(p) && p[i].At < e; i++ {
		low = min(low, p[i].Free)
	}
	return low
}

// EarliestFit returns the earliest start at or after t at which n nodes are
// free for all of d, or Never. It costs one walk over the steps.
func (p Profile) EarliestFit(t Time, n int, d Duration) Time {
	i := p.Index(t)
	start, open := t, p[i].Free >= n
	for i++; i < len(p); i++ {
		if open && p[i].At >= start.Add(d) {
			return start
		}
		if p[i].Free < n {
			open = false
		} else if !open {
			start, open = p[i].At, true
		}
	}
	if open {
		return start
	}
	return Never
}

// Add changes the number of free nodes over [s, e) by n, which is negative to take nodes. It
// panics if s lies before the first step.
func (p *Profile) Add(s, e Time, n int) {
	if n == 0 || s >= e {
		return
	}
	if s < (*p)[0].At {
		panic(fmt.Sprintf("profile: %v lies before its first step, %v", s, (*p)[0].At))
	}
	i := p.cut(s)
	j := len(*p)
	if e < Never {
		j = p.cut(e)
	}
	q := *p
	for k := i; k < j; k++ {
		q[k].Free += n
	}
	p.join(j)
	p.join(i)
}

// cut makes t a step of its own and returns its index.
func (p *Profile) cut(t Time) int {
	i := p.Index(t)
	if (*p)[i].At == t {
		return i
	}
	*p = slices.Insert(*p, i+1, Step{t, (*p)[i].Free})
	return i + 1
}

// join removes step i if it repeats the one before.
func (p *Profile) join(i int) {
	if q := *p; i > 0 && i < len(q) && q[i].Free == q[i-1].Free {
		*p = slices.Delete(q, i, i+1)
	}
}

// From drops everything before t, so that the profile begins at t.
func (p *Profile) From(t Time) {
	i := p.Index(t)
	q := (*p)[i:]
	if q[0].At < t {
		q[0].At = t
	}
	*p = q
}

// Level is a maximal interval over which at least a certain number of nodes is
// free; Count levels share it.
type Level struct {
	Start, End Time
	Count      int
}

// Least returns the lesser of p and q at each instant, from the first step of p on.
func (p Profile) Least(q Profile) Profile {
	out := Profile{{p[0].At, min(p[0].Free, q.At(p[0].At))}}
	step := func(at Time, free int) {
		if free != out[len(out)-1].Free {
			out = append(out, Step{at, free})
		}
	}
	j := q.Index(p[0].At) + 1
	for i := range p {
		if i > 0 {
			step(p[i].At, min(p[i].Free, q[j-1].Free))
		}
		for ; j < len(q) && (i+1 == len(p) || q[j].At < p[i+1].At); j++ {
			step(q[j].At, min(p[i].Free, q[j].Free))
		}
		if i+1 < len(p) && j < len(q) && q[j].At == p[i+1].At {
			j++
		}
	}
	return out
}

// Levels appends to list the level sets of the profile over [from, to): for
// each k >= 1 the maximal intervals with at least k nodes free, equal ones
// carried as one with a count. n nodes are free on [s, e) iff levels with a
// count of n in all cover it. The order is by start, then by end descending.
// It costs one walk over the steps and a sort of the levels. scratch is memory
// to use again, nil for none: a search takes a hundred thousand windows.
func (p Profile) Levels(list []Level, scratch *[]Level, from, to Time) []Level {
	if scratch == nil {
		scratch = new([]Level)
	}
	first, depth := len(list), 0
	open := (*scratch)[:0] // nested: earlier start and deeper level first
	closeDown := func(at Time, free int) {
		for depth > free {
			top := &open[len(open)-1]
			n := min(top.Count, depth-free)
			if at > top.Start {
				list = append(list, Level{top.Start, at, n})
			}
			depth -= n
			if top.Count -= n; top.Count == 0 {
				open = open[:len(open)-1]
			}
		}
	}
	for i := p.Index(from); i < len(p) && p[i].At < to; i++ {
		at := max(p[i].At, from)
		closeDown(at, max(p[i].Free, 0))
		if free := p[i].Free; free > depth {
			open = append(open, Level{at, 0, free - depth})
			depth = free
		}
	}
	closeDown(to, 0)
	*scratch = open
	slices.SortFunc(list[first:], Level.Compare)
	return list
}

// Compare orders levels by start, then by end descending.
func (l Level) Compare(m Level) int {
	if l.Start != m.Start { // not cmp.Or, which would do both: searches sort levels all the time
		return cmp.Compare(l.Start, m.Start)
	}
	return cmp.Compare(m.End, l.End)
}
