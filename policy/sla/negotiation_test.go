package sla

import (
	"strings"
	"testing"

	"bourse"
)

// The table of states and acts: "-" where the act is refused.
const table = `
         offer  counter  accept  reject  expire
none     offer  -        -       -       -
offer    -      counter  accept  reject  expired
counter  -      counter  accept  reject  expired
accept   offer  -        -       -       -
reject   offer  -        -       -       -
expired  offer  -        -       -       -
`

func TestNegotiation_MovesAsTheTableSays(t *testing.T) {
	t.Parallel()
	rows := strings.Split(strings.TrimSpace(table), "\n")
	for i, row := range rows[1:] {
		cells := strings.Fields(row)
		from := State(i)
		if cells[0] != from.String() {
			t.Fatalf("row %q is not of state %v", row, from)
		}
		for a, want := range cells[1:] {
			act, now := Act(a), at(5)
			n := Negotiation{State: from, By: User, Proposal: Proposal{Version: 3, Expires: at(10)}, Rounds: 1}
			if act == Expire {
				now = at(10)
			}
			got, why := n.Step(now, Site, act, Proposal{Version: 3, Expires: at(20)}, 3)
			switch {
			case want == "-" && (!why.Refused() || got.State != from):
				t.Errorf("%v in state %v leads to %v", act, from, got.State)
			case want != "-" && (why.Refused() || got.State.String() != want):
				t.Errorf("%v in state %v leads to %v (%v), not %v", act, from, got.State, why, want)
			}
		}
	}
}

func TestNegotiation_RefusalsAreTyped(t *testing.T) {
	t.Parallel()
	open := Negotiation{State: Offered, By: User, Proposal: Proposal{Version: 3, Expires: at(10)}, Rounds: 1}
	last := open
	last.Rounds = MaxRounds
	next := Proposal{Version: 3, Expires: at(20)}
	for _, c := range []struct {
		name string
		n    Negotiation
		now  int64
		by   Party
		act  Act
		p    Proposal
		code bourse.Code
	}{
		{"one open offer per SLA", open, 5, Site, Offer, next, bourse.Conflict},
		{"a stale version", open, 5, Site, Accept, Proposal{Version: 2}, bourse.Stale},
		{"a stale offer", Negotiation{}, 5, User, Offer, Proposal{Version: 2, Expires: at(20)}, bourse.Stale},
		{"agreeing with oneself", open, 5, User, Accept, next, bourse.NotAllowed},
		{"countering oneself", open, 5, User, Counter, next, bourse.NotAllowed},
		{"an answer at the instant of expiry", open, 10, Site, Accept, next, bourse.Expired},
		{"an answer to nothing", Negotiation{}, 5, Site, Accept, next, bourse.BadState},
		{"expiry too soon", open, 5, Site, Expire, next, bourse.BadState},
		{"a round too many", last, 5, Site, Counter, next, bourse.BadState},
		{"an offer that has expired", Negotiation{}, 20, User, Offer, next, bourse.Invalid},
		{"negative money", Negotiation{}, 5, User, Offer, Proposal{Version: 3, Expires: at(20), Pay: -1}, bourse.Invalid},
	} {
		after, why := c.n.Step(at(c.now), c.by, c.act, c.p, 3)
		if why.Code != c.code || why.Detail == "" {
			t.Errorf("%s: %q (%v), %q is wanted", c.name, why.Code, why, c.code)
		}
		if want := c.n.State; c.code != bourse.Expired && after.State != want {
			t.Errorf("%s: the state is %v, not %v", c.name, after.State, want)
		}
	}
	if n, why := open.Step(at(5), User, Reject, next, 3); why.Refused() || n.State != Rejected {
		t.Errorf("the own offer is not taken back: %v, %v", n.State, why)
	}
	if n, why := open.Step(at(10), Site, Offer, next, 3); why.Refused() || n.State != Offered || n.By != Site {
		t.Errorf("a lapsed offer stands in the way of another: %v, %v", n.State, why)
	}
	lapsed := last
	lapsed.State = Lapsed
	n, _ := lapsed.Step(at(15), User, Offer, next, 3)
	if n, why := n.Step(at(15), Site, Counter, next, 3); why.Refused() || n.Rounds != 2 {
		t.Errorf("the rounds of another talk count: %d, %v", n.Rounds, why)
	}
	if n, why := last.Step(at(5), Site, Accept, next, 3); why.Refused() || n.State != Accepted {
		t.Errorf("the last proposal is not accepted: %v, %v", n.State, why)
	}
}

// priced is a schedule where a node-second costs a credit.
func priced(t *testing.T) *Schedule {
	opt := options(EDF)
	opt.Price = 3600 * bourse.Price(bourse.Credit)
	return newSchedule(t, opt)
}

func price(t *testing.T, s *Schedule, id int64, want bourse.Credits, version int) {
	t.Helper()
	if p, _ := s.Promise(id); p.Price != want || p.Version != version {
		t.Errorf("SLA %d: price %v and version %d, not %v and %d", id, p.Price, p.Version, want, version)
	}
	audit(t, s)
}

// A user narrows his window: the discount is paid back, and the surcharge.
func TestAdaptive_GivingUpFlexibilityCostsTheSurcharge(t *testing.T) {
	t.Parallel()
	s := priced(t)
	accept(t, s, flexible(s, 1, 10, 4, 10, 30)) // phi 1: 20 % off 40
	price(t, s, 1, 32*bourse.Credit, 1)
	ask := Proposal{Version: 1, Ready: at(15), Due: at(25), Expires: at(5)}
	if _, why := s.Negotiate(1, User, Offer, ask); why.Refused() {
		t.Fatal(why)
	}
	act, answer, why := s.Answer(1)
	if want := bourse.Credits(14_400_000); act != Counter || answer.Pay != want || why.Refused() { // 8 + .2 x 32
		t.Fatalf("the site says %v, %+v, %v; %v are wanted", act, answer, why, want)
	}
	for _, step := range []struct {
		by  Party
		act Act
	}{{Site, act}, {User, Accept}} {
		if _, why := s.Negotiate(1, step.by, step.act, answer); why.Refused() {
			t.Fatal(why)
		}
	}
	price(t, s, 1, 46_400_000, 2)
	stands(t, s, 15)
	refuse(t, s, rigid(s, 2, 15, 20, 1), bourse.NoWindow)
}

func TestAdaptive_GivingFlexibilityEarnsTheDiscount(t *testing.T) {
	t.Parallel()
	s := priced(t)
	accept(t, s, rigid(s, 1, 10, 20, 4))
	c, why := s.Amend(1, at(10), at(25)) // phi .5
	if why.Refused() || c.Refund != 4*bourse.Credit || c.Pay != 0 {
		t.Fatalf("%+v, %v", c, why)
	}
	price(t, s, 1, 36*bourse.Credit, 2)
	accept(t, s, rigid(s, 2, 10, 15, 4))
	stands(t, s, 15, 10)
}

func TestAdaptive_AWideWindowThatIsNarrowedIsNotCheaperThanANarrowOne(t *testing.T) {
	t.Parallel()
	s := priced(t)
	accept(t, s, rigid(s, 1, 10, 20, 1))
	accept(t, s, flexible(s, 2, 10, 1, 10, 30))
	if _, why := s.Amend(2, at(10), at(20)); why.Refused() {
		t.Fatal(why)
	}
	a, _ := s.Promise(1)
	b, _ := s.Promise(2)
	if b.Price <= a.Price {
		t.Errorf("%v against %v", b.Price, a.Price)
	}
}

func TestAdaptive_AnOwnerWhoShiftsLetsANewcomerInAndIsPaid(t *testing.T) {
	t.Parallel()
	s := priced(t)
	accept(t, s, rigid(s, 1, 10, 20, 4))
	b := rigid(s, 2, 10, 15, 4)
	refuse(t, s, b, bourse.NoWindow)
	if list := s.Shifts(b, 250); len(list) > 0 {
		t.Errorf("phi .25 is too little for %v", list)
	}
	list := s.Shifts(b, 500)
	want := Shift{ID: 1, Version: 1, Ready: at(15), Due: at(25), Compensation: 4 * bourse.Credit}
	if len(list) != 1 || list[0] != want {
		t.Fatalf("%+v, not %+v", list, want)
	}
	stands(t, s, 10)
	if _, why := s.Negotiate(1, Site, Offer, want.Ask(b, at(5))); why.Refused() {
		t.Fatal(why)
	}
	if n, why := s.Negotiate(1, User, Accept, Proposal{Version: 1}); why.Refused() || n.State != Accepted {
		t.Fatal(n, why)
	}
	stands(t, s, 15, 10)
	price(t, s, 1, 36*bourse.Credit, 2)
	price(t, s, 2, 20*bourse.Credit, 1)
}

// Between an offer and its acceptance the schedule may have moved on.
func TestAdaptive_WhatCannotBeHadAnyMoreEndsTheTalkAndChangesNothing(t *testing.T) {
	t.Parallel()
	s := priced(t)
	accept(t, s, rigid(s, 1, 10, 20, 4))
	ask := Proposal{Version: 1, Ready: at(20), Due: at(30), Pay: 100 * bourse.Credit, Expires: at(5)}
	if _, why := s.Negotiate(1, User, Offer, ask); why.Refused() {
		t.Fatal(why)
	}
	accept(t, s, rigid(s, 2, 20, 30, 1))
	n, why := s.Negotiate(1, Site, Accept, ask)
	if why.Code != bourse.NoWindow || n.State != Rejected {
		t.Errorf("%v, %v", n.State, why)
	}
	stands(t, s, 10, 20)
	price(t, s, 1, 40*bourse.Credit, 1)
	s.Advance(at(12))
	if _, why := s.Negotiate(1, User, Offer, ask); why.Code != bourse.BadState {
		t.Errorf("running work is talked about: %v", why)
	}
}

func TestAdaptive_ABrokenPromiseCostsItsPriceAndThePenalty(t *testing.T) {
	t.Parallel()
	s := priced(t)
	accept(t, s, flexible(s, 1, 10, 4, 10, 30))
	refund, penalty, ok := s.Break(1)
	if !ok || refund != 32*bourse.Credit || penalty != 32*bourse.Credit {
		t.Errorf("refund %v, penalty %v, %v", refund, penalty, ok)
	}
	if _, _, ok := s.Break(1); ok {
		t.Error("broken twice")
	}
	audit(t, s)
}

func TestAdaptive_AfterAShiftTheShiftedWindowIsTheAgreedOne(t *testing.T) {
	t.Parallel()
	s := priced(t)
	accept(t, s, rigid(s, 1, 10, 20, 4))
	b := rigid(s, 2, 10, 15, 4)
	if _, why := s.AdmitByShift(b, s.Shifts(b, 500)[0]); why.Refused() {
		t.Fatal(why)
	}
	c, why := s.Amend(1, at(15), at(30)) // wider than [15, 25), not than [10, 20)
	if why.Refused() || c.Pay != 0 || c.Refund != 4*bourse.Credit {
		t.Errorf("%+v, %v", c, why)
	}
	sh := Shift{ID: 1, Version: 2, Due: at(40)}
	if _, why := s.AdmitByShift(rigid(s, 3, 15, 20, 4), sh); why.Code != bourse.Stale {
		t.Errorf("a stale version is shifted: %v", why)
	}
}

func TestAdaptive_NobodyIsAskedWhoCostsMoreThanTheNewcomerBrings(t *testing.T) {
	t.Parallel()
	s := priced(t)
	accept(t, s, rigid(s, 1, 10, 110, 4)) // 400 credits: a shift costs 40
	if list := s.Shifts(rigid(s, 2, 10, 19, 4), 1000); len(list) > 0 {
		t.Errorf("36 credits let %+v in", list)
	}
	if list := s.Shifts(rigid(s, 2, 10, 20, 4), 1000); len(list) != 1 {
		t.Errorf("40 credits let %+v in", list)
	}
}

// Whatever is compensated and refunded, nobody gets back more than he paid.
func TestAdaptive_APriceNeverFallsBelowZero(t *testing.T) {
	t.Parallel()
	opt := options(EDF)
	opt.Price, opt.Shares.Compensation = 3600*bourse.Price(bourse.Credit), 1000
	s := newSchedule(t, opt)
	accept(t, s, rigid(s, 1, 10, 20, 4))
	b := rigid(s, 2, 10, 20, 4)
	list := s.Shifts(b, 1000)
	if len(list) != 1 {
		t.Fatalf("%+v", list)
	}
	if _, why := s.AdmitByShift(b, list[0]); why.Refused() {
		t.Fatal(why)
	}
	price(t, s, 1, 0, 2)
	generous := Shift{ID: 2, Version: 1, Ready: at(30), Due: at(40), Compensation: 1000 * bourse.Credit}
	if _, why := s.AdmitByShift(rigid(s, 4, 10, 20, 4), generous); why.Refused() {
		t.Fatal(why)
	}
	price(t, s, 2, 0, 2)
	s.Cancel(4)
	c := rigid(s, 3, 20, 30, 4)
	if list := s.Shifts(c, 1000); len(list) != 1 || list[0].Compensation != 0 {
		t.Errorf("who has paid nothing gets %+v", list)
	}
	if c, why := s.Amend(1, at(20), at(40)); why.Refused() || c.Refund != 0 {
		t.Errorf("%+v, %v", c, why)
	}
	price(t, s, 1, 0, 3)
}

func TestAdaptive_AShiftGoesTheShorterWay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ start, end, ready int64 }{
		{10, 18, 18}, // 8 later
		{14, 20, 4},  // 6 earlier; 10 later
		{14, 30, 4},
	} {
		s := priced(t)
		accept(t, s, rigid(s, 1, 10, 20, 4))
		b := rigid(s, 2, c.start, c.end, 4)
		list := s.Shifts(b, 1000)
		if len(list) != 1 || list[0].Ready != at(c.ready) || list[0].Due != at(c.ready+10) {
			t.Errorf("for [%d, %d): %+v, a start at %d is wanted", c.start, c.end, list, c.ready)
			continue
		}
		if _, why := s.AdmitByShift(b, list[0]); why.Refused() {
			t.Error(why)
		}
		stands(t, s, c.ready, c.start)
		audit(t, s)
	}
}

// An owner may want more than the compensation, and gets a last word from the
// site; whom the shift lets in is not for him to say.
func TestAdaptive_AnOwnerMayCounter(t *testing.T) {
	t.Parallel()
	s := priced(t)
	accept(t, s, rigid(s, 1, 10, 20, 4))
	b, other := rigid(s, 2, 10, 15, 4), rigid(s, 9, 10, 15, 4)
	ask := s.Shifts(b, 500)[0].Ask(b, at(5))
	if _, why := s.Negotiate(1, Site, Offer, ask); why.Refused() {
		t.Fatal(why)
	}
	more := ask
	more.Refund, more.Let = 10*bourse.Credit, &other
	if n, why := s.Negotiate(1, User, Counter, more); why.Refused() || n.Proposal.Let.ID != 2 {
		t.Fatal(n, why)
	}
	act, answer, why := s.Answer(1)
	if act != Counter || answer.Refund != 4*bourse.Credit || why.Refused() {
		t.Fatal(act, answer, why)
	}
	for _, by := range []struct {
		party Party
		act   Act
	}{{Site, act}, {User, Accept}} {
		if _, why := s.Negotiate(1, by.party, by.act, answer); why.Refused() {
			t.Fatal(why)
		}
	}
	stands(t, s, 15, 10)
	price(t, s, 1, 36*bourse.Credit, 2)
	if n, why := s.Negotiate(1, User, Offer, Proposal{Version: 2, Ready: at(15), Due: at(30), Expires: at(9), Let: &other}); why.Refused() || n.Proposal.Let != nil {
		t.Errorf("a user lets others in: %+v, %v", n, why)
	}
}
