package sites

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// ends are the least and the most that a number may be; at both it is taken, beyond refused.
type ends[T any] struct {
	set       func(*T, int64)
	low, high int64
}

func held[T any](t *testing.T, all map[string]ends[T], sound func() T, why func(T) grid.Reason) {
	t.Helper()
	if r := why(sound()); r.Refused() {
		t.Fatalf("what is within all bounds is refused: %v", r)
	}
	for name, c := range all {
		for x, taken := range map[int64]bool{c.low - 1: false, c.low: true, c.high: true, c.high + 1: false} {
			m := sound()
			c.set(&m, x)
			if r := why(m); r.Refused() == taken {
				t.Errorf("%s %d: %v", name, x, r)
			}
		}
	}
}

func named(bytes int64) string { return strings.Repeat("x", int(max(0, bytes))) }

// A Hold may ask for the least and the most of everything, and for no more.
func TestHold_BoundsMayBeReached(t *testing.T) {
	t.Parallel()
	const most = int64(grid.MaxTime)
	type hold = agents.Hold
	sound := func() hold {
		return hold{Leg: testLeg(1), What: grid.Leg{Group: "main", Nodes: 1, Start: 0, End: 1}}
	}
	held(t, map[string]ends[hold]{
		"nodes": {func(m *hold, x int64) { m.What.Nodes = int(x) }, 1, maxNodes},
		"limit": {func(m *hold, x int64) { m.Limit = grid.Credits(x) }, 0, int64(grid.MaxBudget)},
		"run":   {func(m *hold, x int64) { m.Run = grid.Duration(x) }, 0, int64(grid.MaxDuration)},
		"start": {func(m *hold, x int64) { m.What.Start = grid.Time(x) }, -most, 0},
		"end":   {func(m *hold, x int64) { m.What.End = grid.Time(x) }, 1, most},
		"fix":   {func(m *hold, x int64) { m.Flex.Fix = int(x) }, 0, 1000},
		"phi":   {func(m *hold, x int64) { m.Flex.Phi = int(x) }, 0, 100_000},
	}, sound, senseless)
	for name, change := range map[string]func(*hold, int){
		"group": func(m *hold, n int) { m.What.Group = named(int64(n)) },
		"job":   func(m *hold, n int) { m.Job = named(int64(n)) },
		"user":  func(m *hold, n int) { m.User = named(int64(n)) },
	} {
		for n, taken := range map[int]bool{0: true, maxName: true, maxName + 1: false} {
			m := sound()
			if change(&m, n); senseless(m).Refused() == taken {
				t.Errorf("a %s of %d bytes: %v", name, n, senseless(m))
			}
		}
	}
	for leg, taken := range map[int]bool{-1: false, 0: true, 1: true} {
		m := sound()
		if m.Leg.Leg = leg; senseless(m).Refused() == taken {
			t.Errorf("leg %d of a window: %v", leg, senseless(m))
		}
	}
	for wait, taken := range map[grid.Duration]bool{-1: false, 0: true, 1: true} {
		m := sound()
		if m.For = wait; senseless(m).Refused() == taken {
			t.Errorf("a hold for %d ms: %v", int64(wait), senseless(m))
		}
	}
}

// The leg that a broker asserts after its site has forgotten it may reach all bounds, and pass
// none: nor may more come back than was paid.
func TestReassert_BoundsMayBeReached(t *testing.T) {
	t.Parallel()
	s := newStory(storyConfig(4), backfill.EASY, nil)
	const most, dear = int64(grid.MaxTime), int64(grid.MaxBudget)
	type leg = agents.ListedLeg
	state := func(x grid.LegState) func() leg {
		return func() leg {
			return leg{Leg: testLeg(1), State: x, What: grid.Leg{Group: "main", Nodes: 1, Start: 0, End: 1}, Fare: grid.Fare{Base: 100, Additive: 50}}
		}
	}
	held(t, map[string]ends[leg]{
		"state": {func(a *leg, x int64) { a.State = grid.LegState(x) }, int64(grid.Lost), int64(grid.Lost)},
	}, state(grid.Lost), func(a leg) grid.Reason {
		if a.State < grid.Lost {
			return grid.Reason{Code: grid.Invalid} // not what is asked here
		}
		return s.site.recovery.unsound(a)
	})
	held(t, map[string]ends[leg]{
		"base":     {func(a *leg, x int64) { a.Fare.Base = grid.Credits(x) }, 0, dear - 50},
		"additive": {func(a *leg, x int64) { a.Fare.Additive = grid.Credits(x) }, 0, dear - 100},
		"nodes":    {func(a *leg, x int64) { a.What.Nodes = int(x) }, 1, 4},
		"start":    {func(a *leg, x int64) { a.What.Start = grid.Time(x) }, -most, 0},
		"end":      {func(a *leg, x int64) { a.What.End = grid.Time(x) }, 1, most},
		"ended":    {func(a *leg, x int64) { a.End = grid.Time(x) }, -most, most},
		"run":      {func(a *leg, x int64) { a.Run = grid.Duration(x) }, 0, int64(grid.MaxDuration)},
	}, state(grid.Held), s.site.recovery.unsound)
	held(t, map[string]ends[leg]{
		"refund": {func(a *leg, x int64) { a.Refund = grid.Credits(x) }, 0, 150},
	}, state(grid.Released), s.site.recovery.unsound)
	held(t, map[string]ends[leg]{
		"penalty": {func(a *leg, x int64) { a.Penalty = grid.Credits(x) }, 0, dear - 150},
	}, state(grid.Lost), s.site.recovery.unsound)
	for name, c := range map[string]struct {
		change func(*leg)
		taken  bool
	}{
		"a limit":                       {func(a *leg) { a.Limit = grid.MaxCredits }, true},
		"a limit below nothing":         {func(a *leg) { a.Limit = -1 }, false},
		"a penalty of what is not lost": {func(a *leg) { a.Penalty = 1 }, false},
		"an unknown group":              {func(a *leg) { a.What.Group = "gpu" }, false},
		"an unknown group of old":       {func(a *leg) { a.State, a.What.Group = grid.Settled, "gpu" }, true},
		"more nodes than there are":     {func(a *leg) { a.What.Nodes = 5 }, false},
		"more nodes of old":             {func(a *leg) { a.State, a.What.Nodes = grid.Settled, 5 }, true},
		"leg -1":                        {func(a *leg) { a.Leg.Leg = -1 }, false},
		"a long job":                    {func(a *leg) { a.Job = named(maxName) }, true},
		"a longer job":                  {func(a *leg) { a.Job = named(maxName + 1) }, false},
		"a long user":                   {func(a *leg) { a.User = named(maxName) }, true},
		"a longer user":                 {func(a *leg) { a.User = named(maxName + 1) }, false},
		"a long group of old":           {func(a *leg) { a.State, a.What.Group = grid.Settled, named(maxName) }, true},
		"a longer group of old":         {func(a *leg) { a.State, a.What.Group = grid.Settled, named(maxName+1) }, false},
	} {
		a := state(grid.Held)()
		if c.change(&a); s.site.recovery.unsound(a).Refused() == c.taken {
			t.Errorf("%s: %v", name, s.site.recovery.unsound(a))
		}
	}
}

// An offer holds the profile from now to the horizon, in as many steps as that takes.
func TestClip_IsTheProfileFromNowToTheHorizon(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := grid.NewProfile(grid.Time(rapid.IntRange(-5, 5).Draw(t, "begins")), 9)
		for range rapid.IntRange(0, 6).Draw(t, "steps") {
			at := p[0].At + grid.Time(rapid.IntRange(0, 30).Draw(t, "from"))
			p.Add(at, at+grid.Time(rapid.IntRange(1, 20).Draw(t, "for")), -1)
		}
		now := p[0].At + grid.Time(rapid.IntRange(-3, 30).Draw(t, "now"))
		horizon := now + grid.Time(rapid.IntRange(1, 40).Draw(t, "horizon"))
		was := p.Clone()
		q := clip(p, now, horizon)
		if q[0].At != max(now, p[0].At) {
			t.Fatalf("%v of %v begins at %v", q, p, q[0].At)
		}
		for i := 1; i < len(q); i++ {
			if q[i].At <= q[i-1].At || q[i].At >= horizon {
				t.Fatalf("%v of %v by %v has steps out of place", q, p, horizon)
			}
		}
		for at := q[0].At; at < horizon; at++ {
			if q.At(at) != p.At(at) {
				t.Fatalf("%v has %d free at %v, %v has %d", q, q.At(at), at, p, p.At(at))
			}
		}
		for i := range p {
			if p[i] != was[i] {
				t.Fatalf("it has changed %v to %v", was, p)
			}
		}
	})
}

// Of a leg on real nodes its work is kept until it runs, the names of its nodes until it is
// over, and its result for as long as the leg.
func TestLeg_KeepsItsWorkUntilItRunsAndItsNodesUntilItIsOver(t *testing.T) {
	t.Parallel()
	work, result := &grid.Handover{}, &grid.WorkResult{}
	l := &leg{}
	for _, c := range []struct {
		f    facts.LegMoved
		want facts.RealLeg
	}{
		{facts.LegMoved{State: grid.Held}, facts.RealLeg{}},
		{facts.LegMoved{State: grid.Confirmed, Real: &facts.RealLeg{Work: work}}, facts.RealLeg{Work: work}},
		{facts.LegMoved{State: grid.Confirmed, Real: &facts.RealLeg{Work: work, Names: []string{"n1"}}}, facts.RealLeg{Work: work, Names: []string{"n1"}}},
		{facts.LegMoved{State: grid.Running}, facts.RealLeg{Names: []string{"n1"}}},
		{facts.LegMoved{State: grid.Settled, Real: &facts.RealLeg{Result: result}}, facts.RealLeg{Result: result}},
		{facts.LegMoved{State: grid.Settled}, facts.RealLeg{Result: result}},
	} {
		l.take(c.f)
		got := l.onNodes()
		if got.Work != c.want.Work || got.Result != c.want.Result || strings.Join(got.Names, " ") != strings.Join(c.want.Names, " ") || l.LegMoved.Real != nil {
			t.Errorf("%v: kept is %+v, want %+v", c.f.State, got, c.want)
		}
	}
	if l.take(facts.LegMoved{State: grid.Lost}); l.onNodes().Result != result {
		t.Error("the result is gone before the leg")
	}
}

// A payment to a leg's owner comes off the base first, then off the additive part, and off no
// more than there is.
func TestCompensated_TheBaseFirst(t *testing.T) {
	t.Parallel()
	l := &leg{LegMoved: facts.LegMoved{Fare: grid.Fare{Base: 10, Additive: 5}}}
	for pay, want := range map[grid.Credits]grid.Fare{0: {Base: 10, Additive: 5}, 4: {Base: 6, Additive: 5}, 10: {Additive: 5}, 12: {Additive: 3}, 15: {}, 20: {}} {
		if got := l.compensated(pay); got != want {
			t.Errorf("less %d it is %+v, want %+v", int64(pay), got, want)
		}
	}
}

// A drain is shown until it is over.
func TestStatus_ShowsADrainUntilItIsOver(t *testing.T) {
	t.Parallel()
	s := newStory(storyConfig(4), backfill.EASY, nil)
	s.say("operator:olga", agents.Drain{Until: 1000, Why: "floor"})
	for now, want := range map[grid.Time]bool{0: true, 999: true, 1000: false} {
		if x := s.site.Status(now, 1, grid.Hour).Drained; (x != nil) != want || want && x.Why != "floor" {
			t.Errorf("at %v it drains: %+v", now, x)
		}
	}
}
