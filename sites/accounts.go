package sites

import (
	"github.com/bourse-grid/bourse"
)

// accounts are a site's money: what each broker owes and has paid for its legs.
type accounts struct {
	ledger bourse.Ledger[bourse.LegID]
}

// income is the account that all legs are paid to.
const income = "income"

// payer is the account that the legs of a broker are paid from.
func payer(broker string) string { return "broker:" + broker }

// moved does what a move means for the money: income is pending while a leg is
// held or prepared, posted when it is confirmed, and void when it never is.
// What is given back later is a new posting.
func (a *accounts) moved(l *leg, was bourse.LegState) {
	switch {
	case l.State == bourse.Held:
		a.reserve(l)
	case l.State == bourse.Confirmed:
		a.ledger.Post(l.Leg)
		l.charged = true
	case l.State.Terminal() && (was == bourse.Held || was == bourse.Prepared):
		a.ledger.Void(l.Leg)
	case l.State == bourse.Released || l.State == bourse.Lost:
		a.giveBack(l)
	}
}

// restored does so for a leg that is as its broker says it was.
func (a *accounts) restored(l *leg, was bourse.LegState) {
	if was == bourse.Held || was == bourse.Prepared {
		a.ledger.Void(l.Leg)
	}
	switch l.State {
	case bourse.Held, bourse.Prepared:
		a.reserve(l)
	case bourse.Confirmed, bourse.Running, bourse.Settled, bourse.Released, bourse.Lost:
		if !l.charged && (l.State != bourse.Lost || l.Refund > 0) {
			a.ledger.Pay(transfer(l, l.Fare.Total()))
			l.charged = true
		}
		if l.State == bourse.Released || l.State == bourse.Lost {
			a.giveBack(l)
		}
	}
}

// reserve has the price of a leg pending.
func (a *accounts) reserve(l *leg) { a.ledger.Reserve(l.Leg, transfer(l, l.Fare.Total())) }

func (a *accounts) giveBack(l *leg) {
	x := transfer(l, l.Refund.Plus(l.Penalty))
	x.From, x.To = x.To, x.From
	a.ledger.Pay(x)
}

// toPay is how much more a broker's account has room to pay, toReturn how much can
// be given back to it.
func (a *accounts) toPay(broker string) bourse.Credits { return a.ledger.Room(payer(broker), income) }

func (a *accounts) toReturn(broker string) bourse.Credits {
	return a.ledger.Room(income, payer(broker))
}

// list returns the accounts in order of name; load begins with such a list.
func (a *accounts) list() []bourse.Account { return a.ledger.Accounts() }

func (a *accounts) load(list []bourse.Account) { a.ledger.Load(list) }

// all shows the ledger itself.
func (a *accounts) all() *bourse.Ledger[bourse.LegID] { return &a.ledger }

// transfer pays for a leg: from its broker's account to the income of all legs.
func transfer(l *leg, amount bourse.Credits) bourse.Transfer {
	return bourse.Transfer{From: payer(l.Leg.Tx.Broker), To: income, Amount: amount}
}

// Ledger shows the site's accounts: what each broker owes and has paid.
func (m *memory) Ledger() *bourse.Ledger[bourse.LegID] { return m.accounts.all() }
