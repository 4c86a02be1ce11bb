package broker

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// transactions are those that are on record.
type transactions struct {
	numbered map[uint64]*transaction      // by their numbers, which few have twice
	others   map[bourse.TxID]*transaction // whose numbers others have: of lives that were forgotten
	list     []*transaction               // in the order in which they became known
	seq      uint64                       // of the last one begun
}

// get is the transaction of that name, nil if there is no record of it.
func (x *transactions) get(id bourse.TxID) *transaction {
	if t := x.numbered[id.Seq]; t != nil && t.id == id {
		return t
	}
	return x.others[id]
}

// known reports whether its number alone tells a transaction.
func (x *transactions) known(t *transaction) bool { return x.numbered[t.id.Seq] == t }

// at is the transaction that its number alone tells; nil: there is none.
func (x *transactions) at(number uint64) *transaction { return x.numbered[number] }

// all lists them in the order in which they became known. It may grow during a
// walk, at its end.
func (x *transactions) all() []*transaction { return x.list }

// begun is how many have been.
func (x *transactions) begun() uint64 { return x.seq }

// next is the number of the one to be begun next.
func (x *transactions) next() uint64 { return x.seq + 1 }

// begin takes the next one on record. Numbers have no gaps: a lower one without a
// record was forgotten, a higher one never begun.
func (x *transactions) begin(t *transaction) {
	if t.id.Seq != x.next() {
		panic(fmt.Sprintf("broker: transaction %v begun after %d others", t.id, x.seq))
	}
	x.seq = t.id.Seq
	x.keep(t)
}

// keep takes one on record.
func (x *transactions) keep(t *transaction) {
	if x.numbered == nil {
		x.numbered, x.others = map[uint64]*transaction{}, map[bourse.TxID]*transaction{}
	}
	if had := x.numbered[t.id.Seq]; had == nil || had.id == t.id {
		x.numbered[t.id.Seq] = t
	} else {
		x.others[t.id] = t
	}
	x.list = append(x.list, t)
	t.job.last = t
}

// load begins with none, of which so many were begun.
func (x *transactions) load(seq uint64) { *x = transactions{seq: seq} }

// forget drops what is on record of them.
func (x *transactions) forget(ids []bourse.TxID) {
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

// find returns the transaction and the leg that a site speaks of, nil if there
// is no record of it, or it is not that site's.
func (x *transactions) find(from agents.ID, id bourse.LegID) (*transaction, *txLeg) {
	t := x.get(id.Tx)
	if t == nil || id.Leg < 0 || id.Leg >= len(t.legs) || t.site(id.Leg) != from {
		return nil, nil
	}
	return t, &t.legs[id.Leg]
}

// leg is a leg that must be on record.
func (x *transactions) leg(id bourse.LegID) *txLeg { return &x.get(id.Tx).legs[id.Leg] }

// lookup is a leg, nil if it is not on record any more: its transaction was
// forgotten, and perhaps adopted again with fewer legs.
func (x *transactions) lookup(id bourse.LegID) *txLeg {
	t := x.get(id.Tx)
	if t == nil || id.Leg < 0 || id.Leg >= len(t.legs) {
		return nil
	}
	return &t.legs[id.Leg]
}

// replaceAll gives up what moves on record have replaced. Earlier builds kept legs that none
// takes the place of, or whose replacement was lost, and their images do.
func (x *transactions) replaceAll() {
	before := map[*job][]*transaction{} // windows that others were to take the place of
	for _, t := range x.all() {
		if t.replaces() {
			for _, old := range before[t.job] {
				t.replace(old)
			}
		}
		if t.apart {
			before[t.job] = append(before[t.job], t)
		}
	}
}
