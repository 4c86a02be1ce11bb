package broker

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// transactions are the transactions on record.
type transactions struct {
	numbered map[uint64]*transaction    // by number, which is almost always unique
	others   map[grid.TxID]*transaction // those whose number is taken: adopted ones, of forgotten lives
	list     []*transaction             // in the order in which they became known
	seq      uint64                     // of the last one begun
}

// get is a transaction, or nil if it is not on record.
func (x *transactions) get(id grid.TxID) *transaction {
	if t := x.numbered[id.Seq]; t != nil && t.id == id {
		return t
	}
	return x.others[id]
}

// known reports whether a transaction can be identified by its number alone.
func (x *transactions) known(t *transaction) bool { return x.numbered[t.id.Seq] == t }

// at is the transaction identified by a number alone, or nil.
func (x *transactions) at(number uint64) *transaction { return x.numbered[number] }

// all lists the transactions in the order in which they became known. More may be
// appended while a caller walks the list.
func (x *transactions) all() []*transaction { return x.list }

// begun is how many were begun so far.
func (x *transactions) begun() uint64 { return x.seq }

// next is the number of the next one to begin.
func (x *transactions) next() uint64 { return x.seq + 1 }

// begin puts the next transaction on record. Numbers have no gaps: a lower one that is
// not on record was forgotten, a higher one was never begun.
func (x *transactions) begin(t *transaction) {
	if t.id.Seq != x.next() {
		panic(fmt.Sprintf("broker: transaction %v begun after %d others", t.id, x.seq))
	}
	x.seq = t.id.Seq
	x.keep(t)
}

// keep puts a transaction on record.
func (x *transactions) keep(t *transaction) {
	if x.numbered == nil {
		x.numbered, x.others = map[uint64]*transaction{}, map[grid.TxID]*transaction{}
	}
	if had := x.numbered[t.id.Seq]; had == nil || had.id == t.id {
		x.numbered[t.id.Seq] = t
	} else {
		x.others[t.id] = t
	}
	x.list = append(x.list, t)
	t.job.last = t
}

// load drops all transactions; seq of them were begun so far.
func (x *transactions) load(seq uint64) { *x = transactions{seq: seq} }

// forget drops transactions from the record.
func (x *transactions) forget(ids []grid.TxID) {
	gone := make(map[*transaction]bool, len(ids))
	for _, id := range ids {
		t := x.get(id)
		if t == nil {
			continue
		}
		t.job.drop(t)
		if t.job.last == t {
			t.job.last = nil
		}
		if gone[t] = true; x.numbered[id.Seq] == t {
			delete(x.numbered, id.Seq)
		} else {
			delete(x.others, id)
		}
	}
	x.list = slices.DeleteFunc(x.list, func(t *transaction) bool { return gone[t] })
}

// find returns the transaction and leg that a site's message is about, or nil if the leg
// is not on record or not that site's.
func (x *transactions) find(from agents.ID, id grid.LegID) (*transaction, *txLeg) {
	t := x.get(id.Tx)
	if t == nil || id.Leg < 0 || id.Leg >= len(t.legs) || t.site(id.Leg) != from {
		return nil, nil
	}
	return t, &t.legs[id.Leg]
}

// leg is a leg that must be on record; otherwise it panics.
func (x *transactions) leg(id grid.LegID) *txLeg { return &x.get(id.Tx).legs[id.Leg] }

// lookup is a leg, or nil if it is no longer on record: its transaction was forgotten,
// and perhaps adopted again with fewer legs.
func (x *transactions) lookup(id grid.LegID) *txLeg {
	t := x.get(id.Tx)
	if t == nil || id.Leg < 0 || id.Leg >= len(t.legs) {
		return nil
	}
	return &t.legs[id.Leg]
}
