package invariant

import "bourse"

// I3: a decision is made once, and never changes.

// decidedOnce checks that a transaction is decided for the first time. One of which an
// amnesia names a leg may have been decided before, the same.
func (t *Trail) decidedOnce(x *tx, f bourse.TxDecided) {
	switch {
	case !x.decided:
	case x.commit != f.Commit:
		t.breaks("I3", "transaction %v was %v and is %v", f.Tx, verdict(x.commit), verdict(f.Commit))
	case !t.audit.exempts(x):
		t.breaks("I3", "transaction %v is %v twice", f.Tx, verdict(f.Commit))
	}
}

func verdict(commit bool) string {
	if commit {
		return "COMMIT"
	}
	return "ABORT"
}

// reversed takes back a COMMIT that took effect nowhere (I3).
func (t *Trail) reversed(f bourse.TxReversed) {
	x := t.txs[f.Tx]
	if x == nil {
		return
	}
	for i := range x.legs {
		if x.legs[i].posted > 0 {
			t.breaks("I3", "COMMIT of transaction %v is taken back, and its leg %d was confirmed", f.Tx, i)
		}
	}
	x.decided, x.commit = true, false
	t.asksAgain(x)
}

// txForgotten notes transactions whose record is given up: none that is open.
func (t *Trail) txForgotten(list []bourse.TxID) {
	for _, id := range list {
		x := t.txs[id]
		if x == nil {
			continue
		}
		if !x.decided {
			t.breaks("I3", "transaction %v is forgotten and was never decided", id)
		}
		x.forgotten = true
	}
}
