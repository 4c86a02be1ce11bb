package web

import (
	"crypto/x509"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/view"
	"github.com/bourse-grid/bourse/web/api"
)

// pictured is a picture with jobs, each "id batch state", the later ones ended later.
func pictured(jobs ...string) *picture {
	p := newPicture(Caller{Role: Operator}, newPast(), grid.Time(grid.Day))
	for i, words := range jobs {
		f := strings.Fields(words)
		p.drawn[f[0]] = &drawn{number: uint64(i), since: p.epoch + grid.Time(i+1)*grid.Time(grid.Minute), job: view.Job{ID: f[0], Batch: f[1], State: f[2], Why: "it exited with status 3"}}
	}
	return p
}

func TestAlerts_FailuresOfABatchShareALineTheLatestFirst(t *testing.T) {
	t.Parallel()
	list := pictured("a1 b1 done", "a2 b1 failed", "c1 b2 abandoned", "a3 b1 failed", "d1 b3 running").failures()
	if len(list) != 2 {
		t.Fatalf("%+v", list)
	}
	if a := list[0]; a.Batch != "b1" || a.Job != "" || !strings.HasPrefix(a.Words, "2 of 3 jobs of batch b1 failed or were abandoned; the latest, a3: it exited with status 3") || a.At != int64(4*grid.Minute) {
		t.Errorf("%+v", a)
	}
	if a := list[1]; a.Job != "c1" || a.Words != "c1 was abandoned: it exited with status 3" {
		t.Errorf("%+v", a)
	}
}

// An array says that elements have failed while others still run, and each counts above.
func TestAlerts_AnOpenArrayWithFailuresIsOneAndCountsElementByElement(t *testing.T) {
	t.Parallel()
	p := pictured("a1 b1 failed", "sweep b1 running", "fine b1 running")
	for id, a := range map[string]*api.Array{"sweep": {Done: 80, Running: 10, Failed: 7, Abandoned: 3}, "fine": {Running: 1}} {
		p.drawn[id].open, p.drawn[id].array = true, a
	}
	list := p.failures()
	if len(list) != 2 || list[0].Job != "sweep" || list[0].Words != "sweep goes on, and 10 of its 100 elements failed or were abandoned: it exited with status 3" || list[1].Job != "a1" {
		t.Errorf("%+v", list)
	}
	got := map[string]string{}
	for _, f := range p.figures(nil, &api.Accounts{}) {
		got[f.Name] = f.Value + " " + f.Note
	}
	if got["failed"] != "8 3 abandoned" || got["running"] != "11 " {
		t.Errorf("%v", got)
	}
	if rows := p.tables(&api.Accounts{})[0].Rows; len(rows) != 0 {
		t.Errorf("all elements have a window, and the queue has %v", rows)
	}
	p.drawn["fine"].array.Waiting = 4
	if rows := p.tables(&api.Accounts{})[0].Rows; len(rows) != 1 || rows[0][1] != "waiting" || rows[0][2] != "4 of its 5 elements" {
		t.Errorf("the queue has %v", rows)
	}
	delete(p.drawn, "a1")
	p.drawn["sweep"].open, p.drawn["sweep"].job.State = false, "failed"
	if list := p.failures(); len(list) != 1 || !strings.HasPrefix(list[0].Words, "sweep failed: ") {
		t.Errorf("once it is over: %+v", list)
	}
}

func TestAlerts_OfManyFailuresSomeAreListed(t *testing.T) {
	t.Parallel()
	var jobs []string
	for i := range mostAlerts + 3 {
		jobs = append(jobs, fmt.Sprintf("j%d b%d failed", i, i))
	}
	list := pictured(jobs...).failures()
	if len(list) != mostAlerts+1 || !strings.HasPrefix(list[mostAlerts].Words, "and 3 more") {
		t.Errorf("%d: %+v", len(list), list[len(list)-1])
	}
}

// An agent's reason names the site itself: that is not said twice.
func TestAlerts_ASiteSaysOnceThatItTakesNothing(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]api.Site{
		"north is drained: takes nothing new until further notice: new switch": {State: "drained", Refusal: &api.Reason{Detail: "north takes nothing new until further notice: new switch"}},
		"north is closed to VO vo1: audit":                                     {State: "closed", Refusal: &api.Reason{Detail: "north is closed to VO vo1: audit"}},
		"north is lost: its legs are abandoned: sold":                          {State: "lost", Lost: &api.SiteLoss{Reason: "sold"}},
		"north is drained": {State: "drained"},
	} {
		if s.Name = "north"; awayWords(&s) != want {
			t.Errorf("%q, want %q", awayWords(&s), want)
		}
	}
}

func TestAlerts_ReplicasThatTheLeaderDoesNotHear(t *testing.T) {
	t.Parallel()
	group := &api.Replicas{Leader: "replica:vo1/1", Members: []api.Replica{{Name: "replica:vo1/1"}, {Name: "replica:vo1/2", Reachable: true}, {Name: "replica:vo1/3"}}}
	if list := lostReplicas(group); len(list) != 1 || !strings.HasPrefix(list[0].Words, "replica:vo1/3 is not heard") {
		t.Errorf("%+v", list)
	}
}

func TestAlerts_ACertificateInTheLastThirdOfItsLifeButNotBefore(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	c := &x509.Certificate{NotBefore: from, NotAfter: from.Add(30 * time.Hour)}
	if list := expiring(c, from.Add(19*time.Hour)); len(list) > 0 {
		t.Errorf("too early: %+v", list)
	}
	if list := expiring(c, from.Add(21*time.Hour)); len(list) != 1 || !strings.Contains(list[0].Words, "2026-03-02T06:00:00Z") {
		t.Errorf("%+v", list)
	}
}

func TestPast_OutagesBeginAndEndWithTheStateOfASite(t *testing.T) {
	t.Parallel()
	p, at := newPast(), func(minutes int) grid.Time { return grid.Time(minutes) * grid.Time(grid.Minute) }
	stand := func(minute int, state, why string) {
		p.stood([]api.Site{{Name: "north", State: state, Refusal: &api.Reason{Detail: why}}}, at(minute))
	}
	stand(0, "not-asked", "")
	stand(1, "drained", "new switch")
	stand(2, "drained", "new switch")
	if p.since("north") != at(1) {
		t.Errorf("since %v", p.since("north"))
	}
	stand(5, "silent", "")
	stand(9, "usable", "")
	list := p.outs("north", at(0))
	if len(list) != 2 || list[0].What != "drained" || list[0].Why != "new switch" || list[0].Start != int64(at(1)) || *list[0].End != int64(at(5)) || list[1].What != "silent" || *list[1].End != int64(at(9)) {
		t.Errorf("%+v", list)
	}
	if p.since("north") != 0 {
		t.Error("it is still out")
	}
	p.stood([]api.Site{{Name: "north", State: "silent"}}, at(20))
	p.stood([]api.Site{{Name: "north", State: "usable"}}, at(20).Add(shortest-1))
	if n := len(p.outs("north", 0)); n != 2 {
		t.Errorf("a moment without an answer is an outage: %d", n)
	}
	p.stood([]api.Site{{Name: "north", State: "usable"}}, at(24*60+7))
	if n := len(p.outs("north", 0)); n != 1 {
		t.Errorf("after a day %d are shown", n)
	}
}

func TestPast_WhatIsLeftLastsAtThePaceOfTheLastDay(t *testing.T) {
	t.Parallel()
	p := newPast()
	hour := func(n int) grid.Time { return grid.Time(n) * grid.Time(grid.Hour) }
	for n := range 31 { // 10 credits an hour since the sixth
		p.purse = append(p.purse, purse{hour(n), map[string]grid.Credits{"": grid.Credits(max(0, n-6)*10) * grid.Credit}})
	}
	lasts, seen, ok := p.lasts("", 240*grid.Credit, 300*grid.Credit, hour(30))
	if !ok || lasts != 30*grid.Hour || seen != 24*grid.Hour {
		t.Errorf("%v, seen %v, %v", lasts, seen, ok)
	}
	if _, _, ok := p.lasts("ana", 5, 5, hour(30)); ok {
		t.Error("an account that was never looked at has a pace")
	}
	if _, _, ok := p.lasts("", 0, 300*grid.Credit, hour(30)); ok {
		t.Error("what is not used has a pace")
	}
}

// A job whose condition cannot come true any more needs attention, what its user cancelled
// does not.
func TestLive_TellsWhatNeedsAttentionFirst(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	b := api.Batch{ID: "batch-0001", Jobs: []api.JobRequest{job("wave"), job("late")}}
	b.Jobs[1].After = []string{"wave"}
	submit(t, s, ana, b)
	h.pass(grid.Second)
	if code := call(t, s, ana, "DELETE", "/v1/jobs/wave", nil, nil); code != 200 {
		t.Fatal(code)
	}
	h.pass(grid.Minute)
	_, doc, text := look(t, s, ana)()
	if len(doc.Alerts) != 1 || doc.Alerts[0].Kind != "failed" || !strings.HasPrefix(doc.Alerts[0].Job, "late-") || !strings.Contains(doc.Alerts[0].Words, "was abandoned: ") {
		t.Errorf("%+v\n%s", doc.Alerts, text)
	}
}
