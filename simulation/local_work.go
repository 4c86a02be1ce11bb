package simulation

import (
	"cmp"
	"math"
	"slices"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/workload"
)

// LocalWork is the local work of a site: lists of jobs by group, such as those made from a
// trace, or a feed. A feed can be resumed anywhere, as that of Endless, or serves a single
// life; nil: no feed.
type LocalWork struct {
	Lists [][]grid.LocalJob
	Feed  queue.Work
	Seed  uint64
	Log   workload.Logged // how the jobs of a trace fared on its machine
}

// work returns a site's local work for one run. A model's jobs are drawn when they are
// needed, and take no memory before. Shared nodes have lists.
func (l *Workloads) work(s *configs.Site, seed uint64) (LocalWork, error) {
	if s.Workload != nil && s.Workload.Trace != "" {
		jobs, log, err := l.localTrace(s.Workload, SeedOf(seed, "site "+s.Name))
		return LocalWork{Lists: spread(jobs, s.Groups), Seed: seed, Log: log}, err
	}
	if s.Workload == nil || s.Shared != nil {
		jobs, err := l.Local(s, seed)
		return LocalWork{Lists: spread(jobs, s.Groups), Seed: seed}, err
	}
	next, err := model(s.Workload, SeedOf(seed, "site "+s.Name))
	return LocalWork{Feed: spreading(next, s.Groups, sizes(s.Workload)), Seed: seed}, err
}

// model hands out the jobs of a workload's model one by one: those of Workloads.Local.
func model(w *configs.Workload, seed uint64) (func() (grid.LocalJob, bool), error) {
	next, err := drawing(w, seed)
	left := w.Jobs
	if left == 0 {
		left = math.MaxInt
	}
	return func() (j grid.LocalJob, ok bool) {
		if left == 0 {
			return j, false
		}
		if j, ok = next(); !ok || j.Submit >= grid.Time(w.Days) {
			left = 0
			return grid.LocalJob{}, false
		}
		left--
		return j, true
	}, err
}

// drawing returns what draws them, without a bound on their number.
func drawing(w *configs.Workload, seed uint64) (func() (grid.LocalJob, bool), error) {
	if w.Model != "uniform" {
		m := lublinOf(w, seed)
		if w.Jobs == 0 {
			if err := m.Bound(w.Days); err != nil {
				return queue.Jobs(nil), err
			}
		}
		return m.Each()
	}
	m, n := uniformOf(w, seed), w.Jobs
	if w.Load > 0 {
		var err error
		if n, err = m.Count(w.Days); n == 0 || err != nil {
			return queue.Jobs(nil), err
		}
	}
	return m.Each(n, w.Days)
}

// spread distributes the jobs to their groups.
func spread(jobs []grid.LocalJob, groups []grid.Group) [][]grid.LocalJob {
	if len(groups) == 1 {
		return [][]grid.LocalJob{jobs}
	}
	lists := make([][]grid.LocalJob, len(groups))
	for _, j := range jobs {
		at := groupFor(j.Nodes, groups)
		lists[at] = append(lists[at], j)
	}
	return lists
}

// spreading is spread for jobs that come one by one, of known sizes, for one life. Jobs of
// other groups that come before a group's next one are kept until those groups ask for
// them. A group that gets no jobs does not look for any, as that would draw all of them.
func spreading(next func() (grid.LocalJob, bool), groups []grid.Group, of configs.Range[int]) queue.Work {
	if len(groups) == 1 {
		return func(int, grid.Time, grid.Time) func() (grid.LocalJob, bool) { return next }
	}
	kept := make([][]grid.LocalJob, len(groups))
	return func(group int, _, _ grid.Time) func() (grid.LocalJob, bool) {
		if !getsAny(group, groups, of) {
			return queue.Jobs(nil)
		}
		return func() (grid.LocalJob, bool) {
			for len(kept[group]) == 0 {
				j, ok := next()
				if !ok {
					return j, false
				}
				at := groupFor(j.Nodes, groups)
				kept[at] = append(kept[at], j)
			}
			j := kept[group][0]
			kept[group] = kept[group][1:]
			return j, true
		}
	}
}

// sizes returns the range of sizes of the jobs that a workload's model draws.
func sizes(w *configs.Workload) configs.Range[int] {
	if w.Model == "uniform" {
		return configs.Range[int]{Lo: max(w.Nodes.Lo, 1), Hi: cmp.Or(w.Nodes.Hi, w.Processors)}
	}
	return configs.Range[int]{Lo: 1, Hi: w.Processors}
}

// getsAny reports whether jobs of such sizes can go to a group at all. The group that jobs
// go to only changes just above the size of a group.
func getsAny(group int, groups []grid.Group, of configs.Range[int]) bool {
	if groupFor(of.Lo, groups) == group {
		return true
	}
	return slices.ContainsFunc(groups, func(g grid.Group) bool {
		return g.Nodes >= of.Lo && g.Nodes < of.Hi && groupFor(g.Nodes+1, groups) == group
	})
}

// groupFor returns the group for a job of that many nodes: the first in file order that is
// large enough or, if none is, the largest, which refuses it.
func groupFor(nodes int, groups []grid.Group) int {
	largest := 0
	for i, g := range groups {
		if g.Nodes >= nodes {
			return i
		}
		if g.Nodes > groups[largest].Nodes {
			largest = i
		}
	}
	return largest
}
