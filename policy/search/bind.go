package search

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search/assign"
)

// span is the time in which a part needs its nodes of a group.
type span struct {
	part       uint8 // one bit
	start, end grid.Time
	from, to   grid.Time // with padding
	free       int32     // of parts that start together
	taken      int32     // nodes
}

// binds says which parts of a job that starts at t share the nodes of a group, and how many
// are free for them.
func (f *Finder) binds(q *query, u *user, t grid.Time) assign.Group {
	if q.level && f.list.groups[u.group].Padding == 0 {
		return assign.Group{Sets: f.chain(q, u)}
	}
	var spans [assign.MaxParts]span
	var cuts [4 * assign.MaxParts]grid.Time
	return f.among(u, f.spans(q, u, t, spans[:0]), cuts[:0])
}

// spans appends when the parts need their nodes of a group.
func (f *Finder) spans(q *query, u *user, t grid.Time, spans []span) []span {
	for i := range q.pieces {
		if u.parts&(1<<i) == 0 {
			continue
		}
		p := &q.pieces[i]
		x := span{part: 1 << i, start: t.Add(p.offset), taken: u.has[i].count}
		x.end = x.start.Add(p.fit(f.list, u.has[i].class).runtime)
		x.from, x.to = x.start, x.end
		if f.list.fungible {
			x.from, x.to = f.list.padded(u.group, x.start, x.end)
		}
		spans = append(spans, x)
	}
	return spans
}

// cuts appends the instants at which spans begin or end, in order.
func cuts(spans []span, list []grid.Time) []grid.Time {
	for _, x := range spans {
		list = append(list, x.from, x.start, x.end, x.to)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// holds reports whether the parts can all have what they take of a group. It is binds without
// a list of what binds.
func (f *Finder) holds(q *query, u *user, t grid.Time) bool {
	var room [assign.MaxParts]span
	if q.level && f.list.groups[u.group].Padding == 0 {
		spans, taken := f.byEnd(q, u, room[:0]), int32(0)
		for i := len(spans) - 1; i >= 0; i-- {
			if taken += spans[i].taken; taken > spans[i].free {
				return false
			}
		}
		return true
	}
	var instants [4 * assign.MaxParts]grid.Time
	spans := f.spans(q, u, t, room[:0])
	at := cuts(spans, instants[:0])
	for i := range len(at) - 1 {
		here, near, taken := false, 0, int32(0)
		for _, x := range spans {
			here = here || x.start <= at[i] && at[i+1] <= x.end
			if x.from <= at[i] && at[i+1] <= x.to {
				near, taken = near+1, taken+x.taken
			}
		}
		if here && near > 1 && taken > f.free(u, at[i], at[i+1]) {
			return false
		}
	}
	return true
}

// free is how many nodes of a group are free all the time.
func (f *Finder) free(u *user, from, to grid.Time) int32 {
	if !f.list.fungible {
		return 1
	}
	return int32(f.list.levels[u.group].free.Min(from, to))
}

// among is binds for spans.
func (f *Finder) among(u *user, spans []span, room []grid.Time) (b assign.Group) {
	at := cuts(spans, room)
	for i := range len(at) - 1 {
		from, to := at[i], at[i+1]
		here, near := uint8(0), uint8(0)
		for _, x := range spans {
			if x.start <= from && to <= x.end {
				here |= x.part
			}
			if x.from <= from && to <= x.to {
				near |= x.part
			}
		}
		if here == 0 || near&(near-1) == 0 {
			continue
		}
		free := f.free(u, from, to)
		if here&(here-1) != 0 {
			b.Sets = addSet(b.Sets, assign.Set{Parts: here, Free: free})
		}
		for _, x := range spans {
			if others := near &^ x.part; here&x.part != 0 && near != here {
				b.Gaps = addGap(b.Gaps, assign.Gap{Part: x.part, Others: others, Free: free})
			}
		}
	}
	return b
}

// chain is binds for parts that start together: those that run longer still need their nodes
// when the shorter ones are over, so as many are free for them as for the shortest of them.
func (f *Finder) chain(q *query, u *user) []assign.Set {
	var room [assign.MaxParts]span
	spans := f.byEnd(q, u, room[:0])
	var sets []assign.Set
	parts := uint8(0)
	for i := len(spans) - 1; i >= 0; i-- {
		if parts |= spans[i].part; parts&(parts-1) != 0 {
			sets = addSet(sets, assign.Set{Parts: parts, Free: spans[i].free})
		}
	}
	return sets
}

// byEnd appends, for parts that start together, when they need their nodes of a group, the
// shortest first.
func (f *Finder) byEnd(q *query, u *user, spans []span) []span {
	for i := range q.pieces {
		if u.parts&(1<<i) != 0 {
			x := &u.has[i]
			spans = append(spans, span{part: 1 << i, end: grid.Time(q.pieces[i].fit(f.list, x.class).runtime), free: x.all, taken: x.count})
		}
	}
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.end, b.end) })
	return spans
}

// addSet adds a set, unless one of the same parts has as few.
func addSet(list []assign.Set, x assign.Set) []assign.Set {
	for i := range list {
		if list[i].Parts == x.Parts {
			list[i].Free = min(list[i].Free, x.Free)
			return list
		}
	}
	return append(list, x)
}

func addGap(list []assign.Gap, x assign.Gap) []assign.Gap {
	for i := range list {
		if list[i].Part == x.Part && list[i].Others == x.Others {
			list[i].Free = min(list[i].Free, x.Free)
			return list
		}
	}
	return append(list, x)
}
