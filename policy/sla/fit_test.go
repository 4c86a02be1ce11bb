package sla

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

func TestFit_FirstAndLastAgainstEveryStart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := grid.NewProfile(0, 4)
		for range rapid.IntRange(0, 8).Draw(t, "steps") {
			s := grid.Time(rapid.IntRange(0, 40).Draw(t, "s"))
			p.Add(s, s.Add(grid.Duration(rapid.IntRange(1, 15).Draw(t, "d"))), -rapid.IntRange(1, 2).Draw(t, "n"))
		}
		from := grid.Time(rapid.IntRange(0, 40).Draw(t, "from"))
		last := grid.Time(rapid.IntRange(0, 60).Draw(t, "last"))
		n, d := rapid.IntRange(1, 4).Draw(t, "nodes"), grid.Duration(rapid.IntRange(1, 12).Draw(t, "te"))
		first, latest := grid.Never, grid.Never
		for s := from; s <= last; s++ {
			if p.Min(s, s.Add(d)) >= n {
				first, latest = min(first, s), s
			}
		}
		if got := firstFit(p, from, last, n, d); got != first {
			t.Errorf("first fit at %v, not %v", got, first)
		}
		if got := lastFit(p, from, last, n, d); got != latest {
			t.Errorf("last fit at %v, not %v", got, latest)
		}
	})
}
