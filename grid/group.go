package grid

import (
	"slices"
	"strings"
)

// Group is a set of equal nodes of one site, or a single node with a name of its own. The
// nodes are fungible: a promise says how many, not which.
type Group struct {
	Site        string
	Name        string
	Nodes       int
	Performance Performance
	Price       Price       // base price, per node-hour
	Curve       *PriceCurve // factors on it over time; nil: 1
	Machine     Machine
	// Padding is how long the cluster keeps nodes after the end of a window before the
	// next window may use them. Offers already allow for it.
	Padding Duration `json:",omitempty"`
	// Longest is the longest window that the cluster allows here; 0: any length.
	Longest Duration `json:",omitempty"`
	// Slices is into how many slices each node is divided, up to MaxSlices; 0 or 1: none.
	Slices int `json:",omitempty"`
	// Cores are those of each node; 0: the group does not state them.
	Cores int `json:",omitempty"`
}

// Divided is the number of slices of each node, at least 1.
func (g *Group) Divided() int { return max(1, g.Slices) }

// Allows reports whether a window may be as long as that.
func (g *Group) Allows(length Duration) bool { return g.Longest == 0 || length <= g.Longest }

// Pinned reports whether a window keeps the very nodes that it was given, as on real clusters:
// all of them keep nodes for a padding. Nodes of simulated groups change places at will, so that
// any windows fit that fit by count.
func (g *Group) Pinned() bool { return g.Padding > 0 }

// MaxPadding is the longest Padding that is accepted from a site.
const MaxPadding = Day

// Padded is the interval in which no other window may use the nodes of a window over
// [start, end): others must end a padding before it, or start a padding after it.
func (g *Group) Padded(start, end Time) (from, to Time) {
	return start.Add(-g.Padding), end.Add(g.Padding)
}

// Cost is what one node costs over [from, to); see CostOver.
func (g *Group) Cost(from, to Time) Credits { return CostOver(g.Price, g.Curve, from, to) }

// PriceAt is what a node costs per hour at an instant, rounded half up.
func (g *Group) PriceAt(t Time) Price {
	if g.Curve == nil {
		return g.Price
	}
	return Price(costOf(g.Price, uint64(g.Curve.At(t))*uint64(Hour)))
}

// Dearest is the most that a node costs per hour at any instant of [from, to), rounded
// half up.
func (g *Group) Dearest(from, to Time) Price {
	if g.Curve == nil {
		return g.Price
	}
	_, most := g.Curve.Bounds(from, to)
	return Price(costOf(g.Price, uint64(most)*uint64(Hour)))
}

// Cheapest is the least that a node costs per hour at any instant of [from, to), rounded
// half up.
func (g *Group) Cheapest(from, to Time) Price {
	if g.Curve == nil {
		return g.Price
	}
	least, _ := g.Curve.Bounds(from, to)
	return Price(costOf(g.Price, uint64(least)*uint64(Hour)))
}

// Machine describes a node, as far as a request may ask for it.
type Machine struct {
	Memory   int64    `json:"memory,omitempty"` // bytes
	Disk     int64    `json:"disk,omitempty"`   // bytes
	GPUs     int      `json:"gpus,omitempty"`
	OS       string   `json:"os,omitempty"`
	Arch     string   `json:"arch,omitempty"`
	Features []string `json:"features,omitempty"`
}

// Requirement is what a request needs of a node; zero values require nothing.
type Requirement Machine

// MetBy reports whether a node of machine m has all that is required.
func (r Requirement) MetBy(m Machine) bool { return r.Unmet(m) == "" }

// None reports whether nothing is required.
func (r *Requirement) None() bool {
	return r.Memory == 0 && r.Disk == 0 && r.GPUs == 0 && r.OS == "" && r.Arch == "" && len(r.Features) == 0
}

// Unmet names the first thing required that m lacks, "" if it lacks nothing.
func (r Requirement) Unmet(m Machine) string {
	switch {
	case m.Memory < r.Memory:
		return "memory"
	case m.Disk < r.Disk:
		return "disk"
	case m.GPUs < r.GPUs:
		return "gpus"
	case r.OS != "" && !strings.EqualFold(r.OS, m.OS):
		return "os " + r.OS
	case r.Arch != "" && !strings.EqualFold(r.Arch, m.Arch):
		return "arch " + r.Arch
	}
	for _, f := range r.Features {
		if !slices.Contains(m.Features, f) {
			return "feature " + f
		}
	}
	return ""
}
