package selection

import (
	"cmp"
	"math/bits"
	"slices"
)

// core is the part of a batch that is still undecided. If alternatives could be mixed, the
// optimum would give every job the option with the least g + s z for a single slope s, that
// of the last step that fits, taking only part of that step. Any other option of a job has
// a loss against this mixture, and a choice that contains it is worse than the mixture by
// at least that loss. The mixture is little better than the best choice, less so the more
// jobs there are. So nearly all options lose more than the difference: they are in no best
// choice, and the run over labels can omit them. Of 10,000 jobs some hundred remain
// (Pisinger, A minimal algorithm for the multiple-choice knapsack problem, 1995).
//
// The value of the best choice is not known beforehand. So labels are run over the options
// with the least losses, then over four times as many, until these include all options that
// lose less than the best choice so far; then it is optimal.
type core struct {
	whole  *options
	base   []int  // by job, its option in the mixture, in whole.list, without the last step
	z, g   int64  // sums of the base
	dz, dg int64  // the last step, dz > 0: the slope is dg/dz
	spare  int64  // what the base leaves of the limit
	loss   []wide // by option, times dz
	order  []wide // scratch
}

// coreOptions is the number of options in the first core, not counting those of the base.
const coreOptions = 64

// wide is a 128-bit number.
type wide struct{ hi, lo uint64 }

func (a wide) compare(b wide) int { return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo)) }

// less returns a x b - c x d. None of the four, nor the result, may be negative.
func less(a, b, c, d int64) wide {
	h1, l1 := bits.Mul64(uint64(a), uint64(b))
	h2, l2 := bits.Mul64(uint64(c), uint64(d))
	lo, borrow := bits.Sub64(l1, l2, 0)
	hi, _ := bits.Sub64(h1, h2, borrow)
	return wide{hi, lo}
}

// open computes the losses of the options. r must contain all steps.
func (c *core) open(whole *options, r *relaxation, limit int64) {
	c.whole, c.base, c.loss = whole, c.base[:0], c.loss[:0]
	c.z, c.g, c.dz, c.dg = r.z, r.g, 1, 0
	c.base = append(c.base, whole.first[:len(whole.jobs)]...)
	for _, st := range r.steps {
		if c.z+st.dz > limit {
			c.dz, c.dg = st.dz, st.dg
			break
		}
		c.base[st.k] = st.to
		c.z += st.dz
		c.g -= st.dg
	}
	c.spare = limit - c.z
	for k := range whole.jobs {
		b := whole.list[c.base[k]]
		for _, o := range whole.of(k) {
			if o.z < b.z {
				c.loss = append(c.loss, less(c.dz, o.g-b.g, c.dg, b.z-o.z))
			} else {
				c.loss = append(c.loss, less(c.dg, o.z-b.z, c.dz, b.g-o.g))
			}
		}
	}
}

// worth returns the most that an option may lose in a choice whose g does not exceed value,
// the g of some known choice.
func (c *core) worth(value int64) wide { return less(c.dg, c.spare, c.dz, c.g-value) }

// reach returns the largest loss of the options in the next core: that of the n-th, but at
// most most.
func (c *core) reach(n int, most wide) wide {
	c.order = c.order[:0]
	for _, l := range c.loss {
		if l != (wide{}) && l.compare(most) <= 0 {
			c.order = append(c.order, l)
		}
	}
	if len(c.order) <= n {
		return most
	}
	slices.SortFunc(c.order, wide.compare)
	return c.order[n-1]
}

// take puts the options that lose no more than most into dst, for jobs with more than one
// of them. For other jobs it puts the alternatives into chosen and returns their sums of z
// and g.
func (c *core) take(dst *options, most wide, chosen []int) (z, g int64) {
	dst.clear()
	for k, j := range c.whole.jobs {
		at := len(dst.list)
		for i := c.whole.first[k]; i < c.whole.first[k+1]; i++ {
			if c.loss[i].compare(most) <= 0 {
				dst.list = append(dst.list, c.whole.list[i])
			}
		}
		if len(dst.list) > at+1 {
			dst.close(j)
			continue
		}
		b := dst.list[at]
		dst.list = dst.list[:at]
		z += b.z
		g += b.g
		chosen[j] = int(b.index)
	}
	return z, g
}
