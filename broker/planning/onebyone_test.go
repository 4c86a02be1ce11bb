package planning

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// The oracle tries every instant.
func TestStartsOf_AreThoseAtWhichWhatIsFreeChangesUpToTheFirstClearOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const size, span = 4, 30
		admissible := grid.NewProfile(0, size)
		take := func(p *grid.Profile, label string) {
			for range rapid.IntRange(0, 4).Draw(t, label) {
				s := rapid.Int64Range(0, span-1).Draw(t, "from")
				e := rapid.Int64Range(s+1, span).Draw(t, "to")
				if p.Min(grid.Time(s), grid.Time(e)) > 0 {
					p.Add(grid.Time(s), grid.Time(e), -1)
				}
			}
		}
		take(&admissible, "reserved")
		clear := admissible.Clone()
		take(&clear, "queued")
		n, d := rapid.IntRange(1, size).Draw(t, "n"), grid.Duration(rapid.Int64Range(1, 10).Draw(t, "d"))
		from, to := grid.Time(rapid.Int64Range(0, 10).Draw(t, "open")), grid.Time(rapid.Int64Range(11, 40).Draw(t, "close"))
		var want []grid.Time
		for s := from; s.Add(d) <= to; s++ {
			changes := s == from
			for _, p := range []grid.Profile{admissible, clear} {
				changes = changes || slices.ContainsFunc(p, func(x grid.Step) bool { return x.At == s })
			}
			if changes && admissible.Min(s, s.Add(d)) >= n {
				want = append(want, s)
			}
			if clear.Min(s, s.Add(d)) >= n {
				break
			}
		}
		if got := startsOf(admissible, clear, n, d, from, to, 1000); !slices.Equal(got, want) {
			t.Fatalf("starts %v, want %v\nadmissible %v\nclear %v", got, want, admissible, clear)
		}
		few := startsOf(admissible, clear, n, d, from, to, 3)
		if len(want) > 3 && (len(few) != 3 || few[0] != want[0] || few[2] != want[len(want)-1]) {
			t.Fatalf("of %v kept %v, want 3 with the first and the last", want, few)
		}
	})
}

// Of two groups the one that came nearer to serving a job says why it did not: nodes of the
// kind, as many, free, and cheap enough. If both came as near, it is the first.
func TestNearer_OfTwoThatCameAsNearTheFirst(t *testing.T) {
	t.Parallel()
	order := []grid.Code{grid.NoNode, grid.TooLarge, grid.NoWindow, grid.OverBudget}
	for i, x := range order {
		for k, y := range order {
			first, second := grid.Reason{Code: x, Detail: "first"}, grid.Reason{Code: y, Detail: "second"}
			if got := nearer(first, second); (got == second) != (k > i) || got != first && got != second {
				t.Errorf("%s before %s: %v", x, y, got)
			}
		}
	}
}
