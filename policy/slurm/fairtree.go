package slurm

import (
	"math/big"
	"math/bits"
	"slices"
)

// The algorithm is Fair Tree, the default of priority/multifactor.

// level is LF of an association, as a fraction: (shares / siblings' shares) / (usage /
// parent's usage). It is infinite without usage, and 0 without shares.
type level struct {
	shares, siblings, usage, parent uint64
}

func (s *shareTree) level(i int) level {
	p := s.assocs[i].Parent
	l := level{shares: uint64(max(s.assocs[i].Shares, 0)), usage: s.usage[i], parent: s.usage[p]}
	for _, c := range s.children[p] {
		l.siblings += uint64(max(s.assocs[c].Shares, 0))
	}
	return l
}

// compareLevels is above 0 if a is the greater, exactly.
func compareLevels(a, b level) int {
	switch infinite := func(l level) bool { return l.shares > 0 && l.usage == 0 }; {
	case infinite(a) || infinite(b):
		return rankOf(infinite(a)) - rankOf(infinite(b))
	case a.shares == 0 || b.shares == 0:
		return rankOf(a.shares > 0) - rankOf(b.shares > 0)
	case a.siblings == b.siblings && a.parent == b.parent:
		h1, l1 := bits.Mul64(a.shares, b.usage)
		h2, l2 := bits.Mul64(b.shares, a.usage)
		if h1 != h2 {
			return rankOf(h1 > h2) - rankOf(h1 < h2)
		}
		return rankOf(l1 > l2) - rankOf(l1 < l2)
	}
	product := func(of ...uint64) *big.Int {
		x := big.NewInt(1)
		for _, f := range of {
			x.Mul(x, new(big.Int).SetUint64(f))
		}
		return x
	}
	return product(a.shares, a.parent, b.siblings, b.usage).Cmp(product(b.shares, b.parent, a.siblings, a.usage))
}

func rankOf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// calculate gives each user its rank: at each level siblings by LF, the greatest first,
// users before accounts at equal LF. Accounts of equal LF are served as one, their children
// together, as Slurm does. The rank counts down from the number of users; equals get the
// higher one again, and so does the first child of an account that equals the sibling
// before it.
func (s *shareTree) calculate() {
	if len(s.assocs) == 0 {
		return
	}
	w := ranking{tree: s, rank: s.users, last: s.users}
	w.walk(s.children[0], false)
}

type ranking struct {
	tree       *shareTree
	rank, last int
}

func (w *ranking) walk(siblings []int, tied bool) {
	s := w.tree
	type of struct {
		place int
		level level
	}
	list := make([]of, len(siblings))
	for k, i := range siblings {
		list[k] = of{i, s.level(i)}
	}
	isUser := func(i int) bool { return s.assocs[i].User != "" }
	slices.SortStableFunc(list, func(a, b of) int {
		if c := compareLevels(b.level, a.level); c != 0 {
			return c
		}
		return rankOf(isUser(b.place)) - rankOf(isUser(a.place))
	})
	for k := 0; k < len(list); k++ {
		if k > 0 {
			tied = compareLevels(list[k-1].level, list[k].level) == 0
		}
		if isUser(list[k].place) {
			if !tied {
				w.last = w.rank
			}
			s.rank[list[k].place] = w.last
			w.rank--
			continue
		}
		children := slices.Clone(s.children[list[k].place])
		for k+1 < len(list) && compareLevels(list[k].level, list[k+1].level) == 0 {
			k++
			children = append(children, s.children[list[k].place]...)
		}
		w.walk(children, tied)
	}
}
