package broker

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

// limits says what users and tenants may still reserve.
type limits struct{ *memory }

// bound reports whether any bound limits what a user reserves.
func (mem limits) bound(user string) bool {
	u := mem.termsOf(user)
	return u.bind() || u.tenant.bind()
}

// binding are those of a user's and the tenant's bounds that limit reservations.
func (mem limits) binding(user string) []*bounds {
	var list []*bounds
	u := mem.termsOf(user)
	for _, b := range []*bounds{&u.bounds, &u.tenant.bounds} {
		if b.bind() {
			list = append(list, b)
		}
	}
	if len(list) > 0 {
		tally(mem).refresh()
	}
	return list
}

// interval is a time during which nodes are held.
type interval struct {
	from, to grid.Time
	nodes    int
}

// spanOf is the time that a leg may occupy: its whole window, if its site may move it.
func spanOf(l *grid.Leg, f grid.Flex) interval {
	if f.Movable(*l) {
		return interval{min(f.Ready, l.Start), max(f.Due, l.End), l.Nodes}
	}
	return interval{l.Start, l.End, l.Nodes}
}

// startsOf are the first and the last instant at which a leg may begin.
func startsOf(l *grid.Leg, f grid.Flex) (first, last grid.Time) {
	span := spanOf(l, f)
	return span.from, span.to.Add(-l.Duration())
}

// mayUse is the usage of a user or tenant in the period that contains an instant,
// including legs that their sites may yet move into it, and when that period ends.
func (mem limits) mayUse(b *bounds, at grid.Time) (all used, until grid.Time) {
	all, until = mem.usage.within(b, at)
	from := until.Add(-b.period)
	for _, t := range mem.usage.of(b.key) {
		for i := range t.legs {
			l := &t.legs[i].what
			first, last := startsOf(l, t.flex)
			if in := l.Start >= from && l.Start < until; !in && first < until && last >= from {
				x := t.takes(i)
				all.time, all.credits = all.time+x.time, all.credits.Plus(x.credits)
			}
		}
	}
	return all, until
}

// overBounds says which bound of a user or tenant a window would exceed; no reason: none.
// without is a job whose present window it replaces; nil: none.
func (mem limits) overBounds(user string, legs []grid.Leg, cost grid.Credits, flex grid.Flex, without *job) grid.Reason {
	for _, b := range mem.binding(user) {
		if r, _ := mem.over(b, legs, cost, flex, without); r.Refused() {
			return r
		}
	}
	return grid.Reason{}
}

// over says how a window would exceed some bounds, and from when on it might not; no
// reason: it does not.
func (mem limits) over(b *bounds, legs []grid.Leg, cost grid.Credits, flex grid.Flex, without *job) (grid.Reason, grid.Time) {
	if b.nodes > 0 {
		if r, at := mem.overNodes(b, legs, flex, without); r.Refused() {
			return r, at
		}
	}
	if b.time < 0 && b.credits < 0 {
		return grid.Reason{}, 0
	}
	first, latest := startsOf(&legs[0], flex)
	for at := first; ; {
		x, until := mem.mayUse(b, at)
		takes := int64(0)
		for i := range legs {
			takes += int64(legs[i].Nodes) * int64(legs[i].Duration())
		}
		switch {
		case b.time >= 0 && x.time+takes > b.time:
			return reason(grid.Bound, "%s may reserve %s node-hours in %s until %v, %s are reserved, and it takes %s", b.of,
				grid.NodeHourWords(b.time), b.period.Words(), until, grid.NodeHourWords(x.time), grid.NodeHourWords(takes)), until
		case b.credits >= 0 && x.credits.Plus(cost) > b.credits:
			return reason(grid.Bound, "%s may spend %v credits in %s until %v, %v are spent or promised, and it costs %v", b.of,
				b.credits, b.period.Words(), until, x.credits, cost), until
		}
		if at = until; at > latest {
			return grid.Reason{}, 0
		}
	}
}

// overNodes says how a window would exceed the bound on nodes held at once, and when the
// first of the nodes in its way are free; no reason: it does not.
func (mem limits) overNodes(b *bounds, legs []grid.Leg, flex grid.Flex, without *job) (grid.Reason, grid.Time) {
	own := make([]interval, len(legs))
	from, to := grid.Never, grid.Time(0)
	need := 0
	for i := range legs {
		own[i] = spanOf(&legs[i], flex)
		from, to = min(from, own[i].from), max(to, own[i].to)
		need += legs[i].Nodes
	}
	if need > b.nodes {
		return reason(grid.Bound, "%s may have %d nodes at once, and it takes %d", b.of, b.nodes, need), grid.Never
	}
	all, free := own, grid.Never
	for _, t := range mem.usage.of(b.key) {
		if t.state == grid.TxAborted || t.job == without && !t.open() {
			continue
		}
		for i := range t.legs {
			l := &t.legs[i]
			x := spanOf(&l.what, t.flex)
			if l.state.Terminal() || x.to <= from || x.from >= to {
				continue
			}
			all, free = append(all, x), min(free, x.to)
		}
	}
	if at, most := peak(all); most > b.nodes {
		return reason(grid.Bound, "%s may have %d nodes at once, and would have %d at %v", b.of, b.nodes, most, at), free
	}
	return grid.Reason{}, 0
}

// peak is the first instant at which the most nodes are held, and how many that is.
func peak(list []interval) (at grid.Time, most int) {
	type change struct {
		at grid.Time
		by int
	}
	changes := make([]change, 0, 2*len(list))
	for _, x := range list {
		changes = append(changes, change{x.from, x.nodes}, change{x.to, -x.nodes})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	held := 0
	for _, c := range changes {
		if held += c.by; held > most {
			at, most = c.at, held
		}
	}
	return at, most
}

// maxSteps bounds the steps of the search for a job's first chance.
const maxSteps = 100

// chance is the instant from which a user's bounds may allow a window for a job, or
// grid.Never if not before the horizon, and the bound that allows none earlier. It
// assumes the fewest nodes that the job accepts, and the run time on the slowest nodes it
// accepts. If no period allows that much node time it assumes less, for there may be
// faster nodes. The actual window is checked again.
func (mem limits) chance(j *job, from, horizon grid.Time) (grid.Time, grid.Reason) {
	list := mem.binding(j.User)
	if len(list) == 0 {
		return from, grid.Reason{}
	}
	var why grid.Reason
	nodes := j.Nodes
	for _, z := range j.Sizes {
		nodes = min(nodes, z.Nodes)
	}
	at, r := max(from, j.Ready), j.request()
	for range maxSteps {
		legs := []grid.Leg{{Nodes: nodes, Start: at, End: at.Add(j.MinPerformance.Runtime(r.Shortest()))}}
		next := grid.Time(0)
		for _, b := range list {
			x := legs
			if most := max(b.time/int64(max(nodes, 1)), 1); b.time >= 0 && int64(legs[0].Duration()) > most {
				x = []grid.Leg{legs[0]}
				x[0].End = at.Add(grid.Duration(most))
			}
			if r, t := mem.over(b, x, 1, grid.Flex{}, nil); r.Refused() {
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

// boundLeft is what the bounds of a user and of the user's tenant leave to spend on a
// window.
func (mem limits) boundLeft(user string, legs []grid.Leg, flex grid.Flex) grid.Credits {
	left := grid.MaxCredits
	for _, b := range mem.binding(user) {
		if b.credits < 0 {
			continue
		}
		first, latest := startsOf(&legs[0], flex)
		for at := first; at <= latest; {
			x, until := mem.mayUse(b, at)
			left = min(left, b.credits-x.credits)
			at = until
		}
	}
	return left
}
