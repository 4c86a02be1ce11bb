package web

import (
	"context"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/sites"
	"github.com/bourse-grid/bourse/web/api"
)

// siteAPI is the API of a world's site north.
func siteAPI(t *testing.T, h *worldHost, change ...func(*Options)) *Server {
	t.Helper()
	opt := Options{Host: h, Agent: "site:north", Identify: byHeader}
	for _, c := range change {
		c(&opt)
	}
	s, err := NewSite(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

func TestSite_ShowsWhatItCarriesAndForWhom(t *testing.T) {
	t.Parallel()
	h := world(t)
	b, s := brokerAPI(t, h), siteAPI(t, h)
	wide := wave("batch-0001")
	wide.Jobs[0].Nodes = 24
	submit(t, b, ana, wide)
	h.pass(grid.Second)
	var state api.SiteState
	if code := call(t, s, olga, "GET", "/v1/site", nil, &state); code != 200 || state.Name != "north" || state.Open != 1 ||
		len(state.Groups) != 1 || len(state.Brokers) != 1 || state.Brokers[0].Broker != "vo1" || state.Brokers[0].Paid.Credits == 0 {
		t.Errorf("%d %+v", code, state)
	}
	state = api.SiteState{}
	if call(t, s, ana, "GET", "/v1/site", nil, &state); len(state.Brokers) != 0 {
		t.Errorf("a user sees what brokers paid: %+v", state.Brokers)
	}
	var list api.ReservationList
	if call(t, s, olga, "GET", "/v1/reservations", nil, &list); len(list.Reservations) != 1 || list.Reservations[0].User != "ana" || list.Reservations[0].Broker != "vo1" {
		t.Errorf("%+v", list)
	}
	var offers api.OfferList
	if call(t, s, ana, "GET", "/v1/offers", nil, &offers); len(offers.Offers) != 1 || len(offers.Offers[0].Free) < 2 {
		t.Errorf("%+v", offers)
	}
	if text := get(s, "/metrics").Body.String(); !strings.Contains(text, "bourse_site_legs 1") || !strings.Contains(text, `bourse_site_nodes{group="main",what="all"} 16`) {
		t.Error("the metrics do not show its legs and nodes")
	}
	h.agents["site:north"].(*sites.Site).Share(900, map[string]int{"vo1": 250, "vo2": 500})
	let := siteAPI(t, h, func(o *Options) { o.LetGo = func(vo string) bool { return vo == "vo2" } })
	state = api.SiteState{}
	if call(t, let, olga, "GET", "/v1/site", nil, &state); len(state.Shares) != 3 || state.Shares[0].VO != "" || state.Shares[0].Share != 0.9 ||
		state.Shares[1].Share != 0.25 || state.Shares[1].Held == 0 || state.Shares[1].LetGo || state.Shares[2] != (api.VOShare{VO: "vo2", Share: 0.5, Span: state.Shares[0].Span, LetGo: true}) {
		t.Errorf("%+v", state.Shares)
	}
	state = api.SiteState{}
	if call(t, let, ana, "GET", "/v1/site", nil, &state); len(state.Shares) != 0 {
		t.Errorf("a user sees what other VOs may hold: %+v", state.Shares)
	}
	if w := get(s, "/readyz"); w.Code != 200 {
		t.Errorf("readiness: %d %s", w.Code, w.Body)
	}
}

// Only operators run a site, and what they ask for is done.
func TestSite_OperatorsDrainMaintainCloseAndOpen(t *testing.T) {
	t.Parallel()
	h := world(t)
	b, s := brokerAPI(t, h), siteAPI(t, h)
	drain, closed := api.DrainWish{Until: "2h", Why: "new switch"}, api.CloseWish{User: "ben"}
	window := api.MaintenanceWish{Name: "disks", Group: "main", Nodes: 8, Start: "3h", End: "5h"}
	for _, c := range []struct {
		who, method, path string
		body              any
		want              int
	}{
		{ana, "POST", "/v1/drain", drain, 403},
		{ana, "DELETE", "/v1/drain", nil, 403},
		{ana, "POST", "/v1/close", closed, 403},
		{ana, "POST", "/v1/open", api.OpenWish{User: "ben"}, 403},
		{ana, "POST", "/v1/maintenance", window, 403},
		{ana, "DELETE", "/v1/maintenance/disks", nil, 403},
		{ana, "GET", "/v1/reservations", nil, 403},
		{olga, "POST", "/v1/drain", api.DrainWish{Until: "soon"}, 422},
		{olga, "POST", "/v1/drain", api.DrainWish{Until: "2001-01-01T00:00:00Z"}, 422},
		{olga, "POST", "/v1/close", api.CloseWish{}, 422},
		{olga, "POST", "/v1/maintenance", api.MaintenanceWish{Name: "x", Group: "none", End: "1h"}, 422},
		{olga, "POST", "/v1/drain", drain, 200},
		{olga, "POST", "/v1/drain", drain, 200},
		{olga, "POST", "/v1/close", closed, 200},
		{olga, "POST", "/v1/maintenance", window, 200},
	} {
		if code := call(t, s, c.who, c.method, c.path, c.body, nil); code != c.want {
			t.Errorf("%s %s %s %+v: %d, want %d", c.who, c.method, c.path, c.body, code, c.want)
		}
	}
	other := window
	other.Nodes = 9
	if code := call(t, s, olga, "POST", "/v1/maintenance", other, nil); code != 409 {
		t.Errorf("another window of one name: %d", code)
	}
	var state api.SiteState
	call(t, s, ana, "GET", "/v1/site", nil, &state)
	if state.Drained == nil || state.Drained.Why != "new switch" || len(state.Closed) != 1 || len(state.Maintenance) != 1 || state.Maintenance[0].Nodes != 8 {
		t.Errorf("%+v", state)
	}
	submit(t, b, ana, wave("batch-0001"))
	h.pass(grid.Second)
	var j api.Job
	if call(t, b, ana, "GET", "/v1/jobs/wave", nil, &j); strings.Join(j.Sites, ",") != "south" {
		t.Errorf("while north drains the job is at %v", j.Sites)
	}
	var list api.SiteList
	if call(t, b, ana, "GET", "/v1/sites", nil, &list); list.Sites[0].Refusal == nil || list.Sites[0].Refusal.Code != string(grid.Draining) {
		t.Errorf("the broker's view of a drained site: %+v", list.Sites[0])
	}
	call(t, s, olga, "DELETE", "/v1/drain", nil, nil)
	call(t, s, olga, "POST", "/v1/open", api.OpenWish{User: "ben"}, nil)
	state = api.SiteState{}
	if call(t, s, olga, "DELETE", "/v1/maintenance/disks", nil, &state); state.Drained != nil || len(state.Closed)+len(state.Maintenance) != 0 {
		t.Errorf("after all is ended: %+v", state)
	}
}

// An operator's words are shown to those who are refused, and to other operators. They
// cannot affect their terminals.
func TestSite_WishesWithCharactersThatCannotBeSeenAreRefused(t *testing.T) {
	t.Parallel()
	s := siteAPI(t, world(t))
	for _, c := range []struct {
		path string
		wish any
		want string
	}{
		{"/v1/drain", api.DrainWish{Why: "new\x1b[2J switch"}, "body.why: \"new\\x1b[2J switch\": character 4 is U+001B"},
		{"/v1/close", api.CloseWish{User: "ben\u009b1m"}, "body.user"},
		{"/v1/open", api.OpenWish{VO: "vo\u202e1"}, "body.vo"},
		{"/v1/maintenance", api.MaintenanceWish{Name: "disks\n", Group: "main", End: "1h"}, "body.name"},
	} {
		var p problem
		if code := call(t, s, olga, "POST", c.path, c.wish, &p); code != 422 || !strings.Contains(p.Detail, c.want) {
			t.Errorf("%s: %d %q, want %q", c.path, code, p.Detail, c.want)
		}
	}
}

// A VO that nobody has is refused with those that are known: by discovery, by what they
// have paid, or by a close.
func TestSite_ClosesToVOsThatItHasHeardOf(t *testing.T) {
	t.Parallel()
	h := world(t)
	b := brokerAPI(t, h)
	submit(t, b, ana, wave("batch-0001")) // vo1 pays
	h.pass(grid.Minute)
	s := siteAPI(t, h, func(o *Options) { o.Brokers = func() []string { return []string{"atlas/main", "atlas"} } })
	var problem struct{ Detail string }
	if code := call(t, s, olga, "POST", "/v1/close", api.CloseWish{VO: "vo11"}, &problem); code != 409 || !strings.Contains(problem.Detail, "it knows atlas, atlas/main, vo1.") {
		t.Errorf("a VO that nobody has: %d %q", code, problem.Detail)
	}
	for _, w := range []api.CloseWish{{VO: "vo1"}, {VO: "atlas"}, {VO: "atlas/main", User: "ben"}, {User: "ben"}, {VO: "mallory", Ahead: true}, {VO: "mallory", User: "eve"}} {
		if code := call(t, s, olga, "POST", "/v1/close", w, &problem); code != 200 {
			t.Errorf("%+v: %d %q", w, code, problem.Detail)
		}
	}
	if code := call(t, s, ana, "POST", "/v1/close", api.CloseWish{VO: "vo11"}, &problem); code != 403 || strings.Contains(problem.Detail, "atlas") {
		t.Errorf("a user: %d %q", code, problem.Detail)
	}
}
