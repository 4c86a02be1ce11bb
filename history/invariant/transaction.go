package invariant

import (
	"bourse"
)

// The fold of a broker's facts. What each may break is in the files of the rules.

// tx is a transaction as its broker's journal shows it.
type tx struct {
	begun     bourse.TxBegun
	place     Place
	at        bourse.Time
	decided   bool
	decidedAt bourse.Time
	commit    bool
	forgotten bool            // long over
	was       *bourse.Request // a move that is committed: what its job asked for before
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

	penalty bourse.Credits
}

func (t *Trail) txBegun(f bourse.TxBegun) {
	if !t.begunOnce(f) || !t.wholeTx(f) {
		return
	}
	t.acts(f.Tx, "begins")
	t.txs[f.Tx] = &tx{begun: f, place: t.last, at: t.at, legs: make([]txLeg, len(f.Legs))}
	window := t.window(f.Tx)
	t.parts[window] = append(t.parts[window], f.Tx)
}

func (t *Trail) priced(f bourse.LegPriced) {
	x, l := t.leg(f.Leg)
	if x == nil {
		return
	}
	t.pricedWithin(x, l, f)
	l.priced, l.fare = true, f.Fare
	if f.End > 0 {
		t.lies(x, f.Leg, f.Start, f.End)
	}
}

func (t *Trail) decided(f bourse.TxDecided) {
	x := t.txs[f.Tx]
	if x == nil {
		if t.whole {
			t.breaks("I2", "%v of transaction %v, which has not begun", verdict(f.Commit), f.Tx)
		}
		return
	}
	t.decidedOnce(x, f)
	t.decides(f.Tx)
	x.decided, x.decidedAt, x.commit = true, t.at, f.Commit
	t.audit.touch(f.Tx)
	if f.Commit {
		t.voted(x)
		t.obeys(x)
		t.placed(x)
	}
}

func (t *Trail) closed(f bourse.LegClosed) {
	x, l := t.leg(f.Leg)
	if x == nil {
		return
	}
	if t.closedAs(x, f) && t.postedOnce(l, f) {
		t.chargedAs(l, f)
	}
	l.closed = true
	l.posted += f.Posted
	l.lost = x.commit && !f.Commit
	if l.lost && len(x.legs) == 1 {
		t.asksAgain(x)
	}
}

func (t *Trail) done(f bourse.LegDone) {
	x, l := t.leg(f.Leg)
	if x == nil {
		return
	}
	t.givenBackOnce(l, f)
	t.endsInTime(f, x)
	t.refund(f.Leg, l, f.Refund)
	l.done, l.penalty = true, l.penalty.Plus(f.Penalty)
}

// adopted takes a leg that its site has and the broker has no record of: an
// amnesia.
func (t *Trail) adopted(f bourse.LegAdopted) {
	t.audit.exempt[f.Leg] = true
	x := t.txs[f.Leg.Tx]
	if x == nil {
		x = &tx{begun: bourse.TxBegun{Tx: f.Leg.Tx, Job: f.Job}, place: t.last, at: t.at}
		t.txs[f.Leg.Tx] = x
	}
	for len(x.legs) <= f.Leg.Leg {
		x.legs = append(x.legs, txLeg{})
		x.begun.Sites = append(x.begun.Sites, "")
		x.begun.Legs = append(x.begun.Legs, bourse.Leg{})
		x.begun.Limits = append(x.begun.Limits, bourse.MaxCredits)
		t.audit.exempt[bourse.LegID{Tx: f.Leg.Tx, Leg: len(x.legs) - 1}] = true
	}
	x.begun.Sites[f.Leg.Leg], x.begun.Legs[f.Leg.Leg] = f.Site, f.What
}

// brokerImage takes a broker's own account of itself, or a part of it: where the journal has lost
// its beginning it is believed, else it must agree with the facts.
func (t *Trail) brokerImage(f bourse.BrokerImage) {
	t.balanced(f.Accounts)
	t.pending(f)
	for i := range f.Txs {
		m := &f.Txs[i]
		x := t.txs[m.Tx]
		commit, decided := m.State == bourse.TxCommitted, m.State.Decided()
		switch {
		case x == nil && t.whole:
			t.breaks("I2", "the image has transaction %v, the facts do not know it", m.Tx)
		case x == nil:
			x = &tx{begun: m.TxBegun, place: t.last, at: t.at, decided: decided, commit: commit, legs: make([]txLeg, len(m.Legs))}
			for k := range min(len(m.Legs), len(m.Memory)) {
				r := m.Memory[k]
				x.legs[k] = txLeg{priced: r.Priced, fare: r.Fare, closed: r.Closed, lost: commit && r.Closed && !r.Charged, back: r.Back, done: r.Charged && r.State.Terminal()}
				if r.Charged {
					x.legs[k].posted = r.Fare.Total()
				}
			}
			t.txs[m.Tx] = x
		case x.decided && (!decided || commit != x.commit):
			t.breaks("I3", "the image does not have the %v of transaction %v", verdict(x.commit), m.Tx)
		}
	}
	if t.whole {
		return
	}
	for i := range f.Jobs {
		t.requests[f.Jobs[i].Job.Name] = f.Jobs[i].Job.Request
	}
	for _, l := range f.Lives {
		t.lives[l.LifeBegun] = true
	}
	if n := len(f.Lives); n > 0 {
		t.life = life{LifeBegun: f.Lives[n-1].LifeBegun, known: true, fenced: f.Fenced}
	}
}
