package audit

import (
	"fmt"

	"bourse"
)

// skew is how far the clocks of a site and a broker may differ.
const skew = 2 * bourse.Second

// across holds a transaction against the journals of its sites (I2, I10, I15).
func (a *Audit) across(t *Trail, x *tx) {
	switch {
	case x.decided && x.commit:
		a.counts.Committed++
	case x.decided:
		a.counts.Aborted++
	}
	for i := range x.legs {
		id := bourse.LegID{Tx: x.begun.Tx, Leg: i}
		s := a.trails[site(x.begun.Sites[i])]
		if s == nil || a.exempt[id] || x.forgotten {
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
		if x.legs[i].priced && l.Fare != x.legs[i].fare && l.State != bourse.Refused && !l.tomb {
			breaks("I10", "its site held it at %v credits, the broker has %v", l.Fare.Total(), x.legs[i].fare.Total())
		}
		if l.tomb || l.forgotten {
			continue
		}
		a.agrees(x, &x.legs[i], l, breaks)
		if x.commit && len(x.legs) > 1 && s.whole && l.charged && !l.prepared {
			breaks("I15", "confirmed as one of %d legs without having been prepared", len(x.legs))
		}
	}
}

// agrees holds the end of one leg against the decision.
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
	case l.State == bourse.Cancelled || l.State == bourse.Refused:
		breaks("I2", "it is %v, and its transaction is COMMIT", l.State)
	case l.State == bourse.LegExpired, l.State == bourse.Heuristic, l.State == bourse.Lost && !l.charged:
		if of.closed && !of.lost {
			breaks("I2", "it is %v, and its broker has closed it as confirmed", l.State)
		} else if !of.closed {
			a.counts.InFlight++
		}
	case l.State == bourse.Held || l.State == bourse.Prepared:
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
		if of := (bourse.LifeBegun{Incarnation: id.Tx.Incarnation, Nonce: id.Tx.Nonce}); len(b.lives) > 0 && !b.lives[of] {
			f.Note = true
			f.What = fmt.Sprintf("leg %v is %v, of a life that its broker's journal does not have: right only if another process had its name", id, l.State)
		} else if l.State.Terminal() && !l.charged {
			f.Note = true // of what never came about a broker with an older journal need not be told
		}
		a.find(f)
	}
}
