package shared

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// held adds up for how long a site's nodes are held for legs, by the facts of its cluster. A
// node that legs share is held once.
type held struct {
	shares map[string]float64 // of a node, that jobs ask for
	jobs   map[grid.LegID]string
	locks  map[grid.LegID]facts.NodesLocked
	ended  []facts.NodesLocked
}

func newHeld(shares map[string]float64) *held {
	return &held{shares: shares, jobs: map[grid.LegID]string{}, locks: map[grid.LegID]facts.NodesLocked{}}
}

// take takes the facts of a step.
func (h *held) take(now grid.Time, list []agents.Fact) {
	for _, f := range list {
		switch f := f.(type) {
		case facts.LegMoved:
			if f.Job != "" {
				h.jobs[f.Leg] = f.Job
			}
		case facts.NodesLocked:
			h.locks[f.Leg] = f
		case facts.NodesFreed:
			l, ok := h.locks[f.Leg]
			if delete(h.locks, f.Leg); !ok {
				continue
			}
			if l.What.End = min(l.What.End, cmp.Or(f.When, now)); l.What.End > l.What.Start {
				h.ended = append(h.ended, l)
			}
		}
	}
}

// nodeHours are those of all legs that have ended, in whole nodes.
func (h *held) nodeHours() (hours float64) {
	shared := map[int32][]grid.Leg{} // by the number of the node's opening
	for _, l := range h.ended {
		if !l.What.Part.Some() {
			hours += float64(l.What.Nodes) * l.What.Duration().Hours()
		}
		for _, n := range l.On {
			shared[n] = append(shared[n], l.What)
		}
	}
	for _, legs := range shared {
		slices.SortFunc(legs, func(a, b grid.Leg) int { return cmp.Compare(a.Start, b.Start) })
		upTo := grid.Time(0)
		for _, l := range legs {
			hours += max(0, l.End.Sub(max(l.Start, upTo))).Hours()
			upTo = max(upTo, l.End)
		}
	}
	return hours
}

// sold is what the jobs asked for of that, in whole nodes.
func (h *held) sold() (hours float64) {
	for _, l := range h.ended {
		hours += h.shares[h.jobs[l.Leg]] * float64(l.What.Nodes) * l.What.Duration().Hours()
	}
	return hours
}
