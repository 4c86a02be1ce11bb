package selection

import (
	"cmp"
	"math/bits"
	"slices"
)

// core is what of a batch can still be in doubt. If alternatives might be mixed,
// the best would be every job's option of least g + s z at one slope s, that of the
// last step that fits, with a part of that step. Any other option of a job is a loss
// against that, and a choice that has it is worse than that mixture by no less. The
// mixture is little better than the best choice, the more jobs the less, so nearly
// all options lose more than is between them: they are in no best choice, and the
// run over labels need not see them. Of 10,000 jobs some hundred are left (Pisinger,
// A minimal algorithm for the multiple-choice knapsack problem, 1995).
//
// How good the best choice is, is not known before. So labels are run over the
// options that lose least, then over four times as many, until all that lose less
// than the best choice so far are among them: then it is the best.
type core struct {
	whole  *options
	base   []int  // by job, what the mixture has, in whole.list; of the last step nothing
	z, g   int64  // sums of the base
	dz, dg int64  // the last step, dz > 0: the slope is dg/dz
	spare  int64  // what the base leaves of the limit
	loss   []wide // by option, times dz
	order  []wide // scratch
}

// coreOptions are in the first core, those of the base not counted.
const coreOptions = 64

// wide is a number of 128 bits.
type wide struct{ hi, lo uint64 }

func (a wide) compare(b wide) int { return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo)) }

// less returns a x b - c x d, which must not be negative, nor any of the four.
func less(a, b, c, d int64) wide {
	h1, l1 := bits.Mul64(uint64(a), uint64(b))
	h2, l2 := bits.Mul64(uint64(c), uint64(d))
	lo, borrow := bits.Sub64(l1, l2, 0)
	hi, _ := bits.Sub64(h1, h2, borrow)
	return wide{hi, lo}
}

// open finds the losses of the options, of which r has all steps.
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

// worth is the most that an option may lose in a choice whose g is no more than
// value, which is that of some choice.
func (c *core) worth(value int64) wide { return less(c.dg, c.spare, c.dz, c.g-value) }

// reach is the loss up to which the next core has options: n of them, or all that
// lose no more than most.
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

// take puts into dst the options that lose no more than most, of the jobs that have
// more than one of them, and the others' alternatives into chosen. It returns the sums
// of z and g of these.
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
