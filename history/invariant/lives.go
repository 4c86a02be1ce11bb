package invariant

import (
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// I7: a fenced life does nothing but finish what it had decided.

// lives is the rule I7, with the lives of a broker.
type lives struct {
	*journal
	now life
	all map[facts.LifeBegun]bool
}

// life is the present life of a broker.
type life struct {
	facts.LifeBegun
	known  bool
	fenced bool
}

// begins checks that each life has a higher counter than the one before.
func (r *lives) begins(f facts.LifeBegun) {
	if r.now.known && f.Incarnation <= r.now.Incarnation {
		r.breaks("I7", "life %d begins after life %d", f.Incarnation, r.now.Incarnation)
	}
	r.now = life{LifeBegun: f, known: true}
	r.all[f] = true
}

// acts checks that what a broker begins is of its present life, and that this is
// the one process of its name as far as it knows.
func (r *lives) acts(id grid.TxID, does string) {
	switch l := r.now; {
	case l.fenced:
		r.breaks("I7", "it %s transaction %v after another process was heard of", does, id)
	case l.known && (id.Incarnation != l.Incarnation || id.Nonce != l.Nonce):
		r.breaks("I7", "life %d %s transaction %v of another life", l.Incarnation, does, id)
	}
}

// decides checks that a fenced process decides nothing more.
func (r *lives) decides(id grid.TxID) {
	if r.now.fenced {
		r.breaks("I7", "transaction %v is decided after another process was heard of", id)
	}
}

// fence notes that another process was heard of.
func (r *lives) fence() { r.now.fenced = true }

// remembers takes the lives of an image, of a journal that has lost its beginning.
func (r *lives) remembers(f facts.BrokerImage) {
	for _, l := range f.Lives {
		r.all[l.LifeBegun] = true
	}
	if n := len(f.Lives); n > 0 {
		r.now = life{LifeBegun: f.Lives[n-1].LifeBegun, known: true, fenced: f.Fenced}
	}
}
