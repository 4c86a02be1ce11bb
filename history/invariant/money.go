package invariant

import (
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// I8: accounts balance, nobody spends beyond a budget, money is posted once and given
// back at most once. Live ledgers are checked by grid.CheckAccounts.

// money is the rule I8.
type money struct {
	*journal
	legs     siteLegs
	gathers  map[string]*gathering // by job
	charged  map[grid.LegID]bool   // pilots, by their site
	promised grid.Credits          // pending of the image that is read, less what its transactions and jobs explain
}

// postedBack checks what a move posts back: once, of what was charged, no more.
func (r *money) postedBack(l *siteLeg, f facts.LegMoved, known bool) {
	if f.Refund < 0 || f.Penalty < 0 {
		r.breaks("I8", "leg %v is given back %v and a penalty of %v credits", f.Leg, f.Refund, f.Penalty)
	}
	switch {
	case f.Refund == 0:
	case known && !l.charged:
		r.breaks("I8", "leg %v was never charged, and %v credits are given back", f.Leg, f.Refund)
	case l.Refund > 0 && f.Refund != l.Refund:
		r.breaks("I8", "leg %v is given back %v credits, and %v before", f.Leg, f.Refund, l.Refund)
	case f.Refund > f.Fare.Total():
		r.breaks("I8", "leg %v cost %v credits, and %v are given back", f.Leg, f.Fare.Total(), f.Refund)
	case known && f.State == grid.Released:
		r.swapped(l, f)
	}
	if f.Kept < 0 || f.Kept > f.Fare.Total() {
		r.breaks("I8", "leg %v costs %v credits, and %v of them are kept", f.Leg, f.Fare.Total(), f.Kept)
	}
}

// swapped holds what a leg brings back that another has taken the place of to what
// is kept of that one: the rest is what a schedule gives back, and no schedule gives
// back the additive part, nor what was kept of the leg itself (S121). Versions before
// this rule kept nothing.
func (r *money) swapped(l *siteLeg, f facts.LegMoved) {
	by := r.legs[l.by]
	if by == nil || r.audit.exempt[f.Leg] || r.audit.exempt[l.by] {
		return
	}
	most := min(f.Fare.Base, f.Fare.Total()-l.Kept)
	switch back := f.Refund - by.Kept; {
	case back <= most || by.Kept == by.Fare.Total():
	case by.Kept == 0 && l.Kept == 0:
		r.notes("I8", "leg %v at %v + %v credits gives way to leg %v, %v come back and nothing is kept of that: right only of an earlier version",
			f.Leg, f.Fare.Base, f.Fare.Additive, l.by, f.Refund)
	default:
		r.breaks("I8", "leg %v, of which a schedule gives back %v credits at most, gives way to leg %v: %v come back, and %v are kept of that",
			f.Leg, most, l.by, f.Refund, by.Kept)
	}
}

// postedOnce checks what a broker posts for a leg.
func (r *money) postedOnce(l *txLeg, f facts.LegClosed) bool {
	switch {
	case f.Posted < 0 || !f.Commit && f.Posted > 0:
		r.breaks("I8", "leg %v is closed without the leg, and %v credits are posted", f.Leg, f.Posted)
		return false
	case f.Commit && l.posted > 0:
		r.breaks("I8", "leg %v is charged %v credits a second time", f.Leg, f.Posted)
		return false
	}
	return true
}

// givenBackOnce checks that what is over brings nothing back once more.
func (r *money) givenBackOnce(l *txLeg, f facts.LegDone) {
	switch {
	case f.Penalty < 0:
		r.breaks("I8", "leg %v is given a penalty of %v credits", f.Leg, f.Penalty)
	case l.done && (f.Refund > 0 || f.Penalty > 0):
		r.breaks("I8", "leg %v is over, and %v and %v credits are given back once more", f.Leg, f.Refund, f.Penalty)
	}
}

// refund checks that a leg is given back money at most once, and no more than it
// cost.
func (r *money) refund(id grid.LegID, l *txLeg, amount grid.Credits) {
	switch {
	case amount == 0:
		return
	case amount < 0 || amount > l.posted:
		r.breaks("I8", "leg %v cost %v credits, and %v are given back", id, l.posted, amount)
	case l.back > 0:
		r.breaks("I8", "leg %v is given back %v credits, and %v before", id, amount, l.back)
	}
	l.back += max(amount, 0)
}

// pending holds what an image has reserved to its transactions: the limit or the
// bound price of each leg whose decision is open, or not acknowledged. Where all
// are closed that is nothing. Beside it is what is set aside for jobs that are gathered.
// The accounts stand in the first part of an image, transactions and jobs in all.
func (r *money) pending(f facts.BrokerImage) {
	if f.Part == 0 {
		r.promised = 0
		for i := range f.Accounts {
			if a := &f.Accounts[i]; a.OfVO() {
				r.promised = r.promised.Plus(a.PendingDebit)
			}
		}
	}
	for i := range f.Txs {
		m := &f.Txs[i]
		for k := range min(len(m.Memory), len(m.Limits), len(m.Sites)) {
			switch known := &m.Memory[k]; {
			case m.State == grid.TxAborted || known.Closed || m.Sites[k] == "":
			case known.Priced:
				r.promised -= known.Fare.Total()
			default:
				r.promised -= m.Limits[k]
			}
		}
	}
	for i := range f.Jobs {
		r.setAside(&f.Jobs[i])
		r.promised -= f.Jobs[i].SetAside
	}
	if f.Part+1 >= f.Parts && r.promised != 0 {
		r.breaks("I8", "the image has %v credits more pending than its open transactions and gathered jobs come to", r.promised)
	}
}

// balanced holds the accounts of an image to I8: they balance, and a VO has
// spent and promised no more than its budget.
func (r *money) balanced(list []grid.Account) {
	for i := range list {
		if a := &list[i]; a.OfVO() {
			if err := a.Covered(); err != nil {
				r.breaks("I8", "%v", err)
			}
		}
	}
	if err := grid.CheckAccounts(list); err != nil {
		r.breaks("I8", "the image's %v", err)
	}
}

// remembered holds what the account of an image has pending to its legs.
func (r *money) remembered(x *imaged) {
	if x.account != x.pending {
		r.breaks("I8", "the image has %v credits pending, its held and prepared legs come to %v", x.account, x.pending)
	}
}
