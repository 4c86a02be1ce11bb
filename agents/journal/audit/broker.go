package audit

import (
	"bourse"
)

// tx is a transaction as its broker's journal shows it.
type tx struct {
	begun     bourse.TxBegun
	place     Place
	at        bourse.Time
	decided   bool
	decidedAt bourse.Time
	commit    bool
	forgotten bool // long over
	legs      []txLeg
}

// txLeg is one leg of it.
type txLeg struct {
	priced bool
	fare   bourse.Fare
	closed bool // the site has acknowledged the decision, or has it no more
	lost   bool // of a COMMIT: closed without the leg
	posted bourse.Credits
	back   bourse.Credits
	done   bool
}

func (t *Trail) txBegun(f bourse.TxBegun) {
	if t.txs[f.Tx] != nil {
		t.breaks("I6", "transaction %v is begun twice", f.Tx)
		return
	}
	if len(f.Sites) != len(f.Legs) || len(f.Limits) != len(f.Legs) {
		t.breaks("I2", "transaction %v has %d legs, %d sites and %d limits", f.Tx, len(f.Legs), len(f.Sites), len(f.Limits))
		return
	}
	t.acts(f.Tx, "begins")
	t.txs[f.Tx] = &tx{begun: f, place: t.last, at: t.at, legs: make([]txLeg, len(f.Legs))}
}

// leg returns a leg of a transaction that has begun; nil, having said so, if
// there is none.
func (t *Trail) leg(id bourse.LegID) (*tx, *txLeg) {
	x := t.txs[id.Tx]
	if x == nil {
		if t.whole {
			t.breaks("I2", "leg %v belongs to no transaction that has begun", id)
		}
		return nil, nil
	}
	if id.Leg < 0 || id.Leg >= len(x.legs) {
		t.breaks("I2", "transaction %v has %d legs, not %v", id.Tx, len(x.legs), id)
		return nil, nil
	}
	return x, &x.legs[id.Leg]
}

func (t *Trail) priced(f bourse.LegPriced) {
	x, l := t.leg(f.Leg)
	if x == nil {
		return
	}
	if limit := x.begun.Limits[f.Leg.Leg]; f.Fare.Total() > limit {
		t.breaks("I10", "leg %v is priced at %v credits, above its limit %v", f.Leg, f.Fare.Total(), limit)
	}
	if l.priced && l.fare != f.Fare {
		t.breaks("I10", "leg %v is priced at %v credits, and was at %v", f.Leg, f.Fare.Total(), l.fare.Total())
	}
	l.priced, l.fare = true, f.Fare
	if f.End > 0 {
		t.lies(x, f.Leg, f.Start, f.End)
	}
}

func (t *Trail) decided(f bourse.TxDecided) {
	x := t.txs[f.Tx]
	switch {
	case x == nil && !t.whole:
		return
	case x == nil:
		t.breaks("I2", "%v of transaction %v, which has not begun", verdict(f.Commit), f.Tx)
		return
	case x.decided && x.commit != f.Commit:
		t.breaks("I3", "transaction %v was %v and is %v", f.Tx, verdict(x.commit), verdict(f.Commit))
	}
	x.decided, x.decidedAt, x.commit = true, t.at, f.Commit
	if t.life.fenced {
		t.breaks("I7", "transaction %v is decided after another process was heard of", f.Tx)
	}
	if !f.Commit {
		return
	}
	for i := range x.legs {
		if id := (bourse.LegID{Tx: f.Tx, Leg: i}); !x.legs[i].priced && !t.audit.exempt[id] {
			t.breaks("I15", "COMMIT of transaction %v, whose leg %d was never held", f.Tx, i)
		}
	}
	t.obeys(x)
}

func verdict(commit bool) string {
	if commit {
		return "COMMIT"
	}
	return "ABORT"
}

func (t *Trail) closed(f bourse.LegClosed) {
	x, l := t.leg(f.Leg)
	if x == nil {
		return
	}
	switch {
	case !x.decided:
		t.breaks("I2", "leg %v is closed and its transaction is not decided", f.Leg)
	case f.Commit && !x.commit:
		t.breaks("I2", "leg %v is closed as of a COMMIT, its transaction is ABORT", f.Leg)
	case f.Posted < 0 || !f.Commit && f.Posted > 0:
		t.breaks("I8", "leg %v is closed without the leg, and %v credits are posted", f.Leg, f.Posted)
	case f.Commit && l.priced && f.Posted != l.fare.Total():
		t.breaks("I10", "leg %v is charged %v credits, Held named %v", f.Leg, f.Posted, l.fare.Total())
	case f.Commit && l.posted > 0:
		t.breaks("I8", "leg %v is charged %v credits a second time", f.Leg, f.Posted)
	}
	l.closed = true
	l.posted += f.Posted
	l.lost = x.commit && !f.Commit
}

func (t *Trail) done(f bourse.LegDone) {
	x, l := t.leg(f.Leg)
	if x == nil {
		return
	}
	switch {
	case f.Penalty < 0:
		t.breaks("I8", "leg %v is given a penalty of %v credits", f.Leg, f.Penalty)
	case l.done && (f.Refund > 0 || f.Penalty > 0):
		t.breaks("I8", "leg %v is over, and %v and %v credits are given back once more", f.Leg, f.Refund, f.Penalty)
	}
	if i := f.Leg.Leg; f.State == bourse.Settled && i < len(x.begun.Legs) && x.begun.Flex.Early(x.begun.Legs[i], t.at) && !t.audit.exempt[f.Leg] {
		t.breaks("I9", "leg %v is settled at %v, and its window begins at %v", f.Leg, t.at, x.begun.Legs[i].Start)
	}
	t.refund(f.Leg, l, f.Refund)
	l.done = true
}

// refund checks that a leg is given back money at most once, and no more than it
// cost.
func (t *Trail) refund(id bourse.LegID, l *txLeg, amount bourse.Credits) {
	switch {
	case amount == 0:
		return
	case amount < 0 || amount > l.posted:
		t.breaks("I8", "leg %v cost %v credits, and %v are given back", id, l.posted, amount)
	case l.back > 0:
		t.breaks("I8", "leg %v is given back %v credits, and %v before", id, amount, l.back)
	}
	l.back += max(amount, 0)
}
