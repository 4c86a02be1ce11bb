package invariant

import "bourse"

// I6: a message that comes again has no second effect.

// begunOnce checks that a transaction begins for the first time.
func (t *Trail) begunOnce(f bourse.TxBegun) bool {
	if t.txs[f.Tx] != nil {
		t.breaks("I6", "transaction %v is begun twice", f.Tx)
		return false
	}
	return true
}
