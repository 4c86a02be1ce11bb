package report

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
)

// The words of the became column of jobs.csv.
const (
	keptLeg     = "kept"
	givenUpLeg  = "given-up"
	lostLeg     = "lost"
	movedLeg    = "moved"
	repairedLeg = "repaired"
	replacedLeg = "replaced"
)

// formerLeg is a leg that cost something and is not of its job's last window, with the word
// for what became of it.
type formerLeg struct {
	*history.Leg
	became string
}

// earlier returns the former legs of each job, in the order in which they were committed.
func (b *vo) earlier() map[*voJob][]formerLeg {
	list := map[*voJob][]formerLeg{}
	repaired := map[grid.LegID]bool{}
	next := map[*voJob]string{} // what the next window of a job made of those before it
	for _, tx := range slices.Backward(b.placed) {
		if tx.job == nil {
			continue
		}
		for i := len(tx.Legs) - 1; i >= 0; i-- {
			id, l := grid.LegID{Tx: tx.Tx, Leg: i}, &tx.Legs[i]
			if l.Posted == 0 || tx.job.window.has(id) {
				continue
			}
			became := next[tx.job]
			if repaired[id] {
				became = repairedLeg
			}
			list[tx.job] = append(list[tx.job], formerLeg{l, became})
		}
		switch tx.Becomes {
		case history.Repaired:
			repaired[tx.Repairs] = true
		case history.Moved:
			next[tx.job] = movedLeg
		default:
			next[tx.job] = replacedLeg
		}
	}
	for _, legs := range list {
		slices.Reverse(legs)
	}
	return list
}

// lastBecame is the word for what became of a leg of its job's last window.
func lastBecame(l *history.Leg) string {
	switch l.State {
	case grid.Released:
		return givenUpLeg
	case grid.Lost, grid.Heuristic, grid.LegExpired:
		return lostLeg
	}
	return keptLeg
}
