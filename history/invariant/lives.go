package invariant

import (
	"bourse"
)

// I7: a fenced life does nothing but finish what it had decided.

// life is the present life of a broker.
type life struct {
	bourse.LifeBegun
	known  bool
	fenced bool
}

// lifeBegun checks that each life has a higher counter than the one before.
func (t *Trail) lifeBegun(f bourse.LifeBegun) {
	if t.life.known && f.Incarnation <= t.life.Incarnation {
		t.breaks("I7", "life %d begins after life %d", f.Incarnation, t.life.Incarnation)
	}
	t.life = life{LifeBegun: f, known: true}
	t.lives[f] = true
}

// acts checks that what a broker begins is of its present life, and that this is
// the one process of its name as far as it knows.
func (t *Trail) acts(id bourse.TxID, does string) {
	switch l := t.life; {
	case l.fenced:
		t.breaks("I7", "it %s transaction %v after another process was heard of", does, id)
	case l.known && (id.Incarnation != l.Incarnation || id.Nonce != l.Nonce):
		t.breaks("I7", "life %d %s transaction %v of another life", l.Incarnation, does, id)
	}
}

// decides checks that a fenced process decides nothing more.
func (t *Trail) decides(id bourse.TxID) {
	if t.life.fenced {
		t.breaks("I7", "transaction %v is decided after another process was heard of", id)
	}
}
