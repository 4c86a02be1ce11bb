package search

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// peak is the most nodes of a suit that a scan found free at once for a given length, at
// any start from the batch's notice to the end of the list. The words of a refusal give
// that number. When demand exceeds the capacity of a grid nearly all jobs of a batch are
// refused, each with a scan of a list that hardly changes in between. So scan results are
// kept for the rest of the batch:
//
//   - No more nodes are free for a longer time, nor later in the batch, since the list
//     only shrinks. A job that needs more is refused without a search.
//   - No fewer are free for a shorter time, as long as the peak's start still has them. If
//     the list has not changed, it has; otherwise they are counted.
//
// Where both bounds agree they are exact, and no scan is needed. A suit has few peaks,
// because a refused job needs more nodes than are free. If nothing changes, one scan for
// each number and one for each length at which it falls are enough.
type peak struct {
	length  grid.Duration
	most    int
	at      grid.Time // a start with that many
	changes uint64    // value of List.changes at that time
}

// nowhere is the least runtime if no class suits.
const nowhere grid.Duration = 1 << 62

// atMost bounds the nodes that are free for a length by the longest peak that is not
// longer.
func (s *suit) atMost(length grid.Duration) (int, bool) {
	i := s.behind(length)
	if i == 0 {
		return 0, false
	}
	return s.peaks[i-1].most, true
}

// behind returns the index of the first longer peak.
func (s *suit) behind(length grid.Duration) int {
	i, _ := slices.BinarySearchFunc(s.peaks, length, func(p peak, d grid.Duration) int {
		if p.length <= d {
			return -1
		}
		return 1
	})
	return i
}

// whole reports whether a query allows every start and end that the batch does.
func (f *Finder) whole(q *query) bool {
	return q.from <= max(f.notice, f.list.from) && q.Deadline >= f.list.to
}

// peakOf returns the most nodes that are free at once for a query without price and budget,
// if the peaks determine it.
func (f *Finder) peakOf(q *query) (int, bool) {
	s := q.suit
	i := s.behind(q.Length)
	if i == 0 || s.peaks[i-1].most >= q.Nodes {
		return 0, false // there may be enough nodes; the reason is then about their cost
	}
	most := s.peaks[i-1].most
	if p := &s.peaks[i-1]; p.length == q.Length && p.changes == f.list.changes && f.whole(q) {
		return most, true
	}
	for ; i < len(s.peaks) && s.peaks[i].most == most; i++ {
		if f.stands(&s.peaks[i], q) {
			return most, true
		}
	}
	for i--; i >= 0 && s.peaks[i].most == most; i-- {
		if f.freeAt(q, s.peaks[i].at) == most {
			return most, true
		}
	}
	return 0, false
}

// stands reports whether a peak longer than a query still has its nodes.
func (f *Finder) stands(p *peak, q *query) bool {
	if !f.whole(q) {
		return f.freeAt(q, p.at) == p.most
	}
	if p.changes != f.list.changes {
		long := *q
		if long.Length = p.length; f.freeAt(&long, p.at) < p.most {
			return f.freeAt(q, p.at) == p.most
		}
		p.changes = f.list.changes
	}
	return true
}

// freeAt returns how many nodes are free for a query at a start, at any cost.
func (f *Finder) freeAt(q *query, t grid.Time) int {
	l, n := f.list, 0
	t = max(t, q.from, l.from)
	end, speed, run := min(q.Deadline, l.to), grid.Performance(0), grid.Duration(0)
	for i := range l.classes {
		if !q.suit.serves[i] {
			continue
		}
		if c := &l.classes[i]; c.performance != speed {
			speed, run = c.performance, c.performance.Runtime(q.Length)
		}
		if t.Add(run) <= end {
			n += max(0, l.levels[i].free.Min(t, t.Add(run)))
		}
	}
	return n
}

// peaked records what a scan has found. Longer peaks with more nodes are out of date and
// dropped. Of peaks with equal numbers only the shortest and the longest are kept.
func (f *Finder) peaked(q *query, most int, at grid.Time) {
	s := q.suit
	if s == nil || q.OneSite || !f.whole(q) {
		return
	}
	i := s.behind(q.Length)
	if i > 0 && s.peaks[i-1].length == q.Length {
		i--
		s.peaks = slices.Delete(s.peaks, i, i+1)
	}
	s.peaks = slices.Insert(s.peaks, i, peak{q.Length, most, at, f.list.changes})
	j := i + 1
	for j < len(s.peaks) && s.peaks[j].most > most {
		j++
	}
	s.peaks = slices.Delete(s.peaks, i+1, j)
	if i+2 < len(s.peaks) && s.peaks[i+2].most == most {
		s.peaks = slices.Delete(s.peaks, i+1, i+2)
	}
	if i > 1 && s.peaks[i-2].most == most {
		s.peaks = slices.Delete(s.peaks, i-1, i)
	}
}
