package operate

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// The command first says how many jobs and legs it affects.
func TestSiteLost_SaysBeforehandWhatItDoesToHowManyJobs(t *testing.T) {
	t.Parallel()
	got := stakeWords(&api.SiteStake{Site: "north", Jobs: 12, Legs: 14, Running: 3, Cost: api.Credits{Credits: 5 * grid.Credit}, Horizon: api.Seconds{Duration: grid.Day}})
	if want := "north carries 14 legs of 12 jobs, 3 running, for 5 credits."; !strings.HasPrefix(got, want) || !strings.Contains(got, "for 1d") {
		t.Errorf("%s", got)
	}
}
