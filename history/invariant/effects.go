package invariant

import "github.com/bourse-grid/bourse/facts"

// I6: a message that comes again has no second effect.

// effects is the rule I6.
type effects struct {
	*journal
	txs transactions
}

// once checks that a transaction begins for the first time.
func (r *effects) once(f facts.TxBegun) bool {
	if r.txs[f.Tx] != nil {
		r.breaks("I6", "transaction %v is begun twice", f.Tx)
		return false
	}
	return true
}
