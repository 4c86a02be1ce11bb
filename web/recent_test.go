package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// event is an event of a stream as its reader has it.
type event struct {
	id, name string
	turn     string // of a turn
	job      string
	why      string
}

// resume opens a stream with the id of the last event that was read, "" for none; next reads
// the next event.
func resume(t *testing.T, s *Server, who, query, id string) (next func() event, stop func()) {
	t.Helper()
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	r, _ := http.NewRequestWithContext(ctx, "GET", server.URL+eventsPath+query, nil)
	r.Header.Set("Test-Caller", who)
	if id != "" {
		r.Header.Set("Last-Event-ID", id)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != 200 {
		t.Fatal(err, answer)
	}
	lines := bufio.NewReader(answer.Body)
	return func() (e event) {
		t.Helper()
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatalf("the stream ended: %v", err)
			}
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch key {
			case "id":
				e.id = value
			case "event":
				e.name = value
			case "data":
				var data struct {
					Turn, Why string
					Job       struct{ ID string }
				}
				if err := json.Unmarshal([]byte(value), &data); err != nil && e.name != "job" {
					t.Fatal(err, value)
				}
				e.turn, e.job, e.why = data.Turn, data.Job.ID, data.Why
			case "":
				return e
			}
		}
	}, stop
}

// A stream that breaks after any of its events goes on with the next one: nothing is told
// twice, nothing is left out, and other users' turns stay theirs.
func TestEvents_AStreamGoesOnWhereItBroke(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	next, stop := resume(t, s, ana, "", "")
	defer stop()
	first := next()
	if first.name != "alive" || first.id == "" {
		t.Fatalf("a stream begins with %+v; must have an id, in case it breaks at once", first)
	}
	for i, who := range []string{ana, ben, ana} {
		submit(t, s, who, wave(fmt.Sprintf("batch-000%d", i)))
		h.pass(grid.Minute)
	}
	h.pass(3 * grid.Hour)
	all := []event{first}
	for done := 0; done < 2; {
		e := next()
		if all = append(all, e); e.turn == "done" {
			done++
		}
	}
	for i, from := range all {
		again, stop := resume(t, s, ana, "", from.id)
		for _, want := range all[i+1:] {
			if got := again(); got != want {
				t.Errorf("after %s it is told %+v, want %+v", from.id, got, want)
			}
		}
		if e := again(); e.name != "alive" {
			t.Errorf("after %s and all that followed it is told %+v", from.id, e)
		}
		stop()
	}
	job := all[1].job
	again, stop := resume(t, s, ana, "?job="+job, all[2].id)
	defer stop()
	for _, want := range all[3:] {
		if want.job != job {
			continue
		}
		if got := again(); got != want {
			t.Errorf("of %s alone it is told %+v, want %+v", job, got, want)
		}
	}
}

// A place that another life of the broker has given, or another leader, is refused in words,
// whatever its number; what comes then is told, and of one job its state first.
func TestEvents_APlaceOfAnotherLifeIsRefusedInWords(t *testing.T) {
	t.Parallel()
	h := world(t)
	before := brokerAPI(t, h)
	next, stop := resume(t, before, ana, "", "")
	submit(t, before, ana, wave("batch-0001"))
	h.pass(grid.Second)
	var last event
	for last.turn != "confirmed" {
		last = next()
	}
	stop()
	s := brokerAPI(t, h) // as after a restart, or by another leader
	for _, c := range []struct{ id, why string }{
		{last.id, "has begun anew since, or another one leads"},
		{s.feed.recent.place(99), "no id of an event yet"},
		{"nonsense", "no id of an event of this stream"},
		{"17", "no id of an event of this stream"},
	} {
		next, stop := resume(t, s, ana, "?job=wave", c.id)
		if e := next(); e.name != "missed" || !strings.Contains(e.why, c.why) || !strings.Contains(e.why, "read the state") || e.id == "" {
			t.Errorf("from %s: %+v", c.id, e)
		}
		if e := next(); e.name != "job" {
			t.Errorf("from %s then: %+v", c.id, e)
		}
		stop()
	}
	next, stop = resume(t, s, ana, "", last.id)
	defer stop()
	id := next().id
	call(t, s, ana, "DELETE", "/v1/jobs/wave", nil, nil)
	for e := next(); e.turn != "withdrawn"; e = next() {
	}
	again, stop := resume(t, s, ana, "", id)
	defer stop()
	if e := again(); e.turn != "withdrawn" {
		t.Errorf("after the refusal its own id is good: %+v", e)
	}
}

// Facts that are not told leave a gap in all streams, and no place before it is good.
func TestEvents_AGapIsToldAndNotSteppedOver(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	next, stop := resume(t, s, ana, "", "")
	defer stop()
	before := next()
	s.feed.miss(1)
	s.feed.miss(1) // with nothing between, one gap
	gap := next()
	if gap.name != "missed" || !strings.Contains(gap.why, "too fast") {
		t.Fatalf("%+v", gap)
	}
	submit(t, s, ana, wave("batch-0001"))
	if e := next(); e.turn != "submitted" {
		t.Errorf("after the gap: %+v", e)
	}
	for id, want := range map[string]string{before.id: "missed", gap.id: "turn"} {
		again, stop := resume(t, s, ana, "", id)
		if e := again(); e.name != want {
			t.Errorf("from %s: %+v, want %s", id, e, want)
		}
		stop()
	}
}

// Turns are kept up to their bounds, in number and in legs; a place before them is refused
// with the numbers.
func TestRecent_IsBounded(t *testing.T) {
	t.Parallel()
	r := newRecent()
	start := r.place(0)
	for range recentTurns {
		r.add(&api.Turn{})
	}
	if list, err := r.since(start); err != nil || len(list) != recentTurns || list[0].number != 1 {
		t.Errorf("%d turns, %v", len(list), err)
	}
	r.add(&api.Turn{})
	if _, err := r.since(start); err == nil || !strings.Contains(err.Error(), "after number 1 are kept, of 4097") {
		t.Error(err)
	}
	if list, err := r.since(r.place(1)); err != nil || len(list) != recentTurns || list[0].number != 2 || list[len(list)-1].number != 4097 {
		t.Errorf("%d turns, %v", len(list), err)
	}
	wide := &api.Turn{Job: api.Job{Legs: make([]api.Leg, 1000)}}
	for range 50 {
		r.add(wide)
	}
	if len(r.list) != recentLegs/1000 || r.legs != recentLegs {
		t.Errorf("%d turns with %d legs are kept", len(r.list), r.legs)
	}
	r.miss()
	if list, err := r.since(r.place(r.last)); err != nil || len(list) != 0 || r.legs != 0 {
		t.Errorf("after a gap %d turns, %d legs, %v", len(list), r.legs, err)
	}
}
