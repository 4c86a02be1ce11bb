package tenancy

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// Usage is known for the whole of any period, however far ahead windows are. Nothing is kept for
// ever of users who have gone.
func TestUsage_IsKeptForTheLongestPeriodAndNotForEver(t *testing.T) {
	t.Parallel()
	now := grid.Time(100 * grid.Day)
	var x usage
	x.prune(now)
	x.add(&x.users, "ana", 100, Used{Time: 5}, 1)
	x.add(&x.users, "ana", 100+2*keepUsed, Used{Time: 7}, 1)
	if x.users["ana"][100].Time != 5 {
		t.Errorf("a window far ahead has cost what was used today: %v", x.users)
	}
	x.prune(now.Add(grid.Duration(keepUsed) * grid.Day))
	if x.users["ana"][100].Time != 5 {
		t.Errorf("forgotten too soon: %v", x.users)
	}
	x.prune(now.Add(grid.Duration(keepUsed+1) * grid.Day))
	x.add(&x.users, "ana", 100, Used{Time: 5}, -1) // comes back after all
	if _, there := x.users["ana"][100]; there || len(x.users) != 1 {
		t.Errorf("a day that is forgotten counts again: %v", x.users)
	}
	if x.prune(now.Add(grid.Duration(4*keepUsed) * grid.Day)); len(x.users) != 0 {
		t.Errorf("kept for ever: %v", x.users)
	}
}
