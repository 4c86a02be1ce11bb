package costart

import (
	"testing"

	"github.com/bourse-grid/bourse/studies/evidence"
)

// A cell that lies apart says so, and whether so few published jobs lie so far off by chance.
func TestByChance_IsSaidOfWhatSoFewJobsCanBe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		paper, here, half float64
		said, want        string
	}{
		{70, 55.9, 4.4, "-14 points", "-14 points"},
		{70, 64, 5.7, "-6 points", "-6 points, by chance"},
		{100, 97, 1, "-3 points", "-3 points, by chance"},
		{100, 90, 1, "-10 points", "-10 points"},
		{70, 69, 1, "within 3 points", "within 3 points"},
	} {
		if got := byChance(evidence.Row{Paper: evidence.Figure(c.paper), Here: c.here, CI95: c.half, Verdict: c.said}).Verdict; got != c.want {
			t.Errorf("%g for %g: %q", c.here, c.paper, got)
		}
	}
}
