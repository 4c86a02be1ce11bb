package invariant

import (
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// I28: at rest a broker has each leg that it has bought where its site has it: the nodes,
// the group, from when to when.

// places is the rule I28 by a site's journal: how much of where a leg lies its broker has
// noted.
type places struct{ *journal }

// noted takes a broker's word that it knows where a leg lies.
func (r *places) noted(l *siteLeg, f facts.ShiftNoted) {
	if l != nil {
		l.told = max(l.told, f.Shifts)
	}
}

// sameNodes reports whether two legs are of as many nodes of one group.
func sameNodes(a, b *grid.Leg) bool {
	return a.Group == b.Group && a.Nodes == b.Nodes && a.Work == b.Work
}

// sameTime reports whether they lie over the same time. When a share ends is its site's
// estimate.
func sameTime(a, b *grid.Leg) bool {
	return a.Work > 0 || a.Start == b.Start && a.End == b.End
}

// lieAlike checks where both sides have a leg that both have bought. Where a shift is
// under way they differ, and where it came after its broker had given the leg up.
func lieAlike(x *tx, i int, l *siteLeg, underWay bool, breaks func(invariant, format string, args ...any)) {
	b, s := &x.begun.Legs[i], &l.What
	if !x.commit || !l.charged || l.State == grid.Lost {
		return
	}
	if !sameNodes(b, s) || !underWay && !x.legs[i].givenUp && !sameTime(b, s) {
		breaks("I28", "its site has %d nodes of %s over [%v, %v), its broker %d of %s over [%v, %v)",
			s.Nodes, s.Group, s.Start, s.End, b.Nodes, b.Group, b.Start, b.End)
	}
}
