package web

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// An operator gives a site up: its parts of windows are had elsewhere, everybody
// sees it, the metrics show it, and it is used again once that is taken back.
func TestLost_AnOperatorGivesASiteUpAndTakesThatBack(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	submit(t, s, ana, wave("batch-0001"))
	h.pass(grid.Second)
	var j api.Job
	if call(t, s, ana, "GET", "/v1/jobs/wave", nil, &j); len(j.Sites) != 1 || j.Sites[0] != "north" {
		t.Fatalf("the job is at %v", j.Sites)
	}
	sold := api.LostWish{Why: "the machine was sold"}
	for _, c := range []struct {
		who, method, path string
		body              any
		want              int
	}{
		{ana, "POST", "/v1/sites/north/lost", sold, 403},
		{ana, "DELETE", "/v1/sites/north/lost", nil, 403},
		{olga, "POST", "/v1/sites/west/lost", sold, 404},
		{olga, "DELETE", "/v1/sites/west/lost", nil, 404},
		{olga, "POST", "/v1/sites/north/lost", api.LostWish{Why: strings.Repeat("x", 300)}, 422},
		{olga, "POST", "/v1/sites/north/lost", api.LostWish{Why: "sold\x1b[2J"}, 422}, // it is shown to others
		{olga, "POST", "/v1/sites/north/lost", sold, 200},
		{olga, "POST", "/v1/sites/north/lost", sold, 200},
	} {
		if code := call(t, s, c.who, c.method, c.path, c.body, nil); code != c.want {
			t.Errorf("%s %s %s: %d, want %d", c.who, c.method, c.path, code, c.want)
		}
	}
	h.pass(2 * grid.Minute)
	var list api.SiteList
	if call(t, s, ana, "GET", "/v1/sites", nil, &list); list.Sites[0].Lost == nil || !list.Sites[0].Lost.Operator ||
		!strings.Contains(list.Sites[0].Lost.Reason, "the machine was sold") || list.Sites[1].Lost != nil {
		t.Errorf("%+v", list.Sites)
	}
	if call(t, s, ana, "GET", "/v1/jobs/wave", nil, &j); j.State != "running" || len(j.Legs) != 1 || j.Legs[0].Site != "south" {
		t.Errorf("%s at %v", j.State, j.Legs)
	}
	if text := get(s, "/metrics").Body.String(); !strings.Contains(text, `bourse_site_lost{site="north"} 1`) || !strings.Contains(text, `bourse_site_silent_seconds{site="south"} 0`) {
		t.Error("the metrics do not show that it is lost")
	}
	if code := call(t, s, olga, "DELETE", "/v1/sites/north/lost", nil, &list); code != 200 {
		t.Errorf("to take it back: %d", code)
	}
	list = api.SiteList{}
	if call(t, s, ana, "GET", "/v1/sites", nil, &list); list.Sites[0].Lost != nil || !list.Sites[0].Listed {
		t.Errorf("after it was taken back: %+v", list.Sites[0])
	}
}
