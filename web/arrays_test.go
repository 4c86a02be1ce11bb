package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// sweep is a batch of one array.
func sweep(id, elements string) api.Batch {
	j := job("sweep")
	j.Nodes, j.Array = 1, spelled[api.Elements](elements)
	return api.Batch{ID: id, Jobs: []api.JobRequest{j}}
}

func TestArrays_AreOneRowAndTheirElementsAreListedByName(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h, func(o *Options) { o.Limits.Page = 3 })
	a := submit(t, s, ana, sweep("batch-0001", "0-9%4"))
	submit(t, s, ana, wave("batch-0002"))
	h.pass(grid.Minute)
	var list api.JobList
	if code := call(t, s, ana, "GET", "/v1/jobs", nil, &list); code != 200 || len(list.Jobs) != 2 {
		t.Fatalf("%d %+v", code, list)
	}
	row := list.Jobs[1]
	if row.ID != a.Jobs[0].ID || row.Array == nil || row.Array.Elements != "0-9%4" || row.Array.Waiting != 6 || row.Array.Placed+row.Array.Running != 4 || row.Element != nil {
		t.Errorf("the row is %+v, %+v", row, row.Array)
	}
	for query, want := range map[string]string{"": "0 1 2 3 4 5 6 7 8 9", "&state=waiting": "4 5 6 7 8 9", "&state=done": ""} {
		var seen []string
		for before, more := uint64(0), true; more; {
			var page api.JobList
			if code := call(t, s, ana, "GET", fmt.Sprintf("/v1/jobs?array=sweep&limit=2&before=%d%s", before, query), nil, &page); code != 200 {
				t.Fatal(code)
			}
			for _, j := range page.Jobs {
				if j.Element == nil || j.Element.Array != row.ID || j.Name != fmt.Sprintf("sweep[%d]", j.Element.Index) {
					t.Errorf("%+v", j)
				}
				seen = append(seen, fmt.Sprint(j.Element.Index))
			}
			before, more = page.Next, page.Next != 0
		}
		if got := strings.Join(seen, " "); got != want {
			t.Errorf("%q lists %s, want %s", query, got, want)
		}
	}
	var j api.Job
	if code := call(t, s, ana, "GET", "/v1/jobs/sweep%5B7%5D", nil, &j); code != 200 || j.State != "waiting" || j.Reason == nil || !strings.Contains(j.Reason.String(), "at most 4") {
		t.Errorf("%d %+v", code, j)
	}
	for _, who := range []string{ben, ana} {
		if code, want := call(t, s, who, "GET", "/v1/jobs/sweep%5B10%5D", nil, &j), http.StatusNotFound; code != want {
			t.Errorf("%s: %d, want %d", who, code, want)
		}
	}
	if code := call(t, s, ben, "DELETE", "/v1/jobs/sweep%5B1%5D", nil, nil); code != http.StatusNotFound {
		t.Errorf("ben cancels ana's: %d", code)
	}
}

func TestArrays_AreCancelledInPartAndAsAWhole(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	submit(t, s, ana, sweep("batch-0001", "0-9%4"))
	h.pass(grid.Second)
	var p map[string]any
	if code := call(t, s, ana, "PATCH", "/v1/jobs/sweep", map[string]any{"length": 1800}, &p); code != http.StatusUnprocessableEntity || !strings.Contains(fmt.Sprint(p), "modify one of them, sweep") {
		t.Errorf("an array is modified: %d %v", code, p)
	}
	var done api.Cancelled
	if code := call(t, s, ana, "DELETE", "/v1/jobs/sweep%5B2-5%5D", nil, &done); code != 200 || !done.Done || done.Refund == nil || done.Refund.Credits <= 0 || done.Paid == nil {
		t.Fatalf("%d %+v", code, done)
	}
	var j api.Job
	call(t, s, ana, "GET", "/v1/jobs/sweep", nil, &j)
	if j.Array.Withdrawn != 4 {
		t.Errorf("%s", j.Array.Words)
	}
	if code := call(t, s, ana, "DELETE", "/v1/jobs/sweep", nil, &done); code != 200 || !done.Done {
		t.Fatalf("%d %+v", code, done)
	}
	call(t, s, ana, "GET", "/v1/jobs/sweep", nil, &j)
	if j.State != "withdrawn" || j.Array.Words != "10 withdrawn" {
		t.Errorf("%s: %s", j.State, j.Array.Words)
	}
}

// The stream of an array has the turns of its elements, each told once, and its own end last.
func TestArrays_EventsOfTheElementsAndOfTheArray(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	r, stop := listen(t, s, ana, "")
	defer stop()
	eventually(t, func() bool { return s.feed.open() == 1 })
	submit(t, s, ana, sweep("batch-0001", "0-2"))
	h.pass(grid.Second)
	h.pass(2 * grid.Hour)
	told := map[string]int{}
	for {
		name, turn := next(t, r)
		if name == "end" {
			t.Fatalf("the stream ended after %v", told)
		}
		who, _, _ := strings.Cut(turn.Job.Name, "]")
		told[who+" "+turn.Turn]++
		if turn.Job.Array != nil && turn.Turn == "done" {
			break
		}
	}
	for _, what := range []string{"sweep submitted", "sweep done", "sweep[0 submitted", "sweep[0 placed", "sweep[0 done", "sweep[2 done"} {
		if told[what] != 1 {
			t.Errorf("%q is told %d times: %v", what, told[what], told)
		}
	}
}

func TestArrays_AreRefusedWithTheRemedy(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	for text, want := range map[string]string{"0-999999999": "submit several arrays", "%3": "write for example 0-99", "9-0": "lower index"} {
		var p map[string]any
		if code := call(t, s, ana, "POST", "/v1/batches", sweep("batch-0001", text), &p); code != http.StatusUnprocessableEntity || !strings.Contains(fmt.Sprint(p), want) {
			t.Errorf("%s: %d %v", text, code, p)
		}
	}
}

// A server that starts beside a broker which has an array lists it once.
func TestArrays_AreOneRowAfterARestart(t *testing.T) {
	t.Parallel()
	h := world(t, func(c *broker.Config) { c.BatchSize = 1000 })
	first := brokerAPI(t, h)
	submit(t, first, ana, sweep("batch-0001", "0-9"))
	h.pass(grid.Minute)
	s := brokerAPI(t, h)
	var list api.JobList
	if code := call(t, s, ana, "GET", "/v1/jobs", nil, &list); code != 200 || len(list.Jobs) != 1 || list.Jobs[0].Array == nil {
		t.Errorf("%d %+v", code, list)
	}
	var j api.Job
	if code := call(t, s, ana, "GET", "/v1/jobs/sweep%5B9%5D", nil, &j); code != 200 || j.Element == nil || j.Batch != "batch-0001" {
		t.Errorf("%d %+v", code, j)
	}
}

// A job may name what it comes after as its user names it: by name alone, while only one has it.
func TestAfter_TakesTheNameOfAJobSubmittedBefore(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	submit(t, s, ana, sweep("batch-0001", "0-3"))
	b := wave("batch-0002")
	b.Jobs[0].After = []string{"sweep"}
	if a := submit(t, s, ana, b); !a.Jobs[0].Taken {
		t.Fatalf("%+v", a.Jobs[0])
	}
	if again := submit(t, s, ana, b); !again.Jobs[0].Taken {
		t.Errorf("the same once more: %+v", again.Jobs[0])
	}
	b = wave("batch-0003")
	b.Jobs[0].After = []string{"nothing"}
	if a := submit(t, s, ana, b); a.Jobs[0].Taken || a.Jobs[0].Reason == nil || !strings.Contains(a.Jobs[0].Reason.Detail, `names "nothing"`) {
		t.Errorf("%+v", a.Jobs[0])
	}
}
