package forecast

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// throttled is a state of four nodes on which n tasks of one node and 100 ms wait, of which
// most may run at once.
func throttled(policy backfill.Policy, n, most int) *backfill.State {
	s := &backfill.State{Now: 1000, Nodes: 4, Policy: policy, Free: grid.NewProfile(1000, 4)}
	set := backfill.Throttle{Most: most}
	for id := range int64(n) {
		s.Queue = append(s.Queue, backfill.Queued{ID: id + 1, Nodes: 1, Estimate: 100, Guarantee: grid.Never})
		set.Jobs = append(set.Jobs, id+1)
	}
	s.Throttles = []backfill.Throttle{set}
	return s
}

var served = map[string]backfill.Policy{"fcfs": backfill.FCFS, "first-fit": backfill.FirstFit, "easy": backfill.EASY,
	"reserve=100": backfill.Reserving(100), "conservative": backfill.Conservative}

func TestByLimits_AnArrayTakesOnlyWhatItsThrottleLets(t *testing.T) {
	t.Parallel()
	for name, policy := range served {
		s := throttled(policy, 100, 2)
		for nodes, want := range map[int]grid.Time{1: 1000, 2: 1000} {
			if at := ByLimits(s, Job{Nodes: nodes, Limit: 50, Place: Last}); at != want {
				t.Errorf("%s: %d nodes beside two tasks start at %v, not %v", name, nodes, at, want)
			}
		}
		if len(s.Queue) != 100 || s.Queue[0].Priority != 0 {
			t.Errorf("%s: the state has changed", name)
		}
	}
	// Three nodes are free only once all but the last task have ended.
	s := throttled(backfill.FirstFit, 5, 2)
	if at := ByLimits(s, Job{Nodes: 3, Limit: 50, Place: Last}); at != 1200 {
		t.Errorf("three nodes start at %v, not 1200", at)
	}
	// Tasks are ahead in the queue, and take what the end of one leaves.
	if at := ByLimits(throttled(backfill.EASY, 6, 2), Job{Nodes: 4, Limit: 50, Place: Last}); at != 1300 {
		t.Errorf("four nodes behind all tasks start at %v, not 1300", at)
	}
	if at := ByLimits(throttled(backfill.EASY, 6, 2), Job{Nodes: 4, Limit: 50, Place: 2}); at != 1100 {
		t.Errorf("four nodes before the third task start at %v, not 1100", at)
	}
}

func TestByLimits_AJobBeginsNoEarlierThanItMay(t *testing.T) {
	t.Parallel()
	for name, policy := range served {
		s := &backfill.State{Now: 1000, Nodes: 4, Policy: policy, Free: grid.NewProfile(1000, 4),
			Queue: []backfill.Queued{{ID: 1, Nodes: 4, Estimate: 100, Guarantee: grid.Never}, {ID: 2, Nodes: 4, Estimate: 100, Guarantee: grid.Never}},
			Later: []backfill.Later{{Job: 0, From: 1500}, {Job: 1, After: []int64{1}}}}
		if at := ByLimits(s, Job{Nodes: 4, Limit: 100, Place: Last}); at != 1000 {
			t.Errorf("%s: before they begin, a job starts at %v, not 1000", name, at)
		}
		s.Free.Add(1000, 1550, -4)
		s.Reserved = []backfill.Reserved{{ID: 1, Nodes: 4, Start: 1000, End: 1550}}
		if at := ByLimits(s, Job{Nodes: 4, Limit: 100, Place: Last}); policy != backfill.Conservative && at != 1750 {
			t.Errorf("%s: behind the first and the one that waits for its end a job starts at %v, not 1750", name, at)
		}
		if at := ByLimits(s, Job{Nodes: 4, Limit: 100, Place: 0}); at != 1550 {
			t.Errorf("%s: ahead of both a job starts at %v, not 1550", name, at)
		}
		s.Later[0] = backfill.Later{Job: 0, After: []int64{77}}
		if at := ByLimits(s, Job{Nodes: 4, Limit: 100, Place: Last}); at != 1550 {
			t.Errorf("%s: behind jobs that wait for ever a job starts at %v, not 1550", name, at)
		}
	}
}
