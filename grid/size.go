package grid

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

// Size is one way to run a moldable job: on N nodes at once, and with what length at
// performance 1.
type Size struct {
	Nodes  int      `json:"nodes"`  // R
	Length Duration `json:"length"` // fmol(R)
}

// MaxSizes bounds the sizes of one job, because each costs a search of its own.
const MaxSizes = 128

// compare orders sizes by preference: least node-time R x fmol(R) first, then fewest nodes.
func (z Size) compare(o Size) int {
	hi, lo := bits.Mul64(uint64(z.Nodes), uint64(z.Length))
	hi2, lo2 := bits.Mul64(uint64(o.Nodes), uint64(o.Length))
	return cmp.Or(cmp.Compare(hi, hi2), cmp.Compare(lo, lo2), cmp.Compare(z.Nodes, o.Nodes))
}

// CheckSizes says what is wrong with the sizes of a moldable job: none or more
// than MaxSizes, nodes that do not ascend, a length that is not above 0 or that
// grows with the nodes. nodes bounds those of a size.
func CheckSizes(list []Size, nodes int) error {
	if len(list) == 0 || len(list) > MaxSizes {
		return fmt.Errorf("%d sizes: must be 1 to %d", len(list), MaxSizes)
	}
	for i, z := range list {
		switch {
		case z.Nodes < 1 || z.Nodes > nodes:
			return fmt.Errorf("nodes %d is outside 1..%d", z.Nodes, nodes)
		case z.Length <= 0 || z.Length > MaxDuration:
			return fmt.Errorf("length %v on %s is outside 0.001..%v seconds", z.Length, Count(z.Nodes, "node"), MaxDuration)
		case i > 0 && z.Nodes <= list[i-1].Nodes:
			return fmt.Errorf("%s behind %d; must be each size once, in ascending order", Count(z.Nodes, "node stands", "nodes stand"), list[i-1].Nodes)
		case i > 0 && z.Length > list[i-1].Length:
			return fmt.Errorf("%v seconds on %s but %v on %d; a length must not grow with the nodes",
				list[i-1].Length, Count(list[i-1].Nodes, "node"), z.Length, z.Nodes)
		}
	}
	return nil
}

// Mold gives a request its sizes. Nodes and Length become those of the preferred size, which
// represents the job where only one size can. A single size makes the request rigid. The
// sizes must pass CheckSizes.
func (r *Request) Mold(sizes []Size) {
	least := slices.MinFunc(sizes, Size.compare)
	r.Nodes, r.Length, r.Sizes = least.Nodes, least.Length, nil
	if len(sizes) > 1 {
		r.Sizes = sizes
	}
}

// Molded reports whether Nodes and Length are those that Mold gives a request
// with these sizes; those of a rigid one always are.
func (r *Request) Molded() bool {
	return len(r.Sizes) == 0 || slices.MinFunc(r.Sizes, Size.compare) == Size{r.Nodes, r.Length}
}

// Preferred lists the ways to run the job, the one that takes least in all first,
// ties the one with fewest nodes (Netto et al.: "among the sizes that fit, least
// R x fmol(R)"). A rigid job has one.
func (r *Request) Preferred() []Size {
	if len(r.Sizes) == 0 {
		return []Size{{r.Nodes, r.Length}}
	}
	list := slices.Clone(r.Sizes)
	slices.SortFunc(list, Size.compare)
	return list
}

// Dealt lists the sizes in the order to try them if at most bound can be tried: first sizes
// spread evenly over the order of preference, then those between, so that the bound does not
// exclude the widest. If bound is 1, or all sizes are within it, Dealt is Preferred.
func (r *Request) Dealt(bound int) []Size {
	list := r.Preferred()
	if bound <= 1 || len(list) <= bound {
		return list
	}
	step := (len(list) + bound - 1) / bound
	dealt := make([]Size, 0, len(list))
	for first := range step {
		for i := first; i < len(list); i += step {
			dealt = append(dealt, list[i])
		}
	}
	return dealt
}

// At is the request as a rigid one of a size.
func (r Request) At(z Size) Request {
	r.Nodes, r.Length, r.Sizes = z.Nodes, z.Length, nil
	return r
}

// SizeOn is the job's size on that many nodes. If there is none, or the job is rigid, it is
// the size that the job prefers.
func (r *Request) SizeOn(nodes int) Size {
	for _, z := range r.Sizes {
		if z.Nodes == nodes {
			return z
		}
	}
	return Size{r.Nodes, r.Length}
}

// Shortest is the least length that the job can have.
func (r *Request) Shortest() Duration {
	if n := len(r.Sizes); n > 0 {
		return r.Sizes[n-1].Length
	}
	return r.Length
}

// Cover returns the smallest parts that can hold any one of the given parts: at every instant
// as many nodes of a group as the largest part there. They are sorted by group and start, and
// their Cost is 0.
func Cover(parts []Part) []Part {
	list := slices.Clone(parts)
	slices.SortStableFunc(list, func(a, b Part) int { return cmp.Compare(a.Group, b.Group) })
	var out []Part
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Group == list[0].Group {
			n++
		}
		out = coverGroup(out, list[:n])
		list = list[n:]
	}
	return out
}

// coverGroup is Cover of the parts of one group.
func coverGroup(out, parts []Part) []Part {
	var instants []Time
	for _, p := range parts {
		instants = append(instants, p.Start, p.End)
	}
	slices.Sort(instants)
	instants = slices.Compact(instants)
	first := len(out)
	for i := range len(instants) - 1 {
		s, e := instants[i], instants[i+1]
		most := int32(0)
		for _, p := range parts {
			if p.Start <= s && e <= p.End {
				most = max(most, p.Count)
			}
		}
		switch last := len(out) - 1; {
		case most == 0:
		case last >= first && out[last].End == s && out[last].Count == most:
			out[last].End = e
		default:
			out = append(out, Part{Group: parts[0].Group, Count: most, Start: s, End: e})
		}
	}
	return out
}

// Longest is the longest of a request's lengths at performance 1.
func (r *Request) Longest() Duration {
	long := r.Length
	for _, z := range r.Sizes {
		long = max(long, z.Length)
	}
	return long
}

// Quickest is the shortest time that a request can take on as many suitable nodes as it asks
// for, in the size that takes least, if everything were free; 0 if there are never so many.
// A window has nodes of groups of one pool, and takes as long as on the slowest of them.
func (r *Request) Quickest(groups []Group, pool func(group int) int) (least Duration) {
	var order []int
	for i := range groups {
		if groups[i].Performance >= r.MinPerformance && r.Require.MetBy(groups[i].Machine) && r.Portion.Fits(&groups[i]) && May(groups[i].Site, r.Sites, r.Avoid) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(groups[b].Performance, groups[a].Performance) })
	for _, z := range r.Preferred() {
		nodes := map[int]int{} // of each pool, so far
		for _, i := range order {
			p := pool(i)
			if nodes[p] += groups[i].Nodes; nodes[p] >= z.Nodes {
				if long := groups[i].Performance.Runtime(z.Length); least == 0 || long < least {
					least = long
				}
				break
			}
		}
	}
	return least
}
