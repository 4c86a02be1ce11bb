package invariant

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// I2: at rest all legs of a decided transaction carry the decision.

// skew is how far the clocks of a site and a broker may differ.
const skew = 2 * grid.Second

// across checks a transaction against the journals of its sites (I2, I10, I15).
func (a *Audit) across(t *Trail, x *tx) {
	switch {
	case x.decided && x.commit:
		a.counts.Committed++
	case x.decided:
		a.counts.Aborted++
	}
	for i := range x.legs {
		id := grid.LegID{Tx: x.begun.Tx, Leg: i}
		s := a.trails[site(x.begun.Sites[i])]
		if s == nil || a.exempt[id] || x.forgotten {
			continue
		}
		if s.proofs.lost(x.legs[i].proof) {
			a.past.add(s, id)
			a.exempt[id] = true
			continue
		}
		breaks := func(invariant, format string, args ...any) {
			a.find(Finding{Invariant: invariant, Agent: t.agent, Place: x.place, At: x.at,
				What: fmt.Sprintf("leg %v at %s: ", id, s.name()) + fmt.Sprintf(format, args...)})
		}
		l := s.legs[id]
		if l == nil {
			switch {
			case !x.decided || !x.commit || !s.whole || x.legs[i].lost:
			case s.at < x.decidedAt.Add(skew): // its journal was read before
				a.counts.InFlight++
			default:
				breaks("I2", "COMMIT of a leg that its site never held")
			}
			continue
		}
		if x.legs[i].priced && l.Fare != x.legs[i].fare && l.State != grid.Refused && !l.tomb {
			breaks("I10", "its site held it at %v credits, the broker has %v", l.Fare.Total(), x.legs[i].fare.Total())
		}
		if l.tomb || l.forgotten {
			continue
		}
		a.agrees(x, &x.legs[i], l, breaks)
		lieAlike(x, i, l, l.told < l.lastShift || !x.legs[i].closed, breaks)
		if unprepared(x, s, l) {
			breaks("I15", "confirmed as one of %d legs without having been prepared", len(x.legs))
		}
	}
}

// agrees checks the state of one leg against the decision.
func (a *Audit) agrees(x *tx, of *txLeg, l *siteLeg, breaks func(invariant, format string, args ...any)) {
	switch {
	case !x.decided:
		if l.charged {
			breaks("I2", "it is %v, and its transaction is not decided", l.State)
		}
	case !x.commit:
		if l.charged {
			breaks("I2", "it is %v, and its transaction is ABORT", l.State)
		} else if !l.State.Terminal() {
			a.counts.InFlight++
		}
	case l.State == grid.Cancelled || l.State == grid.Refused:
		breaks("I2", "it is %v, and its transaction is COMMIT", l.State)
	case l.State == grid.LegExpired, l.State == grid.Heuristic, l.State == grid.Lost && !l.charged:
		if of.closed && !of.lost {
			breaks("I2", "it is %v, and its broker has closed it as confirmed", l.State)
		} else if !of.closed {
			a.counts.InFlight++
		}
	case l.State == grid.Held || l.State == grid.Prepared:
		a.counts.InFlight++
	}
}

// orphans looks for legs at a site that the broker of their name, whose journal
// is whole, has never begun.
func (a *Audit) orphans(s *Trail) {
	for _, id := range sortedKeys(s.legs, compareLeg) {
		l := s.legs[id]
		b := a.trails[broker(id.Tx.Broker)]
		if b == nil || !b.whole || l.tomb || l.forgotten || a.exempt[id] || b.txs[id.Tx] != nil {
			continue
		}
		f := Finding{Invariant: "I2", Agent: s.agent, Place: s.last, At: l.at,
			What: fmt.Sprintf("leg %v is %v, and its broker has begun no such transaction", id, l.State)}
		if of := (facts.LifeBegun{Incarnation: id.Tx.Incarnation, Nonce: id.Tx.Nonce}); len(b.lives.all) > 0 && !b.lives.all[of] {
			f.Note, f.kind = true, "of another life"
			f.What = fmt.Sprintf("leg %v is %v, of a life that its broker's journal does not have: right only if another process had its name", id, l.State)
		} else if l.State.Terminal() && !l.charged {
			f.Note, f.kind = true, "never came about" // of what never came about a broker with an older journal need not be told
		}
		a.find(f)
	}
}

// agreement is the rule I2 as far as one journal shows it. The methods of Audit compare
// journals.
type agreement struct {
	*journal
	txs transactions
}

// wholeTx checks that a transaction has a site and a limit for each leg.
func (r *agreement) wholeTx(f facts.TxBegun) bool {
	if len(f.Sites) != len(f.Legs) || len(f.Limits) != len(f.Legs) {
		r.breaks("I2", "transaction %v has %d legs, %d sites and %d limits", f.Tx, len(f.Legs), len(f.Sites), len(f.Limits))
		return false
	}
	return true
}

// begun checks that a transaction that is decided has begun.
func (r *agreement) begun(x *tx, f facts.TxDecided) bool {
	if x == nil && r.whole {
		r.breaks("I2", "%v of transaction %v, which has not begun", verdict(f.Commit), f.Tx)
	}
	return x != nil
}

// leg returns a leg of a transaction that has begun. If there is none it notes that and
// returns nil.
func (r *agreement) leg(id grid.LegID) (*tx, *txLeg) {
	x := r.txs[id.Tx]
	if x == nil {
		if r.whole {
			r.breaks("I2", "leg %v belongs to no transaction that has begun", id)
		}
		return nil, nil
	}
	if id.Leg < 0 || id.Leg >= len(x.legs) {
		r.breaks("I2", "transaction %v has %d legs, not %v", id.Tx, len(x.legs), id)
		return nil, nil
	}
	return x, &x.legs[id.Leg]
}

// closedAs checks that a leg is closed as it was decided.
func (r *agreement) closedAs(x *tx, f facts.LegClosed) bool {
	switch {
	case !x.decided:
		r.breaks("I2", "leg %v is closed and its transaction is not decided", f.Leg)
		return false
	case f.Commit && !x.commit:
		r.breaks("I2", "leg %v is closed as of a COMMIT, its transaction is ABORT", f.Leg)
		return false
	}
	return true
}

// of is the transaction of a leg at its broker, where the facts of all are seen
// together; nil if they are not, or if it is not known.
func (a *Audit) of(id grid.LegID) *tx {
	if !a.together {
		return nil
	}
	b := a.trails[broker(id.Tx.Broker)]
	if b == nil {
		return nil
	}
	x := b.txs[id.Tx]
	if x == nil || id.Leg < 0 || id.Leg >= len(x.legs) {
		return nil
	}
	return x
}

// confirmedAfter checks that a leg that a site has on record was begun, and is
// confirmed by a COMMIT only.
func (r *agreement) confirmedAfter(f facts.LegMoved) {
	if !r.audit.together || r.audit.exempt[f.Leg] {
		return
	}
	switch x := r.audit.of(f.Leg); {
	case x == nil:
		r.breaks("I2", "leg %v is %v, of a transaction that no broker has begun", f.Leg, f.State)
	case f.State == grid.Confirmed && !x.commit:
		r.breaks("I2", "leg %v is confirmed before COMMIT", f.Leg)
	}
}

// touch notes that a transaction has moved in the present instant.
func (a *Audit) touch(id grid.TxID) {
	if a.together {
		a.touched = append(a.touched, id)
	}
}

// AtRest checks the transactions that have moved since its last call against their
// decisions, and the last step of each broker, which is over. It is for worlds in which
// messages take no time, which are at rest between two instants.
func (a *Audit) AtRest() {
	for _, t := range a.brokers {
		t.judge(false)
	}
	slices.SortFunc(a.touched, compareTx)
	for _, id := range slices.Compact(a.touched) {
		t := a.trails[broker(id.Broker)]
		if t == nil || t.txs[id] == nil {
			continue // said already
		}
		x := t.txs[id]
		if !x.decided {
			t.breaks("I2", "%v is undecided at rest", id)
			continue
		}
		if x.commit {
			a.both(t, x)
		}
		for i := range x.legs {
			state, carried := grid.Asked, false
			if s := a.trails[site(x.begun.Sites[i])]; s != nil && s.legs[grid.LegID{Tx: id, Leg: i}] != nil {
				l := s.legs[grid.LegID{Tx: id, Leg: i}]
				state, carried = l.State, l.carried()
				lieAlike(x, i, l, false, func(invariant, format string, args ...any) {
					t.breaks(invariant, "at rest, leg %v at %s: %s", grid.LegID{Tx: id, Leg: i}, s.name(), fmt.Sprintf(format, args...))
				})
			}
			switch {
			case x.commit != carried:
				t.breaks("I2", "at rest %v of %v, its leg %d is %v", verdict(x.commit), id, i, state)
			case x.commit && !x.legs[i].closed:
				t.breaks("I2", "at rest COMMIT of %v, its leg %d is not posted", id, i)
			}
		}
	}
	a.touched = a.touched[:0]
}

// carried reports whether a leg carries a COMMIT, or did until its user gave it up or
// its site lost it.
func (l *siteLeg) carried() bool {
	switch l.State {
	case grid.Confirmed, grid.Running, grid.Settled:
		return true
	case grid.Released, grid.Lost:
		return l.charged
	}
	return false
}
