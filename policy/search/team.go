package search

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search/assign"
)

// team is what a search for a job of parts remembers: what each part can have at the present
// start, and the choice there.
type team struct {
	pools    []pool
	fars     [assign.MaxParts]far // of the pools
	walks    []course
	instants []grid.Time
	start    grid.Time
	spots    []grid.Time   // starts that were looked at before the walk
	lately   grid.Time     // the start of the last window that Best found
	fresh    grid.Duration // of the nodes that came free at the start, the least time until the end of a part on them
	sum      sum           // of the least keys of all parts
	floor    sum           // of the least keys that they could ever have

	// A window with nodes beyond these bounds cannot win, see lower.
	floors  *floors // nil: none
	left    sum     // what a window at the start may score
	longest grid.Duration
	dearest [assign.MaxParts]int64 // a node of the part
	most    grid.Credits           // all together

	chosen []member // the choice: by part, then list order
	best   []member
	time   grid.Duration
	cost   sum

	stays   [assign.MaxParts]stays
	picks   [assign.MaxParts]pick
	offers  [assign.MaxParts][]kept // of each part, the cheapest first
	solver  assign.Solver
	walk    bool // for tests: neither spots nor lazy pools
	flows   int  // most flows at a start, for tests; 0: maxFlows
	problem assign.Problem
	dense   []int32 // by group: its index in the problem; see stamp
	stamp   []uint32
	now     uint32
	users   []user // groups by index in the problem
}

// member is nodes that a part takes, of as many as it could have there.
type member struct {
	kept
	part int32
	all  int32
}

// user is a group with the parts that may use it, and the offers they have there.
type user struct {
	group int32
	parts uint8
	has   [assign.MaxParts]member
}

// open resets the pools for a query.
func (c *team) open(l *List, q *query) {
	for len(c.pools) < len(q.pieces) {
		c.pools = append(c.pools, pool{})
	}
	c.pools = c.pools[:len(q.pieces)]
	for i := range c.pools {
		c.pools[i].reset(q.pieces[i].Nodes, q.limit)
		if c.pools[i].array = true; !c.walk {
			c.pools[i].far = c.fars[i].empty()
		}
		c.picks[i].chosen = c.picks[i].chosen[:0]
	}
	c.most, c.left = q.limit, beyond
	c.fresh, c.longest = grid.Duration(grid.Never), grid.Duration(grid.Never)
	for i := range c.dearest {
		c.dearest[i] = math.MaxInt64
	}
	if n := len(l.groups); len(c.stamp) < n {
		c.dense, c.stamp = make([]int32, n), make([]uint32, n)
	}
}

// mayFit reports whether each part has enough nodes at t, and whether the sum of their least
// keys, which it leaves in c.sum, is within the limit.
func (c *team) mayFit(q *query, t grid.Time) bool {
	if !c.enough(q) {
		return false
	}
	c.expire(t)
	return c.enough(q)
}

// expire drops what no longer serves at t.
func (c *team) expire(t grid.Time) {
	for i := range c.pools {
		c.pools[i].expire(t)
	}
}

// enough is mayFit with what has expired.
func (c *team) enough(q *query) bool {
	c.sum = sum{}
	for i := range c.pools {
		p := &c.pools[i]
		if p.live < p.need {
			return false
		}
		c.sum = c.sum.with(p.least())
	}
	return c.sum.atMost(q.limit)
}

// hopeless reports whether no window with a node of a class for a part can win.
func (c *team) hopeless(part int, class int32) bool {
	return c.floors != nil && c.left.less(c.floors.classes[part][class])
}

// settleTeam finds the choice at t among nodes on which no part ends later than longest after
// the start, and reports whether there is one within the limit. Mostly the cheapest nodes of
// all parts fit together, and are the choice.
func (f *Finder) settleTeam(q *query, t grid.Time, longest grid.Duration) bool {
	if q.ruled || q.Together || q.Apart {
		if may, found := f.bySites(q, longest, t); !may || found {
			return may
		}
		return f.solve(q, t)
	}
	enough, fits := f.cheapest(q, t, longest)
	if !enough || fits {
		return enough
	}
	return f.gatherAll(q, longest) && f.solve(q, t)
}

// gather lists what a part can have, the cheapest first and in list order at the same key,
// until the list holds as many nodes as needed. What is as dear as the last belongs to it.
func (f *Finder) gather(q *query, part, need int, longest grid.Duration) (nodes int) {
	c, l, p := &f.team, f.list, &q.pieces[part]
	list := c.offers[part][:0]
	run := 0 // where the last run of equal keys begins
	all := &c.pools[part]
	for i := 0; ; i++ {
		if i == len(all.sorted) && (nodes >= need && all.far.above(list[run].key) || !all.nearer()) {
			break
		}
		k := all.sorted[i]
		if k.key > c.dearest[part] {
			break
		}
		if c.hopeless(part, k.class) {
			continue
		}
		if longest < grid.Duration(grid.Never) && p.last(p.fit(l, k.class).runtime) > longest {
			continue
		}
		if len(list) > run && list[run].key != k.key {
			if nodes >= need {
				break
			}
			run = len(list)
		}
		nodes += int(k.count)
		if !l.fungible {
			list = append(list, k)
			continue
		}
		at := len(list)
		for at > run && list[at-1].class > k.class {
			at--
		}
		if at > run && list[at-1].class == k.class {
			list[at-1].count += k.count
			list[at-1].latest = min(list[at-1].latest, k.latest)
		} else {
			list = slices.Insert(list, at, k)
		}
	}
	c.offers[part] = list
	return nodes
}

// pick is the cheapest nodes of one part at the present start.
type pick struct {
	chosen []member // in list order; none: not known
	last   grid.Duration
	cost   sum

	longest grid.Duration // for which it was made
	dearest int64         // the greatest key of its nodes
	until   grid.Time     // the last start at which all of them serve
}

// cheapest makes the cheapest nodes of each part the choice. It reports whether all have
// enough, at a sum within the limit, and whether they fit together, which those that lose need
// not. A pick that ends in time is the cheapest of those that do too, so only others are made
// anew, and those whose nodes have expired, see also offer.
func (f *Finder) cheapest(q *query, t grid.Time, longest grid.Duration) (enough, fits bool) {
	c := &f.team
	c.time, c.cost = 0, sum{}
	for i := range q.pieces {
		p := &c.picks[i]
		if len(p.chosen) == 0 || p.until < t || p.last > longest || p.longest < longest {
			if !f.pick(q, i, longest) {
				return false, false
			}
		}
		c.time, c.cost = max(c.time, p.last), c.cost.with(p.cost)
	}
	if !c.cost.atMost(c.most) {
		return false, false
	}
	c.chosen = c.chosen[:0]
	for i := range q.pieces {
		c.chosen = append(c.chosen, c.picks[i].chosen...)
	}
	return true, f.loses(t) || f.fit(q, t)
}

// pick finds the cheapest nodes of a part on which it ends no later than longest, and reports
// whether there are enough.
func (f *Finder) pick(q *query, part int, longest grid.Duration) bool {
	c, x := &f.team, &q.pieces[part]
	p, left := &c.picks[part], x.Nodes
	*p = pick{chosen: p.chosen[:0], longest: longest, until: grid.Never}
	if f.gather(q, part, left, longest) < left {
		return false
	}
	for _, k := range c.offers[part] {
		n, all := min(left, int(k.count)), k.count
		k.count = int32(n)
		p.chosen = append(p.chosen, member{k, int32(part), all})
		p.last, p.cost = max(p.last, x.last(x.fit(f.list, k.class).runtime)), p.cost.plus(k.key, n)
		p.dearest, p.until = k.key, min(p.until, k.latest)
		if left -= n; left == 0 {
			break
		}
	}
	slices.SortFunc(p.chosen, func(a, b member) int { return f.byList(a.kept, b.kept) })
	return true
}

// join adds n of the nodes that a part could have to the choice.
func (f *Finder) join(q *query, part int, k kept, n int) {
	c, p := &f.team, &q.pieces[part]
	all := k.count
	k.count = int32(n)
	c.chosen = append(c.chosen, member{k, int32(part), all})
	c.time = max(c.time, p.last(p.fit(f.list, k.class).runtime))
	c.cost = c.cost.plus(k.key, int(k.count))
}

// byList is list order: of slots, or of groups.
func (f *Finder) byList(a, b kept) int {
	if f.list.fungible {
		return cmp.Compare(a.class, b.class)
	}
	return cmp.Compare(a.pos, b.pos)
}

// everything is more nodes than there are.
const everything = math.MaxInt

// fit reports whether the chosen nodes are free at once.
func (f *Finder) fit(q *query, t grid.Time) bool {
	c := &f.team
	f.openUsers()
	for _, m := range c.chosen {
		f.meet(m)
	}
	for i := range c.users {
		u := &c.users[i]
		if bits.OnesCount8(u.parts) < 2 {
			continue
		}
		if !f.holds(q, u, t) {
			return false
		}
	}
	return true
}

// openUsers empties the list of groups with the parts that may use them.
func (f *Finder) openUsers() {
	c := &f.team
	c.users = c.users[:0]
	if c.now++; c.now == 0 {
		clear(c.stamp)
		c.now = 1
	}
}

// meet adds what a part has, or could have, to that list.
func (f *Finder) meet(m member) {
	c, g := &f.team, f.list.classes[m.class].group
	if c.stamp[g] != c.now {
		c.stamp[g], c.dense[g] = c.now, int32(len(c.users))
		c.users = append(c.users, user{group: g})
	}
	u := &c.users[c.dense[g]]
	u.parts |= 1 << m.part
	u.has[m.part] = m
}

// gatherAll lists what each part can have, and reports whether all have enough. Only a part's
// cheapest nodes matter, as many as the job has: the other parts leave it enough of them. (With
// padding they may not.)
func (f *Finder) gatherAll(q *query, longest grid.Duration) bool {
	need := q.Nodes
	if f.list.padding {
		need = everything
	}
	for i := range q.pieces {
		if f.gather(q, i, need, longest) < q.pieces[i].Nodes {
			return false
		}
	}
	return true
}

// solve finds the choice among what the parts can have, where the cheapest nodes do not fit
// together or rules on sites hold.
func (f *Finder) solve(q *query, t grid.Time) bool {
	c, l := &f.team, f.list
	p := &c.problem
	f.openUsers()
	for len(p.Parts) < len(q.pieces) {
		p.Parts = append(p.Parts, assign.Part{})
	}
	p.Parts = p.Parts[:len(q.pieces)]
	for i := range q.pieces {
		if q.ruled || q.Together || q.Apart {
			c.offers[i] = slices.DeleteFunc(c.offers[i], func(k kept) bool { return !f.mayServe(q, i, k.class) })
		}
		list, x := c.offers[i], &p.Parts[i]
		slices.SortFunc(list, f.byList)
		x.Need, x.OneSite, x.Offers = q.pieces[i].Nodes, q.pieces[i].OneSite, x.Offers[:0]
		for _, k := range list {
			f.meet(member{k, int32(i), k.count})
			x.Offers = append(x.Offers, assign.Offer{Group: c.dense[l.classes[k.class].group], Count: k.count, Cost: k.key})
		}
	}
	p.Groups = p.Groups[:0]
	for i := range c.users {
		u := &c.users[i]
		var g assign.Group
		if bits.OnesCount8(u.parts) > 1 {
			g = f.binds(q, u, t)
		}
		g.Site = l.siteOf[l.groups[u.group].Site]
		p.Groups = append(p.Groups, g)
	}
	p.Together, p.Apart, p.Limit, p.Flows = q.Together, q.Apart, c.most, cmp.Or(c.flows, maxFlows)
	_, found, bounded := c.solver.Solve(p)
	q.bounded = q.bounded || bounded
	if !found {
		return false
	}
	c.chosen, c.time, c.cost = c.chosen[:0], 0, sum{}
	for i := range q.pieces {
		for k, n := range c.solver.Taken(i) {
			if n > 0 {
				f.join(q, i, c.offers[i][k], int(n))
			}
		}
	}
	return true
}

// buildTeam makes f.found from the choice. Parts stand by part of the job, then in list
// order.
func (f *Finder) buildTeam(q *query) {
	l, c := f.list, &f.team
	w := grid.Window{Start: c.start, Bounded: q.bounded}
	f.taken = f.taken[:0]
	parts := f.room(len(c.chosen))
	for _, m := range c.chosen {
		class, p := &l.classes[m.class], &q.pieces[m.part]
		rt := class.performance.Runtime(p.Length)
		x := grid.Part{Group: class.group, Count: m.count, Start: w.Start.Add(p.offset), Of: m.part}
		x.End = x.Start.Add(rt)
		x.Cost, x.Slices = p.costOver(l, class, x.Start, x.End).Times(int(m.count)), int32(p.slices(class))
		w.Time, w.Cost = max(w.Time, p.last(rt)), w.Cost.Plus(x.Cost)
		parts = append(parts, x)
		if !l.fungible {
			f.taken = append(f.taken, *f.at(m.pos))
		}
	}
	w.Parts = parts[:len(parts):len(parts)]
	f.arena = f.arena[:len(f.arena)+len(parts)]
	f.found = w
}

// takeNamed removes parts of a window from a named list, from the last to the first, which
// determines the order of equal starts. Of a slot that serves two parts of a job, one after
// the other, what the later one leaves serves the earlier one.
func (f *Finder) takeNamed(parts []grid.Part) {
	for i := len(parts) - 1; i >= 0; i-- {
		k := f.taken[i]
		f.list.cut(k, parts[i].Start, parts[i].End)
		for j := range i {
			if f.taken[j] != k {
				continue
			}
			if parts[j].Start < parts[i].Start {
				f.taken[j].end = parts[i].Start
			} else {
				f.taken[j].start, f.taken[j].tie = parts[i].End, f.list.next-1
			}
		}
	}
}
