package search

import (
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
}

// binds says which parts of a job that starts at t share the nodes of a group, and how many
// are free for them.
func (f *Finder) binds(q *query, u *user, t grid.Time) assign.Group {
	if q.level && f.list.groups[u.group].Padding == 0 {
		return assign.Group{Sets: f.chain(q, u)}
	}
	var room [assign.MaxParts]span
	spans, cuts := room[:0], make([]grid.Time, 0, 4*assign.MaxParts)
	for i := range q.pieces {
		if u.parts&(1<<i) == 0 {
			continue
		}
		p := &q.pieces[i]
		x := span{part: 1 << i, start: t.Add(p.offset)}
		x.end = x.start.Add(p.fit(f.list, u.has[i].class).runtime)
		x.from, x.to = x.start, x.end
		if f.list.fungible {
			x.from, x.to = f.list.padded(u.group, x.start, x.end)
		}
		spans, cuts = append(spans, x), append(cuts, x.start, x.end, x.from, x.to)
	}
	slices.Sort(cuts)
	return f.among(u, spans, slices.Compact(cuts))
}

// among is binds for spans that change nowhere but at the cuts.
func (f *Finder) among(u *user, spans []span, cuts []grid.Time) (b assign.Group) {
	for i := range len(cuts) - 1 {
		from, to := cuts[i], cuts[i+1]
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
		free := int32(1)
		if f.list.fungible {
			free = int32(f.list.levels[u.group].free.Min(from, to))
		}
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
	spans := room[:0]
	for i := range q.pieces {
		if u.parts&(1<<i) != 0 {
			spans = append(spans, span{part: 1 << i, end: grid.Time(q.pieces[i].fit(f.list, u.has[i].class).runtime), free: u.has[i].all})
		}
	}
	slices.SortStableFunc(spans, func(a, b span) int { return int(min(max(a.end-b.end, -1), 1)) })
	var sets []assign.Set
	parts := uint8(0)
	for i := len(spans) - 1; i >= 0; i-- {
		if parts |= spans[i].part; parts&(parts-1) != 0 {
			sets = addSet(sets, assign.Set{Parts: parts, Free: spans[i].free})
		}
	}
	return sets
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
