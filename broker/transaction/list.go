package transaction

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// List are the transactions on record.
type List struct {
	numbered map[uint64]*Tx    // by number, which is almost always unique
	others   map[grid.TxID]*Tx // those whose number is taken: adopted ones, of forgotten lives
	list     []*Tx             // in the order in which they became known
	seq      uint64            // of the last one begun
}

// Get is a transaction, or nil if it is not on record.
func (x *List) Get(id grid.TxID) *Tx {
	if t := x.numbered[id.Seq]; t != nil && t.id == id {
		return t
	}
	return x.others[id]
}

// known reports whether a transaction can be identified by its number alone.
func (x *List) known(t *Tx) bool { return x.numbered[t.id.Seq] == t }

// at is the transaction identified by a number alone, or nil.
func (x *List) at(number uint64) *Tx { return x.numbered[number] }

// All lists the transactions in the order in which they became known. More may be
// appended while a caller walks the list.
func (x *List) All() []*Tx { return x.list }

// begun is how many were begun so far.
func (x *List) begun() uint64 { return x.seq }

// next is the number of the next one to begin.
func (x *List) next() uint64 { return x.seq + 1 }

// begin puts the next transaction on record. Numbers have no gaps: a lower one that is
// not on record was forgotten, a higher one was never begun.
func (x *List) begin(t *Tx) {
	if t.id.Seq != x.next() {
		panic(fmt.Sprintf("broker: transaction %v begun after %d others", t.id, x.seq))
	}
	x.seq = t.id.Seq
	x.keep(t)
}

// keep puts a transaction on record.
func (x *List) keep(t *Tx) {
	if x.numbered == nil {
		x.numbered, x.others = map[uint64]*Tx{}, map[grid.TxID]*Tx{}
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
func (x *List) load(seq uint64) { *x = List{seq: seq} }

// forget drops transactions from the record.
func (x *List) forget(ids []grid.TxID) {
	gone := make(map[*Tx]bool, len(ids))
	for _, id := range ids {
		t := x.Get(id)
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
	x.list = slices.DeleteFunc(x.list, func(t *Tx) bool { return gone[t] })
}

// Find returns the transaction and leg that a site's message is about, or nil if the leg
// is not on record or not that site's.
func (x *List) Find(from agents.ID, id grid.LegID) (*Tx, *Leg) {
	t := x.Get(id.Tx)
	if t == nil || id.Leg < 0 || id.Leg >= len(t.legs) || t.Site(id.Leg) != from {
		return nil, nil
	}
	return t, &t.legs[id.Leg]
}

// Leg is a leg that must be on record; otherwise it panics.
func (x *List) Leg(id grid.LegID) *Leg { return &x.Get(id.Tx).legs[id.Leg] }

// Lookup is a leg, or nil if it is no longer on record: its transaction was forgotten,
// and perhaps adopted again with fewer legs.
func (x *List) Lookup(id grid.LegID) *Leg {
	t := x.Get(id.Tx)
	if t == nil || id.Leg < 0 || id.Leg >= len(t.legs) {
		return nil
	}
	return &t.legs[id.Leg]
}
