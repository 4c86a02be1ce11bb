package sites

import (
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// accounts are a site's books: what each broker owes and has paid for its legs.
type accounts struct {
	ledger grid.Ledger[grid.LegID]
}

// income is the account into which all legs are paid.
const income = "income"

// payer is the account from which a broker's legs are paid.
func payer(broker string) string { return "broker:" + broker }

// moved books a leg's change of state: its price is pending while it is held or prepared,
// posted when it is confirmed, and void if it never is. A later refund is a new posting.
func (a *accounts) moved(l *leg, was grid.LegState) {
	switch {
	case l.State == grid.Held:
		a.reserve(l)
	case l.State == grid.Confirmed:
		a.ledger.Post(l.Leg)
		l.charged = true
	case l.State.Terminal() && (was == grid.Held || was == grid.Prepared):
		a.ledger.Void(l.Leg)
	case l.State == grid.Released || l.State == grid.Lost:
		a.giveBack(l)
	}
}

// restored does the same for a leg that its broker has asserted.
func (a *accounts) restored(l *leg, was grid.LegState) {
	if was == grid.Held || was == grid.Prepared {
		a.ledger.Void(l.Leg)
	}
	switch l.State {
	case grid.Held, grid.Prepared:
		a.reserve(l)
	case grid.Confirmed, grid.Running, grid.Settled, grid.Released, grid.Lost:
		if !l.charged && (l.State != grid.Lost || l.Refund > 0) {
			a.ledger.Pay(transfer(l, l.Fare.Total()))
			l.charged = true
		}
		if l.State == grid.Released || l.State == grid.Lost {
			a.giveBack(l)
		}
	}
}

// reserve makes a leg's price pending.
func (a *accounts) reserve(l *leg) { a.ledger.Reserve(l.Leg, transfer(l, l.Fare.Total())) }

func (a *accounts) giveBack(l *leg) {
	x := transfer(l, l.Refund.Plus(l.Penalty))
	x.From, x.To = x.To, x.From
	a.ledger.Pay(x)
}

// idled books what the idling of a pilot costs.
func (a *accounts) idled(f facts.PilotCharged) {
	a.ledger.Pay(grid.Transfer{From: payer(f.Pilot.Tx.Broker), To: income, Amount: f.Cost})
}

// toPay is how much more a broker's account can pay, and toReturn how much can be refunded
// to it, before a bound on turnover is reached.
func (a *accounts) toPay(broker string) grid.Credits { return a.ledger.Room(payer(broker), income) }

func (a *accounts) toReturn(broker string) grid.Credits {
	return a.ledger.Room(income, payer(broker))
}

// list returns the accounts in order of name; load replaces them by such a list.
func (a *accounts) list() []grid.Account { return a.ledger.Accounts() }

func (a *accounts) load(list []grid.Account) { a.ledger.Load(list) }

// all is the ledger itself.
func (a *accounts) all() *grid.Ledger[grid.LegID] { return &a.ledger }

// transfer pays for a leg: from its broker's account to the income of all legs.
func transfer(l *leg, amount grid.Credits) grid.Transfer {
	return grid.Transfer{From: payer(l.Leg.Tx.Broker), To: income, Amount: amount}
}

// Ledger returns the site's ledger: what each broker owes and has paid. It must not be
// changed.
func (m *memory) Ledger() *grid.Ledger[grid.LegID] { return m.accounts.all() }
