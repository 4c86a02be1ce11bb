package search

import (
	"slices"

	"github.com/bourse-grid/bourse"
)

// peak is how many nodes of a suit are free at once at the most for some length, at any
// start from the batch's notice to the end of the list, as a scan has found it. The words
// of a refusal say that figure, and above the capacity of a grid nearly all jobs of a
// batch are refused: a scan each, of one list that hardly changes between them. So what
// one scan has found is kept for the rest of the batch:
//
//   - no more are free for a longer time, nor later, since the list only shrinks: a job
//     that needs more is refused without a search;
//   - no fewer are free for a shorter time, as long as the start that had so many has
//     them still. If the list has not changed since, that is known, else it is counted.
//
// Where the two meet they are exact, and there is no scan. The figures of one suit are
// few, for who is refused needs more nodes than are free: with nothing changed a scan
// for each figure and one for each length at which it falls will do.
type peak struct {
	length  bourse.Duration
	most    int
	at      bourse.Time // a start that had so many
	changes uint64      // of the list when it had
}

// nowhere is the least runtime of what no class suits.
const nowhere bourse.Duration = 1 << 62

// atMost bounds the nodes that are free for a length: those of the longest peak that is
// not longer.
func (s *suit) atMost(length bourse.Duration) (int, bool) {
	i := s.behind(length)
	if i == 0 {
		return 0, false
	}
	return s.peaks[i-1].most, true
}

// behind is the first peak that is longer.
func (s *suit) behind(length bourse.Duration) int {
	i, _ := slices.BinarySearchFunc(s.peaks, length, func(p peak, d bourse.Duration) int {
		if p.length <= d {
			return -1
		}
		return 1
	})
	return i
}

// whole reports whether a query may start and end whenever the batch may.
func (f *Finder) whole(q *query) bool {
	return q.from <= max(f.notice, f.list.from) && q.Deadline >= f.list.to
}

// peakOf is how many nodes are free at once at the most for a query without price and
// budget, if the peaks tell.
func (f *Finder) peakOf(q *query) (int, bool) {
	s := q.suit
	i := s.behind(q.Length)
	if i == 0 || s.peaks[i-1].most >= q.Nodes {
		return 0, false // there may be nodes enough, and then the words are of what they cost
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

// stands reports whether a peak that is longer than a query has its nodes still.
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

// freeAt is how many nodes are free for a query at a start, whatever they cost.
func (f *Finder) freeAt(q *query, t bourse.Time) int {
	l, n := f.list, 0
	t = max(t, q.from, l.from)
	end, speed, run := min(q.Deadline, l.to), bourse.Performance(0), bourse.Duration(0)
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

// peaked keeps what a scan has found. Peaks that are longer and have more are of
// before; of those that have as many the shortest and the longest tell all.
func (f *Finder) peaked(q *query, most int, at bourse.Time) {
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
