package queue

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/portions"
)

// A leg may take slices of its nodes instead of all of them. The queue knows nothing of that:
// it sees a reservation of one whole node for as long as any leg is on it. Nodes of a group
// are alike, so an opened one is known by the number of its opening.
type (
	// ground is the opened nodes of a group, in order of number.
	ground struct {
		nodes  []*openNode
		number int32 // of the last that was opened
	}
	// openNode is a node with parts on it.
	openNode struct {
		number int32
		parts  []*reservation // in order of arrival
		spans  []openSpan     // disjoint, in order of time: what the parts cover
	}
	// openSpan is a time in which parts cover a node, and its reservation in the queue.
	openSpan struct {
		start, end grid.Time
		id         int64
	}
)

// node returns the node of that number, or nil.
func (g *ground) node(number int32) *openNode {
	i, ok := slices.BinarySearchFunc(g.nodes, number, func(n *openNode, x int32) int { return int(n.number - x) })
	if !ok {
		return nil
	}
	return g.nodes[i]
}

// open adds a node of a number that none has.
func (g *ground) open(number int32) *openNode {
	i, _ := slices.BinarySearchFunc(g.nodes, number, func(n *openNode, x int32) int { return int(n.number - x) })
	n := &openNode{number: number}
	g.nodes = slices.Insert(g.nodes, i, n)
	g.number = max(g.number, number)
	return n
}

// close drops a node with no parts.
func (g *ground) close(n *openNode) {
	g.nodes = slices.DeleteFunc(g.nodes, func(x *openNode) bool { return x == n })
}

// opened lists the opened nodes, span by span, and to which node each belongs.
func (g *ground) opened(of int) (list []grid.Opened, nodes []*openNode) {
	for _, n := range g.nodes {
		for _, s := range n.spans {
			o := grid.Open(0, s.start, s.end, of)
			for _, r := range n.parts {
				if from, to := max(r.what.Start, s.start), min(r.what.End, s.end); from < to {
					o.Take(from, to, int(r.what.Part.Slices))
				}
			}
			list, nodes = append(list, o), append(nodes, n)
		}
	}
	return list, nodes
}

// opened shows the opened nodes of each group; nil if there are none.
func (b *Backend) opened() (list [][]grid.Opened) {
	for i := range b.grounds {
		if len(b.grounds[i].nodes) > 0 {
			if list == nil {
				list = make([][]grid.Opened, len(b.grounds))
			}
			list[i], _ = b.grounds[i].opened(b.groups[i].Divided())
		}
	}
	return list
}

// takePart puts a leg's parts on nodes: inside opened ones, the rest on nodes that it opens.
func (b *Backend) takePart(now grid.Time, r *reservation) grid.Reason {
	g, k := &b.grounds[r.group], b.groups[r.group].Divided()
	opened, nodes := g.opened(k)
	if r.on == nil {
		for _, i := range portions.Choose(opened, &r.what) {
			r.on = append(r.on, nodes[i].number)
		}
		for n := g.number; len(r.on) < r.what.Nodes; {
			n++
			r.on = append(r.on, n)
		}
	}
	for i, number := range r.on {
		n := g.node(number)
		if n == nil {
			n = g.open(number)
		}
		n.parts = append(n.parts, r)
		why := b.cover(now, r.group, n)
		if !why.Refused() && n.most() > k {
			why = grid.Because(grid.Busy, "node %d has fewer than %d of its %d slices free", number, r.what.Part.Slices, k)
		}
		if why.Refused() {
			last := r.on[:i+1]
			r.on = r.on[:0]
			b.leave(now, r, last)
			return why
		}
	}
	return grid.Reason{}
}

// most is the most slices that the parts on a node take at any instant.
func (n *openNode) most() (most int) {
	for _, r := range n.parts {
		taken := 0
		for _, x := range n.parts {
			if x.what.Start <= r.what.Start && r.what.Start < x.what.End {
				taken += int(x.what.Part.Slices)
			}
		}
		most = max(most, taken)
	}
	return most
}

// leave takes a leg's parts off their nodes. What no other part covers is free from now on;
// the others are the openers of what is left.
func (b *Backend) leave(now grid.Time, r *reservation, on []int32) {
	for _, number := range on {
		n := b.grounds[r.group].node(number)
		n.parts = slices.DeleteFunc(n.parts, func(x *reservation) bool { return x == r })
		if why := b.cover(now, r.group, n); why.Refused() {
			panic(fmt.Sprintf("cluster/queue: node %d cannot be kept for the parts that stay on it: %v", number, why))
		}
	}
}

// cover makes the queue's reservations of a node those that its parts need. If one cannot be
// had, the node keeps the others.
func (b *Backend) cover(now grid.Time, group int, n *openNode) (why grid.Reason) {
	need := n.covered()
	q := b.queues[group]
	var kept []openSpan
	for _, s := range n.spans {
		if i := slices.IndexFunc(need, func(x openSpan) bool { return x.start == s.start && x.end == s.end }); i >= 0 {
			kept, need = append(kept, s), slices.Delete(need, i, i+1)
		} else {
			q.Release(now, s.id)
		}
	}
	for _, s := range need {
		b.number++
		s.id = b.number
		if from := max(s.start, now); from < s.end {
			if r := q.Reserve(now, backfill.Reserved{ID: s.id, Nodes: 1, Start: from, End: s.end}); r.Refused() {
				why = r
				continue
			}
		}
		kept = append(kept, s)
	}
	slices.SortFunc(kept, func(x, y openSpan) int { return int(min(max(x.start-y.start, -1), 1)) })
	if n.spans = kept; len(n.parts) == 0 {
		b.grounds[group].close(n)
	}
	return why
}

// covered is the time that the parts of a node cover. What touches is one.
func (n *openNode) covered() (list []openSpan) {
	for _, r := range n.parts {
		if r.what.Start < r.what.End {
			list = append(list, openSpan{start: r.what.Start, end: r.what.End})
		}
	}
	slices.SortFunc(list, func(x, y openSpan) int { return int(min(max(x.start-y.start, -1), 1)) })
	out := list[:0]
	for _, s := range list {
		if last := len(out) - 1; last >= 0 && s.start <= out[last].end {
			out[last].end = max(out[last].end, s.end)
			continue
		}
		out = append(out, s)
	}
	return out
}

// evictNode takes the node under the last part of a leg away at an instant, from all legs that
// share it then.
func (b *Backend) evictNode(now grid.Time, r *reservation, at grid.Time) {
	b.loseNode(now, b.grounds[r.group].node(r.on[len(r.on)-1]), at)
}

// span is the index of the span in which a node is open at an instant, or -1.
func (n *openNode) span(at grid.Time) int {
	return slices.IndexFunc(n.spans, func(s openSpan) bool { return s.start <= at && at < s.end })
}

// loseNode takes a node away from all legs that share it at an instant, if it is open then.
func (b *Backend) loseNode(now grid.Time, n *openNode, at grid.Time) {
	i := n.span(at)
	if i < 0 {
		return
	}
	s := n.spans[i]
	for _, x := range slices.Clone(n.parts) {
		if x.what.Start < s.end && s.start < x.what.End {
			b.vacate(now, x)
			b.moved(now, x.leg, facts.LockLost)
		}
	}
}

// auditOpened checks that no slice is taken twice, and that the queue keeps each opened node
// for exactly as long as parts are on it.
func (b *Backend) auditOpened(group int) error {
	q := b.queues[group]
	for _, n := range b.grounds[group].nodes {
		if k := b.groups[group].Divided(); n.most() > k {
			return fmt.Errorf("node %d of group %s: %d of %d slices are taken", n.number, b.groups[group].Name, n.most(), k)
		}
		if !slices.EqualFunc(n.covered(), n.spans, func(x, y openSpan) bool { return x.start == y.start && x.end == y.end }) {
			return fmt.Errorf("node %d of group %s is kept over %v, its parts cover %v", n.number, b.groups[group].Name, n.spans, n.covered())
		}
		for _, s := range n.spans {
			has := slices.ContainsFunc(q.State().Reserved, func(r backfill.Reserved) bool { return r.ID == s.id && r.Nodes == 1 && r.End == s.end })
			if s.end > q.State().Now && !has {
				return fmt.Errorf("node %d of group %s is open over [%v, %v), and no node is taken for it", n.number, b.groups[group].Name, s.start, s.end)
			}
		}
	}
	return nil
}
