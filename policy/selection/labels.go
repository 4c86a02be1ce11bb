package selection

import (
	"math"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// maxLabels bounds the labels of one job. Beyond it, z is rounded up to a grid with half as
// many cells.
const maxLabels = 100_000

// label is a choice for the jobs from some job on: its sums, the option of that job, and
// the label of the jobs after it.
type label struct {
	z, g   int64
	option int32
	next   int32
}

// stages is the backward run over the jobs (Toporkov et al., formula 1), with Pareto labels
// (z, g) instead of a table over all values of Z. A label says that this sum of z is
// possible with this sum of g. Only labels that no other beats are kept.
type stages struct {
	whole   options
	core    core
	options         // options of the core, over which the run goes
	front   []label // labels of the latest stage
	back    trail   // how the labels came about
	a, b    []label // scratch of a stage
	relaxed relaxation
	best    []int // by job, its alternative in the best choice so far; -1: none
	making  []int // scratch: the same for a choice in the making
	value   int64 // sum of g of the best choice
	grid    bool  // the bound on labels was reached
	narrow  int   // options in the first core, for tests; 0: coreOptions
}

// solve minimises the sum of g, with the sum of z within limit, over the alternatives that
// end by most. It puts the choice into chosen unless that is nil, and reports false iff no
// choice is within the limit.
func (s *stages) solve(jobs [][]Alternative, most grid.Time, z, g criterion, limit int64, bound int, chosen []int) bool {
	s.grid = false
	if !s.whole.open(jobs, most, z, g) || s.whole.least() > limit {
		return false
	}
	s.relaxed.open(&s.whole)
	s.core.open(&s.whole, &s.relaxed, limit)
	s.best = slices.Grow(s.best[:0], len(jobs))[:len(jobs)]
	s.making = slices.Grow(s.making[:0], len(jobs))[:len(jobs)]
	for j := range jobs {
		s.best[j], s.making[j] = -1, -1
	}
	s.value = s.relaxed.greedy(limit, s.best)
	n := s.narrow
	if n == 0 {
		n = coreOptions
	}
	for reach, done := (wide{}), false; !done; n *= 4 {
		reach = s.core.reach(n, s.core.worth(s.value))
		settledZ, settledG := s.core.take(&s.options, reach, s.making)
		if s.run(limit-settledZ, s.value-settledG, bound, chosen != nil) {
			s.value = settledG + s.front[len(s.front)-1].g // g falls as z grows
			s.trace(chosen != nil)
		}
		done = s.core.worth(s.value).compare(reach) <= 0
	}
	copy(chosen, s.best)
	return true
}

// run makes the labels of all jobs of the core that are within the limit and do not exceed
// best; false if there are none.
func (s *stages) run(limit, best int64, bound int, keep bool) bool {
	s.grid = false
	s.relaxed.open(&s.options)
	least := s.options.least()
	s.front = append(s.front[:0], label{option: -1, next: -1})
	s.back.open(keep)
	for k := len(s.jobs) - 1; k >= 0; k-- {
		least -= s.of(k)[0].z
		s.relaxed.leave(k)
		cell := int64(1)
		merged := s.stage(k, s.front, limit-least, best, limit, bound, cell)
		for merged == nil { // too many: round z up to a grid
			s.grid = true
			cell = max(cell*2, limit/int64(max(bound/2, 1))+1)
			merged = s.stage(k, s.front, limit-least, best, limit, bound, cell)
		}
		if len(merged) == 0 {
			return false
		}
		s.front = append(s.front[:0], merged...)
		s.back.add(merged)
	}
	return true
}

// stage extends the labels of the jobs after k by job k. It keeps those with z within room
// that can still reach best and that no other beats. It returns nil if there are more than
// bound.
func (s *stages) stage(k int, before []label, room, best, limit int64, bound int, cell int64) []label {
	s.a = s.a[:0]
	for o := s.first[k]; o < s.first[k+1]; o++ {
		s.b = s.merge(s.b[:0], s.a, before, int32(o), room, cell)
		s.a, s.b = s.b, s.a
		if len(s.a) > 4*bound {
			return nil
		}
	}
	s.a = s.relaxed.prune(s.a, limit, best)
	if len(s.a) > bound {
		return nil
	}
	if s.a == nil {
		s.a = make([]label, 0, 1)
	}
	return s.a
}

// merge appends to dst the labels that no other beats, among done and those of before with
// option o in front. Ties: the lower alternative.
func (s *stages) merge(dst, done, before []label, o int32, room, cell int64) []label {
	opt := &s.list[o]
	i, least := 0, int64(math.MaxInt64)
	for n := range before {
		l := label{before[n].z + opt.z, before[n].g + opt.g, o, int32(n)}
		if cell > 1 {
			l.z = (l.z + cell - 1) / cell * cell
			if l.z > room && before[n].z+opt.z <= room {
				l.z = room // the limit cuts the last cell
			}
		}
		if l.z > room {
			break
		}
		for i < len(done) && s.precedes(&done[i], &l) {
			if done[i].g < least {
				least = done[i].g
				dst = append(dst, done[i])
			}
			i++
		}
		if l.g < least {
			least = l.g
			if w := len(dst) - 1; w >= 0 && dst[w].z == l.z {
				dst = dst[:w] // in the same cell of the grid
			}
			dst = append(dst, l)
		}
	}
	for ; i < len(done); i++ {
		if done[i].g < least {
			least = done[i].g
			dst = append(dst, done[i])
		}
	}
	return dst
}

func (s *stages) precedes(a, b *label) bool {
	if a.z != b.z {
		return a.z < b.z
	}
	if a.g != b.g {
		return a.g < b.g
	}
	return s.list[a.option].index < s.list[b.option].index
}

// trace follows the best label of the first job through the stages and makes that the best
// choice so far.
func (s *stages) trace(keep bool) {
	if !keep {
		return
	}
	at := len(s.front) - 1
	for k, j := range s.jobs {
		l := s.back.stages[len(s.jobs)-1-k][at]
		s.making[j] = int(s.list[l.option].index)
		at = int(l.next)
	}
	copy(s.best, s.making)
}
