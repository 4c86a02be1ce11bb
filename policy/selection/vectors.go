package selection

import (
	"cmp"
	"math"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// How the end of a batch follows from the ends of its jobs.
const (
	latestEnd = iota
	sumOfEnds
)

// vector is a label of three criteria.
type vector struct {
	cost, time, end int64
	index           int32 // index of the job's alternative
	next            int32 // vector of the jobs after it
}

// vectors is the backward run with three criteria, for the Pareto front and for two limits
// at once.
type vectors struct {
	jobs   []int
	all    []vector
	starts []int
	own    []vector // scratch: alternatives of the job that no other beats
	work   []vector // scratch: labels of a stage
	stairs []vector // scratch of filter
	grid   bool
}

// run makes the labels of all jobs over the alternatives that end by most, within both
// limits. It reports false iff there is no choice.
func (v *vectors) run(jobs [][]Alternative, most grid.Time, ends int, limitCost, limitTime int64, bound int) bool {
	v.jobs, v.grid = v.jobs[:0], false
	for j := range jobs {
		if len(jobs[j]) > 0 {
			v.jobs = append(v.jobs, j)
		}
	}
	none := int64(math.MinInt64)
	if ends == sumOfEnds {
		none = 0
	}
	v.all = append(v.all[:0], vector{end: none, index: -1, next: -1})
	v.starts = append(v.starts[:0], 0, 1)
	for k := len(v.jobs) - 1; k >= 0; k-- {
		cheapest := sumLeast(jobs[:v.jobs[k]], costOf)
		quickest := sumLeast(jobs[:v.jobs[k]], timeOf)
		v.own = v.own[:0]
		for i := range jobs[v.jobs[k]] {
			if a := &jobs[v.jobs[k]][i]; a.End <= most {
				v.own = append(v.own, vector{int64(a.Cost), int64(a.Time), int64(a.End), int32(i), 0})
			}
		}
		v.own = v.filter(v.own)
		before := v.last()
		v.work = v.work[:0]
		for _, o := range v.own {
			for n := range before {
				b := &before[n]
				x := vector{b.cost + o.cost, b.time + o.time, max(b.end, o.end), o.index, int32(n)}
				if ends == sumOfEnds {
					x.end = b.end + o.end
				}
				if x.cost <= limitCost-cheapest && x.time <= limitTime-quickest {
					v.work = append(v.work, x)
				}
			}
			if len(v.work) > 8*bound {
				v.work = v.thin(v.filter(v.work), bound)
			}
		}
		v.work = v.thin(v.filter(v.work), bound)
		if len(v.work) == 0 {
			return false
		}
		v.all = append(v.all, v.work...)
		v.starts = append(v.starts, len(v.all))
	}
	return true
}

// last returns the labels of the job handled last.
func (v *vectors) last() []vector {
	n := len(v.starts)
	return v.all[v.starts[n-2]:v.starts[n-1]]
}

// filter drops, in place, vectors that another beats; of equal ones the lowest alternative
// stays. It sorts the rest by cost, time and end.
func (v *vectors) filter(list []vector) []vector {
	slices.SortFunc(list, func(a, b vector) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.time, b.time), cmp.Compare(a.end, b.end),
			cmp.Compare(a.index, b.index), cmp.Compare(a.next, b.next))
	})
	// All vectors kept so far cost no more than the next. The stairs are those that no
	// other beats in time and end: time rises, end falls.
	stairs, w := v.stairs[:0], 0
	for _, x := range list {
		i, _ := slices.BinarySearchFunc(stairs, x.time, func(s vector, t int64) int {
			if s.time <= t {
				return -1
			}
			return 1
		})
		if i > 0 && stairs[i-1].end <= x.end {
			continue
		}
		from := i
		for from > 0 && stairs[from-1].time == x.time {
			from--
		}
		to := i
		for to < len(stairs) && stairs[to].end >= x.end {
			to++
		}
		stairs = slices.Replace(stairs, from, to, x)
		list[w] = x
		w++
	}
	v.stairs = stairs
	return list[:w]
}

// thin keeps at most bound vectors: in each cell of a grid over cost and time the one that
// ends first. The cheapest and the quickest stay.
func (v *vectors) thin(list []vector, bound int) []vector {
	if len(list) <= bound {
		return list
	}
	v.grid = true
	side := int64(max(1, math.Sqrt(float64(max(bound-2, 1)))))
	low, high := list[0], list[0]
	quickest := list[0]
	for _, x := range list {
		low.cost, high.cost = min(low.cost, x.cost), max(high.cost, x.cost)
		low.time, high.time = min(low.time, x.time), max(high.time, x.time)
		if x.time < quickest.time {
			quickest = x
		}
	}
	cost := (high.cost-low.cost)/side + 1
	time := (high.time-low.time)/side + 1
	cell := func(x *vector) int64 { return (x.cost-low.cost)/cost*side + (x.time-low.time)/time }
	cheapest := list[0]
	slices.SortStableFunc(list, func(a, b vector) int {
		return cmp.Or(cmp.Compare(cell(&a), cell(&b)), cmp.Compare(a.end, b.end))
	})
	w := 1
	for _, x := range list[1:] {
		if cell(&x) != cell(&list[w-1]) {
			list[w] = x
			w++
		}
	}
	list = list[:w]
	for _, x := range []vector{cheapest, quickest} {
		if !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return v.filter(list)
}

// trace puts the choice of the i-th vector of the first job into chosen.
func (v *vectors) trace(i int, chosen []int) {
	for j := range chosen {
		chosen[j] = -1
	}
	n := len(v.jobs)
	for k := range n {
		x := v.all[v.starts[n-k]+i]
		chosen[v.jobs[k]] = int(x.index)
		i = int(x.next)
	}
}
