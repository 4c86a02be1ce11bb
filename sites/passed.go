package sites

import "github.com/bourse-grid/bourse/grid"

// Passed is how many confirmed legs have windows that began after one instant, and no later
// than another, by the facts on record. A process asks before its agents begin: see
// agents/live, compare.go.
func (s *Site) Passed(after, until grid.Time) (n int) {
	for _, l := range s.legs { // the sum is the same in any order
		if l.State == grid.Confirmed && l.What.Start > after && l.What.Start <= until {
			n++
		}
	}
	return n
}
