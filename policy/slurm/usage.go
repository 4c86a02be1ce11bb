package slurm

import (
	"math"
	"math/bits"

	"github.com/bourse-grid/bourse/grid"
)

// Usage is kept in units of 2^-usageBits CPU seconds, saturating: 10^13 CPU seconds and more
// count as that. Fractions that decay multiplies by are in units of 2^-63.
const (
	usageBits         = 20
	mostUsage  uint64 = math.MaxUint64 / 2
	one        uint64 = 1 << 63
	halfLifeLn        = 693 // thousandths: Slurm's ln 2
)

// decayOf is what is left of usage after a second: 1 - 0.693/half-life. A half-life of 0
// does not decay.
func decayOf(halfLife grid.Duration) uint64 {
	if halfLife <= 0 {
		return one
	}
	ms := uint64(max(halfLife, 1000))
	q, _ := bits.Div64((ms-halfLifeLn)>>1, (ms-halfLifeLn)<<63, ms) // (1 - 0.693/s) x 2^63
	return q
}

// power is d to the power of n seconds, rounded down at each multiplication.
func power(d uint64, n int64) uint64 {
	out := one
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			out = fraction(out, d)
		}
		d = fraction(d, d)
	}
	return out
}

// fraction is x times f/2^63.
func fraction(x, f uint64) uint64 {
	hi, lo := bits.Mul64(x, f)
	return hi<<1 | lo>>63
}

// used is what n CPUs add in some seconds, weighed by a factor in thousandths and by the
// decay of all of these seconds, as Slurm does: n x seconds x d^seconds.
func used(n int, seconds, factor int64, d uint64) uint64 {
	hi, x := bits.Mul64(uint64(n)*uint64(factor), uint64(seconds)<<usageBits)
	if hi >= 1000 {
		return mostUsage
	}
	x, _ = bits.Div64(hi, x, 1000)
	return min(fraction(x, power(d, seconds)), mostUsage)
}

// shareTree is the fair-share tree with what its users have used.
type shareTree struct {
	assocs   []Assoc
	children [][]int  // by place
	usage    []uint64 // by place; an account's is the sum of what is below it
	users    int      // associations of users
	rank     []int    // by place, of a user: its factor is rank/users
}

func newShareTree(assocs []Assoc) *shareTree {
	s := &shareTree{assocs: assocs, children: make([][]int, len(assocs)), usage: make([]uint64, len(assocs)), rank: make([]int, len(assocs))}
	for i := range assocs {
		if assocs[i].Parent >= 0 {
			s.children[assocs[i].Parent] = append(s.children[assocs[i].Parent], i)
		}
		if assocs[i].User != "" {
			s.users++
		}
		s.add(i, uint64(min(max(assocs[i].Usage, 0), 1<<42))<<usageBits)
	}
	return s
}

func (s *shareTree) clone() *shareTree {
	c := *s
	c.usage = append([]uint64(nil), s.usage...)
	c.rank = append([]int(nil), s.rank...)
	return &c
}

// add counts usage for an association and all above it.
func (s *shareTree) add(i int, usage uint64) {
	for ; i >= 0; i = s.assocs[i].Parent {
		s.usage[i] = min(s.usage[i]+usage, mostUsage)
	}
}

// decay multiplies all usage by f/2^63. What is below is summed up again, so that accounts
// stay sums.
func (s *shareTree) decay(f uint64) {
	for i := range s.usage {
		if s.assocs[i].User != "" {
			s.usage[i] = fraction(s.usage[i], f)
		} else {
			s.usage[i] = 0
		}
	}
	for i := len(s.usage) - 1; i > 0; i-- { // parents come first
		p := s.assocs[i].Parent
		s.usage[p] = min(s.usage[p]+s.usage[i], mostUsage)
	}
}
