package operate

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/web/api"
)

// The pace of a budget is shown to the hundredth of a credit; JSON has all digits.
func TestAccounts_ThePaceIsRounded(t *testing.T) {
	t.Parallel()
	text := accountsTable(&api.Accounts{VO: "vo1", Money: &api.VO{Pace: &api.Pace{Words: "1.66667 of 1000000 credits used: a credit weighs 1"}}})
	if !strings.HasSuffix(text, "\n1.67 of 1000000 credits used: a credit weighs 1") {
		t.Error(text)
	}
}
