package jobs

import (
	"slices"

	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
)

// Bought is what the windows of an array's elements come to so far, those included that are
// no longer on record. It looks at each element that is.
func (a *array) Bought() grid.Bought {
	all := a.before
	for _, x := range a.Elements {
		for _, t := range x.Window() {
			count(&all, t)
		}
	}
	return all
}

// forgetWindows adds the windows of elements, which are about to be forgotten, to what their
// arrays keep.
func forgetWindows(rec *State, txs []grid.TxID) {
	for _, id := range txs {
		t := rec.Txs.Get(id)
		if t == nil {
			continue
		}
		if a := rec.JobOf(t).From.Array; a != nil && slices.Contains(rec.JobOf(t).Window(), t) {
			count(&a.Array.before, t)
		}
	}
}

// count adds the legs of a window that are neither given back nor lost.
func count(b *grid.Bought, t *transaction.Tx) {
	for i := range t.Legs() {
		switch l := &t.Legs()[i]; {
		case l.State() == grid.Settled && l.End() > 0:
			b.Add(t.Sites()[i], l.What().Start, l.End(), l.Fare().Total())
		case l.State() == grid.Settled, !l.State().Terminal():
			b.Add(t.Sites()[i], l.What().Start, l.What().End, l.Fare().Total())
		}
	}
}
