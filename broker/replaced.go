package broker

import (
	"cmp"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Applying facts to the windows that moves replace.

// applyMoved makes a move's window the job's. The previous one is kept until the new one
// is confirmed.
func (mem *memory) applyMoved(t *transaction) {
	j := t.job
	if j.asked == nil {
		was := j.whole()
		j.own().asked = &was
	}
	was := j.request()
	j.ask(*t.request, *j.wishes)
	*t.request = was
	for _, old := range j.txs {
		old.apart, old.givenUp = true, max(old.givenUp, grid.GivenUpByUser)
		for i := range old.legs {
			old.legs[i].moved = true
		}
	}
	j.txs = nil
}

// replaceBy gives up legs of the windows that a move has replaced.
func (mem *memory) replaceBy(t *transaction) {
	for _, old := range mem.txs.all() {
		if old.job == t.job && old != t && old.apart {
			t.replace(old)
		}
	}
}

// replaces reports whether the previous window must be given up, leg by leg: the move has a
// confirmed leg, or had several legs and has failed.
func (t *transaction) replaces() bool {
	return t.request != nil && t.state == grid.TxCommitted && (t.charged() || t.over() && (len(t.legs) > 1 || t.apart))
}

// replace gives up those legs of an earlier window whose replacement in this move is
// confirmed or lost, and those without a replacement. If the replacement is lost, the old
// leg is given up through no fault of its user, for its whole price.
func (t *transaction) replace(old *transaction) {
	by := map[grid.LegID]*txLeg{}
	for k := range t.legs {
		by[t.legs[k].replaces()] = &t.legs[k]
	}
	charged := t.charged()
	for k := range old.legs {
		l, x := &old.legs[k], by[old.leg(k)]
		if !l.moved || x != nil && !x.closed {
			continue
		}
		l.moved = false
		l.inFull = t.job.state != grid.JobWithdrawn && (!charged || x != nil && !x.charged)
	}
}

// restore puts back the window and the request that a move was to replace.
func (mem *memory) restore(t *transaction) {
	j := t.job
	if o := t.accepted(); o != nil {
		o.State, o.Reason = facts.OfferRejected, cmp.Or(t.reason, j.reason)
	}
	j.ask(*t.request, *j.wishes)
	t.own().request = nil
	j.because(grid.Reason{})
	for _, old := range mem.txs.all() {
		if old == t || old.job != j || !old.apart || old.state != grid.TxCommitted || old.over() {
			continue
		}
		old.apart, old.givenUp = false, grid.Kept
		if j.state == grid.JobWithdrawn { // withdrawn before the move was known to have failed
			old.givenUp = grid.GivenUpByUser
		}
		for i := range old.legs {
			old.legs[i].moved = false
		}
		j.txs = append(j.txs, old)
	}
}
