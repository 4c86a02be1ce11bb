package web

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// A job whose work runs is running in the list, by itself, in the filter and in the gauges.
func TestJobs_AJobThatRunsIsRunningInEveryView(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	id := submit(t, s, ana, wave("batch-0001")).Jobs[0].ID
	h.pass(grid.Minute)
	var j api.Job
	call(t, s, ana, "GET", "/v1/jobs/"+id, nil, &j)
	if j.State != "running" || j.Legs[0].State != "running" || j.Since != j.Start {
		t.Errorf("%+v", j)
	}
	for state, want := range map[string]int{"running": 1, "open": 1, "": 1, "placed": 0} {
		var list api.JobList
		call(t, s, ana, "GET", "/v1/jobs?state="+state, nil, &list)
		if len(list.Jobs) != want || want == 1 && list.Jobs[0].State != "running" {
			t.Errorf("state %q: %+v", state, list.Jobs)
		}
	}
	if n := gauge(t, s, `bourse_jobs{state="running"}`); n != "1" {
		t.Errorf("the gauge of running jobs is %q", n)
	}
	h.pass(2 * grid.Hour)
	j = api.Job{}
	if call(t, s, ana, "GET", "/v1/jobs/"+id, nil, &j); j.State != "done" {
		t.Errorf("afterwards it is %s", j.State)
	}
}

// A site that drains is shown so at once, and one that takes legs again too, though no
// job has ever waited.
func TestSites_ADrainShowsAtOnceWithoutAJob(t *testing.T) {
	t.Parallel()
	h := world(t)
	b, s := brokerAPI(t, h), siteAPI(t, h)
	h.add("directory", &portal{})
	h.w.Post(h.w.Now(), "directory", errand{"broker:vo1", agents.SiteJoined{Site: "site:north"}}) // as gossip tells
	h.pass(0)
	shown := func(want, code string) {
		t.Helper()
		var list api.SiteList
		call(t, b, ana, "GET", "/v1/sites", nil, &list)
		n := list.Sites[0]
		if n.Name != "north" || n.State != want || (code == "") != (n.Refusal == nil) || n.Refusal != nil && n.Refusal.Code != code {
			t.Errorf("%s is %s, %v; must be %s", n.Name, n.State, n.Refusal, want)
		}
		if g := gauge(t, b, `bourse_site_state{site="north",state="`+want+`"}`); g != "1" {
			t.Errorf("no gauge says that north is %s", want)
		}
	}
	shown("usable", "")
	call(t, s, olga, "POST", "/v1/drain", api.DrainWish{Why: "new switch"}, nil)
	shown("drained", "draining")
	call(t, s, olga, "DELETE", "/v1/drain", nil, nil)
	shown("usable", "")
	call(t, s, olga, "POST", "/v1/drain", api.DrainWish{Until: "1h"}, nil)
	shown("drained", "draining")
	h.pass(grid.Hour)
	shown("usable", "")
	submit(t, b, ana, wave("batch-0001"))
	h.pass(grid.Second)
	shown("usable", "")
	call(t, s, olga, "POST", "/v1/close", api.CloseWish{VO: "vo1"}, nil)
	shown("closed", "not-allowed")
	call(t, s, olga, "POST", "/v1/open", api.OpenWish{VO: "vo1"}, nil)
	shown("usable", "")
}

// gauge is the value of a line of the metrics; "" if there is no such line.
func gauge(t *testing.T, s *Server, name string) string {
	t.Helper()
	for line := range strings.Lines(get(s, "/metrics").Body.String()) {
		if v, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// While nothing waits, no cycle asks the sites. Whoever looks at one whose last answer is old
// sees it as it is now, and one that no longer answers as silent.
func TestSites_AViewAsksASiteWhoseLastAnswerIsOld(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	shown := func() api.Site {
		t.Helper()
		var list api.SiteList
		call(t, s, ana, "GET", "/v1/sites", nil, &list)
		return list.Sites[0]
	}
	submit(t, s, ana, wave("batch-0001"))
	h.pass(2 * grid.Hour)
	if x := shown(); x.State != "usable" || x.Asked != api.Instant(h.w.Now()) || x.Groups[0].Free != 16 {
		t.Errorf("two hours later it is shown as of %v: %+v", x.Asked, x)
	}
	before := shown().Asked
	h.pass(5 * grid.Second)
	if x := shown(); x.Asked != before {
		t.Errorf("an answer of 5 s ago is old: %+v", x)
	}
}
