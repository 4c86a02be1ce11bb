// Package accounts keeps a broker's books: what its VO and each user have spent and
// promised, and what they can still promise.
package accounts

import (
	"maps"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse"
)

// Accounts are a double-entry ledger:
//
//	treasury -> vo:NAME        the budget, at the start and with each of its periods, and deposits
//	vo:NAME  -> user:ANA       what the VO pays for a leg of ana's,
//	user:ANA -> site:NORTH     and ana hands on to the site
//
// Each leg moves along both of the lower arrows under the same amounts: pending
// at the limit when its transaction begins, shrunk to the bound price when the
// site holds it, posted when the site has acknowledged COMMIT, void at ABORT.
// Hence the VO's debit is all that was spent, spent + pending <= budget is
// nothing but its Available >= 0, each user's turnover is the debit of the user's
// own account, and a quota is checked against that. What a site gives back
// travels the same way in the other direction, as new transfers; quotas count
// what was spent, net of that.
type Accounts struct {
	vo     string         // the account
	in     bourse.Credits // paid in by the treasury, in all
	quotas map[string]bourse.Credits

	ledger   bourse.Ledger[Entry]
	returned map[string]bourse.Credits // by user: what sites gave back
}

const (
	treasury = "treasury"
	// overdraft pays what was spent beyond the budget, by two processes of one name
	// that did not know of each other: it is on nobody's account but shows.
	overdraft = "overdraft"
)

// Entry is the key of a pending transfer: a leg, and which of its two moves.
type Entry struct {
	Leg bourse.LegID
	Hop Hop
}

// Hop is one of the two moves that a leg's money makes.
type Hop uint8

// The two moves.
const (
	ToUser Hop = iota // from the VO
	ToSite            // from the user
)

// userPrefix begins the name of a user's account, and sitePrefix a site's.
const (
	userPrefix = "user:"
	sitePrefix = "site:"
)

// New opens the books of a broker of that name with its budget. The quotas bound
// what users may spend; who is not named has no bound of their own.
func New(name string, budget bourse.Credits, quotas map[string]bourse.Credits) Accounts {
	a := Accounts{vo: bourse.VOAccount(name), quotas: quotas, returned: map[string]bourse.Credits{}}
	a.PayIn(budget)
	return a
}

// PayIn has the treasury pay into the VO's account. It is no more than RoomForPay.
func (a *Accounts) PayIn(amount bourse.Credits) {
	a.ledger.Pay(bourse.Transfer{From: treasury, To: a.vo, Amount: amount})
	a.in += amount
}

// Begin has the treasury have paid in so much in all: what the books began with, where
// that is not what New was told.
func (a *Accounts) Begin(in bourse.Credits) {
	if more := in - a.in; more >= 0 {
		a.PayIn(more)
	} else {
		a.ledger.Pay(bourse.Transfer{From: a.vo, To: treasury, Amount: -more})
		a.in = in
	}
}

// In is what the treasury has paid in altogether.
func (a *Accounts) In() bourse.Credits { return a.in }

// RoomForPay is how much more the treasury may pay in: MaxBudget in all.
func (a *Accounts) RoomForPay() bourse.Credits { return bourse.MaxBudget - a.in }

// Load puts the books of an image in place of these. What was pending then is
// reserved again by its legs.
func (a *Accounts) Load(list []bourse.Account, returned []bourse.UserReturned) {
	a.ledger, a.returned = bourse.Ledger[Entry]{}, map[string]bourse.Credits{}
	a.ledger.Load(list)
	x := a.ledger.Account(treasury)
	a.in = -x.Balance()
	for _, x := range returned {
		a.returned[x.User] = x.Credits
	}
}

// Returned is what sites gave back, by user in order of name, for an image.
func (a *Accounts) Returned() []bourse.UserReturned {
	var list []bourse.UserReturned
	for _, user := range slices.Sorted(maps.Keys(a.returned)) {
		list = append(list, bourse.UserReturned{User: user, Credits: a.returned[user]})
	}
	return list
}

// Ledger is the books themselves, to be read.
func (a *Accounts) Ledger() *bourse.Ledger[Entry] { return &a.ledger }

// VO is the name of the VO's account.
func (a *Accounts) VO() string { return a.vo }

// userAccount is where a user's turnover shows; jobs without a user share one.
func userAccount(user string) string {
	if user == "" {
		return "users"
	}
	return userPrefix + user
}

// Reserve makes an amount pending for a leg.
func (a *Accounts) Reserve(leg bourse.LegID, user, site string, amount bourse.Credits) {
	u := userAccount(user)
	a.ledger.Reserve(Entry{leg, ToUser}, bourse.Transfer{From: a.vo, To: u, Amount: amount})
	a.ledger.Reserve(Entry{leg, ToSite}, bourse.Transfer{From: u, To: sitePrefix + site, Amount: amount})
}

// Shrink lowers what is pending for a leg to its bound price.
func (a *Accounts) Shrink(leg bourse.LegID, amount bourse.Credits) {
	a.ledger.Shrink(Entry{leg, ToUser}, amount)
	a.ledger.Shrink(Entry{leg, ToSite}, amount)
}

// Post pays a leg.
func (a *Accounts) Post(leg bourse.LegID) {
	a.ledger.Post(Entry{leg, ToUser})
	a.ledger.Post(Entry{leg, ToSite})
}

// Void gives up what is pending for a leg.
func (a *Accounts) Void(leg bourse.LegID) {
	a.ledger.Void(Entry{leg, ToUser})
	a.ledger.Void(Entry{leg, ToSite})
}

// Refund books what a site has given back.
func (a *Accounts) Refund(user, site string, amount bourse.Credits) {
	u := userAccount(user)
	a.ledger.Pay(bourse.Transfer{From: sitePrefix + site, To: u, Amount: amount})
	a.ledger.Pay(bourse.Transfer{From: u, To: a.vo, Amount: amount})
	a.returned[user] += amount
}

// Claim books what a site charges by its own books beyond ours; less than nothing is
// what it gives back. It is the VO's matter and no user's.
func (a *Accounts) Claim(site string, amount bourse.Credits) {
	if amount < 0 {
		a.ledger.Pay(bourse.Transfer{From: sitePrefix + site, To: a.vo, Amount: -amount})
		return
	}
	if left := a.Left(); left < amount {
		a.Overdraw(amount - left)
	}
	a.ledger.Pay(bourse.Transfer{From: a.vo, To: sitePrefix + site, Amount: amount})
}

// Overdraw has the overdraft pay into the VO's account: so much of its budget is
// then spent beyond it.
func (a *Accounts) Overdraw(amount bourse.Credits) {
	a.ledger.Pay(bourse.Transfer{From: overdraft, To: a.vo, Amount: amount})
}

// Bears reports whether what legs without a record cost can have been spent by a
// process of this broker. What its account does not cover was spent by another that
// did not know of this one, or of what has come back since: as much as was paid in
// once more, in all of the broker's life, and not what a site cares to list.
func (a *Accounts) Bears(cost bourse.Credits) bool {
	return a.Overdrawn().Plus(max(0, cost-a.Left())) <= a.in
}

// Overdrawn is what the overdraft has paid.
func (a *Accounts) Overdrawn() bourse.Credits {
	x := a.ledger.Account(overdraft)
	return x.Debit
}

// Left is what the VO can still promise: what its account covers, and has room
// for. What users pass on to sites is never more than their VO has spent.
func (a *Accounts) Left() bourse.Credits {
	return min(a.Available(), a.ledger.Room(a.vo, "")) // its turnover is bounded, whatever it has
}

// Available is what is left of the VO's money.
func (a *Accounts) Available() bourse.Credits {
	x := a.ledger.Account(a.vo)
	return x.Available()
}

// Spent is what a user has spent, net of what sites gave back, and what is pending
// for the user. Money that a site gave back has passed through the user's account to
// the VO's and is no longer counted as spent.
func (a *Accounts) Spent(user string) (spent, pending bourse.Credits) {
	x := a.ledger.Account(userAccount(user))
	return x.Debit - 2*a.returned[user], x.PendingDebit
}

// Bound puts other quotas in the place of those that there were.
func (a *Accounts) Bound(quotas map[string]bourse.Credits) { a.quotas = quotas }

// Quota is what a user may spend over the broker's life, if there is a bound to it.
func (a *Accounts) Quota(user string) (bourse.Credits, bool) {
	q, ok := a.quotas[user]
	return q, ok
}

// Quotas reports whether any user has a quota.
func (a *Accounts) Quotas() bool { return len(a.quotas) > 0 }

// UserLeft is what a user can still promise under a quota, MaxCredits without one.
func (a *Accounts) UserLeft(user string) bourse.Credits {
	quota, ok := a.quotas[user]
	if !ok {
		return bourse.MaxCredits
	}
	spent, pending := a.Spent(user)
	return quota - (spent + pending)
}

// RoomForPenalty is how much more a site's account can pay to a user's, and that to
// the VO's.
func (a *Accounts) RoomForPenalty(user, site string) bourse.Credits {
	return min(a.ledger.Room(sitePrefix+site, userAccount(user)), a.ledger.Room(userAccount(user), a.vo))
}

// RoomForClaim is how much more a site's account can pay to the VO's.
func (a *Accounts) RoomForClaim(site string) bourse.Credits {
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
