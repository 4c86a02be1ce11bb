package invariant

import (
	"maps"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// I1: no node is promised twice at any instant.

// nodes is the rule I1. It keeps how many nodes of each group are free at every instant
// to come, by the journal of a site or of a cluster.
type nodes struct {
	*journal
	legs     siteLegs
	promises *promises
	free     map[string]*grid.Profile  // by group
	replaced map[grid.LegID]grid.LegID // an open leg, by the one that is to replace it
	jobs     map[localJob]claim
	locks    map[grid.LegID]*lock
	opened   map[opened]*sharing
	moves    []grid.LegID   // of locks, one after the other: together they fit
	sizes    map[string]int // of groups, by facts
}

// size is how many nodes a group of the trail's site has: by its journal or, if that does not
// say so, by what the audit was given; false if nobody said.
func (r *nodes) size(group string) (int, bool) {
	if n, ok := r.sizes[group]; ok {
		return n, true
	}
	if n, ok := r.audit.nodes[r.name()+"/"+group]; ok {
		return n, true
	}
	n, ok := r.audit.nodes[group]
	return n, ok
}

// SizesBy lists the sizes of groups that a fact says, and had before it where it says that.
// It is nil for a fact that says nothing of them.
func SizesBy(f agents.Fact) []grid.GroupNodes {
	switch f := f.(type) {
	case facts.NodesSet:
		return f.Groups
	case facts.SiteBegun:
		return f.Groups
	case facts.WorkBegun:
		return f.Groups
	case facts.ClusterImage:
		return f.Sizes
	case facts.SiteImage:
		return f.Sizes
	}
	return nil
}

// Began gives the first fact of the trail that says sizes, if it is not the first of all: an
// earlier build began the journal. Until then a group may have had any of the sizes that this
// fact and the audit know of, so the largest counts.
func (t *Trail) Began(by agents.Fact) {
	for _, g := range SizesBy(by) {
		given, _ := t.nodes.size(g.Group)
		t.nodes.resize(g.Group, max(g.Was, g.Nodes, given))
	}
}

// Sized reports whether it is known of any group how large it is, and so whether I1 is checked.
func (t *Trail) Sized() bool {
	return len(t.nodes.sizes) > 0 || slices.ContainsFunc(slices.Collect(maps.Keys(t.audit.nodes)), func(of string) bool {
		site, _, one := strings.Cut(of, "/")
		return !one || site == t.name()
	})
}

func (r *nodes) resize(group string, n int) {
	if r.sizes == nil {
		r.sizes = map[string]int{}
	}
	r.sizes[group] = n
}

// set takes the sizes of groups by a fact. A site hears only later which of its legs have
// lost their nodes, so by its journal no group gets smaller.
func (r *nodes) set(at grid.Time, groups []grid.GroupNodes) {
	for _, g := range groups {
		was, known := r.size(g.Group)
		more := g.Nodes - was
		if _, onRecord := r.sizes[g.Group]; onRecord && more < 0 && r.agent == site(r.name()) {
			continue
		}
		r.resize(g.Group, g.Nodes)
		if free := r.free[g.Group]; known && more != 0 && free != nil {
			free.Add(max(at, (*free)[0].At), grid.MaxTime, more)
		}
	}
}

// claim gives back the nodes that a leg held and, while it holds any, takes
// those of its present state (I1). Of a leg that replaces another one that is
// still open, only what goes beyond that one counts.
func (r *nodes) claim(at grid.Time, l *siteLeg, held []claim) {
	if _, ok := r.size(l.What.Group); !ok {
		return
	}
	for _, c := range held {
		r.take(at, l.What.Group, c, +1)
	}
	l.claims = nil
	if l.What.Part.Some() {
		r.unshare(at, l.Leg, l.What, l.on)
		if l.State.Blocks() {
			r.share(at, l.Leg, l.What, l.on, held == nil)
		}
		return
	}
	l.claims = r.needs(l)
	for _, c := range l.claims {
		if over := r.take(at, l.What.Group, c, -1); over > 0 && held == nil {
			r.breaks("I1", "leg %v takes %d nodes of group %s over [%v, %v), and %d are promised twice",
				l.Leg, l.What.Nodes, l.What.Group, l.What.Start, l.What.End, over)
		}
	}
	if !l.State.Blocks() {
		r.widen(at, l.Leg)
	}
}

// take takes (sign -1) or gives back (+1) what of a claim lies after the present
// instant, and returns how many of its nodes are taken more often than there
// are. It costs one insertion into the profile of the group, which grows with
// what is claimed in times to come.
func (r *nodes) take(at grid.Time, group string, c claim, sign int) (over int) {
	n, ok := r.size(group)
	if !ok {
		return 0
	}
	free := r.free[group]
	if free == nil {
		p := grid.NewProfile(min(at, c.start), n)
		free = &p
		r.free[group] = free
	}
	if at > (*free)[0].At {
		free.From(at)
	}
	s := max(c.start, (*free)[0].At)
	if s >= c.end {
		return 0
	}
	free.Add(s, c.end, sign*c.nodes)
	return max(0, -free.Min(s, c.end))
}

// needs is what a leg takes at present: nothing if it holds no nodes. A site learns late
// where its cluster has moved a leg, so of one that may be moved only the time counts
// that the leg takes wherever in its window it lies.
func (r *nodes) needs(l *siteLeg) []claim {
	switch {
	case !l.State.Blocks(), l.What.Work > 0: // a share is of no node alone
		return nil
	case l.State != grid.Confirmed || !l.Flex.Movable(l.What):
		return r.taken(l)
	}
	length := l.What.Duration()
	if c := (claim{l.What.Nodes, l.Flex.Due.Add(-length), l.Flex.Ready.Add(length)}); c.start < c.end {
		return []claim{c}
	}
	return nil
}

// taken is what a leg takes beyond the open one that it replaces.
func (r *nodes) taken(l *siteLeg) []claim {
	whole := claim{l.What.Nodes, l.What.Start, l.What.End}
	old := r.legs[l.Replaces]
	if l.Replaces == (grid.LegID{}) || old == nil || old.What.Part.Some() || !old.State.Blocks() || old.What.Group != l.What.Group {
		return []claim{whole}
	}
	r.replaced[old.Leg] = l.Leg
	return whole.beyond(claim{old.What.Nodes, old.What.Start, old.What.End})
}

// widen gives the leg that has replaced another one all its nodes, once that one
// is gone.
func (r *nodes) widen(at grid.Time, gone grid.LegID) {
	by, ok := r.replaced[gone]
	if !ok {
		return
	}
	delete(r.replaced, gone)
	l := r.legs[by]
	if l == nil || !l.State.Blocks() {
		return
	}
	for _, c := range l.claims {
		r.take(at, l.What.Group, c, +1)
	}
	l.claims = r.needs(l)
	for _, c := range l.claims {
		r.take(at, l.What.Group, c, -1)
	}
}

// beyond is what of a claim goes beyond another one.
func (c claim) beyond(old claim) (list []claim) {
	s, e := max(c.start, old.start), min(c.end, old.end)
	if s >= e {
		return []claim{c}
	}
	for _, x := range []claim{{c.nodes, c.start, s}, {c.nodes - old.nodes, s, e}, {c.nodes, e, c.end}} {
		if x.nodes > 0 && x.start < x.end {
			list = append(list, x)
		}
	}
	return list
}
