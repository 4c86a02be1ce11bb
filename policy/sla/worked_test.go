package sla

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
)

const sec = grid.Second

func at(seconds int64) grid.Time { return grid.Time(seconds) * grid.Time(sec) }

// options are those of the worked cases: 4 processors, no money.
func options(o Order) Options {
	return Options{Nodes: 4, Order: o, MaxPhi: MaxPhi, Waiting: 100, Shares: pricing.DefaultFlexibility}
}

func newSchedule(tb testing.TB, opt Options) *Schedule {
	tb.Helper()
	s, err := New(opt, 0)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// flexible is Te, R, [ready, deadline) of the spec, submitted now.
func flexible(s *Schedule, id, te int64, r int, ready, deadline int64) SLA {
	return Flexible(id, s.now, Size{r, grid.Duration(te) * sec}, at(ready), at(deadline))
}

// rigid is [start, end) on r nodes.
func rigid(s *Schedule, id, start, end int64, r int) SLA {
	return flexible(s, id, end-start, r, start, end)
}

func accept(tb testing.TB, s *Schedule, a SLA) {
	tb.Helper()
	if _, why := s.Submit(a); why.Refused() {
		tb.Fatalf("SLA %d was refused: %v", a.ID, why)
	}
	audit(tb, s)
}

func refuse(tb testing.TB, s *Schedule, a SLA, code grid.Code) grid.Reason {
	tb.Helper()
	_, why := s.Submit(a)
	if why.Code != code {
		tb.Fatalf("SLA %d: %q (%v), want %q", a.ID, why.Code, why, code)
	}
	audit(tb, s)
	return why
}

func audit(tb testing.TB, s *Schedule) {
	tb.Helper()
	if err := s.Audit(); err != nil {
		tb.Fatal(err)
	}
}

// stands wants each job, named by its place in the list from 1, at its start.
func stands(tb testing.TB, s *Schedule, starts ...int64) {
	tb.Helper()
	for i, want := range starts {
		if p, _ := s.Promise(int64(i + 1)); p.Start != at(want) {
			tb.Errorf("SLA %d stands at %v, not at %d", i+1, p.Start, want)
		}
	}
}

func TestMakeRoom_UnderEDFARigidNewcomerMovesTheFlexibleOne(t *testing.T) {
	t.Parallel()
	s := newSchedule(t, options(EDF))
	accept(t, s, flexible(s, 1, 10, 4, 10, 40))
	stands(t, s, 10)
	accept(t, s, rigid(s, 2, 10, 20, 4))
	stands(t, s, 20, 10)
}

func TestMakeRoom_UnderFIFOTheRigidNewcomerIsRefused(t *testing.T) {
	t.Parallel()
	s := newSchedule(t, options(FIFO))
	accept(t, s, flexible(s, 1, 10, 4, 10, 40))
	refuse(t, s, rigid(s, 2, 10, 20, 4), grid.NoWindow)
	stands(t, s, 10)
}

func TestFixqueue_OneSwapKeepsTheJobThatWouldBreak(t *testing.T) {
	t.Parallel()
	s := newSchedule(t, options(BJF))
	accept(t, s, rigid(s, 1, 20, 30, 2))
	accept(t, s, flexible(s, 2, 10, 3, 20, 80))
	stands(t, s, 20, 30)
	if s.t.swaps != 1 {
		t.Errorf("%d swaps", s.t.swaps)
	}
}

func TestFixqueue_RefusalLeavesNoTrace(t *testing.T) {
	t.Parallel()
	s := newSchedule(t, options(EDF))
	accept(t, s, rigid(s, 1, 10, 40, 4))
	accept(t, s, flexible(s, 2, 10, 4, 15, 60))
	stands(t, s, 10, 40)
	refuse(t, s, flexible(s, 3, 10, 2, 5, 35), grid.NoWindow)
	stands(t, s, 10, 40)
	accept(t, s, flexible(s, 3, 10, 2, 0, 35))
	stands(t, s, 10, 40, 0)
}

func TestAlternatives_NearestSlotWithinTheThreshold(t *testing.T) {
	t.Parallel()
	opt := options(EDF)
	opt.Price = 3600 * grid.Price(grid.Credit) // a credit a node-second
	s := newSchedule(t, opt)
	accept(t, s, rigid(s, 1, 100, 150, 4))
	a := rigid(s, 2, 120, 160, 2)
	refuse(t, s, a, grid.NoWindow)

	a.Threshold = 1000
	list := s.Alternatives(a, 10)
	want := Alternative{Size: a.Sizes[0], Start: at(150), Phi: 750, Price: 80 * grid.Credit}
	if len(list) != 1 || list[0] != want {
		t.Fatalf("threshold 1 offers %v, not %v", list, want)
	}
	a.Threshold = 500
	if list := s.Alternatives(a, 10); len(list) > 0 {
		t.Errorf("threshold .5 offers %v", list)
	}
	a.Threshold, a.Earlier = 2000, true
	list = s.Alternatives(a, 10)
	want = Alternative{Size: a.Sizes[0], Start: at(60), Phi: -1500, Price: 80 * grid.Credit}
	if len(list) != 1 || list[0] != want {
		t.Fatalf("earlier only with threshold 2 offers %v, not %v", list, want)
	}
	audit(t, s)
	accept(t, s, list[0].Rigid(a))
	stands(t, s, 100, 60)
}

func TestFixing_AtHalfTheWaitByThePresentSlot(t *testing.T) {
	t.Parallel()
	s := newSchedule(t, options(EDF))
	a := flexible(s, 1, 50, 4, 100, 200)
	a.Fix = 500
	accept(t, s, a)
	stands(t, s, 100)
	s.Advance(at(49))
	accept(t, s, rigid(s, 2, 100, 120, 4))
	stands(t, s, 120)
	if e := s.Advance(at(60) - 1); len(e) > 0 {
		t.Fatalf("before half of the wait: %v", e)
	}
	if e := s.Advance(at(60)); len(e) != 1 || e[0] != (Event{at(60), Fixed, 1}) {
		t.Fatalf("at half of the wait: %v", e)
	}
	if p, _ := s.Promise(1); !p.Fixed || p.Ready != at(120) || p.Due != at(170) {
		t.Errorf("the window is [%v, %v)", p.Ready, p.Due)
	}
	refuse(t, s, rigid(s, 3, 120, 125, 4), grid.NoWindow)
}

func TestFixing_XOfZeroFixesOnAcceptance(t *testing.T) {
	t.Parallel()
	s := newSchedule(t, options(EDF))
	a := flexible(s, 1, 10, 4, 10, 40)
	a.Fix = 0
	accept(t, s, a)
	if p, _ := s.Promise(1); !p.Fixed {
		t.Error("the window is open")
	}
	if s.Next() != s.Now() {
		t.Errorf("the next event is at %v: nobody is told", s.Next())
	}
	if e := s.Advance(s.Now()); len(e) != 1 || e[0] != (Event{0, Fixed, 1}) {
		t.Errorf("%v", e)
	}
	refuse(t, s, rigid(s, 2, 10, 20, 4), grid.NoWindow)
}
