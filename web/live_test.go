package web

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/view"
	"github.com/bourse-grid/bourse/web/api"
)

// told is a document of a live page as its reader has it.
type told struct {
	view.Document
	Jobs  []view.Job  `json:"jobs"`
	Bars  []view.Bar  `json:"bars"`
	Loads []view.Load `json:"loads"`
}

// look opens a live page; next reads an event, and its text.
func look(t *testing.T, s *Server, who string) (next func() (string, told, string)) {
	t.Helper()
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+livePath, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Test-Caller", who)
	a, err := http.DefaultClient.Do(r)
	if err != nil || a.StatusCode != 200 {
		t.Fatal(a, err)
	}
	t.Cleanup(func() { _ = a.Body.Close() })
	lines := bufio.NewReader(a.Body)
	return func() (name string, doc told, text string) {
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch key {
			case "event":
				name = value
			case "data":
				if err := json.Unmarshal([]byte(value), &doc); err != nil {
					t.Fatal(err, value)
				}
				return name, doc, value
			}
		}
	}
}

// until reads parts until one fulfils a condition.
func until(next func() (string, told, string), holds func(told) bool) told {
	for {
		if _, doc, _ := next(); holds(doc) {
			return doc
		}
	}
}

func TestLive_TellsAllThereIsThenWhatChanges(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	submit(t, s, ana, wave("batch-0001"))
	h.pass(grid.Second)
	next := look(t, s, olga)
	name, doc, _ := next()
	if name != "document" || len(doc.Jobs) != 1 || doc.Jobs[0].State != "placed" || len(doc.Bars) != 1 || doc.Bars[0].Nodes != 4 || doc.Bars[0].Job != doc.Jobs[0].ID {
		t.Fatalf("%s: %+v %+v", name, doc.Jobs, doc.Bars)
	}
	if doc.Epoch+doc.Now != int64(zero.Add(grid.Second)) || doc.From > doc.Bars[0].Start || doc.Until < doc.Bars[0].End || len(doc.Sites) != 2 || doc.Sites[0].State != "usable" {
		t.Errorf("%+v", doc)
	}
	b := api.Batch{ID: "batch-0002", Jobs: []api.JobRequest{job("wide"), job("huge")}}
	b.Jobs[0].Nodes, b.Jobs[1].Nodes = 20, 2400
	a := submit(t, s, ana, b)
	h.pass(grid.Minute)
	wide := a.Jobs[0].ID
	placed := until(next, func(d told) bool { return slices.ContainsFunc(d.Bars, func(b view.Bar) bool { return b.Job == wide }) })
	placed.Bars = slices.DeleteFunc(placed.Bars, func(b view.Bar) bool { return b.Job != wide })
	if len(placed.Bars) != 2 || placed.Bars[0].Window == doc.Bars[0].Window || placed.Bars[0].Window != placed.Bars[1].Window || placed.Bars[1].Part.Part != 2 {
		t.Errorf("%+v", placed.Bars)
	}
	// An abandoned job is drawn no more.
	if code := call(t, s, ana, "DELETE", "/v1/jobs/"+wide, nil, nil); code != http.StatusOK {
		t.Fatal(code)
	}
	gone := until(next, func(d told) bool {
		return slices.ContainsFunc(d.Jobs, func(j view.Job) bool { return j.ID == wide && j.State == "withdrawn" })
	})
	gone.Bars = slices.DeleteFunc(gone.Bars, func(b view.Bar) bool { return !strings.HasPrefix(b.ID, wide) })
	if len(gone.Bars) != 2 || !gone.Bars[0].Gone || gone.Bars[0].ID != placed.Bars[0].ID {
		t.Errorf("%+v", gone.Bars)
	}
}

// A user sees no other user's jobs, names or money, and nothing of the VO's.
func TestLive_AUserSeesWhatIsTheirs(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	submit(t, s, ana, wave("batch-0001"))
	bens := submit(t, s, ben, api.Batch{ID: "batch-0002", Jobs: []api.JobRequest{job("secret")}})
	h.pass(grid.Minute)
	next := look(t, s, ana)
	_, doc, text := next()
	if len(doc.Jobs) != 1 || len(doc.Bars) != 1 || strings.Contains(text, "secret") || strings.Contains(text, "ben") || strings.Contains(text, "the VO") {
		t.Errorf("ana is told %s", text)
	}
	call(t, s, ben, "DELETE", "/v1/jobs/"+bens.Jobs[0].ID, nil, nil)
	submit(t, s, ana, wave("batch-0003"))
	for done := false; !done; {
		_, doc, text := next()
		if strings.Contains(text, "secret") || strings.Contains(text, "ben") {
			t.Errorf("ana is told %s", text)
		}
		done = len(doc.Jobs) > 0
	}
}

func TestPicture_IsBoundedInJobsAndTime(t *testing.T) {
	t.Parallel()
	p, part := newPicture(Caller{Operator, "olga"}, newPast(), zero), &view.Document{}
	draw := func(n int, state string, at grid.Time) {
		p.draw(part, &entry{number: uint64(n)}, &api.Job{ID: fmt.Sprintf("j%d", n), State: state, Submitted: api.Instant(at), Since: api.Instant(at), Start: api.Instant(at), End: api.Instant(at),
			Legs: []api.Leg{{Site: "north", Nodes: 1, Start: api.Instant(at), End: api.Instant(at)}}}, nil, zero)
	}
	for n := range mostDrawn + 100 {
		draw(n, "done", zero)
	}
	draw(5000, "waiting", zero)
	p.age(part, zero)
	if len(p.drawn) != mostDrawn || p.drawn["j5000"] == nil || p.drawn["j100"] != nil || p.drawn["j101"] == nil || !strings.Contains(p.note(), "2000 jobs are shown") {
		t.Errorf("%d are drawn; %s", len(p.drawn), p.note())
	}
	part = &view.Document{}
	p.age(part, zero.Add(pastSpan+grid.Second))
	if len(p.drawn) != 1 || len(jobsOf(part)) != mostDrawn-1 || len(barsOf(part)) != mostDrawn-1 || !barsOf(part)[0].Gone {
		t.Errorf("a day later %d are drawn, %d jobs and %d bars have gone", len(p.drawn), len(jobsOf(part)), len(barsOf(part)))
	}
}

func TestPast_IsBoundedInStepsAndTime(t *testing.T) {
	t.Parallel()
	p := newPast()
	for i := range 10_000 {
		p.add(step{at: zero.Add(grid.Duration(i) * 5 * grid.Second)})
	}
	n := len(p.steps)
	if last := p.steps[n-1].at; n > pastSteps || n < pastSteps/2 || last != zero.Add(9_999*5*grid.Second) || p.steps[0].at > zero.Add(grid.Hour) {
		t.Errorf("%d steps from %v to %v", n, p.steps[0].at, p.steps[n-1].at)
	}
	for i := 1; i < n; i++ {
		if p.steps[i].at <= p.steps[i-1].at {
			t.Fatal("out of order")
		}
	}
	p.add(step{at: zero.Add(10 * grid.Day)})
	if len(p.steps) != 1 {
		t.Errorf("%d steps are kept after nine days", len(p.steps))
	}
}

// Use and price over time are the sites' offers less what the caller's own bars take.
func TestLive_ShowsUseAndPriceOverTime(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	for i, who := range []string{ana, ben, "user:cleo", "user:dan"} {
		submit(t, s, who, wave(fmt.Sprintf("batch-000%d", i)))
		h.pass(grid.Minute)
		eventually(t, func() bool { s.feed.past.mu.Lock(); defer s.feed.past.mu.Unlock(); return s.feed.past.taken > i })
	}
	for who, want := range map[string][2]float64{olga: {8, 0}, "user:eve": {0, 8}} {
		_, doc, text := look(t, s, who)()
		l := doc.Loads[0]
		last := len(l.VO) - 1
		if len(doc.Loads) != 2 || l.Site != "north" || l.Nodes != 16 || l.VO[last] != want[0] || l.Local[last] != want[1] || *l.Asked[last] != 1 || (l.Paid[last] == nil) != (want[0] == 0) {
			t.Errorf("%s is told %+v of %s", who, l, text)
		}
	}
}

// The price of a node-hour is that of the hours that were bought, however early the work ended: 4
// nodes for an hour at 1 credit cost 1 a node-hour, also if they were used for 3 minutes.
func TestLive_ThePriceIsOfTheWindowThatWasBought(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	b := wave("batch-0001")
	b.Jobs[0].Run = &api.Seconds{Duration: 3 * grid.Minute}
	id := submit(t, s, ana, b).Jobs[0].ID
	h.pass(20 * grid.Minute)
	var j api.Job
	if call(t, s, ana, "GET", "/v1/jobs/"+id, nil, &j); j.State != "done" || j.End-j.Start != api.Instant(3*grid.Minute) || j.Cost.Credits != 4*grid.Credit {
		t.Fatalf("%+v", j)
	}
	if _, doc, text := look(t, s, ana)(); len(doc.Jobs) != 1 || doc.Jobs[0].Price != 1 {
		t.Errorf("a node-hour cost %v: %s", doc.Jobs[0].Price, text)
	}
	p, part := newPicture(Caller{Operator, "olga"}, newPast(), zero), &view.Document{}
	p.draw(part, &entry{}, &api.Job{ID: "j", State: "done", Submitted: api.Instant(zero), Start: api.Instant(zero), Legs: []api.Leg{{Site: "north", Nodes: 4,
		Start: api.Instant(zero), End: api.Instant(zero.Add(3 * grid.Minute)), Cost: api.Credits{Credits: 4 * grid.Credit}, Bought: grid.Hour}}}, nil, zero)
	if nodes, price := p.vo()("north", zero); nodes != 4 || price != 1 {
		t.Errorf("the chart shows %v nodes at %v credits a node-hour, want 4 at 1", nodes, price)
	}
}

// A site that offers nothing, as one that drains, keeps its nodes in the picture: what
// it has sold runs there still.
func TestLive_ADrainedSiteKeepsItsNodes(t *testing.T) {
	t.Parallel()
	h := world(t)
	s, north := brokerAPI(t, h), siteAPI(t, h)
	submit(t, s, ana, wave("batch-0001"))
	h.pass(grid.Minute)
	eventually(t, func() bool { s.feed.past.mu.Lock(); defer s.feed.past.mu.Unlock(); return s.feed.past.taken > 0 })
	call(t, north, olga, "POST", "/v1/drain", api.DrainWish{Why: "new switch"}, nil)
	submit(t, s, ben, wave("batch-0002"))
	h.pass(grid.Minute)
	var list api.SiteList
	call(t, s, olga, "GET", "/v1/sites", nil, &list)
	if north := list.Sites[0]; north.Name != "north" || north.State != "drained" || len(north.Groups) > 0 {
		t.Fatalf("north still offers: %+v", north)
	}
	_, doc, text := look(t, s, olga)()
	if x := doc.Sites[0]; x.Name != "north" || x.State != "drained" || len(x.Groups) != 1 || x.Groups[0].Nodes != 16 || len(doc.Loads) != 2 {
		t.Errorf("of north it tells %+v, of %d sites loads: %s", x, len(doc.Loads), text)
	}
}

// An array is one job of the picture, whose blocks are those of its elements: what is no longer
// on record goes.
func TestLive_TheBlocksOfAnArrayAreThoseOfItsElements(t *testing.T) {
	t.Parallel()
	zero := grid.Time(10 * grid.Day)
	p := newPicture(Caller{Operator, "olga"}, newPast(), zero)
	element := func(i int) api.Job {
		return api.Job{ID: fmt.Sprintf("sweep[%d]", i), State: "running", Element: &api.Element{Array: "sweep", Index: i},
			Legs: []api.Leg{{Site: "north", Nodes: 1, Start: api.Instant(zero), End: api.Instant(zero.Add(grid.Hour))}}}
	}
	array := &api.Job{ID: "sweep", State: "running", Submitted: api.Instant(zero), Array: &api.Array{Words: "2 running, 1 failed", Running: 2, Failed: 1}}
	for _, want := range []struct {
		elements []api.Job
		bars     string
	}{
		{[]api.Job{element(0), element(1)}, "sweep[0]/0 sweep[1]/0 "},
		{[]api.Job{element(1), element(2)}, "sweep[1]/0 sweep[2]/0 sweep[0]/0 gone "},
		{nil, "sweep[1]/0 gone sweep[2]/0 gone "},
	} {
		part, got := &view.Document{}, ""
		p.draw(part, &entry{number: 7}, array, want.elements, zero)
		for _, b := range barsOf(part) {
			if got += b.ID + " "; b.Gone {
				got += "gone "
			} else if b.Job != "sweep" || b.Window != 7 || !strings.HasSuffix(b.Of, ", running") {
				t.Errorf("%+v is not of the array", b)
			}
		}
		if list := jobsOf(part); got != want.bars || len(list) != 1 || list[0].Counts != array.Array.Words {
			t.Errorf("%q of %+v, want %q", got, list, want.bars)
		}
	}
}

// An array whose elements wait stands in the queue with the reason of the first.
func TestLive_TheQueueSaysWhyElementsWait(t *testing.T) {
	t.Parallel()
	zero := grid.Time(10 * grid.Day)
	p := newPicture(Caller{Operator, "olga"}, newPast(), zero)
	p.draw(&view.Document{}, &entry{}, &api.Job{ID: "sweep", State: "waiting", Submitted: api.Instant(zero), Array: &api.Array{Words: "2 waiting", Waiting: 2}},
		[]api.Job{{ID: "sweep[1]", State: "waiting", Reason: &api.Reason{Code: "no-window", Detail: "all is taken"}}}, zero)
	if rows := p.tables(&api.Accounts{})[0].Rows; len(rows) != 1 || rows[0][2] != "2 of its 2 elements; first sweep[1]: all is taken" {
		t.Errorf("%v", rows)
	}
}
