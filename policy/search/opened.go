package search

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Where nodes are divided into slices, a job may ask for a portion of each of its nodes. Its
// slots are those of whole nodes, which it opens, and those inside opened nodes: of each, the
// maximal intervals with enough free slices. At equal starts the opened ones come first, in
// the order of the list, then that in which their nodes were opened. Of nodes of equal cost a job takes those with
// the fewest free slices, then those whose slot ends first, then those first in the list.

// openTie is more than the tie of any slot of a whole node.
const openTie = 1 << 62

// opening is a node that is opened for a time, with the class of its node.
type opening struct {
	grid.Opened
	class int32
}

// insides are the slots inside opened nodes for jobs that take certain slices.
type insides struct {
	slices []uint8
	slots  slotList
}

// mostInside bounds the sets of such slots that are kept: each change touches all of them.
const mostInside = 64

// divide returns how many slices of a node of each group a request takes, 0 for whole nodes
// and where none suits it; nil if it takes whole nodes everywhere.
func (l *List) divide(r *grid.Request) (portions []uint8) {
	for g := range l.groups {
		if k := l.groups[g].Divided(); k > 1 {
			if u, _ := r.Portion.On(&l.groups[g]); u < k && u > 0 {
				if portions == nil {
					portions = make([]uint8, len(l.groups))
				}
				portions[g] = uint8(u)
			}
		}
	}
	return portions
}

// insideFor returns the slots inside opened nodes for jobs that take those slices. It costs
// a look at all opened nodes where no job took as many before.
func (l *List) insideFor(portions []uint8) *slotList {
	for i := range l.inside {
		if slices.Equal(l.inside[i].slices, portions) {
			return &l.inside[i].slots
		}
	}
	if len(l.inside) == mostInside {
		l.inside = l.inside[:0]
	}
	var sorted []slot
	for i := range l.opened {
		l.spans(i, portions, func(s slot) { sorted = append(sorted, s) })
	}
	slices.SortFunc(sorted, func(a, b slot) int { return a.compare(b) })
	l.inside = append(l.inside, insides{slices: portions})
	in := &l.inside[len(l.inside)-1].slots
	in.fill(sorted)
	return in
}

// spans calls yield for the slots inside an opened node.
func (l *List) spans(i int, portions []uint8, yield func(slot)) {
	o := &l.opened[i]
	if u := portions[o.Group]; u > 0 {
		o.Spans(int(u), func(from, to grid.Time) {
			yield(slot{start: from, end: to, tie: int64(i) - openTie, class: o.class, count: 1})
		})
	}
}

// Open adds an opened node, behind those before it. Its node must not be free over its
// interval.
func (l *List) Open(o grid.Opened) {
	class := slices.IndexFunc(l.classes, func(c class) bool { return c.group == o.Group })
	l.epoch++
	l.open(opening{Opened: o, class: int32(class)})
}

func (l *List) open(o opening) {
	l.changes++
	l.opened = append(l.opened, o)
	for k := range l.inside {
		l.spans(len(l.opened)-1, l.inside[k].slices, l.inside[k].slots.insert)
	}
}

// lower takes slices of an opened node.
func (l *List) lower(i int, from, to grid.Time, taken int) {
	l.changes++
	for k := range l.inside {
		in := &l.inside[k]
		l.spans(i, in.slices, func(s slot) { in.slots.remove(in.slots.find(s)) })
	}
	l.opened[i].Take(from, to, taken)
	for k := range l.inside {
		l.spans(i, l.inside[k].slices, l.inside[k].slots.insert)
	}
}

// openedOf returns the index of the opened node that a slot lies in; false if it is one of
// whole nodes.
func openedOf(s *slot) (int, bool) { return int(s.tie + openTie), s.tie < 0 }

// lanesFor returns the slots that may serve a query.
func (f *Finder) lanesFor(q *query) lanes {
	if q.portions == nil {
		f.many = len(f.list.slots) > 1
		return f.list.slots
	}
	f.many = true
	f.lanes = append(append(f.lanes[:0], f.list.slots...), *f.list.insideFor(q.portions))
	return f.lanes
}

// price is what a job pays per hour of what it takes of a node, whose price that is.
func (q *query) price(l *List, c *class, p grid.Price) grid.Price {
	if u := q.slices(c); u > 0 {
		return grid.PriceOfSlices(p, u, l.groups[c.group].Divided())
	}
	return p
}

// cost is what it pays for a time.
func (q *query) cost(l *List, c *class, p grid.Price, d grid.Duration) grid.Credits {
	if u := q.slices(c); u > 0 {
		return grid.CostOfSlices(p, d, u, l.groups[c.group].Divided())
	}
	return grid.Cost(p, d)
}

// costOver is what it pays over an interval, in which the price may change.
func (q *query) costOver(l *List, c *class, from, to grid.Time) grid.Credits {
	if u := q.slices(c); u > 0 {
		return grid.CostOfSlicesOver(c.price, c.curve, from, to, u, l.groups[c.group].Divided())
	}
	return grid.CostOver(c.price, c.curve, from, to)
}

// slices is how many slices the query takes of a node of a class; 0: all.
func (q *query) slices(c *class) int {
	if q.portions == nil {
		return 0
	}
	return int(q.portions[c.group])
}

// standing is where a slot stands among those of equal cost.
type standing struct {
	kept
	free int // slices, over the job's time
	end  grid.Time
}

// rank orders the slots of a pool of equal cost, for a start at t, as far as a job may take any
// that takes no longer there than longest.
func (f *Finder) rank(p *pool, q *query, t grid.Time, longest grid.Duration) {
	p.expire(t)
	if len(p.sorted) == 0 {
		return
	}
	for i, held := 0, 0; i < len(p.sorted) && held < p.need; {
		from := i
		for ; i < len(p.sorted) && p.sorted[i].key == p.sorted[from].key; i++ {
			if k := &p.sorted[i]; q.fit(f.list, k.class).runtime <= longest {
				held += int(k.count)
			}
		}
		f.rankEqual(p.sorted[from:i], q, t)
	}
	p.sumUp()
	p.trim()
}

// rankEqual orders slots of one cost.
func (f *Finder) rankEqual(equal []kept, q *query, t grid.Time) {
	l := f.list
	f.standings = f.standings[:0]
	for _, k := range equal {
		x := standing{kept: k, free: l.groups[l.classes[k.class].group].Divided(), end: grid.Never}
		if !l.curved {
			s := f.at(k.pos)
			x.end = s.end
			if i, open := openedOf(s); open {
				x.free = l.opened[i].Least(t, t.Add(q.fit(l, k.class).runtime))
			}
		}
		f.standings = append(f.standings, x)
	}
	slices.SortFunc(f.standings, func(a, b standing) int {
		return cmp.Or(cmp.Compare(a.free, b.free), cmp.Compare(a.end, b.end), cmp.Compare(a.pos, b.pos))
	})
	for i := range f.standings {
		equal[i] = f.standings[i].kept
	}
}

// takePortions removes a window of portions from the list: what lies inside opened nodes from
// those, the rest from the whole nodes, which it opens.
func (f *Finder) takePortions(q []uint8, w *grid.Window) {
	l := f.list
	for i := len(f.taken) - 1; i >= 0; i-- {
		s := &f.taken[i]
		g := l.classes[s.class].group
		p := &w.Parts[slices.IndexFunc(w.Parts, func(p grid.Part) bool { return p.Group == g })]
		switch at, open := openedOf(s); {
		case open:
			l.lower(at, p.Start, p.End, int(q[g]))
			continue
		case l.fungible:
			l.Add(g, -int(s.count), p.Start, p.End)
		default:
			l.cut(*s, p.Start, p.End)
		}
		if q[g] > 0 {
			for range s.count {
				l.open(opening{Opened: grid.Open(g, p.Start, p.End, l.groups[g].Divided()-int(q[g])), class: s.class})
			}
		}
	}
}

// openRest opens the nodes of a window that takes slices of them, and was taken on whole nodes:
// that of a job of parts, which looks for no place inside.
func (l *List) openRest(parts []grid.Part) {
	for i := range parts {
		p := &parts[i]
		if p.Slices == 0 || l.curved {
			continue
		}
		for range p.Count {
			l.Open(grid.Open(p.Group, p.Start, p.End, l.groups[p.Group].Divided()-int(p.Slices)))
		}
	}
}

// Lay takes the parts of a window of a named list anew, each on its node: inside where the
// node is opened, otherwise of the whole node. It reports false, and takes nothing, if one
// has no place: alternatives of a batch may lie inside those of other jobs.
func (f *Finder) Lay(w *grid.Window) bool {
	l := f.list
	places := make([]slot, len(w.Parts))
	for i := range w.Parts {
		var ok bool
		if places[i], ok = l.place(&w.Parts[i]); !ok {
			return false
		}
	}
	for i := range w.Parts {
		p := &w.Parts[i]
		s, _ := l.place(p) // another part of the job may have cut the slot
		if at, open := openedOf(&s); open {
			l.lower(at, p.Start, p.End, int(p.Slices))
			continue
		}
		l.cut(s, p.Start, p.End)
		if p.Slices > 0 {
			l.open(opening{Opened: grid.Open(p.Group, p.Start, p.End, l.groups[p.Group].Divided()-int(p.Slices)), class: s.class})
		}
	}
	return true
}

// place finds the slot of a named list that can carry a part on its node.
func (l *List) place(p *grid.Part) (slot, bool) {
	for i := range l.opened {
		o := &l.opened[i]
		if p.Slices > 0 && o.Group == p.Group && o.Start <= p.Start && p.End <= o.End && o.Least(p.Start, p.End) >= int(p.Slices) {
			return slot{tie: int64(i) - openTie}, true
		}
	}
	for c := range l.slots[0].chunks {
		for _, s := range l.slots[0].chunks[c].slots {
			if s.start > p.Start {
				return slot{}, false
			}
			if p.End <= s.end && l.classes[s.class].group == p.Group {
				return s, true
			}
		}
	}
	return slot{}, false
}
