package tenancy

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// The terms of a user and of the user's tenant bound what they may reserve. A window is
// checked when its transaction is about to begin, together with everything begun before
// it. So no bound is ever exceeded: not by two jobs of one batch, a repair, or a site
// that moves a leg within its window. What was reserved before a bound was lowered stays,
// and so do unrecorded legs listed by a site. To avoid searching in vain, a cycle
// searches for a job's window only from when the bounds first allow one.

// Bound reports whether any bound limits what a user reserves.
func (x *Tenancy) Bound(user string) bool {
	u := x.User(user)
	return u.bind() || u.Tenant.bind()
}

// binding are those of a user's and the tenant's bounds that limit reservations.
func (x *Tenancy) binding(user string) []*bounds {
	var list []*bounds
	u := x.User(user)
	for _, b := range []*bounds{&u.bounds, &u.Tenant.bounds} {
		if b.bind() {
			list = append(list, b)
		}
	}
	if len(list) > 0 {
		x.refresh()
	}
	return list
}

// interval is a time during which nodes are held.
type interval struct {
	from, to grid.Time
	nodes    int
	part     grid.LegPart // of each node; zero: all of it
}

// spanOf is the time that a leg may occupy: its whole window, if its site may move it.
func spanOf(l *grid.Leg, f grid.Flex) interval {
	if f.Movable(*l) {
		return interval{min(f.Ready, l.Start), max(f.Due, l.End), l.Nodes, l.Part}
	}
	return interval{l.Start, l.End, l.Nodes, l.Part}
}

// startsOf are the first and the last instant at which a leg may begin.
func startsOf(l *grid.Leg, f grid.Flex) (first, last grid.Time) {
	span := spanOf(l, f)
	return span.from, span.to.Add(-l.Duration())
}

// startsAll are the first and the last instant at which a leg of a window may begin. Those of a
// job of parts begin at several. Its whole window is then held to the bounds of each period in
// between, though each leg counts for its own: so it never exceeds one.
func startsAll(legs []grid.Leg, f grid.Flex) (first, last grid.Time) {
	first, last = startsOf(&legs[0], f)
	for i := range legs[1:] {
		a, b := startsOf(&legs[1+i], f)
		first, last = min(first, a), max(last, b)
	}
	return first, last
}

// mayUse is the usage of a user or tenant in the period that contains an instant,
// including legs that their sites may yet move into it, and when that period ends.
func (x *Tenancy) mayUse(b *bounds, at grid.Time) (all Used, until grid.Time) {
	all, until = x.usage.within(b, at)
	from := until.Add(-b.period)
	for _, w := range x.usage.of(b.key) {
		for i := range w.Size() {
			l, _ := w.Leg(i)
			first, last := startsOf(l, w.Flex())
			if in := l.Start >= from && l.Start < until; !in && first < until && last >= from {
				u := w.Takes(i)
				all.Time, all.Credits = all.Time+u.Time, all.Credits.Plus(u.Credits)
			}
		}
	}
	return all, until
}

// Over says which bound of a user or tenant a window would exceed; no reason: none.
// without is the job whose present window it replaces; "": none.
func (x *Tenancy) Over(user string, legs []grid.Leg, cost grid.Credits, flex grid.Flex, without string) grid.Reason {
	for _, b := range x.binding(user) {
		if r, _ := x.over(b, legs, cost, flex, without); r.Refused() {
			return r
		}
	}
	return grid.Reason{}
}

// over says how a window would exceed some bounds, and from when on it might not; no
// reason: it does not.
func (x *Tenancy) over(b *bounds, legs []grid.Leg, cost grid.Credits, flex grid.Flex, without string) (grid.Reason, grid.Time) {
	if b.nodes > 0 {
		if r, at := x.overNodes(b, legs, flex, without); r.Refused() {
			return r, at
		}
	}
	if b.time < 0 && b.credits < 0 {
		return grid.Reason{}, 0
	}
	first, latest := startsAll(legs, flex)
	for at := first; ; {
		used, until := x.mayUse(b, at)
		takes := int64(0)
		for i := range legs {
			takes += legs[i].Part.Time(legs[i].Nodes, legs[i].Duration())
		}
		switch {
		case b.time >= 0 && used.Time+takes > b.time:
			return grid.Because(grid.Bound, "%s may reserve %s node-hours in %s until %v, %s are reserved, and it takes %s", b.of,
				grid.NodeHourWords(b.time), b.period.Words(), until, grid.NodeHourWords(used.Time), grid.NodeHourWords(takes)), until
		case b.credits >= 0 && used.Credits.Plus(cost) > b.credits:
			return grid.Because(grid.Bound, "%s may spend %v credits in %s until %v, %v are spent or promised, and it costs %v", b.of,
				b.credits, b.period.Words(), until, used.Credits, cost), until
		}
		if at = until; at > latest {
			return grid.Reason{}, 0
		}
	}
}

// overNodes says how a window would exceed the bound on nodes held at once, and when the
// first of the nodes in its way are free; no reason: it does not.
func (x *Tenancy) overNodes(b *bounds, legs []grid.Leg, flex grid.Flex, without string) (grid.Reason, grid.Time) {
	own := make([]interval, len(legs))
	from, to := grid.Never, grid.Time(0)
	for i := range legs {
		own[i] = spanOf(&legs[i], flex)
		from, to = min(from, own[i].from), max(to, own[i].to)
	}
	if _, need := peak(own); need > b.nodes {
		return grid.Because(grid.Bound, "%s may have %s at once, and it takes %d", b.of, grid.Count(b.nodes, "node"), need), grid.Never
	}
	all, free := own, grid.Never
	for _, w := range x.usage.of(b.key) {
		if !w.Counts(without) {
			continue
		}
		for i := range w.Size() {
			l, held := w.Leg(i)
			span := spanOf(l, w.Flex())
			if !held || span.to <= from || span.from >= to {
				continue
			}
			all, free = append(all, span), min(free, span.to)
		}
	}
	if at, most := peak(all); most > b.nodes {
		return grid.Because(grid.Bound, "%s may have %s at once, and would have %d at %v", b.of, grid.Count(b.nodes, "node"), most, at), free
	}
	return grid.Reason{}, 0
}

// peak is the first instant at which the most nodes are held, and how many that is; slices
// add up to whole nodes, and what is left of one counts as one.
func peak(list []interval) (at grid.Time, most int) {
	type change struct {
		at grid.Time
		by int
	}
	changes, of := make([]change, 0, 2*len(list)), common(list)
	for _, x := range list {
		n := x.nodes * of
		if x.part.Some() {
			n = n / int(x.part.Of) * int(x.part.Slices)
		}
		changes = append(changes, change{x.from, n}, change{x.to, -n})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	held := 0
	for _, c := range changes {
		if held += c.by; held > most {
			at, most = c.at, held
		}
	}
	return at, (most + of - 1) / of
}

// common is the least number that all nodes can be divided into: slices of a node of 3 and of
// one of 8 are counted in 24ths.
func common(list []interval) int {
	of := 1
	for _, x := range list {
		if k := int(x.part.Of); k > 0 && of%k != 0 && of <= maxCommon {
			a, b := of, k
			for b > 0 {
				a, b = b, a%b
			}
			of = of / a * k
		}
	}
	return of
}

// maxCommon bounds that number, so that sums stay whole: where groups are divided so unlike
// each other, slices of the last of them count rounded down.
const maxCommon = 1 << 24

// maxSteps bounds the steps of the search for a job's first chance.
const maxSteps = 100

// Need is what a job asks for at least.
type Need struct {
	User            string
	Nodes           int           // the fewest that it accepts
	Runtime         grid.Duration // on the slowest nodes that it accepts
	Ready, Deadline grid.Time
	Parts           []grid.JobPart // of a job of several; Nodes and Runtime then do not matter
}

// legs are the least that a window takes if it starts at an instant.
func (j *Need) legs(at grid.Time) []grid.Leg {
	if len(j.Parts) == 0 {
		return []grid.Leg{{Nodes: j.Nodes, Start: at, End: at.Add(j.Runtime)}}
	}
	legs := make([]grid.Leg, len(j.Parts))
	for i := range j.Parts {
		start := at.Add(j.Parts[i].Offset)
		legs[i] = grid.Leg{Nodes: j.Parts[i].Nodes, Start: start, End: start.Add(grid.Millisecond)} // on nodes that are fast enough
	}
	return legs
}

// Chance is the instant from which a user's bounds may allow a window for a job, or
// grid.Never if not before the horizon, and the bound that allows none earlier. If no period
// allows the node time that the job needs, it assumes less, for there may be faster nodes.
// The actual window is checked again.
func (x *Tenancy) Chance(j Need, from, horizon grid.Time) (grid.Time, grid.Reason) {
	list := x.binding(j.User)
	if len(list) == 0 {
		return from, grid.Reason{}
	}
	var why grid.Reason
	at := max(from, j.Ready)
	for range maxSteps {
		legs := j.legs(at)
		next := grid.Time(0)
		for _, b := range list {
			try := legs
			if most := max(b.time/int64(max(j.Nodes, 1)), 1); len(j.Parts) == 0 && b.time >= 0 && int64(legs[0].Duration()) > most {
				try = []grid.Leg{legs[0]}
				try[0].End = at.Add(grid.Duration(most))
			}
			if r, t := x.over(b, try, 1, grid.Flex{}, ""); r.Refused() {
				why, next = r, max(next, t)
			}
		}
		if next <= at {
			return at, why
		}
		if at = next; at >= horizon || at >= j.Deadline {
			return grid.Never, why
		}
	}
	return at, why
}

// Left is what the bounds of a user and of the user's tenant leave to spend on a
// window.
func (x *Tenancy) Left(user string, legs []grid.Leg, flex grid.Flex) grid.Credits {
	left := grid.MaxCredits
	for _, b := range x.binding(user) {
		if b.credits < 0 {
			continue
		}
		first, latest := startsAll(legs, flex)
		for at := first; at <= latest; {
			used, until := x.mayUse(b, at)
			left = min(left, b.credits-used.Credits)
			at = until
		}
	}
	return left
}
