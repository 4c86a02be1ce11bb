package managed

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// Work that is over near the end of its window was cut off only if it did not end by itself, and
// is said to have begun late if it did.
func TestCutOff_IsWhatDidNotEndByItself(t *testing.T) {
	t.Parallel()
	const skew = 2 * grid.Second
	b := &Backend{cfg: Config{Limits: Limits{Skew: skew}}}
	end := grid.Time(0).Add(grid.Hour)
	for name, c := range map[string]struct {
		told bool // by the site, to end
		is   grid.ManagedJob
		want bool
	}{
		"killed at its end":                     {true, grid.ManagedJob{End: end.Add(grid.Second), Signal: 15}, true},
		"killed, by a clock that is slow":       {true, grid.ManagedJob{End: end.Add(-grid.Second), Signal: 15}, true},
		"told to end, and left with status 0":   {true, grid.ManagedJob{End: end.Add(grid.Second)}, true},
		"ended by its manager before it was":    {false, grid.ManagedJob{End: end, Why: "its window was over"}, true},
		"succeeded just before it was told to":  {true, grid.ManagedJob{End: end.Add(-grid.Second)}, false},
		"succeeded at its end, nobody ended it": {false, grid.ManagedJob{End: end}, false},
		"failed long before it was told to":     {true, grid.ManagedJob{End: end.Add(-grid.Minute), Exit: 3}, false},
		"cancelled by others before its end":    {false, grid.ManagedJob{End: end.Add(-grid.Minute), Why: "CANCELLED"}, false},
	} {
		e := &entry{what: grid.Leg{End: end}, ended: c.told}
		if got := b.cutOff(e, &c.is); got != c.want {
			t.Errorf("%s: cut off %v", name, got)
		}
	}
	e := &entry{what: grid.Leg{Start: 1000, End: end}}
	for begun, want := range map[grid.Time]string{
		0:                                 "its window was over",
		e.what.Start.Add(skew):            "its window was over",
		e.what.Start.Add(9 * grid.Second): "its window was over, and it had begun 7s late",
	} {
		if why := b.windowOver(e, begun); why.Code != grid.Expired || why.Detail != want {
			t.Errorf("begun at %v: %v %q, want %q", begun, why.Code, why.Detail, want)
		}
	}
}
