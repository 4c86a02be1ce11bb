package transaction

import "github.com/bourse-grid/bourse/grid"

// What the facts about a move mean for the window that it replaces.

// setAside keeps the present window of a job until the window of this move, which takes its
// place, is confirmed.
func (t *Tx) setAside(j *Job) {
	for _, old := range j.txs {
		old.apart, old.givenUp = true, max(old.givenUp, grid.GivenUpByUser)
		for i := range old.legs {
			old.legs[i].moved = true
		}
	}
	j.txs = nil
}

// Exchange keeps the request that its job had before a move, and returns the new one.
func (t *Tx) Exchange(had grid.Request) (has grid.Request) {
	has, *t.request = *t.request, had
	return has
}

// replaceBy gives up legs of the windows that a move has replaced.
func (s *State) replaceBy(t *Tx) {
	for _, old := range s.txs.All() {
		if old.job == t.job && old != t && old.apart {
			t.replace(old, s.withdrawn(t.job))
		}
	}
}

// replaces reports whether the previous window must be given up, leg by leg: the move has a
// confirmed leg, or had several legs and has failed.
func (t *Tx) replaces() bool {
	return t.request != nil && t.state == grid.TxCommitted && (t.charged() || t.Over() && (len(t.legs) > 1 || t.apart))
}

// replace gives up those legs of an earlier window whose replacement in this move is
// confirmed or lost, and those without a replacement. If the replacement is lost, the old
// leg is given up through no fault of its user, for its whole price.
func (t *Tx) replace(old *Tx, withdrawn bool) {
	by := map[grid.LegID]*Leg{}
	for k := range t.legs {
		by[t.legs[k].Replaces()] = &t.legs[k]
	}
	charged := t.charged()
	for k := range old.legs {
		l, x := &old.legs[k], by[old.LegID(k)]
		if !l.moved || x != nil && !x.closed {
			continue
		}
		l.moved = false
		if full := !withdrawn && (!charged || x != nil && !x.charged); full != l.inFull {
			l.own().inFull = full
		}
	}
}

// restore puts back the window that a move was to replace. The transaction is no move then.
func (s *State) restore(t *Tx) {
	j := t.job
	t.own().request = nil
	for _, old := range s.txs.All() {
		if old == t || old.job != j || !old.apart || old.state != grid.TxCommitted || old.Over() {
			continue
		}
		old.apart, old.givenUp = false, grid.Kept
		if s.withdrawn(j) { // withdrawn before the move was known to have failed
			old.givenUp = grid.GivenUpByUser
		}
		for i := range old.legs {
			old.legs[i].moved = false
		}
		j.txs = append(j.txs, old)
	}
}

// ReplaceAll gives up the windows that moves on record have replaced. Images of earlier
// versions may still keep legs that no other leg replaced, or whose replacement was lost.
func (s *State) ReplaceAll() {
	before := map[*Job][]*Tx{} // windows that were to be replaced
	for _, t := range s.txs.All() {
		if t.replaces() {
			for _, old := range before[t.job] {
				t.replace(old, s.withdrawn(t.job))
			}
		}
		if t.apart {
			before[t.job] = append(before[t.job], t)
		}
	}
}
