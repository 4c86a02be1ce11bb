package torture

import (
	"testing"

	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// Each kind of trouble strikes legs in each state, and what a site and a broker make of it
// breaks nothing.
func TestLegAimed_StrikesInEachState(t *testing.T) {
	t.Parallel()
	for action := range uint64(thorough.Count(8, 2)) {
		var aims []sim.Fault
		for i, name := range world.SiteNames {
			salt := action << 8
			for salt%uint64(len(world.AimedStates)) != uint64(i)%uint64(len(world.AimedStates)) {
				salt++
			}
			aims = append(aims, sim.Fault{Kind: world.LegAimed, Host: world.SiteID(name), At: world.Start.Add(5 * grid.Minute), Salt: salt, Size: int64(grid.Minute)})
		}
		r := Run(4, Options{Faults: aims, Alone: true})
		if r.Broken != nil {
			t.Errorf("trouble %d: %v", action, r.Broken)
		}
		if r.Struck[world.LegAimed] < len(world.AimedStates) {
			t.Errorf("trouble %d has struck %d times, want in each of %d states", action, r.Struck[world.LegAimed], len(world.AimedStates))
		}
	}
}

// Operators' wishes are carried out: drains, closings and maintenance take their rows.
func TestOperatorWish_IsCarriedOut(t *testing.T) {
	t.Parallel()
	taken := map[string]int{}
	for size := range int64(thorough.Count(6, 1)) {
		var faults []sim.Fault
		for i, name := range world.SiteNames {
			faults = append(faults, sim.Fault{Kind: world.OperatorWish, Host: world.SiteID(name), At: world.Start.Add(grid.Duration(10+5*i) * grid.Minute), For: 10 * grid.Minute, Size: size, Salt: uint64(1 + i)})
		}
		r := Run(4, Options{Faults: faults, Alone: true})
		if r.Broken != nil {
			t.Errorf("wish %d: %v", size, r.Broken)
		}
		for row, n := range r.Rows {
			taken[row] += n
		}
	}
	for _, row := range []string{"S61", "S62", "S63", "S64", "S65", "S66", "S67", "B127"} {
		if taken[row] == 0 && thorough.Check() {
			t.Errorf("row %s was not taken", row)
		}
	}
}
