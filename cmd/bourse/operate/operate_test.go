package operate

import (
	"testing"

	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/web/api"
)

// A mistyped name is answered with the known names.
func TestOpen_SaysToWhomTheSiteIsClosed(t *testing.T) {
	t.Parallel()
	s := api.SiteState{Name: "north", Closed: []api.Closed{{VO: "vo2"}, {VO: "vo3", User: "ben"}}}
	err := notClosed(&s, api.OpenWish{VO: "vo7"})
	if !failure.Is(err) || err.Error() != "north is not closed to --vo vo7; it is closed to --vo vo2, --vo vo3 --user ben" {
		t.Error(err)
	}
}
