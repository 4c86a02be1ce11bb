package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// dry asks for a dry run of a batch.
func dry(t *testing.T, s *Server, who string, w api.QuoteWish) (api.QuoteAnswer, int) {
	t.Helper()
	var a api.QuoteAnswer
	code := call(t, s, who, "POST", "/v1/quotes", w, &a)
	return a, code
}

// A dry run says what a submission gets, in the order of the batch, and leaves nothing behind.
func TestQuote_SaysWhatASubmissionGets(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	b := wave("batch-0001")
	second := b.Jobs[0]
	second.Name, second.After = "first", nil
	b.Jobs[0].After = []string{"first"}
	b.Jobs = append(b.Jobs, second)
	a, code := dry(t, s, ana, api.QuoteWish{Jobs: b.Jobs})
	if code != 200 || len(a.Jobs) != 2 || a.Jobs[0].Name != "wave" || a.Jobs[0].Now.Cost == nil || a.Jobs[1].Now.Cost == nil {
		t.Fatalf("%d %+v", code, a)
	}
	if a.Jobs[0].Now.Start < a.Jobs[1].Now.End {
		t.Errorf("wave begins at %v, before first ends at %v", a.Jobs[0].Now.Start, a.Jobs[1].Now.End)
	}
	if later := a.Jobs[1].Later; later == nil || later.Start < a.Jobs[1].Now.Start+api.Instant(30*grid.Minute) {
		t.Errorf("later is %+v", later)
	}
	var list api.JobList
	if call(t, s, ana, "GET", "/v1/jobs", nil, &list); len(list.Jobs) != 0 {
		t.Errorf("a dry run left %+v", list.Jobs)
	}
	submit(t, s, ana, b)
	h.pass(grid.Second)
	for _, q := range a.Jobs {
		var j api.Job
		if call(t, s, ana, "GET", "/v1/jobs/"+q.Name, nil, &j); j.State != "placed" || j.End-j.Start != q.Now.End-q.Now.Start || *j.Cost != *q.Now.Cost {
			t.Errorf("%s: foreseen %+v, got %+v", q.Name, q.Now, j)
		}
	}
}

// A job with neither price nor budget has the price cap, in a dry run and in a submission, and
// a batch that is repeated when prices have changed is still the same batch.
func TestSubmit_WithoutAPriceThePriceCapHolds(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	b := wave("batch-0001")
	b.Jobs[0].Budget = nil
	a, code := dry(t, s, ana, api.QuoteWish{Jobs: b.Jobs, Prices: true})
	if code != 200 || !a.Jobs[0].Capped || a.Jobs[0].MaxPrice.Price != 3*grid.Price(grid.Credit) || a.Jobs[0].Now != nil || a.Jobs[0].Budget.Credits == 0 {
		t.Fatalf("%d %+v", code, a)
	}
	first := submit(t, s, ana, b)
	shown := b
	shown.Jobs = []api.JobRequest{b.Jobs[0]}
	shown.Jobs[0].MaxPrice, shown.Jobs[0].Capped = &api.Price{Price: grid.Price(2 * grid.Credit)}, true
	if again := submit(t, s, ana, shown); again.Jobs[0] != first.Jobs[0] {
		t.Errorf("%+v, then %+v", first, again)
	}
	var j api.Job
	if call(t, s, ana, "GET", "/v1/jobs/wave", nil, &j); j.MaxPrice.Price != 3*grid.Price(grid.Credit) {
		t.Errorf("%+v", j)
	}
	shown.Jobs[0].Capped = false
	if code := call(t, s, ana, "POST", "/v1/batches", shown, nil); code != 409 {
		t.Errorf("another price under the same identity: %d", code)
	}
	b.Jobs[0].Require = &api.Machine{GPUs: 99}
	b.ID = "batch-0002"
	var wrong struct{ Detail string }
	if code := call(t, s, ana, "POST", "/v1/batches", b, &wrong); code != 422 || !strings.Contains(wrong.Detail, "jobs[0]: can never run here: no node of any site has what is required") {
		t.Errorf("%d %+v", code, wrong)
	}
}

// Dry runs are bounded: 100 jobs, and 60 in a minute for each caller.
func TestQuote_IsBounded(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	many := api.QuoteWish{}
	for i := range mostQuoted + 1 {
		j := wave("batch-0001").Jobs[0]
		j.Name = fmt.Sprint("j", i)
		many.Jobs = append(many.Jobs, j)
	}
	if _, code := dry(t, s, ana, many); code != 422 {
		t.Errorf("%d jobs: %d", len(many.Jobs), code)
	}
	var p pace
	at := time.Unix(600, 0)
	for range quotePace {
		if !p.enter(Caller{Name: "ana"}, at) {
			t.Fatal("refused too early")
		}
	}
	if p.enter(Caller{Name: "ana"}, at.Add(59*time.Second)) {
		t.Error("one more than allowed")
	}
	if !p.enter(Caller{Name: "ben"}, at) || !p.enter(Caller{Name: "ana"}, at.Add(time.Minute)) {
		t.Error("another caller, or another minute, is refused")
	}
}
