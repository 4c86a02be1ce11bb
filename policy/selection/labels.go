package selection

import (
	"cmp"
	"math"
	"slices"

	"github.com/bourse-grid/bourse"
)

// maxLabels bounds the labels of one job. Beyond, z is rounded up to a grid of
// half as many cells.
const maxLabels = 100_000

// option is an alternative that no other of its job beats: z is what the limit
// bounds, g what is minimised. A job's options are in order of z, g falls.
type option struct {
	z, g  int64
	index int32
}

// label is a choice for the jobs from some job on: the sums of it, the option of
// that job, and the label of the jobs behind.
type label struct {
	z, g   int64
	option int32
	next   int32
}

// stages is the backward run over the jobs (Toporkov et al., formula 1), with
// Pareto labels (z, g) in place of a table over all values of Z: a label says
// that sum of z can be had with that sum of g, and only those that none beats
// are kept.
type stages struct {
	options []option
	jobs    []int   // the jobs with alternatives
	first   []int   // options[first[k]:first[k+1]] are those of jobs[k]
	front   []label // of the stage run over last
	back    trail   // how they came about
	a, b    []label // scratch of a stage
	relaxed relaxation
	value   int64 // the sum of g found
	grid    bool  // the bound was reached
}

// solve minimises the sum of g subject to the sum of z within limit, over the
// alternatives that end by most, and puts the choice into chosen unless it is
// nil. It reports false iff no choice is within the limit.
func (s *stages) solve(jobs [][]Alternative, most bourse.Time, z, g criterion, limit int64, bound int, chosen []int) bool {
	s.grid = false
	if !s.open(jobs, most, z, g) {
		return false
	}
	n := len(s.jobs)
	least := int64(0) // sum of the least z of the jobs not yet run over
	for k := range n {
		least += s.options[s.first[k]].z
	}
	if least > limit {
		return false
	}
	best := s.relaxed.open(s, limit)
	s.front = append(s.front[:0], label{option: -1, next: -1})
	s.back.open(chosen != nil)
	for k := n - 1; k >= 0; k-- {
		least -= s.options[s.first[k]].z
		s.relaxed.leave(k)
		cell := int64(1)
		merged := s.stage(k, s.front, limit-least, best, limit, bound, cell)
		for merged == nil { // too many: round z up to a grid
			s.grid = true
			cell = max(cell*2, limit/int64(max(bound/2, 1))+1)
			merged = s.stage(k, s.front, limit-least, best, limit, bound, cell)
		}
		if len(merged) == 0 {
			return s.fallback(chosen)
		}
		s.front = append(s.front[:0], merged...)
		s.back.add(merged)
	}
	return s.trace(chosen)
}

// open makes the options of the jobs: alternatives that end by most and that no
// other beats in z and g; of equal ones the lowest.
func (s *stages) open(jobs [][]Alternative, most bourse.Time, z, g criterion) bool {
	s.options, s.jobs, s.first = s.options[:0], s.jobs[:0], append(s.first[:0], 0)
	for j, alternatives := range jobs {
		if len(alternatives) == 0 {
			continue
		}
		at := len(s.options)
		for i := range alternatives {
			if a := &alternatives[i]; a.End <= most {
				s.options = append(s.options, option{z(a), g(a), int32(i)})
			}
		}
		mine := s.options[at:]
		if len(mine) == 0 {
			return false
		}
		slices.SortFunc(mine, func(x, y option) int {
			return cmp.Or(cmp.Compare(x.z, y.z), cmp.Compare(x.g, y.g), cmp.Compare(x.index, y.index))
		})
		w := 1
		for _, o := range mine[1:] {
			if o.g < mine[w-1].g {
				mine[w] = o
				w++
			}
		}
		s.options = s.options[:at+w]
		s.jobs = append(s.jobs, j)
		s.first = append(s.first, len(s.options))
	}
	return true
}

// stage returns the labels of job k in front of those of the jobs behind it:
// z within room, none that cannot reach best any more, none beaten. It returns
// nil if they are more than bound.
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

// merge appends to dst the labels that none beats among done and those of
// before with option o in front. Ties: the lower alternative.
func (s *stages) merge(dst, done, before []label, o int32, room, cell int64) []label {
	opt := &s.options[o]
	i, least := 0, int64(math.MaxInt64)
	for n := range before {
		l := label{before[n].z + opt.z, before[n].g + opt.g, o, int32(n)}
		if cell > 1 {
			l.z = (l.z + cell - 1) / cell * cell
			if l.z > room && before[n].z+opt.z <= room {
				l.z = room // the last cell is cut by the limit
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
				dst = dst[:w] // of one cell of the grid
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
	return s.options[a.option].index < s.options[b.option].index
}

// trace follows the best label of the first job through the stages.
func (s *stages) trace(chosen []int) bool {
	at := len(s.front) - 1 // g falls as z grows
	s.value = s.front[at].g
	if chosen == nil {
		return true
	}
	for j := range chosen {
		chosen[j] = -1
	}
	for k, j := range s.jobs {
		l := s.back.stages[len(s.jobs)-1-k][at]
		chosen[j] = int(s.options[l.option].index)
		at = int(l.next)
	}
	return true
}

// fallback is the greedy choice, for when the grid has lost every other.
func (s *stages) fallback(chosen []int) bool {
	s.value = s.relaxed.value
	if chosen == nil {
		return true
	}
	for j := range chosen {
		chosen[j] = -1
	}
	for k, o := range s.relaxed.greedy {
		chosen[s.jobs[k]] = int(s.options[o].index)
	}
	return true
}
