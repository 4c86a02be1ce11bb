package balance

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/tree/thorough"
	"github.com/bourse-grid/bourse/workload"
)

// shortBalance is the world of the study for two days, at a base price of 1.
func shortBalance(t *testing.T) (*configs.Scenario, *simulation.Workloads) {
	t.Helper()
	sc, load, err := scenarioOf(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range sc.Sites {
		w := *sc.Sites[i].Workload
		w.Days = 2 * grid.Day
		sc.Sites[i].Workload = &w
		sc.Sites[i].Groups = slices.Clone(sc.Sites[i].Groups)
		sc.Sites[i].Groups[0].Price = 1_000_000
	}
	return sc, load
}

func TestJain_IsOneForAllAlikeAndAnNthForOneWhoHasAll(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{3, 3, 3}, 1}, {[]float64{6, 0, 0}, 1. / 3}, {[]float64{0, 0}, 1}, {[]float64{1, 3}, .8}} {
		if got := jain(c.values); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("jain of %v is %v, want %v", c.values, got, c.want)
		}
	}
	if got := deviation([]float64{1, 3}); got != 1 {
		t.Errorf("deviation of 1 and 3 is %v, want 1", got)
	}
}

// The market in which everybody stays is a replay of each site by itself.
func TestMarket_WhereEverybodyStaysIsAReplayOfEachSite(t *testing.T) {
	t.Parallel()
	sc, load := shortBalance(t)
	got, err := marketRun(sc, load, regimes[ownQueue], 3)
	if err != nil {
		t.Fatal(err)
	}
	var wait, jobs float64
	for i := range sc.Sites {
		s := &sc.Sites[i]
		list, err := load.Local(s, 3)
		if err != nil {
			t.Fatal(err)
		}
		list = slices.DeleteFunc(slices.Clone(list), func(j grid.LocalJob) bool { return j.Run <= 0 || j.Nodes > s.Groups[0].Nodes })
		for k := range list {
			list[k].Estimate = max(list[k].Estimate, list[k].Run)
		}
		r, err := simulation.RunReplay(list, simulation.ReplayOptions{Nodes: s.Groups[0].Nodes, Policy: s.Policy})
		if err != nil {
			t.Fatal(err)
		}
		sum := r.Summary(false)
		wait, jobs = wait+sum.MeanWait/3600*float64(sum.Jobs), jobs+float64(sum.Jobs)
	}
	if want := wait / jobs; jobs < 100 || math.Abs(got.wait-want) > 1e-9 {
		t.Errorf("mean wait %v h, the replays of %v jobs have %v", got.wait, jobs, want)
	}
	if got.paid != 1 || got.by[bestEffort] != 100 || got.elsewhere != 0 {
		t.Errorf("outcome %+v", got)
	}
}

func TestMarket_RepeatsBySeedAndALieThatIsNoneChangesNothing(t *testing.T) {
	t.Parallel()
	sc, load := shortBalance(t)
	run := func(r regime, seed uint64) marketOutcome {
		x, err := marketRun(sc, load, r, seed)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	honest := run(regimes[declaredPrice], 1)
	if again := run(regimes[declaredPrice], 1); again != honest {
		t.Error("the same seed gives another market")
	}
	if other := run(regimes[declaredPrice], 2); other == honest {
		t.Error("another seed gives the same market")
	}
	truth := regimes[overstate]
	truth.lie = 1000
	if x := run(truth, 1); x != honest {
		t.Error("who multiplies by 1 does not tell the truth")
	}
}

// Under fixed prices nobody pays for delays, so reservations cost the base price
// and best effort too: all pay 1 but for the priority queue's 2.
func TestMarket_FixedPricesChargeNoDelays(t *testing.T) {
	t.Parallel()
	sc, load := shortBalance(t)
	x, err := marketRun(sc, load, regimes[fixedPrice], 1)
	if err != nil {
		t.Fatal(err)
	}
	if x.by[priorityQueue] == 0 && math.Abs(x.paid-1) > 1e-12 || x.refunds != 0 {
		t.Errorf("pay %v a node-hour, refunds %v", x.paid, x.refunds)
	}
	sum := 0.0
	for _, share := range x.by {
		sum += share
	}
	if math.Abs(sum-100) > 1e-9 {
		t.Errorf("the ways add up to %v %%", sum)
	}
}

// A worked case. The site's 4 nodes run until 3600 s; one job waits for all of
// them. A short job for 4 nodes would delay it.
func TestMarket_WhatAUserTakes(t *testing.T) {
	t.Parallel()
	serve := func(r regime, delay int64, value float64) *chooser {
		sc, _ := shortBalance(t)
		for i := range sc.Sites {
			sc.Sites[i].Workload = &configs.Workload{Model: "uniform", Days: grid.Day, Jobs: 1, Processors: 4,
				Nodes: configs.Range[int]{Lo: 1, Hi: 1}, Length: configs.Range[grid.Duration]{Lo: 1, Hi: 1}}
		}
		m := newMarket(r)
		m.add(&sc.Sites[0], 4)
		hour := grid.Hour
		m.users = []chooser{
			{LocalJob: grid.LocalJob{ID: 1, Nodes: 4, Run: hour, Estimate: hour}, stays: true, delay: 1000, declared: 1000},
			{LocalJob: grid.LocalJob{ID: 2, Nodes: 4, Run: hour, Estimate: hour}, stays: true, delay: 1000, declared: 1000},
			{LocalJob: grid.LocalJob{ID: 3, Nodes: 4, Run: hour, Estimate: hour}, delay: delay, declared: delay,
				value: value, deadline: grid.Time(grid.Day)},
		}
		for i := range m.users {
			m.serve(&m.users[i])
		}
		return &m.users[2]
	}
	flat := regimes[flatPrice]
	flat.home = true
	fixed := regimes[fixedPrice]
	fixed.home = true
	for _, c := range []struct {
		name  string
		r     regime
		delay int64
		value float64
		want  way
		start grid.Duration
		paid  float64
	}{
		// Base price 4. Waiting costs 4 x delay an hour: 2 h in the queue, 1 h before it.
		{"under fixed prices whoever can goes before", fixed, 100, 100, reservation, grid.Hour, 4},
		{"who hardly minds waits rather than pay 4 for the delay", flat, 100, 100, reservation, 2 * grid.Hour, 4},
		{"who minds goes before and pays for the delay", flat, 3000, 100, reservation, grid.Hour, 8},
		{"what is worth less than its price is left", flat, 1000, 3, leave, 0, 0},
	} {
		u := serve(c.r, c.delay, c.value)
		if u.way != c.want || u.paid != c.paid || u.way == reservation && u.start != grid.Time(c.start) {
			t.Errorf("%s: %s at %v for %v, want %s for %v", c.name, wayNames[u.way], u.start, u.paid, wayNames[c.want], c.paid)
		}
	}
}

// The study's own sums over a VO's windows equal the run's summary.
func TestBalance_TheVOsFiguresAreThoseOfTheSummary(t *testing.T) {
	t.Parallel()
	sc, load := shortBalance(t)
	f, err := runPolicy(sc, load, policy{strategy: choice.Earliest, pricing: pricing.Fixed}, 1)
	if err != nil {
		t.Fatal(err)
	}
	own := *sc
	own.Sites = slices.Clone(sc.Sites)
	for i := range own.Sites {
		own.Sites[i].Pricing = pricing.Fixed
	}
	own.Brokers = slices.Clone(sc.Brokers)
	own.Brokers[0].Strategy = choice.Earliest
	rep, err := (&simulation.Simulation{Scenario: &own, Workloads: load}).Run(1, simulation.Record{})
	if err != nil {
		t.Fatal(err)
	}
	b := &rep.Summary.Brokers[0]
	if b.Jobs.Placed < 400 || f[voPlaced] != 100*float64(b.Jobs.Placed)/float64(b.Jobs.Submitted) || math.Abs(f[voWait]-b.MeanWait.Hours()) > 1e-5 ||
		f[voExtra] != 0 || f[voPaid] < 0.5 || f[voPaid] > 1.5 || f[voSlow] < 1 {
		t.Errorf("figures %v, the summary has %+v", f, b)
	}
}

func TestLoadBalancing_RowsAndFindingCarryTheSameNumbers(t *testing.T) {
	t.Parallel()
	thorough.Only(t, "simulates for seconds")
	calls := 0
	rows, err := Run(Options{Seed: 1, Runs: 2, Done: func(int, int) { calls++ }})
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * (2*len(policies) + len(regimes)); calls != want {
		t.Errorf("%d pieces of work, want %d", calls, want)
	}
	for _, r := range rows {
		if r.Measure == "" || r.Setting == "" || r.Verdict == "" || r.Runs != 2 || math.IsNaN(r.Here) || math.IsNaN(r.CI95) {
			t.Errorf("row %+v", r)
		}
	}
	key := func(r evidence.Row) string { return r.Measure + "|" + r.Setting }
	sorted := slices.SortedFunc(slices.Values(rows), func(a, b evidence.Row) int { return cmp.Compare(key(a), key(b)) })
	for i := 1; i < len(sorted); i++ {
		if key(sorted[i]) == key(sorted[i-1]) {
			t.Errorf("two rows of %s", key(sorted[i]))
		}
	}
	incomes := map[string]bool{}
	for _, r := range rows {
		if strings.Contains(r.Measure, "earns") {
			incomes[r.Measure] = r.Here > 0
		}
	}
	if len(incomes) != 3 {
		t.Errorf("what sites earn is told by %v", incomes)
	}
	words := Finding(rows)
	for _, want := range []string{"more evenly than random", "adaptive prices", "a planner would", "To overstate"} {
		if !strings.Contains(words, want) {
			t.Errorf("%q has no %q", words, want)
		}
	}
}

func TestBalanceFinding_SaysMoreLessOrTheSame(t *testing.T) {
	t.Parallel()
	setting := regimes[flatPrice].name + " against " + regimes[fixedPrice].name
	for _, c := range []struct {
		value, right float64
		want         string
	}{
		{5, 5, "reach more value under adaptive prices than under fixed ones (+5.0 ± 2.0 points), and choose as a planner would more often (+5.0"},
		{-5, -5, "reach less value under adaptive prices than under fixed ones (-5.0 ± 2.0 points), and choose as a planner would less often (-5.0"},
		{1, -1, "reach about the same value under adaptive prices as under fixed ones (+1.0 ± 2.0 points), and choose as a planner would about as often (-1.0"},
	} {
		rows := []evidence.Row{
			{Measure: "users: more value reached, points", Setting: setting, Here: c.value, CI95: 2},
			{Measure: "users: more right choices, points", Setting: setting, Here: c.right, CI95: 2},
			{Measure: "bounded slowdown of local jobs: less under adaptive than under fixed prices", Setting: "random", Verdict: "more"},
			{Measure: "mean wait of VO jobs, h: less under adaptive than under fixed prices", Setting: "random", Verdict: "less"},
		}
		if words := Finding(rows); !strings.Contains(words, "which short ones rule, rises with 1, and VO jobs wait longer with 0.") {
			t.Errorf("%q does not say what prices cost", words)
		}
		if words := Finding(rows); !strings.Contains(words, c.want) {
			t.Errorf("%q has no %q", words, c.want)
		}
	}
}

func TestLoadBalancing_RefusesWhatItCannotRun(t *testing.T) {
	t.Parallel()
	if _, err := Run(Options{}); err == nil || !strings.Contains(err.Error(), "runs = 0") {
		t.Errorf("no runs: %v", err)
	}
	_, err := Run(Options{Runs: 1, Traces: []Trace{{Trace: &workload.Trace{Name: "a.swf"}, Nodes: 4}}})
	if err == nil || !strings.Contains(err.Error(), "a.swf: 0 jobs on 4 processors") {
		t.Errorf("an empty log: %v", err)
	}
}
