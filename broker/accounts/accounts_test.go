package accounts

import (
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse"
)

func leg(n int) bourse.LegID {
	return bourse.LegID{Tx: bourse.TxID{Broker: "vo1", Incarnation: 1, Seq: uint64(n)}}
}

// What is promised counts against budget and quota, what is bound for less or given up
// comes back at once, and what a site gives back is not spent any more.
func TestAccounts_WhatIsLeftFollowsALegToItsEnd(t *testing.T) {
	t.Parallel()
	a := New("vo1", 100, map[string]bourse.Credits{"ana": 60})
	left := func(what string, vo, ana bourse.Credits) {
		t.Helper()
		if a.Left() != vo || a.UserLeft("ana") != ana || a.UserLeft("ben") != bourse.MaxCredits {
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
	again := New("vo1", 100, map[string]bourse.Credits{"ana": 60})
	again.Load(a.Ledger().Accounts(), a.Returned())
	if !reflect.DeepEqual(again.Ledger().Accounts(), a.Ledger().Accounts()) || again.UserLeft("ana") != 50 || !reflect.DeepEqual(again.Users(), []string{"ana"}) {
		t.Errorf("an image of\n%+v\nis read as\n%+v", a, again)
	}
}

// What another process of the broker has spent is paid by an overdraft, within the
// budget once more.
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
}
