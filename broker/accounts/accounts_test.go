package accounts

import (
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

func leg(n int) grid.LegID {
	return grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Seq: uint64(n)}}
}

// A promise counts against budget and quota. The rest returns at once when a leg is bound for less
// or abandoned, and refunds are not spent any more.
func TestAccounts_WhatIsLeftFollowsALegToItsEnd(t *testing.T) {
	t.Parallel()
	a := New("vo1", 100, map[string]grid.Credits{"ana": 60})
	left := func(what string, vo, ana grid.Credits) {
		t.Helper()
		if a.Left() != vo || a.UserLeft("ana") != ana || a.UserLeft("ben") != grid.MaxCredits {
			t.Errorf("%s: %v and %v are left, want %v and %v", what, int64(a.Left()), int64(a.UserLeft("ana")), int64(vo), int64(ana))
		}
	}
	left("at first", 100, 60)
	a.Reserve(leg(1), "ana", "north", 50)
	a.Reserve(leg(2), "ana", "south", 10)
	left("with two legs", 40, 0)
	a.Shrink(leg(1), 30)
	left("when one is held for 30", 60, 20)
	a.Void(leg(2))
	left("when the other is given up", 70, 30)
	a.Post(leg(1))
	left("when the first is paid", 70, 30)
	a.Refund("ana", "north", 20)
	left("when 20 of it came back", 90, 50)
	if spent, pending := a.Spent("ana"); spent != 10 || pending != 0 {
		t.Errorf("ana has spent %d with %d pending, want 10 and 0", spent, pending)
	}
	again := New("vo1", 100, map[string]grid.Credits{"ana": 60})
	var image facts.BrokerImage
	a.Image(&image)
	again.Load(&image)
	if !reflect.DeepEqual(again.Ledger().Accounts(), a.Ledger().Accounts()) || again.UserLeft("ana") != 50 || !reflect.DeepEqual(again.Users(), []string{"ana"}) {
		t.Errorf("an image of\n%+v\nis read as\n%+v", a, again)
	}
}

// An overdraft of at most the budget pays for what another process of the broker has spent.
func TestAccounts_AClaimBeyondTheBudgetIsAnOverdraft(t *testing.T) {
	t.Parallel()
	a := New("vo1", 100, nil)
	a.Claim("north", 130)
	if x := a.Ledger().Account(overdraft); a.Left() != 0 || x.Debit != 30 {
		t.Errorf("%d left, an overdraft of %d", a.Left(), x.Debit)
	}
	if a.Bears(71) || !a.Bears(70) {
		t.Error("an overdraft of 30 leaves 70 of a budget of 100")
	}
	a.Claim("north", -30)
	if a.Left() != 30 {
		t.Errorf("%d left after 30 came back", a.Left())
	}
	b := New("vo1", 100, nil)
	if b.Bears(201) || !b.Bears(200) {
		t.Error("what the account covers and as much again of an overdraft can have been spent, and no more")
	}
	b.Claim("north", 100)
	if _, any := balances(&b)[overdraft]; any || b.Left() != 0 {
		t.Errorf("a claim of all that there is leaves %d and an overdraft: %t", b.Left(), any)
	}
}

// Other quotas hold from now on, for what has been spent before too.
func TestBound_OtherQuotasHoldForWhatIsSpent(t *testing.T) {
	t.Parallel()
	a := New("vo1", 100, map[string]grid.Credits{"ana": 60})
	a.Reserve(leg(1), "ana", "north", 50)
	a.Post(leg(1))
	a.Bound(map[string]grid.Credits{"ana": 40, "ben": 10})
	ana, known := a.Quota("ana")
	if a.UserLeft("ana") != -10 || a.UserLeft("ben") != 10 || ana != 40 || !known || !reflect.DeepEqual(a.Users(), []string{"ana", "ben"}) {
		t.Errorf("left of ana's quota of %d is %d, of ben's %d; users %v", ana, a.UserLeft("ana"), a.UserLeft("ben"), a.Users())
	}
	if _, known := a.Quota("eve"); known || a.UserLeft("eve") != grid.MaxCredits {
		t.Error("eve has a quota")
	}
}

// balances are those of the accounts, by name, in millionths of a credit.
func balances(a *Accounts) map[string]int64 {
	all := map[string]int64{}
	for _, x := range a.Ledger().Accounts() {
		all[x.Name] = int64(x.Balance())
	}
	return all
}

// Money goes from the treasury by way of the VO and the user to the site, and back the same
// way; jobs without a user share an account. A claim is between the site and the VO.
func TestAccounts_MoneyTakesTheSameWayBack(t *testing.T) {
	t.Parallel()
	a := New("vo1", 100, nil)
	for i, user := range []string{"ana", ""} {
		a.Reserve(leg(i), user, "north", 30)
		a.Post(leg(i))
	}
	vo := a.VO()
	if got, want := balances(&a), map[string]int64{treasury: -100, vo: 40, "user:ana": 0, "users": 0, "site:north": 60}; !reflect.DeepEqual(got, want) {
		t.Errorf("paid: %v, want %v", got, want)
	}
	a.Refund("ana", "north", 20)
	a.Claim("north", 5)
	a.Claim("north", 0)
	if got, want := balances(&a), map[string]int64{treasury: -100, vo: 55, "user:ana": 0, "users": 0, "site:north": 45}; !reflect.DeepEqual(got, want) {
		t.Errorf("given back and claimed: %v, want %v", got, want)
	}
	if a.Overdrawn() != 0 || !reflect.DeepEqual(a.Users(), []string{"ana"}) {
		t.Errorf("an overdraft of %d, users %v", a.Overdrawn(), a.Users())
	}
}

// The treasury has paid in as much as Begin is told, more or less than at New.
func TestBegin_TheTreasuryHasPaidInSoMuch(t *testing.T) {
	t.Parallel()
	for _, in := range []grid.Credits{150, 100, 40, 0} {
		a := New("vo1", 100, nil)
		a.begin(in)
		if got := balances(&a); a.In() != in || a.Left() != in || got[treasury] != -int64(in) || a.roomForPay() != grid.MaxBudget-in {
			t.Errorf("%d in all: %v, %d in, room for %d", in, got, a.In(), a.roomForPay())
		}
	}
}

// An image is put in the place of what there was.
func TestLoad_ForgetsWhatThereWas(t *testing.T) {
	t.Parallel()
	a, b := New("vo1", 100, nil), New("vo1", 70, map[string]grid.Credits{"ben": 60})
	b.Reserve(leg(1), "ben", "south", 20)
	b.Post(leg(1))
	b.Refund("ben", "south", 20)
	var image facts.BrokerImage
	a.Image(&image)
	b.Load(&image)
	if !reflect.DeepEqual(balances(&b), balances(&a)) || b.refunds() != nil || b.In() != 100 || b.UserLeft("ben") != 60 {
		t.Errorf("%v, %v given back, %d in, %d left of ben's quota", balances(&b), b.refunds(), b.In(), b.UserLeft("ben"))
	}
	if a.Quotas() || !b.Quotas() {
		t.Error("only the second has quotas")
	}
}
