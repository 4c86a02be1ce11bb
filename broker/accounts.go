package broker

import (
	"bourse"
	"bourse/agents/plant"
)

// The accounts are a double-entry ledger:
//
//	treasury -> vo:NAME        the budget, once, at the start
//	vo:NAME  -> user:ANA       what the VO pays for a leg of ana's,
//	user:ANA -> site:NORTH     and ana hands on to the site
//
// Each leg moves along both of the lower arrows under the same amounts: pending
// at the limit when its transaction begins, shrunk to the bound price when the
// site holds it, posted when the site has acknowledged COMMIT, void at ABORT.
// Hence the VO's debit is all that was spent, spent + pending <= budget is
// nothing but its Available >= 0, each user's turnover is the debit of his own
// account, and his quota is checked against that. What a site gives back
// travels the same way in the other direction, as new transfers; quotas count
// what was spent, net of that.
const treasury = "treasury"

// overdraft pays what was spent beyond the budget, by two processes of one name
// that did not know of each other: it is on nobody's account but shows.
const overdraft = "overdraft"

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

func (b *Broker) voAccount() string { return bourse.VOAccount(b.cfg.Name) }

// userAccount is where a user's turnover shows; jobs without a user share one.
func userAccount(user string) string {
	if user == "" {
		return "users"
	}
	return "user:" + user
}

// endow opens the VO's account with its budget.
func (b *Broker) endow() {
	b.ledger.Pay(bourse.Transfer{From: treasury, To: b.voAccount(), Amount: b.cfg.Budget})
}

// reserve makes amount pending for a leg.
func (b *Broker) reserve(leg bourse.LegID, user, site string, amount bourse.Credits) {
	u := userAccount(user)
	b.ledger.Reserve(Entry{leg, ToUser}, bourse.Transfer{From: b.voAccount(), To: u, Amount: amount})
	b.ledger.Reserve(Entry{leg, ToSite}, bourse.Transfer{From: u, To: sitePrefix + site, Amount: amount})
}

// shrink lowers what is pending for a leg to its bound price.
func (b *Broker) shrink(leg bourse.LegID, amount bourse.Credits) {
	b.ledger.Shrink(Entry{leg, ToUser}, amount)
	b.ledger.Shrink(Entry{leg, ToSite}, amount)
}

// post pays a leg.
func (b *Broker) post(leg bourse.LegID) {
	b.ledger.Post(Entry{leg, ToUser})
	t := b.ledger.Post(Entry{leg, ToSite})
	if plant.On("double-post") {
		b.ledger.Pay(t)
	}
}

// void gives up what is pending for a leg.
func (b *Broker) void(leg bourse.LegID) {
	b.ledger.Void(Entry{leg, ToUser})
	b.ledger.Void(Entry{leg, ToSite})
}

// refund books what a site has given back.
func (b *Broker) refund(user, site string, amount bourse.Credits) {
	u := userAccount(user)
	b.ledger.Pay(bourse.Transfer{From: sitePrefix + site, To: u, Amount: amount})
	b.ledger.Pay(bourse.Transfer{From: u, To: b.voAccount(), Amount: amount})
	b.returned[user] += amount
}

// voLeft is what the VO can still promise: what its account covers, and has room
// for. What users pass on to sites is never more than their VO has spent.
func (b *Broker) voLeft() bourse.Credits { return min(b.available(), b.room()) }

// available is what is left of the VO's money.
func (b *Broker) available() bourse.Credits {
	a := b.ledger.Account(b.voAccount())
	return a.Available()
}

// room is how much more the VO's account can spend, whatever it has: its turnover
// is bounded.
func (b *Broker) room() bourse.Credits { return b.ledger.Room(b.voAccount(), "") }

// userLeft is what a user can still promise under his quota, MaxCredits without
// one. Money that a site gave back has passed through his account to the VO's
// and is no longer counted as spent.
func (b *Broker) userLeft(user string) bourse.Credits {
	quota, ok := b.cfg.Quotas[user]
	if !ok {
		return bourse.MaxCredits
	}
	a := b.ledger.Account(userAccount(user))
	return quota - (a.Debit - 2*b.returned[user] + a.PendingDebit)
}
