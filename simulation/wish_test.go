package simulation

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
)

// wishful is the default scenario with keys of its users added, and a fee at its sites.
func wishful(t *testing.T, keys, fee string) *configs.Scenario {
	t.Helper()
	changed := strings.Replace(string(configs.Presets()[0].Text), "jobs = 240", "jobs = 240\n"+keys, 1)
	changed = strings.ReplaceAll(changed, "[[site]]", "[[site]]\n"+fee)
	sc, err := configs.ParseScenario("wishful.toml", []byte(changed))
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// Users give jobs up and have them longer or shorter, and work ends early: all
// invariants hold, what the VO has paid is what the sites have got, and what is left of
// the budget is what it has not paid.
func TestWishes_TheBooksCloseWhateverUsersDo(t *testing.T) {
	t.Parallel()
	for _, fee := range []string{"", "holding_fee = 0.1"} {
		sc := wishful(t, "run = [0.2, 1.0]\ncancel = 0.3\nmodify = 0.3", fee)
		r, files := record(t, sc, 1)
		b := &r.Summary.Brokers[0]
		if b.Jobs.GivenUp < 40 || b.Jobs.GivenUp > 100 || b.Refunded == 0 {
			t.Errorf("of 240 jobs %d are given up, for %v", b.Jobs.GivenUp, b.Refunded)
		}
		if n := strings.Count(files, `"kind":"job-cancelled"`); n != b.Jobs.GivenUp {
			t.Errorf("%d jobs were cancelled, %d are counted", n, b.Jobs.GivenUp)
		}
		if n := strings.Count(files, `"replaces":`); n < 20 {
			t.Errorf("%d moves were tried", n)
		}
		if n := committedMoves(files); n < 10 || n != b.Transactions.Moved {
			t.Errorf("%d windows were moved, %d are counted", n, b.Transactions.Moved)
		}
		for _, want := range []string{"; their users gave up ", "; sites paid back "} {
			if !strings.Contains(r.Summary.Finding, want) {
				t.Errorf("the finding has no %q: %s", want, r.Summary.Finding)
			}
		}
		var income, refunded grid.Credits
		for i := range r.Summary.Sites {
			income, refunded = income+r.Summary.Sites[i].Income.Total, refunded+r.Summary.Sites[i].Refunded
		}
		if income != b.Cost.Total || refunded != b.Refunded || b.Value.Cost != income-refunded || b.Spent != b.Value.Cost || b.Budget-b.Spent != b.Left {
			t.Errorf("the sites have got %v and given %v back; the VO: %v, %v, spent %v, left %v of %v", income, refunded, b.Cost.Total, b.Refunded, b.Spent, b.Left, b.Budget)
		}
		if left := b.Jobs.Submitted - b.Jobs.Placed - b.Jobs.Waiting - b.Jobs.Abandoned - b.Jobs.Withdrawn; left != 0 {
			t.Errorf("%d jobs are counted nowhere or twice: %+v", left, b.Jobs)
		}
	}
}

// committedMoves counts the transactions in a run's facts that move a window and commit.
func committedMoves(facts string) (n int) {
	tx := regexp.MustCompile(`"tx":\{[^}]*\}`)
	moves := map[string]bool{}
	for line := range strings.Lines(facts) {
		switch id := tx.FindString(line); {
		case strings.Contains(line, `"kind":"tx-begun"`):
			moves[id] = strings.Contains(line, `"replaces":`)
		case strings.Contains(line, `"kind":"tx-decided"`) && strings.Contains(line, `"commit":true`) && moves[id]:
			n++
		}
	}
	return n
}

// Without wishes nothing changes: the keys left out, or 0, change no byte.
func TestWishes_NoneChangeNothing(t *testing.T) {
	t.Parallel()
	sums := map[string]bool{}
	for _, keys := range []string{"", "cancel = 0.0\nmodify = 0.0\nrun = [1.0, 1.0]"} {
		s := &Simulation{Scenario: wishful(t, keys, ""), Workloads: NewWorkloads()}
		var events strings.Builder
		if _, err := s.Run(3, Record{Events: &events}); err != nil {
			t.Fatal(err)
		}
		sums[events.String()] = true
	}
	if len(sums) != 1 {
		t.Error("a share of 0 changes the run")
	}
}

// A larger share adds jobs and takes none away, so that two settings with one seed
// differ by their setting alone.
func TestWishes_ALargerShareAddsToASmallerOne(t *testing.T) {
	t.Parallel()
	full := configs.Range[configs.Thousandths]{Lo: 0, Hi: configs.One}
	draw := func(cancel, modify configs.Thousandths) []wish {
		return wishesOf(&configs.VOWorkload{Cancel: cancel, CancelAt: full, Modify: modify, ModifyAt: full, ModifyLength: full}, 1000, 7)
	}
	few, many := draw(100, 100), draw(400, 100)
	n := 0
	for i := range few {
		a, b := few[i], many[i]
		if a.cancels && !b.cancels || a.modifies != b.modifies || a.cancelAt != b.cancelAt || a.modifyAt != b.modifyAt || a.length != b.length {
			t.Fatalf("job %d: %+v, with a larger share %+v", i, a, b)
		}
		if b.cancels {
			n++
		}
	}
	if n < 340 || n > 460 {
		t.Errorf("of 1,000 jobs %d are given up, at a share of 0.4", n)
	}
	if wishesOf(&configs.VOWorkload{CancelAt: full}, 10, 1) != nil || wishesOf(nil, 0, 1) != nil {
		t.Error("without a share there are wishes")
	}
}

// A user gives a job up at the drawn share of the time from its booking to its start.
func TestWishes_ComeAtTheirTime(t *testing.T) {
	t.Parallel()
	sc := wishful(t, "cancel = 1.0\ncancel_at = [0.25, 0.25]", "")
	begun, due, gone := map[grid.TxID]facts.TxBegun{}, map[string]grid.Time{}, 0
	watch := func(now grid.Time, _ agents.ID, out *agents.Outbox) {
		for _, f := range out.Facts {
			switch f := f.(type) {
			case facts.TxBegun:
				begun[f.Tx] = f
			case facts.TxDecided:
				if job := begun[f.Tx].Job; f.Commit && due[job] == 0 {
					due[job] = now.Add(begun[f.Tx].Legs[0].Start.Sub(now) / 4)
				}
			case facts.JobCancelled:
				if gone++; now != due[f.Job] {
					t.Errorf("%s is given up at %v, is due at %v", f.Job, now, due[f.Job])
				}
			}
		}
	}
	s := &Simulation{Scenario: sc, Workloads: NewWorkloads(), Check: true}
	if _, err := s.Run(1, Record{Hook: watch}); err != nil {
		t.Fatal(err)
	}
	if gone < 200 {
		t.Errorf("only %d jobs are given up", gone)
	}
}

// Work that ends before its window does leaves its nodes to others, at the price of all
// of the window.
func TestWishes_AJobThatEndsEarlyPaysForItsWindow(t *testing.T) {
	t.Parallel()
	sum := func(run string) *report.BrokerSummary {
		s := &Simulation{Scenario: wishful(t, run, ""), Workloads: NewWorkloads(), Check: true}
		r, err := s.Run(2, Record{})
		if err != nil {
			t.Fatal(err)
		}
		return &r.Summary.Brokers[0]
	}
	all, half := sum(""), sum("run = [0.5, 0.5]")
	if half.Refunded != 0 || half.Jobs.Placed < 200 || half.MeanResponse >= all.MeanResponse {
		t.Errorf("half of the length: %v refunded, %d placed, responses %v s, of all of it %v s", half.Refunded, half.Jobs.Placed, half.MeanResponse, all.MeanResponse)
	}
}

// Worlds of all kinds keep their invariants with wishful users.
func TestWishes_RandomWorldsKeepInvariants(t *testing.T) {
	t.Parallel()
	gone := 0
	for seed := range uint64(20) {
		text := randomScenario(rand.New(rand.NewPCG(seed, 2)))
		text = strings.ReplaceAll(text, "[broker.workload]", "[broker.workload]\ncancel = 0.3\nmodify = 0.3\nrun = [0.1, 1.0]")
		text = strings.ReplaceAll(text, "[[site]]", "[[site]]\nholding_fee = 0.1")
		sc, err := configs.ParseScenario(fmt.Sprintf("world-%d.toml", seed), []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		s := &Simulation{Scenario: sc, Workloads: NewWorkloads(), Check: true}
		r, err := s.Run(seed, Record{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, b := range r.Summary.Brokers {
			gone += b.Jobs.GivenUp
		}
	}
	if gone < 100 {
		t.Errorf("only %d jobs were given up", gone)
	}
}
