package report

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// Codes are for programs: the finding has words for every reason for which a
// job may be left over.
func TestFinding_WordsForEveryReasonToPostpone(t *testing.T) {
	t.Parallel()
	for _, code := range []grid.Code{
		grid.TooLarge, grid.NoNode, grid.NoWindow, grid.OverBudget, grid.NoOffer, grid.LimitTime,
		grid.LimitBudget, grid.NoMoney, grid.Expired, grid.Busy, grid.Past, grid.TooDear, grid.MinNotice,
		grid.MaxHorizon, grid.MaxShare, grid.VOShare, grid.NotAllowed, grid.Cap, grid.QueueFull, grid.NoCluster,
	} {
		if reasonWords[code] == "" {
			t.Errorf("no words for %q", code)
		}
	}
}
