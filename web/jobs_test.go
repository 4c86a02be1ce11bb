package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
	"github.com/bourse-grid/bourse/history/explain"
	"github.com/bourse-grid/bourse/web/api"
)

// Rights: a user reaches their own jobs, an operator all, anybody else none.
func TestCallers_AUserReachesHisOwnOnly(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	submit(t, s, ana, wave("batch-ana1"))
	mine := submit(t, s, ben, wave("batch-ben1")).Jobs[0].ID
	h.pass(grid.Second)
	anas := s.list.named(Caller{User, "ana"}, "wave")[0].id
	named := wave("batch-0009")
	named.Jobs[0].User = "ana"
	for _, c := range []struct {
		who, method, path string
		body              any
		want              int
	}{
		{ben, "GET", "/v1/jobs/" + anas, nil, 404},
		{ben, "DELETE", "/v1/jobs/" + anas, nil, 404},
		{ben, "GET", "/v1/jobs/" + anas + "/explanation", nil, 404},
		{ben, "GET", "/v1/events?job=" + anas, nil, 404},
		{ben, "GET", "/v1/jobs?user=ana", nil, 403},
		{ben, "GET", "/v1/reservations?user=ana", nil, 403},
		{ben, "POST", "/v1/batches", named, 403},
		{ben, "GET", "/v1/jobs/" + mine, nil, 200},
		{ben, "GET", "/v1/jobs/wave", nil, 200},
		{olga, "GET", "/v1/jobs/wave", nil, 409},
		{olga, "GET", "/v1/jobs/" + anas, nil, 200},
		{olga, "GET", "/v1/jobs?user=ana", nil, 200},
		{"", "GET", "/v1/jobs", nil, 403},
		{"", "GET", "/", nil, 403},
		{"site:north", "GET", "/v1/jobs", nil, 403},
		{"site:north", "POST", "/v1/batches", wave("batch-0010"), 403},
		{"", "GET", "/healthz", nil, 200},
		{"", "GET", "/readyz", nil, 200},
		{olga, "DELETE", "/v1/jobs/" + anas, nil, 200},
		{ben, "DELETE", "/v1/jobs/wave", nil, 200},
	} {
		if code := call(t, s, c.who, c.method, c.path, c.body, nil); code != c.want {
			t.Errorf("%s %s %s: %d, want %d", c.who, c.method, c.path, code, c.want)
		}
	}
	b := h.agents["broker:vo1"].(*broker.Broker)
	for j := range b.Jobs() {
		if j.State != grid.JobWithdrawn || j.Origin.Label != "wave" {
			t.Errorf("%s is %v", j.Name, j.State)
		}
	}
	var money api.Accounts
	call(t, s, ben, "GET", "/v1/accounts", nil, &money)
	if money.Money != nil || len(money.Users) != 1 || money.Users[0].User != "ben" {
		t.Errorf("ben sees %+v", money)
	}
	call(t, s, olga, "GET", "/v1/accounts", nil, &money)
	if money.Money == nil || money.Money.Budget.Credits != 10_000*grid.Credit || len(money.Users) != 2 || money.Users[0].Quota == nil {
		t.Errorf("olga sees %+v", money)
	}
}

// A job is charged to the user in whose name it was submitted, and held against
// their quota: nobody spends another's money.
func TestSubmit_IsChargedToTheOneWhoSubmits(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	b := wave("batch-0001")
	b.Jobs[0].Length, b.Jobs[0].Budget = api.Seconds{Duration: 40 * grid.Hour}, &api.Credits{Credits: 500 * grid.Credit}
	submit(t, s, ana, b) // 160 credits against a quota of 100
	b.ID = "batch-0002"
	submit(t, s, ben, b)
	h.pass(grid.Second)
	for who, want := range map[string]string{ana: "waiting", ben: "placed"} {
		var j api.Job
		if call(t, s, who, "GET", "/v1/jobs/wave", nil, &j); j.State != want {
			t.Errorf("%s: %s %v, want %s", who, j.State, j.Reason, want)
		}
	}
}

func TestJobs_NamesThatAreNotTheOnlyOneListTheIdentities(t *testing.T) {
	t.Parallel()
	s := brokerAPI(t, world(t))
	first := submit(t, s, ana, wave("batch-0001")).Jobs[0].ID
	second := submit(t, s, ana, wave("batch-0002")).Jobs[0].ID
	var p problem
	if code := call(t, s, ana, "GET", "/v1/jobs/wave", nil, &p); code != http.StatusConflict || !strings.Contains(p.Detail, second+", "+first) {
		t.Errorf("%d %q", code, p.Detail)
	}
	if code := call(t, s, ana, "GET", "/v1/jobs/none", nil, &p); code != http.StatusNotFound || !strings.Contains(p.Detail, "bourse jobs lists your jobs") {
		t.Errorf("%d %q", code, p.Detail)
	}
	odd := wave("batch-0003")
	odd.Jobs[0].Name = "a/b c?d"
	id := submit(t, s, ana, odd).Jobs[0].ID
	var j api.Job
	if code := call(t, s, ana, "GET", "/v1/jobs/a%2Fb%20c%3Fd", nil, &j); code != 200 || j.ID != id {
		t.Errorf("a name with a slash: %d %+v", code, j)
	}
}

// Pages hold each job once, in the order of submission, whatever their size.
func TestJobs_PagesHoldEachJobOnce(t *testing.T) {
	t.Parallel()
	h := world(t, func(c *broker.Config) { c.BatchSize = 1000 })
	s := brokerAPI(t, h, func(o *Options) { o.Limits.Page = 7 })
	for i := range 4 {
		b := api.Batch{ID: fmt.Sprintf("batch-%04d", i)}
		for k := range 10 {
			b.Jobs = append(b.Jobs, job(fmt.Sprintf("j%d", k)))
		}
		submit(t, s, []string{ana, ben}[i%2], b)
	}
	h.pass(10 * grid.Minute)
	for _, c := range []struct {
		who, query string
		want       int
	}{{olga, "", 40}, {ana, "", 20}, {olga, "&user=ben", 20}, {olga, "&state=open", 40}, {olga, "&state=done", 0}, {olga, "&batch=batch-0002", 10}, {ana, "&name=j3", 2}, {ben, "&batch=batch-0002", 0}} {
		for _, limit := range []int{1, 3, 7, 500} {
			seen, before, pages := map[string]bool{}, uint64(0), 0
			for {
				var page api.JobList
				path := fmt.Sprintf("/v1/jobs?limit=%d%s", limit, c.query)
				if before > 0 {
					path += fmt.Sprintf("&before=%d", before)
				}
				if code := call(t, s, c.who, "GET", path, nil, &page); code != 200 || len(page.Jobs) > min(limit, 7) {
					t.Fatalf("%s: %d with %d jobs", path, code, len(page.Jobs))
				}
				for _, j := range page.Jobs {
					if seen[j.ID] {
						t.Errorf("%s: %s stands twice", path, j.ID)
					}
					seen[j.ID] = true
				}
				if pages++; page.Next == 0 || pages > 60 {
					break
				}
				before = page.Next
			}
			want := c.want
			if c.query == "&name=j3" {
				want = min(want, limit)
			}
			if len(seen) != want || pages > 60 {
				t.Errorf("%s%s by %d: %d jobs on %d pages, want %d", c.who, c.query, limit, len(seen), pages, want)
			}
		}
	}
}

func TestCancel_TellsTheRefundAndIsRecordedWhenNotAllSitesAnswer(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	submit(t, s, ana, wave("batch-0001"))
	h.pass(grid.Second)
	var c api.Cancelled
	if code := call(t, s, ana, "DELETE", "/v1/jobs/wave", nil, &c); code != 200 || !c.Done || c.Refund == nil || c.Refund.Credits == 0 {
		t.Errorf("%d %+v", code, c)
	}
	if code := call(t, s, ana, "DELETE", "/v1/jobs/wave", nil, &c); code != 200 || !c.Done {
		t.Errorf("again: %d %+v", code, c)
	}
	var j api.Job
	if call(t, s, ana, "GET", "/v1/jobs/wave", nil, &j); j.State != "withdrawn" || len(j.Legs) != 0 || j.Cost != nil {
		t.Errorf("afterwards: %+v", j)
	}
	var money api.Accounts
	if call(t, s, ana, "GET", "/v1/accounts", nil, &money); money.Users[0].Spent.Credits != 0 || money.Users[0].Left.Credits != 100*grid.Credit {
		t.Errorf("afterwards ana's account is %+v", money.Users[0])
	}
	h = world(t, func(c *broker.Config) { c.Sites = append(c.Sites, "site:silent") })
	h.add("site:silent", &portal{})
	s = brokerAPI(t, h)
	submit(t, s, ana, wave("batch-0001")) // a cycle waits for the silent one's offers
	if code := call(t, s, ana, "DELETE", "/v1/jobs/wave", nil, &c); code != 200 && code != 202 {
		t.Errorf("while a site is silent: %d %+v", code, c)
	}
}

func TestExplain_IsTheProcessesToGive(t *testing.T) {
	t.Parallel()
	h := world(t)
	for _, c := range []struct {
		give Explain
		want int
		word string
	}{
		{nil, http.StatusNotImplemented, "journal show"},
		{func(_ context.Context, job string, since grid.Time) (string, any, error) {
			return fmt.Sprintf("because of %s since %v", job, since), 7, nil
		}, http.StatusOK, "because of wave-"},
		{func(_ context.Context, job string, _ grid.Time) (string, any, error) {
			return "", nil, &explain.ErrUnknown{Job: job}
		}, http.StatusNotFound, "no longer has anything"},
		{func(context.Context, string, grid.Time) (string, any, error) {
			return "", nil, errors.New("disk gone")
		}, http.StatusServiceUnavailable, "disk gone"},
	} {
		s := brokerAPI(t, h, func(o *Options) { o.Explain = c.give })
		submit(t, s, ana, wave("batch-0001"))
		var answer map[string]any
		if code := call(t, s, ana, "GET", "/v1/jobs/wave/explanation", nil, &answer); code != c.want || !strings.Contains(fmt.Sprint(answer), c.word) {
			t.Errorf("%d %v, want %d with %q", code, answer, c.want, c.word)
		}
	}
}

// On a live process people are shown the instants of an agent's words as times.
// Names and other figures stay, and so does what is on record from older builds.
func TestReasons_ShowTimesAsTimes(t *testing.T) {
	t.Parallel()
	for words, want := range map[grid.Phrase]string{
		grid.Say("drains until %v: %s", grid.Time(1795228115331), "switch"): "drains until 2026-11-21T02:28:35Z: switch",
		grid.Say("job %q is past", "run-1800000000"):                        `job "run-1800000000" is past`,
		grid.Say("%v credits", 1795228115*grid.Credit):                      "1795228115 credits",
		grid.Say("%v node-seconds", 1795228115*grid.Second):                 "1795228115 node-seconds",
		"deadline 1800000000 is past":                                       "deadline 1800000000 is past",
	} {
		if got := api.Dated(string(words)); got != want {
			t.Errorf("%q is shown as %q, want %q", words, got, want)
		}
	}
}

func TestMarket_ShowsSitesOffersAndReservations(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	var sites api.SiteList
	if call(t, s, ana, "GET", "/v1/sites", nil, &sites); len(sites.Sites) != 2 || sites.Sites[0].Answer != "usable" || sites.Sites[0].Groups[0].Free != 16 {
		t.Errorf("before a cycle: %+v", sites)
	}
	b := wave("batch-0001")
	b.Jobs[0].Nodes, b.Jobs[0].Budget = 24, &api.Credits{Credits: 50 * grid.Credit}
	submit(t, s, ana, b)
	submit(t, s, ben, wave("batch-0002"))
	h.pass(grid.Second)
	if call(t, s, ana, "GET", "/v1/sites", nil, &sites); sites.Sites[1].Answer != "usable" || len(sites.Sites[1].Groups) != 1 || sites.Sites[1].Groups[0].Nodes != 16 {
		t.Errorf("after it: %+v", sites)
	}
	var offers api.OfferList
	if call(t, s, ana, "GET", "/v1/offers?site=north", nil, &offers); len(offers.Offers) != 1 || len(offers.Offers[0].Free) < 2 {
		t.Errorf("offers: %+v", offers)
	}
	h.add("directory", &portal{})
	h.w.Post(h.w.Now(), "directory", errand{"broker:vo1", agents.SiteLeft{Site: "site:north"}})
	h.pass(0)
	if call(t, s, ana, "GET", "/v1/offers?site=north", nil, &offers); len(offers.Offers) != 0 {
		t.Errorf("offers of a site that has left: %+v", offers)
	}
	if code := call(t, s, ana, "GET", "/v1/offers?site=west", nil, nil); code != 404 {
		t.Errorf("offers of a site that is not there: %d", code)
	}
	for who, want := range map[string]int{ana: 2, ben: 1, olga: 3} {
		var list api.ReservationList
		if call(t, s, who, "GET", "/v1/reservations", nil, &list); len(list.Reservations) != want {
			t.Errorf("%s sees %d reservations, want %d", who, len(list.Reservations), want)
		}
		n, skip := 0, 0
		for {
			var page api.ReservationList
			call(t, s, who, "GET", fmt.Sprintf("/v1/reservations?limit=1&skip=%d", skip), nil, &page)
			n += len(page.Reservations)
			if skip = page.Next; skip == 0 {
				break
			}
		}
		if n != want {
			t.Errorf("%s sees %d reservations one by one, want %d", who, n, want)
		}
	}
}

// The tags of the API, which cannot be derived, name the states that a job has.
func TestJobs_TheStatesOfTheAPIAreThoseOfAJob(t *testing.T) {
	t.Parallel()
	var words []string
	for _, s := range grid.JobStates() {
		words = append(words, s.String())
	}
	want := strings.Join(words, ",")
	state, _ := reflect.TypeFor[api.Job]().FieldByName("State")
	asked, _ := reflect.TypeFor[jobsInput]().FieldByName("State")
	if a, b := state.Tag.Get("enum"), asked.Tag.Get("enum"); a != want || b != want+",open" {
		t.Errorf("the API has %q and %q, a job %q", a, b, want)
	}
}

// And the turns, which are those of the one list that its stream tells.
func TestEvents_TheTurnsOfTheAPIAreThoseOfTheList(t *testing.T) {
	t.Parallel()
	var words []string
	for _, e := range history.All() {
		if e.Streamed {
			words = append(words, string(e.What))
		}
	}
	field, _ := reflect.TypeFor[api.Turn]().FieldByName("Turn")
	if got, want := field.Tag.Get("enum"), strings.Join(words, ","); got != want {
		t.Errorf("the API has %q, the list %q", got, want)
	}
}
