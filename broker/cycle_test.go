package broker

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

func TestCycle_FiresAtMultiplesOfItsLengthPlusItsPhase(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	cfg := testConfig(site)
	cfg.Phase = 300 * grid.Second
	w := newTestWorld(t, cfg, site)
	for _, at := range []grid.Time{0, 400 * sec, 1300 * sec} {
		w.submit(at, testJob(fmt.Sprintf("j%d", at/sec), 1, grid.Second, grid.Credit))
	}
	w.finish(t, 5000*sec)
	var starts []grid.Time
	for _, f := range only[facts.TxBegun](w) {
		starts = append(starts, f.Legs[0].Start/sec)
	}
	// The last job comes in the instant of a cycle, whose alarm is there first.
	if want := []grid.Time{300, 1300, 2300}; fmt.Sprint(starts) != fmt.Sprint(want) {
		t.Errorf("windows start at %v, want %v", starts, want)
	}
	if b := New(cfg); b.mem.cfg.firstCycle(300*sec) != 300*sec || b.mem.cfg.firstCycle(301*sec) != 1300*sec || b.mem.cfg.firstCycle(0) != 300*sec || b.mem.cfg.firstCycle(-5000*sec) != -4700*sec {
		t.Error("the first cycle is not the next multiple")
	}
}

// With Phases, one cycle fires in each span of a cycle's length, and of two brokers each is
// the first in about half of them. A restart finds the same instants.
func TestCycle_APhaseDrawnForEachCycleFavoursNobody(t *testing.T) {
	t.Parallel()
	a, b := ServiceDefaults("vo1"), ServiceDefaults("vo2")
	first := 0
	for n := range grid.Time(1000) {
		from := n * grid.Time(a.Cycle)
		x, y := a.firstCycle(from), b.firstCycle(from)
		if x < from || x >= from.Add(a.Cycle) || a.firstCycle(x) != x || a.firstCycle(x+1) < from.Add(a.Cycle) {
			t.Fatalf("the cycle of the span from %v fires at %v, the next at %v", from, x, a.firstCycle(x+1))
		}
		if x < y {
			first++
		}
	}
	if first < 450 || first > 550 {
		t.Errorf("vo1 is the first in %d of 1,000 cycles", first)
	}
}

func TestPhase_SpreadsBrokersOverTheCycle(t *testing.T) {
	t.Parallel()
	seen := map[grid.Duration]bool{}
	for i := range 100 {
		p := Phase(fmt.Sprintf("vo%d", i), grid.Hour)
		if p < 0 || p >= grid.Hour {
			t.Fatalf("phase %v is outside the cycle", p)
		}
		seen[p] = true
	}
	if len(seen) < 95 {
		t.Errorf("100 names have %d phases", len(seen))
	}
	if got := Phase("vo1", 30*grid.Minute); got != Phase("vo1", 30*grid.Minute) || got == Phase("vo2", 30*grid.Minute) {
		t.Errorf("phase of vo1 is %v", got)
	}
}

func TestCycle_SkippedWhenNothingWaits(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	w := newTestWorld(t, testConfig(site), site)
	w.finish(t, 10_000*sec)
	if len(w.trace) != 0 || w.b.Cycles() != 0 {
		t.Errorf("an idle broker said %q", w.trace)
	}
}

func TestCycle_AtOnceWhenTheBatchIsFull(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 8, 0)
	cfg := testConfig(site)
	cfg.BatchSize = 3
	w := newTestWorld(t, cfg, site)
	for i := range 4 {
		w.submit(grid.Time(100+i)*sec, testJob(fmt.Sprint("j", i), 1, grid.Second, grid.Credit))
	}
	w.Run(999 * sec)
	if c := only[facts.CycleClosed](w); len(c) != 1 || c[0].Batch != 3 || w.b.Waiting() != 1 {
		t.Errorf("cycles %+v, %d jobs wait; want one cycle of the first 3", c, w.b.Waiting())
	}
	w.finish(t, 2000*sec)
	if w.b.Waiting() != 0 {
		t.Errorf("%d jobs wait after the next cycle", w.b.Waiting())
	}
}

// Jobs that fill batches while a cycle is under way do not wait for the next
// multiple of its length.
func TestCycle_FullBatchesThatComeMeanwhileFollowAtOnce(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 64, 0)
	site.rule = onNth("Hold", 1, fakeAnswer{late: 15 * grid.Second})
	cfg := testConfig(site)
	cfg.BatchSize = 2
	w := newTestWorld(t, cfg, site)
	for i := range 25 { // the first two open a cycle that lasts until 16 s
		w.submit(grid.Time(1+i/4)*sec, testJob(fmt.Sprint("j", i), 1, grid.Second, grid.Credit))
	}
	w.Run(20 * sec)
	jobs := 0
	for _, c := range only[facts.CycleClosed](w) {
		jobs += c.Batch
	}
	if n := w.b.Cycles(); n != 12 || jobs != 24 {
		t.Errorf("%d cycles of %d jobs; want 12 of two jobs each, and one job left that fills no batch", n, jobs)
	}
	w.finish(t, 2000*sec)
}

func TestCycle_LargeBatchIsCutAndFollowsInOrder(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 8, 3_600_000)
	cfg := testConfig(site)
	cfg.BatchSize, cfg.MaxAlternatives = 4, 1
	w := newTestWorld(t, cfg, site)
	never := testJob("never", 8, 1000*grid.Second, grid.Credit) // it cannot pay
	never.Priority = 9
	w.submit(1, never)
	for i := range 3 {
		w.submit(1, testJob(fmt.Sprint("a", i), 1, grid.Second, grid.Credit))
	}
	w.Run(sec)
	for i := range 3 {
		w.submit(2*sec, testJob(fmt.Sprint("b", i), 1, grid.Second, grid.Credit))
	}
	w.Run(999 * sec)
	if w.b.Waiting() != 4 {
		t.Fatalf("%d jobs wait", w.b.Waiting())
	}
	w.cfgBatch(2)
	w.finish(t, 1000*sec)
	var batches []int
	for _, c := range only[facts.CycleClosed](w) {
		batches = append(batches, c.Batch)
	}
	if fmt.Sprint(batches) != "[4 2 2]" {
		t.Errorf("batches of %v jobs, want [4 2 2]", batches)
	}
}

func TestCycle_BoundedWorkReachesEverybodyInTurn(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 8, 0)
	cfg := testConfig(site)
	w := newTestWorld(t, cfg, site)
	w.b.mem.cfg.MaxCycles = 1
	for i := range 5 {
		j := testJob(fmt.Sprint("never", i), 8, 20_000*grid.Second, grid.Credit)
		j.Priority = 9
		w.submit(1, j)
	}
	w.submit(1, testJob("last", 1, 4*grid.Hour/2, grid.Credit))
	w.Run(500 * sec)
	w.cfgBatch(2)
	for firing, want := range []grid.JobState{grid.JobWaiting, grid.JobWaiting, grid.JobPlaced} {
		w.Run(grid.Time(firing+1) * 1000 * sec)
		if v := w.job("last"); v.State != want {
			t.Errorf("after firing %d the last job is %v, want %v", firing+1, v.State, want)
		}
	}
	if c := only[facts.CycleClosed](w); len(c) != 3 || c[0].Batch != 2 {
		t.Errorf("%d cycles: %+v", len(c), c)
	}
	w.check.rest()
}

// A job submitted while the cycles of a backlog follow one another is in the next of these
// cycles, not behind all of them.
func TestCycle_AFreshJobJoinsTheNextOfARow(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 8, 3_600_000)
	site.rule = onNth("OfferRequest", 5, fakeAnswer{late: 5 * grid.Second}) // the first of 1000 s
	cfg := testConfig(site)
	cfg.BatchSize = 2
	w := newTestWorld(t, cfg, site)
	w.b.mem.cfg.MaxCycles = 4
	for i := range 8 {
		j := testJob(fmt.Sprint("never", i), 8, 1000*grid.Second, grid.Credit) // it cannot pay
		j.User = "ben"
		w.submit(0, j)
	}
	j := testJob("olgas", 1, grid.Hour/10, grid.Credit)
	j.User = "olga"
	w.submit(1002*sec, j)
	w.finish(t, 2500*sec)
	for i, c := range only[facts.CycleClosed](w) {
		if slices.ContainsFunc(c.Served, func(x facts.UserLine) bool { return x.User == "olga" }) {
			if i != 5 {
				t.Errorf("cycle %d plans it, the sixth is the first to begin after its submission", i+1)
			}
			return
		}
	}
	t.Error("no cycle plans it")
}

// cfgBatch changes the batch size of a running broker.
func (w *testWorld) cfgBatch(n int) { w.b.mem.cfg.BatchSize = n }

func TestCycle_NewOneDoesNotStartWhileOneIsUnderWay(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 8, 0)
	site.rule = onNth("Hold", 1, fakeAnswer{late: 15 * grid.Second})
	cfg := testConfig(site)
	cfg.Cycle = 10 * grid.Second
	w := newTestWorld(t, cfg, site)
	w.submit(0, testJob("slow", 1, grid.Hour/10, grid.Credit))
	w.submit(5*sec, testJob("next", 1, grid.Hour/10, grid.Credit))
	w.Run(12 * sec)
	if n := w.sent("OfferRequest"); n != 1 {
		t.Errorf("%d requests for offers while a cycle is under way", n)
	}
	w.Run(15 * sec)
	if n := w.sent("OfferRequest"); n != 2 || w.b.Waiting() != 0 {
		t.Errorf("%d requests for offers, %d jobs wait: the cycle due at 10 s did not follow", n, w.b.Waiting())
	}
	w.finish(t, 1000*sec)
}

func TestCycle_ServesByPriorityThenSubmissionThenName(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	cfg := testConfig(site)
	cfg.MaxAlternatives = 1
	w := newTestWorld(t, cfg, site)
	add := func(at grid.Time, name string, priority int) {
		j := testJob(name, 4, 100*grid.Second, grid.Credit)
		j.Priority = priority
		w.submit(at, j)
	}
	add(1, "d", 0)
	add(2, "c", 0)
	add(2, "b", 0)
	add(3, "a", 7)
	w.finish(t, 5000*sec)
	var order []string
	for _, f := range only[facts.TxBegun](w) {
		order = append(order, f.Job)
	}
	if fmt.Sprint(order) != "[a d b c]" {
		t.Errorf("served in order %v, want [a d b c]", order)
	}
}

func TestCycle_AlarmOfAnEarlierOneDoesNotEndTheWait(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	site.rule = onNth("OfferRequest", 2, fakeAnswer{late: 8 * grid.Second})
	cfg := testConfig(site)
	cfg.BatchSize, cfg.Lead = 1, grid.Minute
	w := newTestWorld(t, cfg, site)
	w.submit(1*sec, testJob("a", 1, grid.Second, grid.Credit))
	w.submit(5*sec, testJob("b", 1, grid.Second, grid.Credit))
	w.finish(t, 14*sec)
	if v := w.job("b"); v.State != grid.JobPlaced {
		t.Errorf("b is %v: %v; its cycle's wait lasts until 15 s", v.State, v.Reason)
	}
}

// Under the goal value a place that a site names for a refused leg is taken where it loses less than the
// job's other windows, and not because it was named: it counted as one that loses nothing.
func TestElsewhere_APlaceThatIsNamedCompetesWithOtherWindows(t *testing.T) {
	t.Parallel()
	for named, want := range map[grid.Time]grid.Time{500 * sec: 500 * sec, 9000 * sec: 1000 * sec} {
		north, refused := newFakeSite("north", 1, 3_600_000), false
		north.rule = func(m agents.Message) fakeAnswer {
			if _, ok := m.(agents.Hold); !ok || refused {
				return fakeAnswer{}
			}
			refused = true
			return fakeAnswer{refuse: grid.Busy, instead: grid.Place{Start: named, End: named.Add(1000 * grid.Second), Fare: grid.Fare{Base: grid.Credit}}}
		}
		cfg := testConfig(north)
		cfg.Minimize, cfg.Urgency = grid.GoalValue, grid.Hourly(3_600_000)
		w := newTestWorld(t, cfg, north)
		w.submit(0, testJob("wave", 1, 1000*grid.Second, 20*grid.Credit))
		w.Run(400 * sec)
		begun := only[facts.TxBegun](w)
		if len(begun) != 2 || begun[0].Legs[0].Start != 0 || begun[1].Legs[0].Start != want {
			t.Errorf("where %v is named: %+v; must begin at %v in the end", named, begun, want)
		}
	}
}
