package bourse

import (
	"slices"
	"strings"
)

// Group is a set of alike nodes of one site, or a single node with a name of
// its own. Nodes of a group are fungible: a promise names how many, not which.
type Group struct {
	Site        string
	Name        string
	Nodes       int
	Performance Performance
	Price       Price       // base price, per node-hour
	Curve       *PriceCurve // factors on it over time; nil: 1
	Machine     Machine
	// Padding is how long its cluster keeps nodes beyond the end of a window: nodes that
	// are free again so long before the next one. What is offered to be free is free with it.
	Padding Duration `json:",omitempty"`
}

// MaxPadding is the longest Padding that is believed.
const MaxPadding = Day

// Padded is what a window over [start, end) takes of its nodes from others that are planned
// beside it: they end a padding before it, or start a padding after it.
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

// Machine is what a node is made of, as far as a request may ask for it.
type Machine struct {
	Memory   int64    `json:"memory,omitempty"` // bytes
	Disk     int64    `json:"disk,omitempty"`   // bytes
	GPUs     int      `json:"gpus,omitempty"`
	OS       string   `json:"os,omitempty"`
	Arch     string   `json:"arch,omitempty"`
	Features []string `json:"features,omitempty"`
}

// Requirement is what a request asks of a node; zero values ask for nothing.
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
