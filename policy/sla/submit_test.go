package sla

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
)

func TestCheck_NamesTheNumbers(t *testing.T) {
	t.Parallel()
	base := Flexible(1, 0, Size{4, 50 * sec}, at(10), at(100))
	for _, c := range []struct {
		name   string
		change func(a *SLA)
		want   []string
	}{
		{"deadline before ready + runtime", func(a *SLA) { a.Deadline = at(50) }, []string{"deadline 50", "ready 10", "runtime 50", "= 60"}},
		{"zero estimate", func(a *SLA) { a.Sizes[0].Runtime = 0 }, []string{"estimate 0", "more than 0"}},
		{"negative estimate", func(a *SLA) { a.Sizes[0].Runtime = -5 * sec }, []string{"estimate -5"}},
		{"no nodes", func(a *SLA) { a.Sizes[0].Nodes = 0 }, []string{"nodes 0", "1 to"}},
		{"no size", func(a *SLA) { a.Sizes = nil }, []string{"0 sizes"}},
		{"a table that grows", func(a *SLA) { a.Sizes = []Size{{2, 10 * sec}, {4, 11 * sec}} }, []string{"10 seconds on 2", "11 on 4"}},
		{"a table out of order", func(a *SLA) { a.Sizes = []Size{{4, 10 * sec}, {2, 10 * sec}} }, []string{"2 nodes stand behind 4"}},
		{"a size twice", func(a *SLA) { a.Sizes = []Size{{2, 10 * sec}, {2, 10 * sec}} }, []string{"2 nodes stand behind 2"}},
		{"phi out of range", func(a *SLA) { a.Threshold = -500 }, []string{"-0.5", "between 0 and 100"}},
		{"phi too large", func(a *SLA) { a.Threshold = MaxPhi + 1 }, []string{"100.001", "between 0 and 100"}},
		{"x out of range", func(a *SLA) { a.Fix = 1001 }, []string{"1.001", "between 0 and 1"}},
		{"negative budget", func(a *SLA) { a.Budget = -1 }, []string{"budget -0.000001"}},
		{"beyond the calendar", func(a *SLA) { a.Deadline = grid.MaxTime + 1 }, []string{"deadline"}},
	} {
		a := base
		a.Sizes = []Size{base.Sizes[0]}
		c.change(&a)
		err := a.Check()
		if err == nil {
			t.Errorf("%s: taken", c.name)
			continue
		}
		for _, word := range c.want {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %q does not say %q", c.name, err, word)
			}
		}
		s := newSchedule(t, options(EDF))
		if why := refuse(t, s, a, grid.Invalid); why.Detail != err.Error() {
			t.Errorf("%s: %q", c.name, why.Detail)
		}
	}
	if err := base.Check(); err != nil {
		t.Error(err)
	}
}

func TestOptions_NameTheNumbers(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(o *Options){
		"nodes = 0":            func(o *Options) { o.Nodes = 0 },
		"order 17":             func(o *Options) { o.Order = 17 },
		"keys":                 func(o *Options) { o.Order = Shuffle },
		"price = -0.000001":    func(o *Options) { o.Price = -1 },
		"max_phi = -0.001":     func(o *Options) { o.MaxPhi = -1 },
		"waiting = 0":          func(o *Options) { o.Waiting = 0 },
		"disclose 9":           func(o *Options) { o.Disclose = 9 },
		"discount = 1.001":     func(o *Options) { o.Shares.Discount = 1001 },
		"surcharge = -0.001":   func(o *Options) { o.Shares.Surcharge = -1 },
		"compensation = 1.001": func(o *Options) { o.Shares.Compensation = 1001 },
		"penalty = 10.001":     func(o *Options) { o.Shares.Penalty = 10001 },
	} {
		opt := options(EDF)
		change(&opt)
		if _, err := New(opt, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestSubmit_RefusalsAreTyped(t *testing.T) {
	t.Parallel()
	opt := options(EDF)
	opt.Waiting = 1
	s := newSchedule(t, opt)
	refuse(t, s, rigid(s, 1, 10, 20, 5), grid.TooLarge)
	accept(t, s, rigid(s, 1, 10, 20, 1))
	refuse(t, s, rigid(s, 1, 30, 40, 1), grid.Conflict)
	why := refuse(t, s, rigid(s, 2, 30, 40, 1), grid.QueueFull)
	if !strings.Contains(why.Detail, "1 job waits") {
		t.Error(why)
	}
	s.Advance(at(10)) // nobody waits any more
	accept(t, s, rigid(s, 2, 30, 40, 1))
	s.Advance(at(31))
	refuse(t, s, flexible(s, 3, 10, 1, 20, 40), grid.Expired)
}

func TestSubmit_AboveTheBudgetIsRefusedWithBothFigures(t *testing.T) {
	t.Parallel()
	s := priced(t)
	a := flexible(s, 1, 10, 4, 10, 25) // phi .5: 10 % off 40
	a.Budget = 36*grid.Credit - 1
	why := refuse(t, s, a, grid.OverBudget)
	if !strings.Contains(why.Detail, "36 credits") || !strings.Contains(why.Detail, "35.999999") {
		t.Error(why)
	}
	a.Budget++
	accept(t, s, a)
	price(t, s, 1, 36*grid.Credit, 1)
}

func TestSubmit_AMoldableJobTakesTheLeastAreaThatFits(t *testing.T) {
	t.Parallel()
	sizes, err := Amdahl(1, 4, 60*sec, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ deadline, nodes int64 }{{60, 1}, {59, 2}, {33, 2}, {32, 3}, {24, 3}, {20, 4}} {
		s := newSchedule(t, options(EDF))
		a := flexible(s, 1, 1, 1, 0, c.deadline)
		a.Sizes = sizes
		accept(t, s, a)
		if p, _ := s.Promise(1); int64(p.Size.Nodes) != c.nodes {
			t.Errorf("by %d: %d nodes, not %d", c.deadline, p.Size.Nodes, c.nodes)
		}
	}
	s := newSchedule(t, options(EDF)) // equal areas: fewest processors
	a := flexible(s, 1, 1, 1, 0, 100)
	a.Sizes = []Size{{2, 30 * sec}, {4, 15 * sec}}
	accept(t, s, a)
	if p, _ := s.Promise(1); p.Size.Nodes != 2 {
		t.Errorf("%d nodes", p.Size.Nodes)
	}
}

func TestMoldability_AmdahlAndPowerLaw(t *testing.T) {
	t.Parallel()
	list, err := Amdahl(2, 8, 55*sec, 100)
	if err != nil || list[0] != (Size{2, 55 * sec}) || list[6] != (Size{8, 21250}) { // .1 + .9/2 = .55, .1 + .9/8 = .2125
		t.Errorf("%v, %v", list, err)
	}
	list, err = Power(1, 4, 100*sec, 500)
	if err != nil || list[3] != (Size{4, 50 * sec}) || list[1] != (Size{2, 70711}) { // 100 / sqrt 2 = 70.7107
		t.Errorf("%v, %v", list, err)
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{third(Amdahl(4, 2, sec, 0)), "nodes 4..2"},
		{third(Amdahl(0, 2, sec, 0)), "nodes 0..2"},
		{third(Amdahl(1, 2, 0, 0)), "estimate 0"},
		{third(Amdahl(1, 2, sec, 1001)), "amdahl = 1.001"},
		{third(Power(1, 2, sec, -1)), "power = -0.001"},
		{third(Power(1, 2000, sec, 1)), "2000 sizes"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want %q", c.err, c.want)
		}
	}
}

func third(_ []Size, err error) error { return err }

// Every law gives sizes that Check takes: runtimes never grow with the nodes,
// and no size does more work per node than the least.
func TestMoldability_RuntimesNeverGrow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.IntRange(1, MaxNodes-40).Draw(t, "least")
		te := grid.Duration(rapid.Int64Range(1, int64(grid.MaxDuration)).Draw(t, "te"))
		share := rapid.IntRange(0, 1000).Draw(t, "share")
		for name, law := range map[string]func(int, int, grid.Duration, int) ([]Size, error){"amdahl": Amdahl, "power": Power} {
			list, err := law(least, least+40, te, share)
			if err == nil {
				err = checkSizes(list)
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if list[0] != (Size{least, te}) {
				t.Fatalf("%s: on the least %v, not %v", name, list[0], te)
			}
			for _, z := range list {
				if z.area() < list[0].area() {
					t.Fatalf("%s: %v does less than %v", name, z, list[0])
				}
			}
		}
	})
}

func TestEarlyEnd_ReplanningIsKeptOnlyIfAllFit(t *testing.T) {
	t.Parallel()
	for _, replan := range []bool{false, true} {
		opt := options(EDF)
		opt.Replan = replan
		s := newSchedule(t, opt)
		accept(t, s, rigid(s, 1, 0, 50, 4))
		accept(t, s, flexible(s, 2, 10, 4, 5, 100))
		s.Advance(at(20))
		if !s.End(1) || s.End(1) {
			t.Fatal("job 1 runs once")
		}
		audit(t, s)
		want := at(50)
		if replan {
			want = at(20)
		}
		if p, _ := s.Promise(2); p.Start != want {
			t.Errorf("replan %v: at %v, not %v", replan, p.Start, want)
		}
	}
}

func TestAdvance_ALongerRunIsCutAtItsEstimate(t *testing.T) {
	t.Parallel()
	s := newSchedule(t, options(EDF))
	accept(t, s, rigid(s, 1, 5, 10, 4))
	accept(t, s, rigid(s, 2, 10, 20, 4))
	var got []Event
	for s.Next() < grid.Never {
		got = append(got, s.Advance(s.Next())...)
		audit(t, s)
	}
	want := []Event{{at(5), Started, 1}, {at(10), Ended, 1}, {at(10), Started, 2}, {at(20), Ended, 2}}
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%v, not %v", got[i], want[i])
		}
	}
}

func TestRevenue_TheDearerHourChoosesFirst(t *testing.T) {
	t.Parallel()
	opt := options(Revenue)
	opt.Price = 3600 * grid.Price(grid.Credit)
	s := newSchedule(t, opt)
	accept(t, s, flexible(s, 1, 10, 4, 10, 40)) // 20 % off
	accept(t, s, rigid(s, 2, 10, 20, 4))        // the full price
	stands(t, s, 20, 10)
}

func TestDisclosure_ClosedSaysPriceOrNo(t *testing.T) {
	t.Parallel()
	for _, d := range []Disclosure{Full, Prices, Closed} {
		opt := options(EDF)
		opt.Disclose = d
		s := newSchedule(t, opt)
		accept(t, s, rigid(s, 1, 10, 20, 4))
		a := rigid(s, 2, 10, 20, 1)
		a.Threshold = 1000
		if why := refuse(t, s, a, grid.NoWindow); (why.Detail == "") != (d == Closed) {
			t.Errorf("%v says %q", d, why.Detail)
		}
		if list := s.Alternatives(a, 10); len(list) == 0 {
			t.Errorf("%v: no alternatives", d)
		}
		if d.Slots() != (d != Closed) || d.Names() != (d == Full) {
			t.Errorf("%v", d)
		}
		if back, err := ParseDisclosure(d.String()); err != nil || back != d {
			t.Errorf("%v: %v", d, err)
		}
	}
	for o := EDF; o <= Shuffle; o++ {
		if back, err := ParseOrder(o.String()); err != nil || back != o {
			t.Errorf("%v: %v", o, err)
		}
	}
	if _, err := ParseOrder("x"); err == nil {
		t.Error("order x is read")
	}
	if _, err := ParseDisclosure("x"); err == nil {
		t.Error("disclosure x is read")
	}
}

func TestPrice_DeltaIsLinearToItsEndAtPhiOne(t *testing.T) {
	t.Parallel()
	f := pricing.DefaultFlexibility
	for _, c := range []struct {
		slack, te grid.Duration
		want      int
	}{{0, 100, 0}, {50, 100, 100}, {100, 100, 200}, {300, 100, 200}, {-5, 100, 0}, {1, 1000, 0}, {grid.MaxDuration, grid.MaxDuration, 200}} {
		if got := f.Delta(c.slack, c.te); got != c.want {
			t.Errorf("delta of %v over %v is %d, not %d", c.slack, c.te, got, c.want)
		}
	}
}

func TestParseOrder_ReadsWhatStringShowsAndNamesAllOtherwise(t *testing.T) {
	t.Parallel()
	for o := range Order(len(orders.Lines)) {
		if got, err := ParseOrder(o.String()); got != o || err != nil {
			t.Errorf("%v is read as %v, %v", o, got, err)
		}
	}
	want := `order "sjf" is unknown; must be edf, fifo, lff, bjf, revenue or shuffle`
	if _, err := ParseOrder("sjf"); err == nil || err.Error() != want {
		t.Errorf("%v, not %s", err, want)
	}
}
