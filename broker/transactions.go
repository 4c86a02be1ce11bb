package broker

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// transactions are those that are on record.
type transactions struct {
	byID map[bourse.TxID]*transaction
	list []*transaction // in the order in which they became known
	seq  uint64         // of the last one begun
}

// get is the transaction of that name, nil if there is no record of it.
func (x *transactions) get(id bourse.TxID) *transaction { return x.byID[id] }

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
	if x.byID == nil {
		x.byID = map[bourse.TxID]*transaction{}
	}
	x.byID[t.id] = t
	x.list = append(x.list, t)
	t.job.last = t
}

// load begins with none, of which so many were begun.
func (x *transactions) load(seq uint64) { *x = transactions{seq: seq} }

// forget drops what is on record of them.
func (x *transactions) forget(ids []bourse.TxID) {
	for _, id := range ids {
		if t := x.byID[id]; t != nil {
			t.job.drop(t)
			if t.job.last == t {
				t.job.last = nil
			}
			delete(x.byID, id)
		}
	}
	x.list = slices.DeleteFunc(x.list, func(t *transaction) bool { return x.byID[t.id] != t })
}

// find returns the transaction and the leg that a site speaks of, nil if there
// is no record of it, or it is not that site's.
func (x *transactions) find(from agents.ID, id bourse.LegID) (*transaction, *txLeg) {
	t := x.byID[id.Tx]
	if t == nil || id.Leg < 0 || id.Leg >= len(t.legs) || t.site(id.Leg) != from {
		return nil, nil
	}
	return t, &t.legs[id.Leg]
}

// leg is a leg that must be on record.
func (x *transactions) leg(id bourse.LegID) *txLeg { return &x.byID[id.Tx].legs[id.Leg] }

// lookup is a leg, nil if it is not on record any more: its transaction was
// forgotten, and perhaps adopted again with fewer legs.
func (x *transactions) lookup(id bourse.LegID) *txLeg {
	t := x.byID[id.Tx]
	if t == nil || id.Leg < 0 || id.Leg >= len(t.legs) {
		return nil
	}
	return &t.legs[id.Leg]
}
