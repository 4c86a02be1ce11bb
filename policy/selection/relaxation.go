package selection

import (
	"cmp"
	"math/bits"
	"slices"
)

// relaxation bounds from below what the remaining jobs can do with the room that a label
// leaves. If their alternatives could be mixed, the optimum would follow the convex hulls
// of their options, steepest step first. A label is dropped if its g plus that bound
// exceeds the value of a known choice. In batches of many jobs few labels remain.
type relaxation struct {
	steps []step // of the remaining jobs, steepest first
	z, g  int64  // sums of their least z and the g of those options
	o     *options
	hull  []int // scratch
	at    []int // scratch of greedy
}

// step leads from one option on the hull of job k to the next: dz > 0 more z for dg > 0
// less g.
type step struct {
	k      int
	to     int
	dz, dg int64
}

// open makes the steps of all jobs.
func (r *relaxation) open(all *options) {
	r.o, r.steps, r.z, r.g = all, r.steps[:0], 0, 0
	for k := range all.jobs {
		o := all.of(k)
		r.z += o[0].z
		r.g += o[0].g
		h := append(r.hull[:0], 0)
		for i := 1; i < len(o); i++ {
			for len(h) > 1 && !steeper(o[h[len(h)-2]], o[h[len(h)-1]], o[i]) {
				h = h[:len(h)-1]
			}
			h = append(h, i)
		}
		for i := 1; i < len(h); i++ {
			a, b := o[h[i-1]], o[h[i]]
			r.steps = append(r.steps, step{k, all.first[k] + h[i], b.z - a.z, a.g - b.g})
		}
		r.hull = h
	}
	slices.SortFunc(r.steps, func(a, b step) int {
		return cmp.Or(-compareProducts(a.dg, b.dz, b.dg, a.dz), cmp.Compare(a.k, b.k), cmp.Compare(a.to, b.to))
	})
}

// greedy puts a choice within limit into chosen and returns its g. It takes every step that
// fits, in order.
func (r *relaxation) greedy(limit int64, chosen []int) int64 {
	r.at = append(r.at[:0], r.o.first[:len(r.o.jobs)]...)
	z, g := r.z, r.g
	for _, st := range r.steps {
		from, to := &r.o.list[r.at[st.k]], &r.o.list[st.to]
		if z+to.z-from.z <= limit && to.g < from.g {
			z += to.z - from.z
			g += to.g - from.g
			r.at[st.k] = st.to
		}
	}
	for k, j := range r.o.jobs {
		chosen[j] = int(r.o.list[r.at[k]].index)
	}
	return g
}

// steeper reports whether a-b falls more steeply than b-c.
func steeper(a, b, c option) bool {
	return compareProducts(a.g-b.g, c.z-b.z, b.g-c.g, b.z-a.z) > 0
}

// compareProducts compares a x b with c x d in 128 bits. None may be negative.
func compareProducts(a, b, c, d int64) int {
	h1, l1 := bits.Mul64(uint64(a), uint64(b))
	h2, l2 := bits.Mul64(uint64(c), uint64(d))
	return cmp.Or(cmp.Compare(h1, h2), cmp.Compare(l1, l2))
}

// leave removes job k, whose stage comes now.
func (r *relaxation) leave(k int) {
	o := &r.o.of(k)[0]
	r.z -= o.z
	r.g -= o.g
	w := 0
	for _, st := range r.steps {
		if st.k < k {
			r.steps[w] = st
			w++
		}
	}
	r.steps = r.steps[:w]
}

// prune drops, in place, the labels that cannot reach best. Labels are in order of z, so
// the room that they leave shrinks, and one backward walk over the steps is enough for all.
func (r *relaxation) prune(labels []label, limit, best int64) []label {
	z, g := r.z, r.g // sums after the steps taken in full
	for i := range r.steps {
		z += r.steps[i].dz
		g -= r.steps[i].dg
	}
	n, w := len(r.steps), 0
	for i := range labels {
		room := limit - labels[i].z
		for n > 0 && z > room {
			n--
			z -= r.steps[n].dz
			g += r.steps[n].dg
		}
		bound := labels[i].g + g
		if n < len(r.steps) {
			bound -= ratio(r.steps[n].dg, room-z, r.steps[n].dz)
		}
		if bound <= best {
			labels[w] = labels[i]
			w++
		}
	}
	return labels[:w]
}

// ratio returns a x b / c rounded up. b must not exceed c, so the result is at most a.
func ratio(a, b, c int64) int64 {
	if b >= c {
		return a
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	q, rest := bits.Div64(hi, lo, uint64(c))
	if rest > 0 {
		q++
	}
	return int64(q)
}
