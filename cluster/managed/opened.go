package managed

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/portions"
)

// A leg may take slices of its nodes instead of all of them. In the manager it is a leg like
// any other: a reservation of whole nodes, or none, with work in it that asks for less than
// the node. Which legs share a node follows from the entries.

// parts reports whether the entry takes slices of its nodes.
func (e *entry) parts() bool { return e.what.Part.Some() }

// divides reports whether a group divides its nodes.
func (b *Backend) divides(group int) bool { return group >= 0 && b.cfg.Groups[group].Divided() > 1 }

// opened shows the opened nodes of each group; nil if there are none.
func (b *Backend) opened(now grid.Time) (list [][]grid.Opened) {
	for g := range b.cfg.Groups {
		if !b.divides(g) || !b.fresh(now) {
			continue
		}
		if o, _ := b.openedOn(g, now); len(o) > 0 {
			if list == nil {
				list = make([][]grid.Opened, len(b.cfg.Groups))
			}
			list[g] = o
		}
	}
	return list
}

// openedOn lists the opened nodes of a group, by start, by end, then in its order, and which
// node each is. What is on its way out opens nothing, but takes its slices for as long as its
// work may be there. A node that is not up, or has anything of others on it in that time, takes
// no part.
func (b *Backend) openedOn(g int, now grid.Time) (list []grid.Opened, nodes []int) {
	at := map[string][]*entry{}
	for _, e := range b.order {
		if e.parts() && len(e.nodes) > 0 && b.group(e.what.Group) == g {
			for _, n := range e.nodes {
				at[n] = append(at[n], e)
			}
		}
	}
	if len(at) == 0 {
		return nil, nil
	}
	ours := func(e *entry) bool { return e.parts() }
	others := b.others(now, ours)
	for _, x := range b.withheld {
		if x.scope == byPlace {
			for _, n := range x.nodes {
				others[n] = append(others[n], span{start: x.start, end: x.end})
			}
		}
	}
	type place struct {
		grid.Opened
		node int
	}
	var places []place
	for k, name := range b.cfg.Nodes[g] {
		for _, c := range covered(at[name]) {
			if slices.ContainsFunc(others[name], func(s span) bool { return s.start < c.end && c.start < s.end }) {
				continue
			}
			o := grid.Open(0, c.start, c.end, b.cfg.Groups[g].Divided())
			for _, e := range at[name] {
				x := e.claim(now, 0)
				if from, to := max(x.Start, c.start), min(x.End, c.end); from < to && !e.leaving() {
					o.Take(from, to, int(e.what.Part.Slices))
				}
			}
			places = append(places, place{o, k})
		}
	}
	slices.SortStableFunc(places, func(x, y place) int { return x.Compare(&y.Opened) })
	for _, p := range places {
		list, nodes = append(list, p.Opened), append(nodes, p.node)
	}
	return list, nodes
}

// covered is the time that entries which stay cover together, in order. What touches is one.
func covered(entries []*entry) (list []span) {
	var all []span
	for _, e := range entries {
		if e.want != gone && e.what.Start < e.what.End {
			all = append(all, span{start: e.what.Start, end: e.what.End})
		}
	}
	slices.SortFunc(all, func(x, y span) int { return cmp.Compare(x.start, y.start) })
	for _, s := range all {
		if last := len(list) - 1; last >= 0 && s.start <= list[last].end {
			list[last].end = max(list[last].end, s.end)
		} else {
			list = append(list, s)
		}
	}
	return list
}

// others is when each node has anything on it that is not of certain entries, by the last look:
// jobs that run, reservations, or an outage.
func (b *Backend) others(now grid.Time, ours func(*entry) bool) map[string][]span {
	out := map[string][]span{}
	add := func(nodes []string, s span) {
		for _, n := range nodes {
			out[n] = append(out[n], s)
		}
	}
	v := View{Now: now, Skew: b.cfg.Limits.Skew}
	known := func(name string) bool { e := b.entries[name]; return e != nil && len(e.nodes) > 0 && ours(e) }
	for i := range b.look.Jobs {
		if j := &b.look.Jobs[i]; !known(j.Name) && (j.State == grid.ManagedRunning || j.State == grid.ManagedUnknown) {
			add(j.Nodes, span{start: now, end: v.endOf(j), by: running})
		}
	}
	for i := range b.look.Reservations {
		if r := &b.look.Reservations[i]; !known(r.Name) {
			add(r.Nodes, span{start: r.Start.Add(-v.Skew), end: r.End.Add(v.Skew), by: foreign})
		}
	}
	up := map[string]bool{}
	for i := range b.look.Nodes {
		up[b.look.Nodes[i].Name] = b.look.Nodes[i].State == grid.NodeUp
	}
	for _, names := range b.cfg.Nodes {
		for _, n := range names {
			if !up[n] {
				out[n] = append(out[n], span{start: now, end: grid.MaxTime, by: outage})
			}
		}
	}
	return out
}

// choosePart picks the nodes of a leg that takes slices: inside opened ones, as far as there is
// room, and for the rest whole nodes as choose does. It returns none if there are too few, and
// how many it opens.
func (b *Backend) choosePart(now grid.Time, taken [][][]span, what grid.Leg) (names []string, opens int) {
	g := b.group(what.Group)
	opened, nodes := b.openedOn(g, now)
	var inside []int
	for _, i := range portions.Choose(opened, &what) {
		inside = append(inside, nodes[i])
	}
	opens = what.Nodes - len(inside)
	slices.Sort(inside)
	for _, k := range inside {
		names = append(names, b.cfg.Nodes[g][k])
	}
	if opens == 0 {
		return names, 0
	}
	rest := what
	rest.Nodes, rest.Part = opens, grid.LegPart{}
	more := b.chooseWhole(taken, rest)
	if more == nil {
		return nil, opens
	}
	return append(names, more...), opens
}

// numbered gives the nodes of a leg of slices the numbers under which they are open: those
// that others on them have, or new ones.
func (b *Backend) numbered(e *entry) {
	if !e.parts() || e.on != nil {
		return
	}
	for _, n := range e.nodes {
		number := int32(0)
		for _, o := range b.order {
			if k := slices.Index(o.nodes, n); o != e && k >= 0 && k < len(o.on) {
				number = o.on[k]
			}
		}
		if number == 0 {
			b.number++
			number = b.number
		}
		e.on = append(e.on, number)
	}
}

// taking says what of others is on a node.
var taking = [...]string{running: "has a job of others", foreign: "has a reservation of others", outage: "is not up"}

// hurries reports whether a hold waits for a look that is newer than its reservation, and may
// have it at once: the driver makes one when it is asked for it.
func (b *Backend) hurries(e *entry) bool {
	return b.cfg.Prompt && e.want == placing && b.divides(b.group(e.what.Group))
}

// lockAlone makes a lock of a reservation in a group that divides its nodes. Managers let such
// reservations overlap others, so it counts only if a look that is newer shows nothing of
// others on its nodes.
func (b *Backend) lockAlone(e *entry, now grid.Time) act {
	others := b.others(now, func(*entry) bool { return true })
	for _, n := range e.nodes {
		for _, s := range others[n] {
			if e.what.Start < s.end && s.start < e.what.End.Add(b.cfg.Limits.Padding) {
				b.refuse(e, grid.Because(grid.Busy, "node %s of %s %s at %v", n, b.cfg.Site, taking[s.by], max(s.start, e.what.Start)))
				return act{}
			}
		}
	}
	b.lock(e)
	return act{}
}

// joins reports whether other legs have slices of nodes of the entry in its time: their work may
// run there when its reservation is made.
func (b *Backend) joins(e *entry) bool {
	return e.parts() && slices.ContainsFunc(b.order, func(o *entry) bool {
		return o != e && o.parts() && o.what.Start < e.what.End && e.what.Start < o.what.End && shares(e, o)
	})
}

// shares reports whether two entries have a node in common.
func shares(e, o *entry) bool {
	return slices.ContainsFunc(o.nodes, func(n string) bool { return slices.Contains(e.nodes, n) })
}

// uses is what a leg may use of each of its nodes, if not all of it: what was asked for, and
// else the share of cores and memory that goes with its slices.
func (b *Backend) uses(e *entry) grid.LegPart {
	x, g := e.what.Part, b.group(e.what.Group)
	if !e.parts() || g < 0 {
		return grid.LegPart{}
	}
	x.Cores = cmp.Or(x.Cores, int16(min(b.cfg.Groups[g].Cores*int(x.Slices)/int(x.Of), grid.MaxPortion)))
	x.Memory = cmp.Or(x.Memory, b.cfg.Groups[g].Machine.Memory/int64(x.Of)*int64(x.Slices))
	return x
}

// auditParts checks that no more slices of a node are locked at any instant than it has.
func auditParts(node string, on []*entry) error {
	for _, e := range on {
		taken := 0
		for _, o := range on {
			switch {
			case o.what.Start > e.what.Start || e.what.Start >= o.what.End:
			case o != e && !(o.parts() && e.parts()):
				return fmt.Errorf("node %s is locked for %v and for %v", node, o.leg, e.leg)
			case o.parts():
				taken += int(o.what.Part.Slices)
			}
		}
		if of := int(e.what.Part.Of); e.parts() && taken > of {
			return fmt.Errorf("node %s has %d of %d slices locked at %v", node, taken, of, e.what.Start)
		}
	}
	return nil
}
