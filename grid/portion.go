package grid

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
)

// A node may be divided into slices: K equal shares of each resource that its group states.
// A request may ask for a portion of each of its nodes. The first portion on a node opens it
// for as long as that lasts; others may lie inside.

// MaxSlices bounds the slices of a node.
const MaxSlices = 256

// Portion is what a request asks of each of its nodes. The zero value asks for whole nodes.
type Portion struct {
	Slices int   `json:"slices,omitempty"` // whatever they consist of
	Cores  int   `json:"cores,omitempty"`
	Memory int64 `json:"memory,omitempty"` // bytes
	GPUs   int   `json:"gpus,omitempty"`
}

// Whole reports whether whole nodes are asked for.
func (p Portion) Whole() bool { return p == Portion{} }

// LegPart is what a leg takes of each of its nodes: Slices of the Of into which its group
// divides them, at least 1 and fewer than all. The resources are those that its request asks
// for, 0 for what it does not name. The zero value takes whole nodes.
type LegPart struct {
	Slices int16 `json:"slices"`
	Of     int16 `json:"of"`
	Cores  int16 `json:"cores,omitempty"` // at most MaxPortion, as the GPUs: a million legs are kept
	GPUs   int16 `json:"gpus,omitempty"`
	Memory int64 `json:"memory,omitempty"` // bytes
}

// MaxPortion bounds the cores and the GPUs that a request may ask for on a node.
const MaxPortion = math.MaxInt16

// Time is what a leg of so many nodes takes of node-time: Slices of each node, rounded up.
func (p LegPart) Time(nodes int, d Duration) int64 {
	whole := int64(nodes) * int64(d)
	if p.Slices < 1 || p.Of < 1 {
		return whole
	}
	return shareUp64(whole, int64(p.Of), int64(p.Slices))
}

// shareUp64 is whole x slices / of, rounded up.
func shareUp64(whole, of, slices int64) int64 {
	if whole <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(whole), uint64(slices))
	lo, carry := bits.Add64(lo, uint64(of)-1, 0)
	q, _ := bits.Div64(hi+carry, lo, uint64(of))
	return int64(q)
}

// Some reports whether the leg takes slices rather than whole nodes.
func (p LegPart) Some() bool { return p != LegPart{} }

// Fault says why such a part cannot lie on nodes of g: g divides them otherwise, or its slices
// hold less than the part names; no reason: it can.
func (p LegPart) Fault(g *Group) Reason {
	k := g.Divided()
	switch {
	case !p.Some():
		return Reason{}
	case int(p.Of) != k || k == 1:
		return Because(Unknown, "it asks for %d of %d slices of a node, %s/%s divides its nodes into %d", p.Slices, p.Of, g.Site, g.Name, k)
	case p.Slices < 1 || int(p.Slices) >= k:
		return Because(Invalid, "%d of %d slices are no part of a node: 1 to %d are", p.Slices, p.Of, k-1)
	case p.Cores < 0 || p.Memory < 0 || p.GPUs < 0:
		return Because(Invalid, "it asks for less than nothing of a node")
	}
	needs := Portion{Cores: int(p.Cores), Memory: p.Memory, GPUs: int(p.GPUs)}
	if needs.Whole() {
		return Reason{}
	}
	if u, lacks := needs.On(g); lacks != "" {
		return Because(NoNode, "nodes of %s/%s have %s for it", g.Site, g.Name, Phrase(TooFew(lacks)))
	} else if u > int(p.Slices) {
		return Because(Invalid, "what it asks for takes %d of %d slices, not %d", u, k, p.Slices)
	}
	return Reason{}
}

// Words list what the portion asks for, such as "2 GPUs, 16 cores, 64 GiB"; "" for whole nodes.
func (p *Portion) Words() string {
	var list []string
	if p.GPUs > 0 {
		list = append(list, Count(p.GPUs, "GPU"))
	}
	if p.Cores > 0 {
		list = append(list, Count(p.Cores, "core"))
	}
	if p.Memory > 0 {
		list = append(list, fmt.Sprintf("%.4g GiB", float64(p.Memory)/(1<<30)))
	}
	if p.Slices > 0 {
		list = append(list, Count(p.Slices, "slice"))
	}
	return strings.Join(list, ", ")
}

// TooFew says that there is not enough of a resource, by the name that On gives it.
func TooFew(resource string) string {
	switch resource {
	case "memory":
		return "too little memory"
	case "gpus":
		return "too few GPUs"
	}
	return "too few " + resource
}

// Check says what of a portion makes no sense, "" if all does.
func (p *Portion) Check() string {
	switch {
	case p.Slices < 0 || p.Slices > MaxSlices:
		return fmt.Sprintf("slices %d is outside 0..%d", p.Slices, MaxSlices)
	case p.Cores < 0 || p.Cores > MaxPortion:
		return fmt.Sprintf("cores_per_node %d is outside 1..%d", p.Cores, MaxPortion)
	case p.GPUs < 0 || p.GPUs > MaxPortion:
		return fmt.Sprintf("gpus_per_node %d is outside 1..%d", p.GPUs, MaxPortion)
	case p.Memory < 0:
		return "memory_per_node is below 0"
	}
	return ""
}

// Price is what the portion costs per hour of a node of g, whose price that is.
func (p *Portion) Price(g *Group, price Price) Price {
	if x := p.Part(g); x.Some() {
		return PriceOfSlices(price, int(x.Slices), int(x.Of))
	}
	return price
}

// Fits reports whether a node of g has what the portion asks for.
func (p *Portion) Fits(g *Group) bool {
	_, lacks := p.On(g)
	return lacks == ""
}

// Part is what a leg of the portion takes of each node of g, the zero LegPart if all of it.
// The portion must suit g.
func (p *Portion) Part(g *Group) LegPart {
	u, _ := p.On(g)
	if p.Whole() || u == g.Divided() {
		return LegPart{}
	}
	return LegPart{Slices: int16(u), Of: int16(g.Divided()), Cores: int16(p.Cores), Memory: p.Memory, GPUs: int16(p.GPUs)}
}

// CostOfLeg is what l costs on nodes of g at the base price: each node by itself, rounded
// once.
func (g *Group) CostOfLeg(l *Leg) Credits {
	if l.Part.Some() {
		return CostOfSlicesOver(g.Price, g.Curve, l.Start, l.End, int(l.Part.Slices), int(l.Part.Of)).Times(l.Nodes)
	}
	return g.Cost(l.Start, l.End).Times(l.Nodes)
}

// On returns how many slices the portion takes of a node of g: the largest share of any
// resource, rounded up. What fits by slices then fits in every resource. All slices are the
// whole node. If such a node has too little of a resource, or its group does not state it,
// lacks names the first such, and slices is 0.
func (p *Portion) On(g *Group) (slices int, lacks string) {
	k := g.Divided()
	if p.Whole() {
		return k, ""
	}
	if p.Slices > k {
		return 0, "slices"
	}
	slices = p.Slices
	for _, r := range [...]struct {
		asked, has int64
		name       string
	}{
		{int64(p.Cores), int64(g.Cores), "cores"},
		{p.Memory, g.Machine.Memory, "memory"},
		{int64(p.GPUs), int64(g.Machine.GPUs), "gpus"},
	} {
		if r.asked > r.has {
			return 0, r.name
		}
		if r.asked > 0 {
			slices = max(slices, shareUp(r.asked, r.has, k))
		}
	}
	return slices, ""
}

// shareUp is asked x k / has, rounded up, for 0 < asked <= has.
func shareUp(asked, has int64, k int) int {
	hi, lo := bits.Mul64(uint64(asked), uint64(k))
	lo, carry := bits.Add64(lo, uint64(has)-1, 0)
	q, _ := bits.Div64(hi+carry, lo, uint64(has))
	return int(q)
}

// CostOfSlices is what slices of a node that has so many cost for d at price p per
// node-hour: one product in 128 bits, rounded half up once. None may be negative, and
// slices are 1 to of, of at most MaxSlices. A result beyond int64 is MaxCredits.
func CostOfSlices(p Price, d Duration, slices, of int) Credits {
	return sliced(uint64(p), uint64(d), uint64(Hour), slices, of)
}

// CostOfSlicesOver is CostOver for slices of a node, rounded once as CostOfSlices is.
func CostOfSlicesOver(p Price, c *PriceCurve, from, to Time, slices, of int) Credits {
	switch {
	case c == nil:
		return CostOfSlices(p, to.Sub(from), slices, of)
	case to.Sub(from) > MaxDuration:
		return MaxCredits
	}
	return sliced(uint64(p), c.to(to)-c.to(from), 1000*uint64(Hour), slices, of)
}

// PriceOfSlices is what slices of a node cost per hour, rounded half up.
func PriceOfSlices(p Price, slices, of int) Price { return Price(CostOfSlices(p, Hour, slices, of)) }

// sliced is price x time x slices / (hour x of), rounded half up.
func sliced(price, time, hour uint64, slices, of int) Credits {
	hi, lo := bits.Mul64(price, time)
	if hi >= 1<<40 {
		return MaxCredits // 2^104 over less than 2^41 is more than any amount
	}
	over, lo := bits.Mul64(lo, uint64(slices))
	hi = hi*uint64(slices) + over
	whole := hour * uint64(of)
	lo, carry := bits.Add64(lo, whole/2, 0)
	if hi += carry; hi >= whole {
		return MaxCredits
	}
	q, _ := bits.Div64(hi, lo, whole)
	return Credits(min(q, uint64(MaxCredits)))
}
