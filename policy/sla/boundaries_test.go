package sla

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// Bounds belong to what they bound: as many nodes, sizes, and so late are taken.
func TestBounds_AreWithin(t *testing.T) {
	t.Parallel()
	o := options(EDF)
	o.Nodes, o.Waiting, o.Price, o.MaxPhi = MaxNodes, MaxWaiting, grid.MaxPrice, MaxPhi
	if err := o.Check(); err != nil {
		t.Error(err)
	}
	o.Nodes, o.Waiting, o.Price, o.MaxPhi = 1, 1, 0, 0
	if err := o.Check(); err != nil {
		t.Error(err)
	}
	for _, serial := range []int{0, 1000} {
		if _, err := Amdahl(MaxNodes-1, MaxNodes, grid.MaxDuration, serial); err != nil {
			t.Error(err)
		}
		if _, err := Power(1, MaxSizes, sec, serial); err != nil {
			t.Error(err)
		}
	}
	for _, serial := range []int{-1, 1001} {
		if _, err := Amdahl(1, 2, sec, serial); err == nil {
			t.Errorf("a serial share of %d thousandths is taken", serial)
		}
	}
	for _, n := range [][2]int{{0, 1}, {2, 1}, {1, MaxSizes + 1}, {MaxNodes, MaxNodes + 1}} {
		if _, err := Power(n[0], n[1], sec, 500); err == nil {
			t.Errorf("%v nodes are taken", n)
		}
	}
	a := Flexible(1, -grid.MaxTime, Size{MaxNodes, 2}, grid.MaxTime-2, grid.MaxTime)
	a.Fix, a.Threshold, a.Budget = 1000, MaxPhi, 0
	if err := a.Check(); err != nil {
		t.Error(err)
	}
	a.Sizes = nil
	for n := range MaxSizes {
		a.Sizes = append(a.Sizes, Size{n + 1, 2})
	}
	if err := a.Check(); err != nil {
		t.Error(err)
	}
	if a.Sizes = append(a.Sizes, Size{MaxSizes + 1, 2}); a.Check() == nil {
		t.Errorf("%d sizes are taken", MaxSizes+1)
	}
	if got := (Size{2, math.MaxInt64}).area(); got != math.MaxInt64 {
		t.Errorf("an area beyond all is %d", got)
	}
}

// A leg without a choice is strict and never closes; one with a window closes when it
// says, at the start at the latest.
func TestForLeg_LeavesTheChoiceThatTheLegLeaves(t *testing.T) {
	t.Parallel()
	leg := grid.Leg{Nodes: 3, Start: at(100), End: at(150)}
	for _, c := range []struct {
		w              grid.Flex
		ready, due     grid.Time
		fix, threshold int
	}{
		{grid.Flex{}, at(100), at(150), NeverFix, 0},
		{grid.Flex{Ready: at(100), Due: at(150), Phi: 300}, at(100), at(150), NeverFix, 300},
		{grid.Flex{Ready: at(90), Due: at(200), Fix: 500, Phi: MaxPhi + 1}, at(90), at(200), 500, MaxPhi},
		{grid.Flex{Ready: at(90), Due: at(200), Fix: 1001}, at(90), at(200), 1000, 0},
	} {
		a := ForLeg(7, at(10), leg, c.w)
		if a.ID != 7 || a.Submit != at(10) || !slices.Equal(a.Sizes, []Size{{3, 50 * sec}}) || a.Ready != c.ready || a.Deadline != c.due || a.Fix != c.fix || a.Threshold != c.threshold {
			t.Errorf("%+v: %+v", c.w, a)
		}
	}
}

func TestNames_AreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for want := range Order(len(orders.Lines)) {
		text, _ := want.MarshalText()
		got := Shuffle
		if want == Shuffle {
			got = EDF
		}
		if err := got.UnmarshalText(text); err != nil || got != want {
			t.Errorf("%s is read as %v, %v", text, got, err)
		}
	}
	var o Order
	if err := o.UnmarshalText([]byte("lifo")); err == nil || !strings.Contains(err.Error(), "edf, fifo, lff, bjf, revenue or shuffle") {
		t.Errorf("an order that there is not: %v", err)
	}
	for want := range Disclosure(len(disclosures)) {
		text, _ := want.MarshalText()
		got := (want + 1) % Disclosure(len(disclosures))
		if err := got.UnmarshalText(text); err != nil || got != want {
			t.Errorf("%s is read as %v, %v", text, got, err)
		}
	}
}

// Of four nodes three are taken, then all, then one, then three again.
func TestFit_AmongGapsTooSmallAndTooShort(t *testing.T) {
	t.Parallel()
	p := grid.Profile{{At: 0, Free: 1}, {At: 10, Free: 0}, {At: 20, Free: 3}, {At: 24, Free: 1}, {At: 40, Free: 4}}
	for _, c := range []struct {
		from, last  grid.Time
		n           int
		d           grid.Duration
		first, late grid.Time
	}{
		{0, 60, 1, 10, 0, 60}, {1, 60, 1, 10, 20, 60}, {0, 60, 3, 4, 20, 60}, {0, 60, 3, 5, 40, 60},
		{0, 39, 3, 5, grid.Never, grid.Never}, {0, 30, 3, 4, 20, 20}, {0, 20, 3, 4, 20, 20}, {0, 19, 3, 4, grid.Never, grid.Never},
		{0, 60, 5, 1, grid.Never, grid.Never}, {41, 40, 1, 1, grid.Never, grid.Never},
	} {
		if got := firstFit(p, c.from, c.last, c.n, c.d); got != c.first {
			t.Errorf("%+v: first at %v", c, got)
		}
		if got := lastFit(p, c.from, c.last, c.n, c.d); got != c.late {
			t.Errorf("%+v: last at %v", c, got)
		}
	}
}

// Pin, Unpin and Open are about jobs that wait, whose windows are open: of others they
// say no and change nothing. What they change is sorted by what it has become.
func TestPin_IsAboutThoseWhoWait(t *testing.T) {
	t.Parallel()
	for _, order := range []Order{EDF, LFF, BJF} {
		s := newSchedule(t, options(order))
		accept(t, s, Strict(1, 0, Size{2, 50 * sec}, 0))
		accept(t, s, Flexible(2, 0, Size{4, 10 * sec}, at(20), at(100)))
		s.Advance(0)
		for _, id := range []int64{1, 9} {
			if s.Pin(id) || s.Unpin(id) || s.Open(id, 0, at(200), NeverFix) {
				t.Errorf("%v: job %d, which runs or is none, is pinned or opened", order, id)
			}
		}
		was, _ := s.Promise(2)
		if !s.Pin(2) {
			t.Fatalf("%v: the waiting job is not pinned", order)
		}
		audit(t, s)
		if p, _ := s.Promise(2); p.Ready != was.Start || p.Due != was.End() || p.Fixed {
			t.Errorf("%v: pinned to [%v, %v), the slot is [%v, %v), fixed %t", order, p.Ready, p.Due, was.Start, was.End(), p.Fixed)
		}
		if !s.Unpin(2) {
			t.Fatalf("%v: the waiting job is not opened again", order)
		}
		audit(t, s)
		if p, _ := s.Promise(2); p.Ready != was.Ready || p.Due != was.Due || p.Version != was.Version {
			t.Errorf("%v: opened to %+v, was %+v", order, p, was)
		}
		for _, w := range [][2]grid.Time{{was.Start + 1, at(100)}, {at(20), was.End() - 1}} { // the slot must lie in it
			if s.Open(2, w[0], w[1], NeverFix) {
				t.Errorf("%v: opened to %v, the slot is [%v, %v)", order, w, was.Start, was.End())
			}
		}
		if !s.Open(2, was.Start, was.End(), 0) {
			t.Fatalf("%v: not opened to its own slot", order)
		}
		if p, _ := s.Promise(2); p.Version != was.Version+1 || p.Ready != was.Start || p.Due != was.End() {
			t.Errorf("%v: with its slot as window it is %+v", order, p)
		}
		if s.Advance(0); s.Unpin(2) { // with x = 0 it is fixed at once
			t.Errorf("%v: a window that has closed for good is opened", order)
		}
		audit(t, s)
	}
}

// When the next job is given up, what comes next is the one after it.
func TestCancel_LooksForWhatComesNext(t *testing.T) {
	t.Parallel()
	s := newSchedule(t, options(FIFO))
	accept(t, s, Strict(1, 0, Size{4, 10 * sec}, at(20)))
	accept(t, s, Strict(2, 0, Size{4, 10 * sec}, at(50)))
	if s.Cancel(1); s.Next() != at(50) {
		t.Errorf("next at %v, want 50", s.Next())
	}
}

// An audit finds each of the ways in which a place can differ from its promise.
func TestAudit_FindsWhatDiffers(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*place){
		"start": func(p *place) { p.job.Start++ }, "ready": func(p *place) { p.job.Ready-- }, "due": func(p *place) { p.job.Due++ },
		"nodes": func(p *place) { p.job.Size.Nodes++ }, "runtime": func(p *place) { p.job.Size.Runtime++ }, "key": func(p *place) { p.key++ },
		"late": func(p *place) { p.late = true }, "window": func(p *place) { p.last = p.start - 1 }, "running": func(p *place) { p.job.Running = true },
		"fix": func(p *place) { p.fix = 0 },
	} {
		s := newSchedule(t, options(EDF))
		accept(t, s, Flexible(1, 0, Size{4, 10 * sec}, at(20), at(100)))
		change(&s.waiting[0])
		if s.Audit() == nil {
			t.Errorf("another %s goes unnoticed", name)
		}
	}
}

// Around two jobs that are in the way there is room before and after; of the list there
// are as many as were asked for, the nearest first.
func TestAlternatives_AreAtMostAsManyAsAskedFor(t *testing.T) {
	t.Parallel()
	s := newSchedule(t, options(FIFO))
	accept(t, s, Strict(1, 0, Size{4, 10 * sec}, at(15)))
	accept(t, s, Strict(2, 0, Size{4, 15 * sec}, at(25)))
	a := Strict(3, 0, Size{4, 10 * sec}, at(20))
	a.Threshold = MaxPhi
	for most, want := range [][]grid.Time{{}, {at(5)}, {at(5), at(40)}, {at(5), at(40)}} {
		got := []grid.Time{}
		for _, o := range s.Alternatives(a, most) {
			got = append(got, o.Start)
		}
		if !slices.Equal(got, want) {
			t.Errorf("of at most %d: %v, want %v", most, got, want)
		}
	}
}

// A request that would be refused at any slot, because the queue is full, gets no alternatives.
func TestAlternatives_NoneWhereNoSlotHelps(t *testing.T) {
	t.Parallel()
	for waiting, want := range map[int]int{2: 0, 3: 2} {
		opt := options(FIFO)
		opt.Waiting = waiting
		s := newSchedule(t, opt)
		accept(t, s, Strict(1, 0, Size{4, 10 * sec}, at(15)))
		accept(t, s, Strict(2, 0, Size{4, 15 * sec}, at(25)))
		a := Strict(3, 0, Size{4, 10 * sec}, at(20))
		a.Threshold = MaxPhi
		if list := s.Alternatives(a, 10); len(list) != want {
			t.Errorf("where 2 of at most %d wait: %v, want %d", waiting, list, want)
		}
	}
}

// Firm is what work that will not move leaves: what runs, and what waits with a closed window.
func TestFirm_LeavesOutWhatMayMove(t *testing.T) {
	t.Parallel()
	s := newSchedule(t, options(EDF))
	accept(t, s, rigid(s, 1, 0, 15, 1))
	accept(t, s, rigid(s, 2, 10, 20, 2))
	accept(t, s, flexible(s, 3, 10, 1, 10, 60))
	s.Advance(0)
	want := grid.Profile{{At: 0, Free: 3}, {At: at(10), Free: 1}, {At: at(15), Free: 2}, {At: at(20), Free: 4}}
	if got := s.Firm(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	refuse(t, s, rigid(s, 4, 15, 20, 3), grid.NoWindow)
}

// Where a root is a number it is that number: a half of a quarter is its root, an eighth of a
// sixteenth its power of three quarters.
func TestRoot_IsExactWhereItCanBe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		b, power int
		want     uint64
	}{{4, 500, one / 2}, {16, 250, one / 2}, {16, 500, one / 4}, {16, 750, one / 8}, {256, 125, one / 2}, {9, 0, one}} {
		if got := root(1, c.b, c.power); got != c.want {
			t.Errorf("(1/%d)^%d/1000 is %d, want %d", c.b, c.power, got, c.want)
		}
	}
}
