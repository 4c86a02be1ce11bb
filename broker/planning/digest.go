package planning

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// Digest is what is remembered of a site's last offers: the price of each group of its
// nodes, and from when on how much of the group is free. It is enough to tell whether
// the site is worth asking again, and of a size that does not depend on what is free.
type Digest struct{ groups []groupDigest }

type groupDigest struct {
	group bourse.Group
	free  [shares][spans]bourse.Time // from when on an eighth, a quarter, a half, all of it is free for so long
}

const (
	shares    = 4
	spans     = 2
	shortSpan = bourse.Hour
	longSpan  = 8 * bourse.Hour
)

// DigestOf is the digest of offers that make sense. Its cost is that of eight searches
// of each group's profile.
func DigestOf(from bourse.Time, groups []agents.GroupOffer) *Digest {
	d := &Digest{groups: make([]groupDigest, len(groups))}
	for i := range groups {
		g := &groups[i]
		x := &d.groups[i]
		x.group = g.Group
		free := g.Clear // what costs no more than its base price
		if len(free) == 0 {
			free = g.Admissible
		}
		for k := range shares {
			for s, span := range [spans]bourse.Duration{shortSpan, longSpan} {
				x.free[k][s] = bourse.Never
				if !g.Shared && len(free) > 0 {
					x.free[k][s] = free.EarliestFit(max(from, free[0].At), part(g.Group.Nodes, k), span)
				}
			}
		}
	}
	return d
}

// part is an eighth of the nodes, a quarter, a half, or all of them.
func part(nodes, k int) int { return max(1, nodes>>(shares-1-k)) }

// Serves reports whether any nodes of the site suit a request.
func (d *Digest) Serves(r *bourse.Request) bool {
	return slices.ContainsFunc(d.groups, func(g groupDigest) bool { return serves(&g.group, r) })
}

// promise is what a job may expect of a site: the less the better, the second where
// the first is the same.
type promise struct{ first, second int64 }

// promises is what a job may expect of the site at best; false if nothing.
func (d *Digest) promises(in *Input, j *Job) (best promise, any bool) {
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

// promises is that of a group. A job of more nodes than it has takes all of them.
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
	if at == bourse.Never {
		return promise{}, false
	}
	start := max(at, in.From, r.Ready)
	end := start.Add(run)
	cost := g.group.Cost(start, end).Times(r.Nodes)
	if end > r.Deadline || cost > r.Budget || in.Terms.capped() && g.group.PriceAt(start) > r.MaxPrice {
		return promise{}, false
	}
	goal := cmp.Or(r.Minimize, in.Terms.Minimize)
	switch goal {
	case bourse.GoalCost:
		return promise{int64(cost), int64(end)}, true
	case bourse.GoalFinish:
		return promise{int64(end), int64(cost)}, true
	case bourse.GoalTime:
		return promise{int64(run), int64(end)}, true
	}
	return promise{int64(cost + bourse.Cost(bourse.Price(in.worth(j)), end.Sub(max(in.From, r.Ready)))), int64(end)}, true
}

// kinds bounds the jobs of a batch that Worth looks at: such as differ much.
const kinds = 16

// kind is what jobs have in common that do best at the same sites.
type kind struct {
	nodes, length  int // their bits
	minPerformance bourse.Performance
	maxPrice       bourse.Price
	minimize       bourse.Goal
	urgency        bourse.Urgency
	require        string
}

// Worth lists the sites that promise the jobs of a batch most, at most so many: the
// jobs take turns, each with the best one that none has named yet. Of the sites only
// digests are given, nil where there is none. The cost is that of sorting the sites once
// for each kind of job, of which 16 are looked at.
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

func kindOf(r *bourse.Request) kind {
	return kind{nodes: bits.Len(uint(r.Nodes)), length: bits.Len64(uint64(r.Length)), minPerformance: r.MinPerformance, maxPrice: r.MaxPrice,
		minimize: r.Minimize, urgency: r.Urgency, require: fmt.Sprint(r.Require)}
}

// ranked lists the sites that promise a job anything, the best first.
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
