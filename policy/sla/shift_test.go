package sla

import (
	"testing"

	"github.com/bourse-grid/bourse"
)

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

func TestShift_AnOwnerWhoShiftsLetsANewcomerInAndIsPaid(t *testing.T) {
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
	if _, why := s.AdmitByShift(b, want); why.Refused() {
		t.Fatal(why)
	}
	stands(t, s, 15, 10)
	price(t, s, 1, 36*bourse.Credit, 2)
	price(t, s, 2, 20*bourse.Credit, 1)
}

func TestBreak_ABrokenPromiseCostsItsPriceAndThePenalty(t *testing.T) {
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

// Between the question and the owner's answer the schedule may have moved on.
func TestShift_WhatCannotBeHadAnyMoreChangesNothing(t *testing.T) {
	t.Parallel()
	s := priced(t)
	accept(t, s, rigid(s, 1, 10, 20, 4))
	b := rigid(s, 3, 10, 15, 4)
	sh := s.Shifts(b, 500)[0]
	stale, gone := sh, sh
	stale.Version, gone.ID = 2, 7
	for _, c := range []struct {
		shift Shift
		code  bourse.Code
	}{{stale, bourse.Stale}, {gone, bourse.Unknown}} {
		if _, why := s.AdmitByShift(b, c.shift); why.Code != c.code {
			t.Errorf("%+v: %v, not %s", c.shift, why, c.code)
		}
	}
	accept(t, s, rigid(s, 2, 20, 30, 1))
	if _, why := s.AdmitByShift(b, sh); why.Code != bourse.NoWindow {
		t.Errorf("a shift onto promised nodes: %v", why)
	}
	stands(t, s, 10, 20)
	price(t, s, 1, 40*bourse.Credit, 1)
	s.Advance(at(12))
	if _, why := s.AdmitByShift(b, sh); why.Code != bourse.BadState {
		t.Errorf("running work is shifted: %v", why)
	}
}

func TestShift_AVersionIsShiftedOnce(t *testing.T) {
	t.Parallel()
	s := priced(t)
	accept(t, s, rigid(s, 1, 10, 20, 4))
	b := rigid(s, 2, 10, 15, 4)
	sh := s.Shifts(b, 500)[0]
	if _, why := s.AdmitByShift(b, sh); why.Refused() {
		t.Fatal(why)
	}
	if _, why := s.AdmitByShift(rigid(s, 3, 15, 20, 4), sh); why.Code != bourse.Stale {
		t.Errorf("a stale version is shifted: %v", why)
	}
}

func TestShift_NobodyIsAskedWhoCostsMoreThanTheNewcomerBrings(t *testing.T) {
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

// Whatever is compensated and refunded, no owner gets back more than was paid.
func TestShift_APriceNeverFallsBelowZero(t *testing.T) {
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
}

func TestShift_AShiftGoesTheShorterWay(t *testing.T) {
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
			t.Errorf("for [%d, %d): %+v, want a start at %d", c.start, c.end, list, c.ready)
			continue
		}
		if _, why := s.AdmitByShift(b, list[0]); why.Refused() {
			t.Error(why)
		}
		stands(t, s, c.ready, c.start)
		audit(t, s)
	}
}
