package invariant

import (
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// I3: a decision is made once, and never changes.

// decisions is the rule I3.
type decisions struct{ *journal }

// once checks that a transaction is decided for the first time. One of which an
// amnesia names a leg may have been decided before, the same.
func (r *decisions) once(x *tx, f facts.TxDecided) {
	switch {
	case !x.decided:
	case x.commit != f.Commit:
		r.breaks("I3", "transaction %v was %v and is %v", f.Tx, verdict(x.commit), verdict(f.Commit))
	case !r.audit.exempts(x):
		r.breaks("I3", "transaction %v is %v twice", f.Tx, verdict(f.Commit))
	}
}

func verdict(commit bool) string {
	if commit {
		return "COMMIT"
	}
	return "ABORT"
}

// reversed checks that a COMMIT that is taken back took effect nowhere.
func (r *decisions) reversed(x *tx, f facts.TxReversed) {
	for i := range x.legs {
		if x.legs[i].posted > 0 {
			r.breaks("I3", "COMMIT of transaction %v is taken back, and its leg %d was confirmed", f.Tx, i)
		}
	}
}

// forgets checks that no open transaction is forgotten.
func (r *decisions) forgets(x *tx, id grid.TxID) {
	if !x.decided {
		r.breaks("I3", "transaction %v is forgotten and was never decided", id)
	}
}

// remembered checks that an image has the decision of a transaction.
func (r *decisions) remembered(x *tx, m *facts.TxMemory) {
	if x.decided && (!m.State.Decided() || (m.State == grid.TxCommitted) != x.commit) {
		r.breaks("I3", "the image does not have the %v of transaction %v", verdict(x.commit), m.Tx)
	}
}
