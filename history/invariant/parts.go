package invariant

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// I9 for a job of unlike parts: each leg obeys its own part, each part starts its offset after
// the job, and the parts stand where sites, together and apart allow.

// Standing is a leg that stands: the part that it carries, and where.
type Standing struct{ Part, Site string }

// StandingOf is that of a transaction's leg.
func StandingOf(f *facts.TxBegun, leg int) Standing {
	var s Standing
	if leg < len(f.Sites) {
		s.Site = f.Sites[leg]
	}
	if leg < len(f.Parts) {
		s.Part = f.Parts[leg]
	}
	return s
}

// Mends makes the window a repair of a transaction's leg.
func (w *Window) Mends(f *facts.TxBegun, leg int) {
	w.Repairs, w.Nodes, w.At, w.Part = true, f.Legs[leg].Nodes, f.Legs[leg].Start, StandingOf(f, leg).Part
}

// eachPart holds each leg to its part, and all of them to each other.
func (w *Window) eachPart(ask *grid.Request) error {
	if len(w.Parts) != len(w.Legs) {
		return fmt.Errorf("its %d legs carry %d parts", len(w.Legs), len(w.Parts))
	}
	nodes, found := make([]int, len(ask.Parts)), 0
	var start grid.Time
	for i, l := range w.Legs {
		k := indexOf(ask.Parts, w.Parts[i])
		if k < 0 {
			return fmt.Errorf("a leg at %s carries part %q, which the job does not have", w.Sites[i], w.Parts[i])
		}
		p := &ask.Parts[k]
		if found++; found == 1 {
			start = l.Start.Add(-p.Offset)
		}
		own := p.Request(ask)
		switch {
		case l.Start.Add(-p.Offset) != start:
			return fmt.Errorf("part %s starts at %v, %s after the job, which starts at %v", p.Name, l.Start, p.Offset.Words(), start)
		case w.Repairs && p.Name != w.Part:
			return fmt.Errorf("part %s stands in for part %s", p.Name, w.Part)
		}
		if err := w.leg(i, l, &own); err != nil {
			return fmt.Errorf("part %s: %w", p.Name, err)
		}
		nodes[k] += l.Nodes
	}
	for k := range nodes {
		if !w.Repairs && nodes[k] != ask.Parts[k].Nodes {
			return fmt.Errorf("%d nodes for part %s instead of %d", nodes[k], ask.Parts[k].Name, ask.Parts[k].Nodes)
		}
	}
	return w.places(ask)
}

// places holds the legs, and beside a repair those that stand, to where they may stand.
func (w *Window) places(ask *grid.Request) error {
	all := w.Others
	for i := range w.Legs {
		all = append(all[:len(all):len(all)], Standing{w.Parts[i], w.Sites[i]})
	}
	for i := len(w.Others); i < len(all); i++ {
		a := all[i]
		for _, b := range all[:i] {
			k := indexOf(ask.Parts, a.Part)
			switch {
			case a.Part == b.Part && a.Site != b.Site && (ask.Apart || ask.Parts[k].OneSite):
				return fmt.Errorf("part %s is at %s and %s, one site was asked for", a.Part, b.Site, a.Site)
			case a.Site != b.Site && ask.Together:
				return fmt.Errorf("parts %s and %s are at %s and %s, and were to be together", b.Part, a.Part, b.Site, a.Site)
			case a.Part != b.Part && a.Site == b.Site && ask.Apart:
				return fmt.Errorf("parts %s and %s are both at %s, and were to be apart", b.Part, a.Part, a.Site)
			}
		}
	}
	return nil
}

func indexOf(parts []grid.JobPart, name string) int {
	return slices.IndexFunc(parts, func(p grid.JobPart) bool { return p.Name == name })
}
