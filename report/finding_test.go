package report

import (
	"testing"

	"github.com/bourse-grid/bourse"
)

// Codes are for programs: the finding has words for every reason for which a
// job may be left over.
func TestFinding_WordsForEveryReasonToPostpone(t *testing.T) {
	t.Parallel()
	for _, code := range []bourse.Code{
		bourse.TooLarge, bourse.NoNode, bourse.NoWindow, bourse.OverBudget, bourse.NoOffer, bourse.LimitTime,
		bourse.LimitBudget, bourse.NoMoney, bourse.Expired, bourse.Busy, bourse.Past, bourse.TooDear, bourse.MinNotice,
		bourse.MaxHorizon, bourse.MaxShare, bourse.VOShare, bourse.NotAllowed, bourse.Cap, bourse.QueueFull, bourse.NoCluster,
	} {
		if reasonWords[code] == "" {
			t.Errorf("no words for %q", code)
		}
	}
}
