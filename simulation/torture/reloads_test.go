package torture

import (
	"testing"

	"github.com/bourse-grid/bourse/simulation/torture/world"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// Sites get other prices and nodes in the middle of everything: with a manager or without,
// with agreements, with shared nodes, and with clusters that die too. What is promised stays,
// and so the invariants hold; both rows are taken.
func TestReloads_WhatIsPromisedStays(t *testing.T) {
	t.Parallel()
	seeds := []uint64{63, 79, 83} // the lives of the last are run again, with the settings that they began with
	seeds = seeds[:thorough.Count(len(seeds), 2)]
	rows, struck := map[string]int{}, 0
	for _, seed := range seeds {
		if !world.Reloading(seed) {
			t.Fatalf("seed %d has no reloads", seed)
		}
		r := Run(seed, Options{Alone: true, Rerun: seed == 83})
		if r.Broken != nil {
			t.Errorf("seed %d: %v", seed, r.Broken)
		}
		for row, n := range r.Rows {
			rows[row] += n
		}
		struck += r.Struck[world.SiteReload]
	}
	for _, row := range []string{"S124", "S125"} {
		if rows[row] == 0 {
			t.Errorf("row %s is not taken", row)
		}
	}
	if want := len(seeds) * world.Reloads; struck != want {
		t.Errorf("%d reloads were asked for, want %d", struck, want)
	}
	t.Logf("%d reloads: S124 %d, S125 %d", struck, rows["S124"], rows["S125"])
}
