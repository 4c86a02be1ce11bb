package forecast

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Runs is how much of their limits ended jobs ran, kept by how alike they are. The zero Runs
// is empty. Each level keeps the last ended jobs of its kind; there are as many kinds as there
// were users, limits and sizes.
type Runs struct {
	alike map[kind]*recent
	class [len(classes) + 1]recent
	all   recent
	jobs  int
}

// kind is what the jobs of a level have in common beside the user: 0 stands for any.
type kind struct {
	user  string
	limit grid.Duration
	nodes int
}

// The levels of similarity, from the most alike on.
const (
	sameJob   = iota // user, limit and nodes
	sameLimit        // user and limit
	sameUser
	sameClass // of limits
	anyJob
	levels
)

// keeps is how many ended jobs a level keeps, and kappa how many of them it takes for the level
// to get half of what the levels before have left.
var (
	keeps = [levels]int{5, 10, 30, 500, 2000}
	kappa = [levels]float64{5, 5, 10, 50, 0}
)

// Add records a job that has ended. Call it in the order in which jobs end. user is "" if it is
// not known. A job that did not run, or had no limit, is ignored. It costs a search among the
// jobs of its levels.
func (r *Runs) Add(user string, nodes int, limit, run grid.Duration) {
	if limit <= 0 || run <= 0 {
		return
	}
	if r.alike == nil {
		r.alike = make(map[kind]*recent)
	}
	x := partOf(run, limit)
	if user != "" {
		for level, k := range [...]kind{{user, limit, nodes}, {user, limit, 0}, {user, 0, 0}} {
			of := r.alike[k]
			if of == nil {
				of = &recent{}
				r.alike[k] = of
			}
			of.add(x, keeps[level])
		}
	}
	r.class[class(limit)].add(x, keeps[sameClass])
	r.all.add(x, keeps[anyJob])
	r.jobs++
}

// Jobs is how many jobs have been recorded.
func (r *Runs) Jobs() int { return r.jobs }

// Users is how many users have a recorded job.
func (r *Runs) Users() (n int) {
	for k := range r.alike {
		if k.limit == 0 {
			n++
		}
	}
	return n
}

// partOf is the ratio of a run to its limit, rounded down; Whole if it is longer.
func partOf(run, limit grid.Duration) Ratio {
	if run >= limit {
		return Whole
	}
	return Ratio(uint64(run) * uint64(Whole) / uint64(limit))
}

// Waits is the elapsed time of a job that has not started.
const Waits grid.Duration = -1

// Mixture is what the run time of one job is drawn from. It is valid until the next Add.
type Mixture struct {
	levels [levels]part
	n      int // levels with ratios
}

// part is a level of a mixture.
type part struct {
	ratios []Ratio // sorted
	mass   float64
	upTo   float64 // the masses of the levels before and of this one
}

// Mixture returns what is known of a job that has run for an elapsed time, or Waits: the
// ratios that it has outlived are left out. Without any it runs to its limit.
func (r *Runs) Mixture(user string, nodes int, limit, elapsed grid.Duration) Mixture {
	var of [levels]*recent
	if user != "" {
		of[sameJob], of[sameLimit], of[sameUser] = r.alike[kind{user, limit, nodes}], r.alike[kind{user, limit, 0}], r.alike[kind{user, 0, 0}]
	}
	of[sameClass], of[anyJob] = &r.class[class(limit)], &r.all
	var m Mixture
	left := 1.
	for level, list := range of {
		if list == nil {
			continue
		}
		ratios := list.beyond(limit, elapsed)
		if len(ratios) == 0 {
			continue
		}
		n := float64(len(ratios))
		mass := left * n / (n + kappa[level])
		left -= mass
		m.levels[m.n] = part{ratios: ratios, mass: mass, upTo: 1 - left}
		m.n++
	}
	if m.n > 0 {
		last := &m.levels[m.n-1]
		last.mass, last.upTo = last.mass+left, 1
	}
	return m
}

// Ratio is the ratio at u of the level at v, both from 0 to 1; Whole if nothing is known.
func (m *Mixture) Ratio(v, u float64) Ratio {
	if m.n == 0 {
		return Whole
	}
	i := 0
	for i < m.n-1 && m.levels[i].upTo <= v {
		i++
	}
	list := m.levels[i].ratios
	return list[min(int(u*float64(len(list))), len(list)-1)]
}

// recent keeps the last ratios of a level, in the order in which they came and sorted.
type recent struct {
	ring
	sorted []Ratio
}

func (r *recent) add(x Ratio, keep int) {
	if len(r.list) == keep {
		i, _ := slices.BinarySearch(r.sorted, r.list[r.next])
		r.sorted = slices.Delete(r.sorted, i, i+1)
	}
	i, _ := slices.BinarySearch(r.sorted, x)
	r.sorted = slices.Insert(r.sorted, i, x)
	r.ring.add(x, keep)
}

// beyond returns the ratios that a job has not outlived.
func (r *recent) beyond(limit, elapsed grid.Duration) []Ratio {
	if elapsed < 0 {
		return r.sorted
	}
	i, _ := slices.BinarySearch(r.sorted, partOf(elapsed, limit)+1)
	return r.sorted[i:]
}
