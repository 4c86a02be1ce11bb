package operate

import (
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/web/api"
)

func TestSites_OneSiteTellsTheSharesOfVOsAndWhichAreLetGo(t *testing.T) {
	t.Parallel()
	s := api.SiteState{Name: "north", Groups: []api.Group{{Name: "main", Nodes: 4}}, Shares: []api.VOShare{{VO: "atlas", Share: 0.4, Held: 0.125, Span: "7 days"}, {VO: "cms", Share: 1, Span: "7 days", LetGo: true}}}
	var out strings.Builder
	printSite(&out, &s, time.Now())
	for _, want := range []string{"atlas", "40 %", "12.5 %", "cms", "100 %", "let go: no longer heard", "shares of the node-time of the next 7 days"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
