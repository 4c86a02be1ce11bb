package audit

import "bourse"

// size is how many nodes a group of the trail's site has; false if nobody said.
func (t *Trail) size(group string) (int, bool) {
	if n, ok := t.audit.nodes[t.name()+"/"+group]; ok {
		return n, true
	}
	n, ok := t.audit.nodes[group]
	return n, ok
}

// claim gives back the nodes that a leg held and, while it holds any, takes
// those of its present state (I1). Of a leg that replaces another one that is
// still open, only what goes beyond that one counts. It costs one insertion into
// the profile of the group, which grows with its open legs.
func (t *Trail) claim(at bourse.Time, l *siteLeg, held []claim) {
	n, ok := t.size(l.What.Group)
	if !ok {
		return
	}
	free := t.free[l.What.Group]
	if free == nil {
		p := bourse.NewProfile(min(at, l.What.Start), n)
		free = &p
		t.free[l.What.Group] = free
	}
	first := (*free)[0].At
	if at > first {
		free.From(at)
		first = at
	}
	for _, c := range held {
		free.Add(max(c.start, first), c.end, c.nodes)
	}
	l.claims = nil
	if l.State.Blocks() {
		l.claims = t.wanted(l)
	}
	for _, c := range l.claims {
		s := max(c.start, first)
		if s >= c.end {
			continue
		}
		free.Add(s, c.end, -c.nodes)
		if left := free.Min(s, c.end); left < 0 && held == nil {
			t.breaks("I1", "leg %v takes %d nodes of group %s over [%v, %v), and %d are promised twice",
				l.Leg, l.What.Nodes, l.What.Group, l.What.Start, l.What.End, -left)
		}
	}
	if !l.State.Blocks() {
		t.widen(l.Leg, first, free)
	}
}

// wanted is what a leg takes beyond the open one that it replaces.
func (t *Trail) wanted(l *siteLeg) []claim {
	whole := claim{l.What.Nodes, l.What.Start, l.What.End}
	old := t.legs[l.Replaces]
	if l.Replaces == (bourse.LegID{}) || old == nil || !old.State.Blocks() || old.What.Group != l.What.Group {
		return []claim{whole}
	}
	t.replaced[old.Leg] = l.Leg
	s, e := max(whole.start, old.What.Start), min(whole.end, old.What.End)
	if s >= e {
		return []claim{whole}
	}
	var list []claim
	for _, c := range []claim{{whole.nodes, whole.start, s}, {whole.nodes - old.What.Nodes, s, e}, {whole.nodes, e, whole.end}} {
		if c.nodes > 0 && c.start < c.end {
			list = append(list, c)
		}
	}
	return list
}

// widen gives the legs that have replaced a leg all their nodes, once it is gone.
func (t *Trail) widen(gone bourse.LegID, first bourse.Time, free *bourse.Profile) {
	by, ok := t.replaced[gone]
	if !ok {
		return
	}
	delete(t.replaced, gone)
	l := t.legs[by]
	if l == nil || !l.State.Blocks() {
		return
	}
	for _, c := range l.claims {
		free.Add(max(c.start, first), c.end, c.nodes)
	}
	l.claims = t.wanted(l)
	for _, c := range l.claims {
		free.Add(max(c.start, first), c.end, -c.nodes)
	}
}
