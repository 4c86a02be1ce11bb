package grid

import "math/bits"

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
