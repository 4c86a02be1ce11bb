// Package accounts keeps a broker's books: what its VO and each user have spent and
// promised, what they can still promise, and how the VO's money lasts for its time. The
// books follow from the facts of the broker's journal, and are a part of its image. The
// package never sends, records or decides about a job.
package accounts

import (
	"maps"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Accounts are a double-entry ledger:
//
//	treasury -> vo:NAME        the budget, at the start and in each period, and deposits
//	vo:NAME  -> user:ANA       what the VO pays for one of ana's legs,
//	user:ANA -> site:NORTH     which ana passes on to the site
//
// Each leg makes both of the lower transfers, with the same amounts: pending at its limit
// when the transaction begins, reduced to the bound price when the site holds the leg,
// posted when the site has acknowledged COMMIT, or void at ABORT. So the VO's debit is all
// that was spent, and spent + pending <= budget means that its Available is >= 0. Each
// user's turnover is the debit of the user's own account, against which a quota is
// checked. Refunds go the other way, as new transfers; quotas count what was spent, net of
// refunds.
type Accounts struct {
	vo     string       // the VO's account
	in     grid.Credits // total paid in by the treasury
	quotas map[string]grid.Credits

	ledger   grid.Ledger[Entry]
	returned map[string]grid.Credits // by user: refunds from sites

	budget budget
	pacing pacing
}

const (
	treasury = "treasury"
	// overdraft pays what two processes of one broker, which did not know of each
	// other, spent beyond the budget. It belongs to nobody, but shows in the ledger.
	overdraft = "overdraft"
)

// Entry is the key of a pending transfer: a leg, and which of its two transfers.
type Entry struct {
	Leg grid.LegID
	Hop Hop
}

// Hop is one of the two transfers that a leg's money makes.
type Hop uint8

// The two transfers.
const (
	ToUser Hop = iota // from the VO
	ToSite            // from the user
)

// userPrefix begins the name of a user's account, and sitePrefix a site's.
const (
	userPrefix = "user:"
	sitePrefix = "site:"
)

// New opens the accounts of a broker of that name with its budget, at most
// grid.MaxBudget. The quotas bound what users may spend; a user who is not named has
// none.
func New(name string, budget grid.Credits, quotas map[string]grid.Credits) Accounts {
	a := Accounts{vo: grid.VOAccount(name), quotas: quotas, returned: map[string]grid.Credits{}}
	a.payIn(budget)
	return a
}

// payIn pays from the treasury into the VO's account. The amount must not exceed
// roomForPay.
func (a *Accounts) payIn(amount grid.Credits) {
	a.ledger.Pay(grid.Transfer{From: treasury, To: a.vo, Amount: amount})
	a.in += amount
}

// begin corrects the total paid in by the treasury to in, if New was told another budget.
func (a *Accounts) begin(in grid.Credits) {
	if more := in - a.in; more >= 0 {
		a.payIn(more)
	} else {
		a.ledger.Pay(grid.Transfer{From: a.vo, To: treasury, Amount: -more})
		a.in = in
	}
}

// In is the total paid in by the treasury.
func (a *Accounts) In() grid.Credits { return a.in }

// roomForPay is how much more the treasury may pay in; the total is at most MaxBudget.
func (a *Accounts) roomForPay() grid.Credits { return grid.MaxBudget - a.in }

// Load replaces the accounts by those of an image. The caller must reserve again what was
// pending.
func (a *Accounts) Load(f *facts.BrokerImage) {
	a.ledger, a.returned = grid.Ledger[Entry]{}, map[string]grid.Credits{}
	a.ledger.Load(f.Accounts)
	x := a.ledger.Account(treasury)
	a.in = -x.Balance()
	for _, x := range f.Returned {
		a.returned[x.User] = x.Credits
	}
	a.pacing.load(f.Pacing)
	a.budget.load(f.Budget)
}

// Image writes the accounts' part of an image.
func (a *Accounts) Image(f *facts.BrokerImage) {
	f.Accounts, f.Returned = a.ledger.Accounts(), a.refunds()
	f.Pacing, f.Budget = a.pacing.image(), a.budget.image()
}

// refunds are what sites have refunded, by user in order of name.
func (a *Accounts) refunds() []facts.UserReturned {
	var list []facts.UserReturned
	for _, user := range slices.Sorted(maps.Keys(a.returned)) {
		list = append(list, facts.UserReturned{User: user, Credits: a.returned[user]})
	}
	return list
}

// Ledger is the ledger itself, which must not be changed.
func (a *Accounts) Ledger() *grid.Ledger[Entry] { return &a.ledger }

// VO is the name of the VO's account.
func (a *Accounts) VO() string { return a.vo }

// userAccount is the name of a user's account; jobs without a user share one.
func userAccount(user string) string {
	if user == "" {
		return "users"
	}
	return userPrefix + user
}

// Reserve makes an amount pending for a leg, in both transfers.
func (a *Accounts) Reserve(leg grid.LegID, user, site string, amount grid.Credits) {
	u := userAccount(user)
	a.ledger.Reserve(Entry{leg, ToUser}, grid.Transfer{From: a.vo, To: u, Amount: amount})
	a.ledger.Reserve(Entry{leg, ToSite}, grid.Transfer{From: u, To: sitePrefix + site, Amount: amount})
}

// Shrink lowers what is pending for a leg to its bound price.
func (a *Accounts) Shrink(leg grid.LegID, amount grid.Credits) {
	a.ledger.Shrink(Entry{leg, ToUser}, amount)
	a.ledger.Shrink(Entry{leg, ToSite}, amount)
}

// Post pays for a leg what is pending for it.
func (a *Accounts) Post(leg grid.LegID) {
	a.ledger.Post(Entry{leg, ToUser})
	a.ledger.Post(Entry{leg, ToSite})
}

// Void frees what is pending for a leg.
func (a *Accounts) Void(leg grid.LegID) {
	a.ledger.Void(Entry{leg, ToUser})
	a.ledger.Void(Entry{leg, ToSite})
}

// Pay pays a site for a user what was pending for nothing in particular.
func (a *Accounts) Pay(user, site string, amount grid.Credits) {
	u := userAccount(user)
	a.ledger.Pay(grid.Transfer{From: a.vo, To: u, Amount: amount})
	a.ledger.Pay(grid.Transfer{From: u, To: sitePrefix + site, Amount: amount})
}

// Refund books what a site has refunded to a user, and so to the VO.
func (a *Accounts) Refund(user, site string, amount grid.Credits) {
	u := userAccount(user)
	a.ledger.Pay(grid.Transfer{From: sitePrefix + site, To: u, Amount: amount})
	a.ledger.Pay(grid.Transfer{From: u, To: a.vo, Amount: amount})
	a.returned[user] += amount
}

// Claim books what a site charges by its own books beyond the broker's; a negative amount
// is what it gives back. Claims concern the VO's account only, not the user's.
func (a *Accounts) Claim(site string, amount grid.Credits) {
	if amount < 0 {
		a.ledger.Pay(grid.Transfer{From: sitePrefix + site, To: a.vo, Amount: -amount})
		return
	}
	if left := a.Left(); left < amount {
		a.Overdraw(amount - left)
	}
	a.ledger.Pay(grid.Transfer{From: a.vo, To: sitePrefix + site, Amount: amount})
}

// Overdraw pays from the overdraft into the VO's account, to cover spending beyond the
// budget.
func (a *Accounts) Overdraw(amount grid.Credits) {
	a.ledger.Pay(grid.Transfer{From: overdraft, To: a.vo, Amount: amount})
}

// Bears reports whether a process of this broker can have spent cost on legs without a
// record. What the account does not cover must have been spent by another process that did
// not know of this one, or before refunds came back. That is at most the total paid in, once,
// over the broker's life; a site that lists more is not believed.
func (a *Accounts) Bears(cost grid.Credits) bool {
	return a.Overdrawn().Plus(max(0, cost-a.Left())) <= a.in
}

// Overdrawn is what the overdraft has paid.
func (a *Accounts) Overdrawn() grid.Credits {
	x := a.ledger.Account(overdraft)
	return x.Debit
}

// Left is what the VO can still promise: what its account covers and its turnover has room
// for. Users' accounts need no check, as users never pass on more than their VO has spent.
func (a *Accounts) Left() grid.Credits {
	return min(a.Available(), a.ledger.Room(a.vo, "")) // its turnover is bounded, whatever it has
}

// Available is what is left of the VO's money.
func (a *Accounts) Available() grid.Credits {
	x := a.ledger.Account(a.vo)
	return x.Available()
}

// Promised is what is pending of the VO's money.
func (a *Accounts) Promised() grid.Credits {
	x := a.ledger.Account(a.vo)
	return x.PendingDebit
}

// Spent is what a user has spent, net of refunds, and what is pending for the user. A
// refund passes through the user's account on its way to the VO's, which adds to the
// debit, so it is subtracted twice.
func (a *Accounts) Spent(user string) (spent, pending grid.Credits) {
	x := a.ledger.Account(userAccount(user))
	return x.Debit - 2*a.returned[user], x.PendingDebit
}

// Bound replaces the quotas.
func (a *Accounts) Bound(quotas map[string]grid.Credits) { a.quotas = quotas }

// Quota is what a user may spend over the broker's life. It reports false if the user has
// no quota.
func (a *Accounts) Quota(user string) (grid.Credits, bool) {
	q, ok := a.quotas[user]
	return q, ok
}

// Quotas reports whether any user has a quota.
func (a *Accounts) Quotas() bool { return len(a.quotas) > 0 }

// UserLeft is what a user can still promise under a quota, or MaxCredits without one. It is
// negative if a quota was lowered below what is spent.
func (a *Accounts) UserLeft(user string) grid.Credits {
	quota, ok := a.quotas[user]
	if !ok {
		return grid.MaxCredits
	}
	spent, pending := a.Spent(user)
	return quota - (spent + pending)
}

// RoomForPenalty is how much more a site's account can pay to a user's account, and that to
// the VO's, before one of them reaches the bound on its turnover.
func (a *Accounts) RoomForPenalty(user, site string) grid.Credits {
	return min(a.ledger.Room(sitePrefix+site, userAccount(user)), a.ledger.Room(userAccount(user), a.vo))
}

// RoomForClaim is how much more a site's account can pay to the VO's, by the same bound.
func (a *Accounts) RoomForClaim(site string) grid.Credits {
	return a.ledger.Room(sitePrefix+site, a.vo)
}

// Users lists the users who have an account or a quota, in order of name.
func (a *Accounts) Users() []string {
	users := map[string]bool{}
	for name := range a.quotas {
		users[name] = true
	}
	for _, x := range a.ledger.Accounts() {
		if user, ok := strings.CutPrefix(x.Name, userPrefix); ok {
			users[user] = true
		}
	}
	return slices.Sorted(maps.Keys(users))
}
