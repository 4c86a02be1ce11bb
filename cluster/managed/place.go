package managed

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// wish is a hold that the site has asked for and that is not yet answered.
type wish struct {
	leg    grid.LegID
	what   grid.Leg
	since  grid.Time
	asked  grid.Time   // last
	answer grid.Reason // to give when it is asked for again
}

// wished is how long a wish is remembered if it is not asked for again.
const wished = grid.Minute

// maintains reports whether a leg is of a maintenance, which has no user and runs no work.
func maintains(id grid.LegID) bool { return id.Tx.Broker == "" }

// Suits says who may not run work here, then which legs cannot be placed.
func (b *Backend) Suits(m agents.ClusterHold) grid.Reason {
	g, account := b.group(m.What.Group), Account{}
	if !maintains(m.Leg) {
		var why grid.Reason
		if account, why = b.cfg.account(m.User); why.Refused() {
			return why
		}
	}
	switch {
	case g < 0:
		return grid.Because(grid.Unknown, "there is no group %q", m.What.Group)
	case m.What.Nodes < 1 || m.What.Nodes > b.cfg.Groups[g].Nodes:
		return grid.Because(grid.TooLarge, "%s asked, the group has %d", grid.Count(m.What.Nodes, "node is", "nodes are"), b.cfg.Groups[g].Nodes)
	case m.What.Part.Some() && m.What.Part.Fault(&b.cfg.Groups[g]).Refused():
		return m.What.Part.Fault(&b.cfg.Groups[g])
	case maintains(m.Leg), m.Again: // of what is asked for again the manager decides
		return grid.Reason{}
	}
	if most, why := b.longestNow(g); most > 0 && m.What.Duration() > most {
		return grid.Because(grid.TooLarge, "a window of %s is longer than %s of %s allows: at most %s%v", m.What.Duration().Words(), m.What.Group, b.cfg.Site, most.Words(), why)
	}
	return b.barred(g, account.As)
}

// Place chooses nodes by the last look and the locks. If the manager keeps reservations, it
// answers Later until there is one, or it is certain that there is none. A leg that
// replaces another does not count on that one's nodes. A leg lies only where it was asked
// for. What is in the way of maintenance stays there.
func (b *Backend) Place(now grid.Time, m agents.ClusterHold) grid.Reason {
	w := b.wish(now, m)
	why := w.answer
	if !why.Refused() {
		why = b.place(now, m, w)
	}
	if why == cluster.Later && now >= w.since.Add(b.cfg.Limits.PlaceWithin) {
		why = b.silent()
		if e := b.entries[b.name(m.Leg)]; e != nil {
			b.abandon(e)
		}
	}
	if why != cluster.Later {
		b.wishes = slices.DeleteFunc(b.wishes, func(x *wish) bool { return x == w })
	}
	return why
}

// silent is the reason of a hold that has taken too long.
func (b *Backend) silent() grid.Reason {
	return grid.Because(grid.NoCluster, "the resource manager of %s has not answered within %s", b.cfg.Site, b.cfg.Limits.PlaceWithin.Words())
}

// wish returns what is remembered of a hold. A hold for the same leg with other content
// replaces it.
func (b *Backend) wish(now grid.Time, m agents.ClusterHold) *wish {
	b.wishes = slices.DeleteFunc(b.wishes, func(w *wish) bool { return w.asked.Add(wished) < now })
	for _, w := range b.wishes {
		if w.leg == m.Leg && w.what == m.What {
			w.asked = now
			return w
		}
		if w.leg == m.Leg {
			if e := b.entries[b.name(m.Leg)]; e != nil {
				b.abandon(e)
			}
			*w = wish{leg: m.Leg, what: m.What, since: now, asked: now}
			return w
		}
	}
	w := &wish{leg: m.Leg, what: m.What, since: now, asked: now}
	b.wishes = append(b.wishes, w)
	return w
}

func (b *Backend) place(now grid.Time, m agents.ClusterHold, w *wish) grid.Reason {
	name := b.name(m.Leg)
	if e := b.entries[name]; e != nil || !b.fresh(now) {
		b.dirty, b.wanted = true, !b.fresh(now)
		return cluster.Later // it is being placed, or what there was of it is being deleted, or nothing is known
	}
	what := m.What
	if what.Start < now {
		if !m.Again {
			return grid.Because(grid.Past, "start %v lies before the cluster's now, %v", what.Start, now)
		}
		if why := b.mayHaveBegun(now, &m); why.Refused() {
			return why
		}
		what.Start = now
	}
	if what.End <= what.Start {
		return grid.Because(grid.Past, "its end, %v, has passed", what.End)
	}
	e := &entry{name: name, leg: m.Leg, what: what, user: m.User, job: m.Job, want: placing, until: w.since.Add(b.cfg.Limits.PlaceWithin), sure: true}
	if !maintains(m.Leg) {
		_ = b.mapped(e, m.User) // Suits has seen that there is one
	}
	if b.cfg.Pilots > 0 && !maintains(m.Leg) {
		nodes, why := b.pilots.room(now, m.Pilot, m.Leg, what)
		if !why.Refused() {
			if why = b.unfit(nodes, what); why.Refused() {
				b.pilots.useless(m.Pilot, why)
			}
		}
		if why.Refused() {
			return why
		}
		e.in, e.nodes = b.name(m.Pilot), nodes
	} else if e.nodes = b.choose(now, b.occupancy(now), what); e.nodes == nil {
		if b.choose(now, b.offered(now), what) != nil {
			b.dirty = true
			return cluster.Later // what is in the way is being deleted
		}
		return b.inTheWay(now, what)
	}
	b.add(e)
	b.version++
	if !b.cfg.Reserves {
		b.lock(e)
		return grid.Reason{}
	}
	b.dirty = true
	return cluster.Later
}

// unfit refuses a leg on a pilot's nodes that are not to be had: the manager gives a pilot any nodes
// of its partition, and the site's group may have fewer, or have them no more.
func (b *Backend) unfit(nodes []string, what grid.Leg) grid.Reason {
	g := b.group(what.Group)
	for _, n := range nodes {
		if g < 0 || !slices.Contains(b.cfg.Nodes[g], n) {
			return grid.Because(grid.Busy, "node %s is none of the site's in %s", n, what.Group)
		}
	}
	return b.maintained(nodes, what)
}

// maintained refuses a leg on a pilot's nodes of which one is kept for maintenance meanwhile, or while
// it is cleaned up: that may have been announced after the pilot began.
func (b *Backend) maintained(nodes []string, what grid.Leg) grid.Reason {
	for _, e := range b.order {
		if !maintains(e.leg) || !e.locked() || e.what.End <= what.Start || what.End.Add(b.cfg.Limits.Padding) <= e.what.Start {
			continue
		}
		for _, n := range e.nodes {
			if slices.Contains(nodes, n) {
				return grid.Because(grid.Busy, "node %s is kept for maintenance from %v to %v", n, e.what.Start, e.what.End)
			}
		}
	}
	return grid.Reason{}
}

// mayHaveBegun refuses a leg whose window has begun and of which nothing is known here, if its work
// may have begun all the same. Work begins within StartWithin of its window's begin, or not at all;
// after that the manager may have forgotten it. And a life that began after the window did may come
// after one that began the work, of which it knows nothing because its journal is an older copy. It
// has then ended that work, as it ends whatever has one of our names and is not known.
func (b *Backend) mayHaveBegun(now grid.Time, m *agents.ClusterHold) grid.Reason {
	l, start := &b.cfg.Limits, m.What.Start
	switch {
	case maintains(m.Leg):
	case now >= start.Add(l.StartWithin):
		return grid.Because(grid.Expired, "its window began more than %s ago, at %v: its work may have begun then", l.StartWithin.Words(), start)
	case start.Add(-l.Skew) <= b.began:
		return grid.Because(grid.Expired, "its window began at %v, before this life of the cluster's agent: its work may have begun then", start)
	case slices.Contains(b.orphans, b.name(m.Leg)): // what the last look shows of its name is looked at once it is held
		return grid.Because(grid.Expired, "its window began at %v, and %s has deleted work of its name of which nothing was known: it may have begun then", start, b.cfg.Site)
	}
	return grid.Reason{}
}

// choose picks a leg's nodes, or none if there are too few.
func (b *Backend) choose(now grid.Time, taken [][][]span, what grid.Leg) []string {
	if what.Part.Some() {
		names, _ := b.choosePart(now, taken, what)
		return names
	}
	return b.chooseWhole(taken, what)
}

// chooseWhole picks a leg's nodes among those that are free for the whole of it, padding
// included. It takes those with the shortest free time, so that long free times stay whole;
// of ties, the first in the group's order. It returns none if there are too few.
func (b *Backend) chooseWhole(taken [][][]span, what grid.Leg) []string {
	g := b.group(what.Group)
	type candidate struct {
		node int
		gap  grid.Duration
	}
	var list []candidate
	for k, spans := range taken[g] {
		if gap := free(spans, what.Start, what.End.Add(b.cfg.Limits.Padding)); gap > 0 {
			list = append(list, candidate{k, gap})
		}
	}
	if len(list) < what.Nodes {
		return nil
	}
	slices.SortStableFunc(list, func(x, y candidate) int { return cmp.Compare(x.gap, y.gap) })
	list = list[:what.Nodes]
	slices.SortFunc(list, func(x, y candidate) int { return x.node - y.node })
	nodes := make([]string, len(list))
	for i, c := range list {
		nodes[i] = b.cfg.Nodes[g][c.node]
	}
	return nodes
}

// free is for how long a node is free around an interval; 0 if it is taken within it.
func free(spans []span, start, end grid.Time) grid.Duration {
	from, to := grid.Time(0), grid.MaxTime
	for _, x := range spans {
		switch {
		case x.end <= start:
			from = x.end
		case x.start >= end:
			to = min(to, x.start)
		default:
			return 0
		}
	}
	return to.Sub(from)
}

// inTheWay says why there are no nodes for a leg.
func (b *Backend) inTheWay(now grid.Time, what grid.Leg) grid.Reason {
	s, nodes := &b.states(now)[b.group(what.Group)], what.Nodes
	if what.Part.Some() {
		_, nodes = b.choosePart(now, b.occupancy(now), what)
	}
	why := s.Refusal(what.Start, nodes, what.Duration())
	if !why.Refused() {
		why = grid.Because(grid.Busy, "no %s of group %s are free all the time from %v to %v, although as many are at every instant", grid.Count(what.Nodes, "node"), what.Group, what.Start, what.End)
	}
	if more := b.withheldAt(what); more != "" {
		why = grid.Because(why.Code, "%v%v", why, more)
	}
	return why
}

// mostTried bounds the other starts that are tried for a refused leg.
const mostTried = 64

// Elsewhere lists the next starts at which the nodes are free.
func (b *Backend) Elsewhere(now grid.Time, m agents.ClusterHold) ([]grid.Time, []agents.LegShift) {
	g := b.group(m.What.Group)
	if g < 0 || !b.fresh(now) || m.What.Duration() <= 0 || m.What.Nodes > b.cfg.Groups[g].Nodes {
		return nil, nil
	}
	taken := b.occupancy(now)
	var starts []grid.Time
	for _, spans := range taken[g] {
		for _, x := range spans {
			if x.end > m.What.Start && x.end < grid.MaxTime {
				starts = append(starts, x.end)
			}
		}
	}
	if m.What.Part.Some() {
		opened, _ := b.openedOn(g, now)
		for i := range opened {
			for _, s := range opened[i].Free {
				starts = append(starts, s.At)
			}
		}
		starts = slices.DeleteFunc(starts, func(t grid.Time) bool { return t <= m.What.Start })
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	var list []grid.Time
	for _, at := range starts[:min(len(starts), mostTried)] {
		what := m.What
		what.Start, what.End = at, at.Add(m.What.Duration())
		if b.choose(now, taken, what) != nil {
			if list = append(list, at); len(list) == agents.MaxInstead {
				break
			}
		}
	}
	return list, nil
}

// lock records that a leg has its nodes.
func (b *Backend) lock(e *entry) {
	e.want = held
	b.numbered(e)
	b.version++
	b.wishes = slices.DeleteFunc(b.wishes, func(w *wish) bool { return w.leg == e.leg })
	f := facts.NodesLocked{Leg: e.leg, What: e.what, Ends: e.what.End, Names: e.nodes, On: e.on, Job: e.job, User: e.user, Pilot: b.pilots.named(e.in)}
	b.record(f)
	b.pilots.serves(&f)
}

// refuse refuses a hold when it is asked for again, and deletes what there is of it.
func (b *Backend) refuse(e *entry, why grid.Reason) {
	for _, w := range b.wishes {
		if w.leg == e.leg {
			w.answer = why
		}
	}
	b.abandon(e)
}

// abandon has all that there is of an entry deleted.
func (b *Backend) abandon(e *entry) {
	if e.want != gone {
		e.idle = e.submitted == 0 || b.now.Add(b.cfg.Limits.Skew) < e.what.Start
	}
	e.want = gone
	b.version++
	b.dirty = true
}

// Confirm has the work run in the window.
func (b *Backend) Confirm(now grid.Time, leg grid.LegID, work *grid.Handover) {
	e := b.entries[b.name(leg)]
	if e == nil || e.want != held {
		return
	}
	if e.want = bare; work != nil {
		e.want, e.work = due, work
	}
	b.pilots.confirmed(leg)
	b.dirty = true
}

// Release gives a leg's nodes back. They are free for another leg once the reservation is
// deleted; if its work may have been on them, once a look has shown that nothing is left
// there.
func (b *Backend) Release(now grid.Time, leg grid.LegID) (begun bool) {
	e := b.entries[b.name(leg)]
	if e == nil || e.want == gone {
		return false
	}
	if e.locked() {
		b.vacate(e, now)
	}
	b.abandon(e)
	return !e.idle
}

// vacate says that a leg no longer keeps nodes.
func (b *Backend) vacate(e *entry, at grid.Time) {
	b.record(facts.NodesFreed{Leg: e.leg, When: b.host.When(at)})
	b.abandon(e)
}

// lose ends a leg that cannot be served.
func (b *Backend) lose(e *entry, why grid.Reason) act {
	b.counts.Lost++
	b.deny(b.now, e)
	b.vacate(e, b.now)
	b.record(facts.LockMoved{Leg: e.leg, State: facts.LockLost, Reason: why})
	return act{}
}

// finish ends a leg whose work is over.
func (b *Backend) finish(e *entry, at grid.Time, r *grid.WorkResult) act {
	if b.cfg.Keep > 0 {
		r.Kept = cmp.Or(r.End, at).Add(b.cfg.Keep)
	}
	b.vacate(e, at)
	b.record(facts.LockMoved{Leg: e.leg, State: facts.LockEnded, When: b.host.When(at), Result: r})
	return act{}
}
