package slurm

import (
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// Nodes that nobody needs cost nothing. Nodes that keep a job from starting cost its delay. Nodes
// in use or reserved are not for sale. Jobs that wait for a throttle or a limit are not delayed
// before it is free.
func TestPrices_AreTheDelaysOfThoseWhoWouldStart(t *testing.T) {
	t.Parallel()
	c, jobs := waitingQueue()
	now := grid.Time(10_000 * grid.Second)
	p := NewPrices(c, jobs, now, 0, now.Add(30*grid.Day))
	delays := func(after grid.Duration, n int, d grid.Duration) map[int64]grid.Duration {
		t.Helper()
		list, ok := p.Delays(now.Add(after), n, d)
		if !ok {
			t.Fatalf("%d nodes for %v after %v cannot be had", n, d, after)
		}
		by := map[int64]grid.Duration{}
		for _, x := range list {
			by[x.Job] = x.By
		}
		return by
	}
	if by := delays(0, 1, 20*grid.Minute); len(by) != 0 { // a task needs the other idle node
		t.Errorf("one of two idle nodes delays %v", by)
	}
	// Both idle nodes: the tasks wait until its end, and nobody else.
	if by := delays(0, 2, 20*grid.Minute); len(by) != 2 || by[1] < 19*grid.Minute || by[1] > 21*grid.Minute || by[2] < 19*grid.Minute || by[2] > 21*grid.Minute {
		t.Errorf("both idle nodes delay %v", by)
	}
	for what, ask := range map[string]struct {
		after grid.Duration
		n     int
		d     grid.Duration
	}{
		"a running job has the third":   {0, 3, grid.Minute},
		"the maintenance has them all":  {90 * grid.Minute, 1, grid.Hour},
		"it is past":                    {-grid.Minute, 1, grid.Minute},
		"there are only four":           {40 * grid.Minute, 5, grid.Minute},
		"it would reach into the other": {60 * grid.Minute, 1, 61 * grid.Minute},
	} {
		if list, ok := p.Delays(now.Add(ask.after), ask.n, ask.d); ok {
			t.Errorf("%s, but it can be had, and delays %v", what, list)
		}
	}
	starts := p.Starts()
	if starts[0] != now || !slices.IsSorted(starts) || !slices.Contains(starts, now.Add(30*grid.Minute)) || !slices.Contains(starts, now.Add(3*grid.Hour)) {
		t.Errorf("starts %v", starts)
	}
}
