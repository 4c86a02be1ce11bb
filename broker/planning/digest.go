package planning

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Digest summarises a site's last offers: the price of each group, and from when on how
// much of the group is free. That is enough to tell whether the site is worth asking
// again. Its size does not depend on what is free.
type Digest struct{ groups []groupDigest }

type groupDigest struct {
	group grid.Group
	free  [shares][spans]grid.Time // from when on an eighth, a quarter, half, all of it is free for each span
}

const (
	shares    = 4
	spans     = 2
	shortSpan = grid.Hour
	longSpan  = 8 * grid.Hour
)

// DigestOf is the digest of offers, which must make sense. It searches each group's profile
// eight times.
func DigestOf(from grid.Time, groups []agents.GroupOffer) *Digest {
	d := &Digest{groups: make([]groupDigest, len(groups))}
	for i := range groups {
		g := &groups[i]
		x := &d.groups[i]
		x.group = g.Group
		free := g.Clear // where the base price is exact
		if len(free) == 0 {
			free = g.Admissible
		}
		for k := range shares {
			for s, span := range [spans]grid.Duration{shortSpan, longSpan} {
				x.free[k][s] = grid.Never
				if !g.Shared && len(free) > 0 {
					x.free[k][s] = free.EarliestFit(max(from, free[0].At), part(g.Group.Nodes, k), span)
				}
			}
		}
	}
	return d
}

// part is an eighth, a quarter, half or all of the nodes, for k from 0 to 3; at least 1.
func part(nodes, k int) int { return max(1, nodes>>(shares-1-k)) }

// Serves reports whether any nodes of the site suit a request.
func (d *Digest) Serves(r *grid.Request) bool {
	if r.Composed() {
		return slices.ContainsFunc(pieces(r), func(p grid.Request) bool { return d.Serves(&p) })
	}
	return slices.ContainsFunc(d.groups, func(g groupDigest) bool { return serves(&g.group, r) })
}

// promise is what a job may expect from a site. Lower is better; second breaks ties.
type promise struct{ first, second int64 }

// promises is the best that a job may expect from the site. It reports false if nothing.
func (d *Digest) promises(in *Input, j *Job) (best promise, any bool) {
	if j.Request.Composed() { // the best that any of its parts may expect
		for _, r := range pieces(&j.Request) {
			part := *j
			part.Request = r
			if p, ok := d.promises(in, &part); ok && (!any || p.compare(best) < 0) {
				best, any = p, true
			}
		}
		return best, any
	}
	for i := range d.groups {
		if p, ok := d.groups[i].promises(in, j); ok && (!any || p.compare(best) < 0) {
			best, any = p, true
		}
	}
	return best, any
}

func (p promise) compare(q promise) int {
	return cmp.Or(cmp.Compare(p.first, q.first), cmp.Compare(p.second, q.second))
}

// promises is what a job may expect from a group. A job that needs more nodes than the
// group has is taken to use all of them.
func (g *groupDigest) promises(in *Input, j *Job) (promise, bool) {
	r := &j.Request
	if !serves(&g.group, r) {
		return promise{}, false
	}
	k, s := 0, 0
	for k < shares-1 && part(g.group.Nodes, k) < r.Nodes {
		k++
	}
	run := g.group.Performance.Runtime(r.Length)
	if run > shortSpan {
		s = spans - 1
	}
	at := g.free[k][s]
	if at == grid.Never {
		return promise{}, false
	}
	start := max(at, in.From, r.Ready)
	end := start.Add(run)
	cost := g.group.CostOfLeg(&grid.Leg{Nodes: r.Nodes, Start: start, End: end, Part: r.Portion.Part(&g.group)})
	if end > r.Deadline || cost > r.Budget || in.Terms.capped() && r.Portion.Price(&g.group, g.group.PriceAt(start)) > r.MaxPrice {
		return promise{}, false
	}
	goal := cmp.Or(r.Minimize, in.Terms.Minimize)
	switch goal {
	case grid.GoalCost:
		return promise{int64(cost), int64(end)}, true
	case grid.GoalFinish:
		return promise{int64(end), int64(cost)}, true
	case grid.GoalTime:
		return promise{int64(run), int64(end)}, true
	}
	return promise{int64(cost + grid.Cost(grid.Price(in.worth(j)), end.Sub(max(in.From, r.Ready)))), int64(end)}, true
}

// kinds bounds how many kinds of job in a batch Worth looks at.
const kinds = 16

// kind groups jobs that probably do best at the same sites.
type kind struct {
	nodes, length  int // numbers of bits
	minPerformance grid.Performance
	maxPrice       grid.Price
	minimize       grid.Goal
	urgency        grid.Urgency
	require        string
}

// Worth lists, by index, at most most sites that promise most for the jobs of a batch. The
// jobs take turns, each naming its best site that none has named yet. sites has a digest
// for each site, or nil. Worth sorts the sites once for each kind of job, of which it looks
// at 16.
func (in *Input) Worth(sites []*Digest, most int) []int {
	var lists [][]int
	seen := map[kind]bool{}
	for i := range in.Jobs {
		j := &in.Jobs[i]
		if k := kindOf(&j.Request); !seen[k] && len(lists) < kinds {
			seen[k] = true
			lists = append(lists, in.ranked(j, sites))
		}
	}
	var list []int
	named := make([]bool, len(sites))
	for left := true; left && len(list) < most; {
		left = false
		for i := range lists {
			for len(lists[i]) > 0 && named[lists[i][0]] {
				lists[i] = lists[i][1:]
			}
			if len(lists[i]) > 0 && len(list) < most {
				named[lists[i][0]], left = true, true
				list = append(list, lists[i][0])
			}
		}
	}
	return list
}

func kindOf(r *grid.Request) kind {
	return kind{nodes: bits.Len(uint(r.Nodes)), length: bits.Len64(uint64(r.Length)), minPerformance: r.MinPerformance, maxPrice: r.MaxPrice,
		minimize: r.Minimize, urgency: r.Urgency, require: fmt.Sprint(r.Require)}
}

// ranked lists the sites that promise anything for a job, the best first.
func (in *Input) ranked(j *Job, sites []*Digest) []int {
	type rank struct {
		promise
		site int
	}
	var ranks []rank
	for i, d := range sites {
		if d == nil {
			continue
		}
		if p, ok := d.promises(in, j); ok {
			ranks = append(ranks, rank{p, i})
		}
	}
	slices.SortFunc(ranks, func(x, y rank) int { return cmp.Or(x.compare(y.promise), cmp.Compare(x.site, y.site)) })
	list := make([]int, len(ranks))
	for i := range ranks {
		list[i] = ranks[i].site
	}
	return list
}
