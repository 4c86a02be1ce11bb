package grid_test

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

func TestWorkResult_WhatIsAFailure(t *testing.T) {
	t.Parallel()
	over := grid.Because(grid.Expired, "its window was over")
	for name, c := range map[string]struct {
		result *grid.WorkResult
		want   string
	}{
		"nothing ran":              {nil, ""},
		"status 0":                 {&grid.WorkResult{Known: true}, ""},
		"status 3":                 {&grid.WorkResult{Known: true, Exit: 3}, "exited with status 3"},
		"a signal":                 {&grid.WorkResult{Known: true, Exit: 139, Signal: 11}, "was ended by signal 11"},
		"killed at its end":        {&grid.WorkResult{Known: true, Exit: 137, Signal: 9, Ended: over}, "was cut off by signal 9: its window was over"},
		"told to end, and did":     {&grid.WorkResult{Known: true, Ended: over}, "was cut off: its window was over"},
		"told, and said so":        {&grid.WorkResult{Known: true, Exit: 3, Ended: over}, "was cut off with exit 3: its window was over"},
		"cut off, somehow":         {&grid.WorkResult{Ended: over}, "was cut off: its window was over"},
		"cancelled by others":      {&grid.WorkResult{Known: true, Ended: grid.Because(grid.Withdrawn, "CANCELLED")}, "ended with exit 0, CANCELLED"},
		"lost":                     {&grid.WorkResult{Ended: grid.Because(grid.Unknown, "the resource manager no longer knows it")}, "ended, exit status not known, the resource manager no longer knows it"},
		"lost, and nobody says it": {&grid.WorkResult{}, "ended, and how is not known"},
	} {
		why := c.result.Failure()
		if why.String() != c.want || why.Refused() && why.Code != grid.Failed {
			t.Errorf("%s: %q %q, want %q", name, why.Code, why, c.want)
		}
	}
}
