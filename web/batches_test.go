package web

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

const ana, ben, olga = "user:ana", "user:ben", "operator:olga"

func submit(t *testing.T, s *Server, who string, b api.Batch) api.BatchAnswer {
	t.Helper()
	var answer api.BatchAnswer
	if code := call(t, s, who, "POST", "/v1/batches", b, &answer); code != http.StatusOK {
		t.Fatalf("submitting %s: %d %+v", b.ID, code, answer)
	}
	return answer
}

func TestSubmit_PlacesAJobAndShowsItsWindow(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	a := submit(t, s, ana, wave("batch-0001"))
	if len(a.Jobs) != 1 || !a.Jobs[0].Taken || !strings.HasPrefix(a.Jobs[0].ID, "wave-") {
		t.Fatalf("answered %+v", a)
	}
	h.pass(grid.Second)
	var j api.Job
	if code := call(t, s, ana, "GET", "/v1/jobs/wave", nil, &j); code != 200 || j.State != "placed" || j.User != "ana" ||
		j.Cost == nil || j.Cost.Credits != 4*grid.Credit || len(j.Legs) != 1 || j.Legs[0].State != "confirmed" {
		t.Fatalf("%d %+v", code, j)
	}
	if want := api.Instant(zero.Add(5 * grid.Second)); j.Start != want || j.End != want+api.Instant(grid.Hour) {
		t.Errorf("from %v to %v, want an hour from %v", j.Start, j.End, want)
	}
}

// The goal and the urgency of a job reach the broker, and are shown as given.
func TestSubmit_AJobHasAGoalAndAnUrgencyOfItsOwn(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	b := wave("batch-0001")
	b.Jobs[0].Minimize, b.Jobs[0].Urgency = spelled[grid.Goal]("finish"), spelled[grid.Urgency]("7.5%")
	submit(t, s, ana, b)
	var j api.Job
	if code := call(t, s, ana, "GET", "/v1/jobs/wave", nil, &j); code != 200 || j.Minimize != "finish" || j.Urgency != "7.5%" {
		t.Fatalf("%d %+v", code, j)
	}
}

// Jobs are listed in the order in which they stand in their batch; one that comes after a later
// one follows that.
func TestSubmit_JobsAreListedInTheirOrder(t *testing.T) {
	t.Parallel()
	s := brokerAPI(t, world(t))
	b := wave("batch-0001")
	one := b.Jobs[0]
	b.Jobs = nil
	for _, name := range []string{"wide", "crash", "sweep", "next", "last"} {
		j := one
		if j.Name = name; name == "wide" {
			j.After = []string{"sweep"}
		}
		b.Jobs = append(b.Jobs, j)
	}
	want := []string{"sweep", "wide", "crash", "next", "last"}
	submit(t, s, ana, b)
	var list api.JobList
	call(t, s, ana, "GET", "/v1/jobs", nil, &list)
	var got []string
	for i := range slices.Backward(list.Jobs) { // the newest first
		got = append(got, list.Jobs[i].Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
}

func TestSubmit_TheSameBatchAgainChangesNothing(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	b := wave("batch-0001")
	b.Jobs[0].Deadline, b.Jobs[0].Ready = spelled[api.Moment]("1d"), spelled[api.Moment]("10m")
	first := submit(t, s, ana, b)
	h.pass(90 * grid.Second)
	if again := submit(t, s, ana, b); !slices.Equal(first.Jobs, again.Jobs) {
		t.Errorf("answered %+v, then %+v", first, again)
	}
	var list api.JobList
	if call(t, s, ana, "GET", "/v1/jobs", nil, &list); len(list.Jobs) != 1 {
		t.Errorf("%d jobs after one batch twice", len(list.Jobs))
	}
	// Also by a process that has begun anew over the same broker.
	s2 := brokerAPI(t, h)
	if again := submit(t, s2, ana, b); !slices.Equal(first.Jobs, again.Jobs) {
		t.Errorf("after a restart answered %+v", again)
	}
}

func TestSubmit_RefusesOtherContentUnderAKnownIdentity(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	submit(t, s, ana, wave("batch-0001"))
	other := wave("batch-0001")
	other.Jobs[0].Nodes = 5
	var p problem
	if code := call(t, s, ana, "POST", "/v1/batches", other, &p); code != http.StatusConflict || !strings.Contains(p.Detail, "needs a new identity") {
		t.Errorf("other content: %d %q", code, p.Detail)
	}
}

func TestSubmit_WhatALostAnswerLeftOutIsTakenTheSecondTime(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	b := api.Batch{ID: "batch-0001"}
	for _, name := range []string{"a", "b", "c", "d"} {
		b.Jobs = append(b.Jobs, job(name))
	}
	fail := true
	h.before = func(m agents.Message) error {
		if x, ok := m.(agents.Submit); ok && fail && x.Job.Origin.Label > "b" {
			return errors.New("the mailbox is full")
		}
		return nil
	}
	var p problem
	if code := call(t, s, ana, "POST", "/v1/batches", b, &p); code != http.StatusServiceUnavailable {
		t.Fatalf("%d %q", code, p.Detail)
	}
	fail = false
	for _, j := range submit(t, s, ana, b).Jobs {
		if !j.Taken {
			t.Errorf("%s was not taken: %v", j.ID, j.Reason)
		}
	}
	if n := len(slices.Collect(h.agents["broker:vo1"].(*broker.Broker).Jobs())); n != 4 {
		t.Errorf("the broker has %d jobs of 4", n)
	}
}

// A job that the broker has taken though nobody heard so, and of which the API
// does not know yet, is the same one when it comes again a little later.
func TestSubmit_AJobTakenUnheardIsTakenOnce(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	b := wave("batch-0001")
	b.Jobs[0].User = "ana"
	jobs, err := b.Vocabulary(zero, b.Suffixes())
	if err != nil {
		t.Fatal(err)
	}
	s.feed.close() // the API hears of nothing
	if _, err := h.Ask(t.Context(), "user:ana", "broker:vo1", agents.Submit{Job: jobs[0]}); err != nil {
		t.Fatal(err)
	}
	h.pass(grid.Second)
	if a := submit(t, s, ana, b); !a.Jobs[0].Taken || a.Jobs[0].ID != jobs[0].Name {
		t.Errorf("%+v", a)
	}
}

func TestSubmit_TellsWhichJobsTheBrokerDidNotTake(t *testing.T) {
	t.Parallel()
	h := world(t, func(c *broker.Config) { c.MaxQueue, c.BatchSize = 2, 100 })
	s := brokerAPI(t, h)
	b := api.Batch{ID: "batch-0001"}
	for _, name := range []string{"a", "b", "c"} {
		b.Jobs = append(b.Jobs, job(name))
	}
	taken := 0
	for _, j := range submit(t, s, ana, b).Jobs {
		if j.Taken {
			taken++
		} else if j.Reason == nil || j.Reason.Code != string(grid.QueueFull) {
			t.Errorf("%s: reason %v", j.ID, j.Reason)
		}
	}
	if taken != 2 {
		t.Errorf("%d of 3 taken into a queue of 2", taken)
	}
}

// Nonsense is named by its place, and nothing is done.
func TestSubmit_BadInputNamesTheKeyAndTakesNothing(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	for _, c := range []struct{ body, want string }{
		{`{"id":"short","jobs":[]}`, "body.id"},
		{`{"id":"batch-0001","jobs":[]}`, "body.jobs"},
		{`{"id":"batch-0001","jobs":[{"name":"a","nodes":0,"length":60,"budget":5}]}`, "body.jobs[0].nodes"},
		{`{"id":"batch-0001","jobs":[{"name":"a","nodes":1,"length":60,"require":{"gpus":9}}]}`, "body.jobs[0]: can never run here"},
		{`{"id":"batch-0001","jobs":[{"name":"a","nodes":1,"length":60,"budget":5,"color":"red"}]}`, "body.jobs[0].color"},
		{`{"id":"batch-0001","jobs":[{"name":"a","nodes":1,"length":0,"budget":5}]}`, "body.jobs[0].length"},
		{`{"id":"batch-0001","jobs":[{"name":"a","nodes":1,"length":60,"budget":-5}]}`, "body.jobs[0].budget"},
		{`{"id":"batch-0001","jobs":[{"name":"a\u009b2J","nodes":1,"length":60,"budget":5}]}`, "body.jobs[0].name"},
		{`{"id":"batch-0001","jobs":[{"name":"a","nodes":1,"length":60,"budget":5,"user":"ana\u0007"}]}`, "body.jobs[0].user"},
		{`{"id":"batch-0001","jobs":[{"name":"a","nodes":1,"length":60,"budget":5,"require":{"os":"\u001b]0;x\u0007"}}]}`, "body.jobs[0].require.os"},
		{`{"id":"batch-0001","jobs":[{"name":"a","nodes":1,"length":60,"budget":5,"require":{"arch":"x\u009b2J"}}]}`, "character 2 is U+009B"},
		{`{"id":"batch-0001","jobs":[{"name":"a","nodes":1,"length":60,"budget":5,"require":{"features":["x","y\n"]}}]}`, "body.jobs[0].require.features[1]"},
		{`{"id":"batch-0001","jobs":[{"name":"a","nodes":1,"length":60,"budget":5,"after":["b\u001b[1m"]}]}`, "body.jobs[0].after[0]"},
		{`{"id":"batch-0001","jobs":[{"name":"a\u202eb","nodes":1,"length":60,"budget":5}]}`, "body.jobs[0].name"},
		{`{"id":"batch-0001","jobs":[{"name":"a","nodes":1,"length":60,"budget":5,"ready":"soon"}]}`, "body.jobs[0].ready"},
		{`{"id":"batch-0001","jobs":[{"name":"a","nodes":1,"length":60,"budget":5,"ready":"2h","deadline":"1h"}]}`, "body.jobs[0].deadline"},
		{`{"id":"batch-0001","jobs":[{"name":"a","nodes":1,"length":60,"budget":5},{"name":"a","nodes":1,"length":60,"budget":5}]}`, "body.jobs[1].name"},
		{`{"id":"batch-0001","notify":"http://127.0.0.1/","jobs":[{"name":"a","nodes":1,"length":60,"budget":5}]}`, "must be an https address"},
		{`{"id":"batch-0001","jobs":[{"name":"a","nodes":1,"length":60,"budget":5,"minimize":"price"}]}`, "body.jobs[0].minimize"},
		{`{"id":"batch-0001","jobs":[{"name":"a","nodes":1,"length":60,"budget":5,"urgency":"-1"}]}`, "outside 0..1000000000 credits an hour"},
		{`{"id":"batch-0001","jobs":[{"name":"a","nodes":1,"length":60,"budget":5,"urgency":"1e10"}]}`, "body.jobs[0].urgency"},
		{`{"id":"batch-0001","jobs":[{"name":"a","nodes":1,"length":60,"budget":5,"urgency":"soon"}]}`, "body.jobs[0].urgency"},
		{`{"id":`, "unexpected end"},
	} {
		var p struct {
			problem
			Errors []struct{ Message, Location string }
		}
		code := call(t, s, ana, "POST", "/v1/batches", c.body, &p)
		said := p.Detail
		for _, e := range p.Errors {
			said += " " + e.Location + " " + e.Message
		}
		if code != http.StatusUnprocessableEntity && code != http.StatusBadRequest || !strings.Contains(said, c.want) || strings.HasPrefix(p.Detail, "validation") {
			t.Errorf("%s: %d %q, want %q", c.body, code, said, c.want)
		}
	}
	if n := len(slices.Collect(h.agents["broker:vo1"].(*broker.Broker).Jobs())); n != 0 {
		t.Errorf("%d jobs were taken", n)
	}
}

// An operator submits for others, and not for a user whose name only looks like another's.
func TestSubmit_AUsersNameHasNoBlankAtItsEnds(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	for user, want := range map[string]int{"ana ": 422, " ana": 422, "ana": 200} {
		var p struct{ Errors []struct{ Location string } }
		code := call(t, s, olga, "POST", "/v1/batches", `{"id":"batch-0001","jobs":[{"name":"a","nodes":1,"length":60,"budget":5,"user":"`+user+`"}]}`, &p)
		if code/100 != want/100 || want == 422 && (len(p.Errors) != 1 || p.Errors[0].Location != "body.jobs[0].user") {
			t.Errorf("%q: %d %+v", user, code, p)
		}
	}
}

func TestSubmit_BodiesAndBatchesAreBounded(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h, func(o *Options) { o.Limits.Body, o.Limits.BatchJobs = 1024, 2 })
	var p problem
	if code := call(t, s, ana, "POST", "/v1/batches", `{"id":"`+strings.Repeat("x", 5000)+`"}`, &p); code != http.StatusRequestEntityTooLarge {
		t.Errorf("a body of 5 kB under a bound of 4: %d %q", code, p.Detail)
	}
	b := api.Batch{ID: "batch-0001", Jobs: []api.JobRequest{job("a"), job("b"), job("c")}}
	if code := call(t, s, ana, "POST", "/v1/batches", b, &p); code != http.StatusUnprocessableEntity || !strings.Contains(p.Detail, "must have at most 2") {
		t.Errorf("3 jobs under a bound of 2: %d %q", code, p.Detail)
	}
}

func TestSubmit_TwoAtOnceOfOneIdentityTakeEachJobOnce(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	b := api.Batch{ID: "batch-0001"}
	for i := range 20 {
		b.Jobs = append(b.Jobs, job(string(rune('a'+i))))
	}
	done := make(chan int, 4)
	for range cap(done) {
		go func() { done <- call(t, s, ana, "POST", "/v1/batches", b, nil) }()
	}
	for range cap(done) {
		if code := <-done; code != http.StatusOK {
			t.Errorf("answered %d", code)
		}
	}
	if n := len(slices.Collect(h.agents["broker:vo1"].(*broker.Broker).Jobs())); n != 20 {
		t.Errorf("the broker has %d jobs of 20", n)
	}
}
