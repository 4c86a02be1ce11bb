package invariant

import (
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// The fold of a broker's facts. What each may break is in the files of the rules.

// tx is a transaction as its broker's journal shows it.
type tx struct {
	begun     facts.TxBegun
	place     Place
	at        grid.Time
	decided   bool
	decidedAt grid.Time
	commit    bool
	forgotten bool          // long over
	was       *grid.Request // a move that is committed: what its job asked for before
	old       []*tx         // a move: the window that it takes the place of
	by        *tx           // the move that takes its place
	broken    bool          // its window was given back
	legs      []txLeg
}

// transactions are those of a broker.
type transactions map[grid.TxID]*tx

// txLeg is one leg of it.
type txLeg struct {
	priced bool
	fare   grid.Fare
	closed bool // the site has acknowledged the decision, or has it no more
	lost   bool // of a COMMIT: closed without the leg
	posted grid.Credits
	back   grid.Credits
	done   bool

	confirmed bool          // closed with the leg
	failed    bool          // done: its work failed
	mended    bool          // gone, and another one stands in for it
	givenUp   bool          // with its site: where that has it, its broker does not follow any more
	state     grid.LegState // done: what it came to
	end       grid.Time     // done: when its work was over
	due       grid.Credits  // what it takes of its user's money
	fixed     bool          // its site will move it no more

	penalty grid.Credits

	proof grid.Proof // the last that the site has given, if any
}

func (t *Trail) txBegun(f facts.TxBegun) {
	if !t.effects.once(f) || !t.agreement.wholeTx(f) {
		return
	}
	t.lives.acts(f.Tx, "begins")
	t.txs[f.Tx] = &tx{begun: f, place: t.last, at: t.at, legs: make([]txLeg, len(f.Legs))}
	t.windows.begun(f.Tx)
	t.bounds.begun(t.txs[f.Tx])
}

func (t *Trail) priced(f facts.LegPriced) {
	x, l := t.agreement.leg(f.Leg)
	if x == nil {
		return
	}
	t.prices.pricedWithin(x, l, f)
	l.priced, l.fare = true, f.Fare
	t.bounds.owes(x, f.Leg.Leg, f.Fare.Total())
	if f.End > 0 {
		t.lies(x, f.Leg, f.Start, f.End)
	}
}

// provedBy keeps the proof of a site's answer. Only the audit of several journals needs it,
// so a leg that is not known breaks nothing here.
func (t *Trail) provedBy(f facts.LegProved) {
	if x := t.txs[f.Leg.Tx]; x != nil && f.Leg.Leg >= 0 && f.Leg.Leg < len(x.legs) {
		x.legs[f.Leg.Leg].proof = f.Proof
	}
}

// lies notes where the site has placed a leg with a window.
func (t *Trail) lies(x *tx, id grid.LegID, start, end grid.Time) {
	if id.Leg < 0 || id.Leg >= len(x.legs) || id.Leg >= len(x.begun.Legs) {
		t.breaks("I2", "transaction %v has %d legs, not %v", id.Tx, len(x.legs), id)
		return
	}
	t.promises.liesWithin(x, id, start, end)
	x.begun.Legs = slices.Clone(x.begun.Legs)
	x.begun.Legs[id.Leg].Start, x.begun.Legs[id.Leg].End = start, end
}

func (t *Trail) decided(f facts.TxDecided) {
	x := t.txs[f.Tx]
	if !t.agreement.begun(x, f) {
		return
	}
	t.decisions.once(x, f)
	t.lives.decides(f.Tx)
	x.decided, x.decidedAt, x.commit = true, t.at, f.Commit
	t.audit.touch(f.Tx)
	if f.Commit {
		t.votes.voted(x)
		t.windows.obeys(x)
		t.order.placed(x)
		t.mends(x, true)
		t.jobs.placed(x)
	} else {
		t.bounds.frees(x)
	}
	t.order.touch(x.begun.Job)
}

func (t *Trail) closed(f facts.LegClosed) {
	x, l := t.agreement.leg(f.Leg)
	if x == nil {
		return
	}
	if t.agreement.closedAs(x, f) && t.money.postedOnce(l, f) {
		t.prices.chargedAs(l, f)
	}
	l.closed, l.confirmed, l.givenUp = true, f.Commit, f.Claim
	t.bounds.owes(x, f.Leg.Leg, f.Posted)
	l.posted += f.Posted
	l.lost = x.commit && !f.Commit
	if l.lost && len(x.legs) == 1 {
		t.windows.asksAgain(x)
		t.jobs.failed(x)
	}
	t.order.touch(x.begun.Job)
}

// mends notes that a repair stands in for a leg, or does no more.
func (t *Trail) mends(x *tx, stands bool) {
	if lost := t.txs[x.begun.Repairs.Tx]; lost != nil && x.begun.Repairs.Leg < len(lost.legs) {
		lost.legs[x.begun.Repairs.Leg].mended = stands
	}
}

func (t *Trail) done(f facts.LegDone) {
	x, l := t.agreement.leg(f.Leg)
	if x == nil {
		return
	}
	t.money.givenBackOnce(l, f)
	t.windows.endsInTime(f, x)
	t.money.refund(f.Leg, l, f.Refund)
	// judged here anew: an audit does not take a view's word for it
	if r := f.Result; f.State == grid.Settled && r != nil {
		l.failed = !r.Known || r.Exit != 0 || r.Signal != 0 || r.Ended.Refused()
	}
	l.done, l.givenUp, l.penalty = true, l.givenUp || f.Claim, l.penalty.Plus(f.Penalty)
	if l.state, l.end = f.State, f.End; f.State == grid.Asked { // of an earlier version
		l.state = grid.Settled
	}
	t.bounds.owes(x, f.Leg.Leg, l.due-f.Refund-f.Penalty)
	t.moves.ends(x, f)
	t.order.touch(x.begun.Job)
}

// reversed takes back a COMMIT that took effect nowhere.
func (t *Trail) reversed(f facts.TxReversed) {
	x := t.txs[f.Tx]
	if x == nil {
		return
	}
	t.decisions.reversed(x, f)
	x.decided, x.commit = true, false
	t.windows.asksAgain(x)
	t.mends(x, false)
	t.jobs.reversed(x)
	t.bounds.frees(x)
	t.order.touch(x.begun.Job)
}

// txForgotten notes transactions whose record is dropped.
func (t *Trail) txForgotten(list []grid.TxID) {
	for _, id := range list {
		if x := t.txs[id]; x != nil {
			t.decisions.forgets(x, id)
			x.forgotten = true
		}
	}
}

// adopted takes a leg that its site has and of which the broker has no record: an
// amnesia.
func (t *Trail) adopted(f facts.LegAdopted) {
	t.audit.exempt[f.Leg] = true
	t.bounds.adopted = true
	x := t.txs[f.Leg.Tx]
	if x == nil {
		x = &tx{begun: facts.TxBegun{Tx: f.Leg.Tx, Job: f.Job}, place: t.last, at: t.at}
		t.txs[f.Leg.Tx] = x
	}
	for len(x.legs) <= f.Leg.Leg {
		x.legs = append(x.legs, txLeg{})
		x.begun.Sites = append(x.begun.Sites, "")
		x.begun.Legs = append(x.begun.Legs, grid.Leg{})
		x.begun.Limits = append(x.begun.Limits, grid.MaxCredits)
		t.audit.exempt[grid.LegID{Tx: f.Leg.Tx, Leg: len(x.legs) - 1}] = true
	}
	x.begun.Sites[f.Leg.Leg], x.begun.Legs[f.Leg.Leg] = f.Site, f.What
}

// brokerImage takes an image of a broker, or a part of it. It is believed where the
// journal has lost its beginning, and must agree with the facts elsewhere.
func (t *Trail) brokerImage(f facts.BrokerImage) {
	t.money.balanced(f.Accounts)
	t.money.pending(f)
	for i := range f.Txs {
		m := &f.Txs[i]
		x := t.txs[m.Tx]
		commit, decided := m.State == grid.TxCommitted, m.State.Decided()
		switch {
		case x == nil && t.whole:
			t.breaks("I2", "the image has transaction %v, the facts do not know it", m.Tx)
		case x == nil:
			x = &tx{begun: m.TxBegun, place: t.last, at: t.at, decided: decided, commit: commit, legs: make([]txLeg, len(m.Legs))}
			for k := range min(len(m.Legs), len(m.Memory)) {
				r := m.Memory[k]
				x.legs[k] = txLeg{priced: r.Priced, fare: r.Fare, closed: r.Closed, lost: commit && r.Closed && !r.Charged, back: r.Back, done: r.Charged && r.State.Terminal(),
					givenUp: r.Claim || r.Settled, proof: r.Proof}
				if r.Charged {
					x.legs[k].posted = r.Fare.Total()
				}
			}
			t.txs[m.Tx] = x
		default:
			t.decisions.remembered(x, m)
		}
	}
	if t.whole {
		return
	}
	for i := range f.Jobs {
		t.windows.asks(&f.Jobs[i].Job)
		t.arrays.imaged(&f.Jobs[i])
	}
	t.lives.remembers(f)
}
