package explain

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
)

// South is free at once and dear, north is cheap and taken for 1000 s. With a
// budget for north only the job waits for it; 4 credits more would buy south.
func TestExplain_CreditsThatWouldHaveBoughtAnEarlierStart(t *testing.T) {
	t.Parallel()
	g := newGrid(t)
	g.cfg.Minimize = grid.GoalFinish
	g.site("north", 4, 3_600_000).free.Add(0, 1000*sec, -4) // a credit per node and 1000 s
	g.site("south", 4, 7_200_000)
	g.start()
	g.submit(job("wave", 4, 1000*grid.Second, 4*grid.Credit))
	g.run(0)
	e := g.explain("wave")
	if e.State != "placed" || e.Cycle.Chosen != 1 || e.Cycle.Options[0].Start != 1000*sec {
		t.Fatalf("%s", e.Text(nil))
	}
	if c := find(t, e, "budget"); c.Credits != 4*grid.Credit || c.Start != 0 || c.Cost != 8*grid.Credit {
		t.Errorf("%+v", c)
	}
	if c := find(t, e, "without"); c.Site != "north" || c.Placed || c.Reason.Code != grid.OverBudget {
		t.Errorf("%+v", c)
	}
	check(t, g, e)
}

// Six nodes for 2000 s by 2500 s: at most four are free by then, and a deadline 9
// minutes later, or two nodes fewer, would do.
func TestExplain_MinutesAndNodesThatWouldHavePlacedIt(t *testing.T) {
	t.Parallel()
	g := newGrid(t)
	g.site("north", 4, 0)
	g.site("south", 4, 0).free.Add(0, 1000*sec, -4)
	g.start()
	j := job("wave", 6, 2000*grid.Second, grid.Credit)
	j.Deadline = 2500 * sec
	g.submit(j)
	g.run(0)
	e := g.explain("wave")
	if e.State != "waiting" || e.Reason.Code != grid.NoWindow || e.Waiting.Cycles != 1 {
		t.Fatalf("%s", e.Text(nil))
	}
	if c := find(t, e, "deadline"); c.Minutes != 9 || c.Start != 1000*sec {
		t.Errorf("%+v", c)
	}
	if c := find(t, e, "nodes"); c.Nodes != 2 || c.Start != 0 {
		t.Errorf("%+v", c)
	}
	if e.Earliest == nil || e.Earliest.Beyond != "its deadline" || e.Earliest.Start != 1000*sec {
		t.Errorf("%+v", e.Earliest)
	}
	check(t, g, e)
}

// A job that asks for more nodes than are fast enough is told with what performance it
// would have been placed: the highest that does.
func TestExplain_ThePerformanceThatWouldHavePlacedIt(t *testing.T) {
	t.Parallel()
	g := newGrid(t)
	g.site("north", 4, 0)
	g.site("south", 4, 0).group.Performance = 800
	g.site("west", 4, 0).group.Performance = 500
	g.start()
	g.submit(job("wave", 6, 1000*grid.Second, 50*grid.Credit))
	g.run(0)
	e := g.explain("wave")
	if c := find(t, e, "performance"); c.Lowest != 800 || c.Words != "nodes of performance 0.8 in place of 1" || !c.Placed || c.Start != 0 {
		t.Errorf("%+v", c)
	}
	check(t, g, e)
	g.submit(job("wide", 20, 1000*grid.Second, 50*grid.Credit))
	g.run(1000 * sec)
	if text := g.explain("wide").Text(nil); !strings.Contains(text, "nodes of lower performance, 0.5 or more, would not have it") {
		t.Error(text)
	}
}

func TestExplain_ASiteThatWasClosedOrRefused(t *testing.T) {
	t.Parallel()
	g := newGrid(t)
	g.site("north", 4, 0)
	south := g.site("south", 4, 0)
	g.start()
	g.submit(job("first", 1, 100*grid.Second, grid.Credit))
	g.run(0)
	south.closed = true
	g.submit(job("wave", 8, 500*grid.Second, grid.Credit))
	g.run(1000 * sec)
	e := g.explain("wave")
	if c := find(t, e, "site"); c.Site != "south" || c.Start != 1000*sec || !c.Guess || !strings.Contains(c.Words, "closed to vo1 until Monday") {
		t.Errorf("%+v", c)
	}
	south.closed, south.refuse = false, "quote"
	south.queue = grid.NewProfile(0, 2)
	g.run(2000 * sec)
	e = g.explain("wave")
	if c := find(t, e, "waive"); c.Site != "south" || c.Start != 2000*sec || !c.Guess {
		t.Errorf("%+v", c)
	}
	if e.Waiting.Cycles != 1 || e.Waiting.From != 2000*sec || e.Cycles != 2 {
		t.Errorf("%+v of %d cycles: the reason of the second is another", e.Waiting, e.Cycles)
	}
	check(t, g, e)
}

func TestExplain_MoneyOfTheVO(t *testing.T) {
	t.Parallel()
	g := newGrid(t)
	g.cfg.Budget = 5 * grid.Credit
	g.site("north", 8, 3_600_000)
	g.start()
	g.submit(job("a", 3, 1000*grid.Second, 9*grid.Credit))
	g.submit(job("b", 4, 1000*grid.Second, 9*grid.Credit))
	g.run(0)
	e := g.explain("b")
	if e.Reason.Code != grid.NoMoney {
		t.Fatalf("%s", e.Text(nil))
	}
	if c := find(t, e, "account"); c.Credits != 2*grid.Credit {
		t.Errorf("%+v", c)
	}
	check(t, g, e)
}

// A window that fits, and is refused when it is to be held, is no matter of money.
func TestExplain_WindowsThatWereRefused(t *testing.T) {
	t.Parallel()
	g := newGrid(t)
	g.cfg.MaxTries = 2
	g.site("north", 4, 0).refuse = "hold"
	g.site("south", 4, 3_600_000)
	g.cfg.Minimize = grid.GoalCost
	g.start()
	g.submit(job("wave", 4, 100*grid.Second, grid.Credit))
	g.run(0)
	e := g.explain("wave")
	if e.State != "waiting" && e.State != "placed" {
		t.Fatalf("%s", e.Text(nil))
	}
	tried := 0
	for _, o := range e.Cycle.Options {
		if strings.HasPrefix(o.Lost, "tried, and north: in use") {
			tried++
		}
	}
	if tried == 0 {
		t.Errorf("%s", e.Text(nil))
	}
}

// An explanation says so where the journal does not have a record.
func TestExplain_SaysWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	g := newGrid(t)
	g.cfg.Explain = 0
	g.site("north", 4, 0)
	g.start()
	g.submit(job("wave", 4, 100*grid.Second, grid.Credit))
	g.run(0)
	e := g.explain("wave")
	if e.State != "placed" || e.Cycle != nil || len(e.Unknown) != 1 || !strings.Contains(e.Unknown[0], "cycle 1 has no detail") {
		t.Errorf("%s", e.Text(nil))
	}
	_, err := Explain(g.journal(), "other", Options{})
	if unknown := (*ErrUnknown)(nil); !errors.As(err, &unknown) {
		t.Errorf("a job that nobody knows: %v", err)
	}
	// the first segment is gone
	image := g.b.Image()
	e, err = Explain(func(yield func(grid.Time, agents.Fact) bool) { yield(5000*sec, image) }, "wave", Options{})
	if err != nil || e.State != "placed" || len(e.Unknown) != 1 || !strings.Contains(e.Unknown[0], "dropped") || e.Asked.Nodes != 4 {
		t.Errorf("%v\n%s", err, e.Text(nil))
	}
	// its work has begun since, which the image knows of its legs alone
	jobs := image.(facts.BrokerImage)
	running := jobs
	running.Txs = slices.Clone(jobs.Txs)
	x := &running.Txs[0]
	x.Memory = slices.Clone(x.Memory)
	x.Memory[0].State = grid.Running
	e, err = Explain(func(yield func(grid.Time, agents.Fact) bool) { yield(5000*sec, running) }, "wave", Options{})
	if start := x.Legs[0].Start; err != nil || e.State != "running" || e.Since != max(start, jobs.Jobs[0].Since) {
		t.Errorf("%v\n%s", err, e.Text(nil))
	}
	// and the image is in parts, the job's transaction in the second
	txs := facts.BrokerImage{Txs: jobs.Txs, Part: 1, Parts: 2}
	jobs.Txs, jobs.Parts = nil, 2
	e, err = Explain(func(yield func(grid.Time, agents.Fact) bool) {
		_ = yield(5000*sec, jobs) && yield(5000*sec, facts.BrokerImage{Txs: running.Txs, Part: 1, Parts: 2})
	}, "wave", Options{})
	if err != nil || e.State != "running" {
		t.Errorf("%v\n%s", err, e.Text(nil))
	}
	done := facts.LegDone{Leg: grid.LegID{Tx: txs.Txs[0].Tx}, State: grid.Settled, End: 6000 * sec}
	e, err = Explain(func(yield func(grid.Time, agents.Fact) bool) {
		_ = yield(5000*sec, jobs) && yield(5000*sec, txs) && yield(6000*sec, done)
	}, "wave", Options{})
	if err != nil || e.State != "done" || len(e.Unknown) != 1 || !strings.Contains(e.Unknown[0], "dropped") || e.Asked.Nodes != 4 {
		t.Errorf("%v\n%s", err, e.Text(nil))
	}
}

// randomGrid is a grid of a seed that has run for a few cycles.
func randomGrid(t *rapid.T, seed uint64) *federation {
	rng := rand.New(rand.NewPCG(seed, 2))
	between := func(low, high int) int { return low + rng.IntN(high-low+1) }
	g := newGrid(t)
	for i := range between(1, 4) {
		s := g.site(fmt.Sprint("s", i), between(1, 8), grid.Price(between(0, 9))*1_000_000)
		for range between(0, 4) {
			from := grid.Time(between(0, 6000)) * sec
			to := from.Add(grid.Duration(between(1, 3000)) * grid.Second)
			if s.free.Min(from, to) > 0 && rng.IntN(2) == 0 {
				s.free.Add(from, to, -1)
			} else {
				s.queue.Add(from, to, 1)
			}
		}
		s.add = grid.Credits(between(0, 3)) * grid.Credit
		s.refuse = []string{"", "", "", "quote", "hold"}[rng.IntN(5)]
		s.closed = rng.IntN(6) == 0
	}
	composing := slices.DeleteFunc(search.Each(), func(a search.Algorithm) bool { return !a.Composes() })
	g.cfg.Algorithm = composing[rng.IntN(len(composing))]
	g.cfg.Minimize = []grid.Goal{grid.GoalTime, grid.GoalCost, grid.GoalFinish}[rng.IntN(3)]
	g.cfg.Budget = grid.Credits(between(1, 80)) * grid.Credit
	if rng.IntN(3) == 0 {
		g.cfg.BudgetLimit = grid.Credits(between(0, 30)) * grid.Credit
	}
	g.start()
	for c := range 2 {
		for i := range between(1, 4) {
			j := job(fmt.Sprintf("j%d.%d", c, i), between(1, 8), grid.Duration(between(1, 3000))*grid.Second, grid.Credits(between(1, 20))*grid.Credit)
			if rng.IntN(2) == 0 {
				j.Deadline = g.now.Add(grid.Duration(between(1, 8000)) * grid.Second)
			}
			g.submit(j)
		}
		g.run(grid.Time(c) * 1000 * sec)
	}
	return g
}

// Whatever is said to have changed the answer would have, and a little less would
// not.
func TestExplain_EveryClaimHolds(t *testing.T) {
	t.Parallel()
	claims := 0
	rapid.Check(t, func(t *rapid.T) {
		g := randomGrid(t, rapid.Uint64().Draw(t, "seed"))
		for v := range g.b.Jobs() {
			e := g.explain(v.Name)
			claims += check(t, g, e)
			if text := e.Text(nil); !strings.HasPrefix(text, "Job "+v.Name) {
				t.Fatalf("%s", text)
			}
			if _, err := json.Marshal(e); err != nil {
				t.Fatalf("%v", err)
			}
			if (e.State == "waiting") != (v.State.String() == "waiting") || (e.State == "placed") != (v.State.String() == "placed") {
				t.Fatalf("%s is %s, and explained as %s", v.Name, v.State, e.State)
			}
		}
	})
	least := 100
	if testing.Short() { // then rapid tries a fifth
		least = 20
	}
	if claims < least {
		t.Errorf("only %d claims were made", claims)
	}
}

// The work of an explanation is bounded, and so is what is said to be found.
func TestExplain_IsBounded(t *testing.T) {
	t.Parallel()
	g := newGrid(t)
	g.site("north", 4, 3_600_000).free.Add(0, 1000*sec, -4)
	g.site("south", 4, 7_200_000)
	g.start()
	g.submit(job("wave", 4, 1000*grid.Second, 4*grid.Credit))
	g.run(0)
	e, err := Explain(g.journal(), "wave", Options{Reruns: 2})
	if err != nil || len(e.Changes) > 0 || len(e.Unknown) != 1 || !strings.Contains(e.Unknown[0], "2 times only") {
		t.Errorf("%v\n%s", err, e.Text(nil))
	}
}
