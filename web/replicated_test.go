package web

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/live"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// who says who leads, as a test decides.
type who struct{ name, url string }

// following serves the API of a process that holds a world's broker together with others.
func following(t *testing.T, change ...func(*Options)) (r *Replicated, url string, leads *atomic.Pointer[who]) {
	t.Helper()
	leads = &atomic.Pointer[who]{}
	leads.Store(&who{})
	opt := Options{Host: world(t), Agent: "broker:vo1", Identify: byHeader}
	for _, c := range change {
		c(&opt)
	}
	r = NewReplicated(opt, func() (string, string) { w := leads.Load(); return w.name, w.url })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- r.Serve(l) }()
	t.Cleanup(func() {
		r.Close(context.Background())
		if err := <-served; err != nil {
			t.Errorf("closed, it ends with %v", err)
		}
	})
	return r, "http://" + l.Addr().String(), leads
}

// fetch makes a request of a user and follows nobody.
func fetch(t *testing.T, c *http.Client, url string) (*http.Response, string) {
	t.Helper()
	return fetchAs(t, c, "user:ana", url)
}

func fetchAs(t *testing.T, c *http.Client, who, url string) (*http.Response, string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Test-Caller", who)
	answer, err := c.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

func nowhere() *http.Client {
	return &http.Client{Transport: &http.Transport{}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// A process that does not lead says who does, or that no leader is known. Requests that
// monitor the process itself are answered by it.
func TestReplicated_SaysWhoLeads(t *testing.T) {
	t.Parallel()
	_, url, leads := following(t)
	c := nowhere()
	for _, x := range []struct {
		who
		status             int
		location, sentence string
	}{
		{who{"replica:vo1/2", "https://two:7480"}, http.StatusTemporaryRedirect, "https://two:7480/v1/jobs?limit=3", "replica:vo1/2 leads; its API is https://two:7480"},
		{who{"replica:vo1/2", ""}, http.StatusServiceUnavailable, "", "the address of its API is not known"},
		{who{"", ""}, http.StatusServiceUnavailable, "", "no replica of broker:vo1 leads"},
	} {
		leads.Store(&x.who)
		answer, text := fetch(t, c, url+"/v1/jobs?limit=3")
		var p problem
		if err := json.Unmarshal([]byte(text), &p); err != nil || answer.StatusCode != x.status || p.Status != x.status || !strings.Contains(p.Detail, x.sentence) ||
			answer.Header.Get("Location") != x.location || (answer.Header.Get("Retry-After") != "") != (x.location == "") {
			t.Errorf("%v leads: %v, %v, %s", x.who, err, answer.Header, text)
		}
	}
	leads.Store(&who{"replica:vo1/2", ""})
	for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "follows replica:vo1/2\n", "/metrics": ""} {
		if answer, text := fetch(t, c, url+path); answer.StatusCode != http.StatusOK || want != "" && text != want {
			t.Errorf("%s: %d, %q", path, answer.StatusCode, text)
		}
	}
}

// On request, operators are told what a process that does not lead knows. Others are not.
func TestReplicated_SaysHowItStandsItself(t *testing.T) {
	t.Parallel()
	_, url, _ := following(t, func(o *Options) {
		o.Replicas = func(context.Context) (api.Replicas, error) { return api.Replicas{Here: "replica:vo1/1"}, nil }
	})
	for _, x := range []struct {
		who, query string
		want       int
	}{
		{"operator:olga", "?here=true", http.StatusOK},
		{"operator:olga", "", http.StatusServiceUnavailable},
		{"operator:olga", "?here=no", http.StatusServiceUnavailable},
		{"user:ana", "?here=true", http.StatusForbidden},
		{"", "?here=true", http.StatusForbidden},
	} {
		answer, text := fetchAs(t, nowhere(), x.who, url+"/v1/replicas"+x.query)
		if answer.StatusCode != x.want || x.want == http.StatusOK && !strings.Contains(text, `"here":"replica:vo1/1"`) {
			t.Errorf("%q asks%s: %d, %s", x.who, x.query, answer.StatusCode, text)
		}
	}
}

// A member whose certificate is revoked is told so by a process that does not lead, too, and
// reads neither who leads nor where, nor how the process is.
func TestReplicated_WhoIsRevokedReadsThatEverywhere(t *testing.T) {
	t.Parallel()
	_, url, leads := following(t, func(o *Options) {
		o.Identify = func(*http.Request) (Caller, error) {
			return Caller{}, &certificate.Refusal{Cause: certificate.Revoked, Whose: "bourse://vo1/user/ana", What: "serial 5a1d is revoked", Remedy: "issue another"}
		}
	})
	leads.Store(&who{"replica:vo1/2", "https://two:7480"})
	for _, path := range []string{"/v1/jobs", "/v1/replicas?here=true", "/metrics", "/healthz", "/readyz", "/none"} {
		a, text := fetch(t, nowhere(), url+path)
		if a.StatusCode != http.StatusForbidden || !a.Close || a.Header.Get("Location") != "" || strings.Contains(text, "vo1/2") || !strings.Contains(text, "serial 5a1d is revoked") {
			t.Errorf("%s: %d, closed %t, %v, %s", path, a.StatusCode, a.Close, a.Header, text)
		}
	}
}

// A follower serves its metrics only to known callers, as a leader does.
func TestReplicated_CountsForThoseWhoAreKnown(t *testing.T) {
	t.Parallel()
	_, url, _ := following(t)
	answer, err := nowhere().Get(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	if _ = answer.Body.Close(); answer.StatusCode != http.StatusForbidden {
		t.Errorf("somebody unknown is answered %d", answer.StatusCode)
	}
}

// With each change of who leads a caller's connection ends, and the next request is answered by
// what serves then: the broker's API, or the way to the leader.
func TestReplicated_ServesTheBrokerWhileItLeads(t *testing.T) {
	t.Parallel()
	r, url, leads := following(t)
	leads.Store(&who{"replica:vo1/2", "https://two:7480"})
	c := nowhere()
	for range 3 {
		if err := r.Lead(); err != nil {
			t.Fatal(err)
		}
		if answer, text := fetch(t, c, url+"/v1/jobs"); answer.StatusCode != http.StatusOK {
			t.Errorf("it leads and answers %d %s", answer.StatusCode, text)
		}
		r.Follow()
		if answer, text := fetch(t, c, url+"/v1/jobs"); answer.StatusCode != http.StatusTemporaryRedirect {
			t.Errorf("it follows and answers %d %s", answer.StatusCode, text)
		}
	}
	r.Close(context.Background())
	if err := r.Lead(); err != nil { // after the end nothing is opened again
		t.Fatal(err)
	}
	if answer, err := c.Get(url + "/healthz"); err == nil {
		_ = answer.Body.Close()
		t.Errorf("closed, it answers %d", answer.StatusCode)
	}
}

// Operators see the processes that hold the broker and have one replaced; nobody else does,
// and where one process holds it that is said.
func TestReplicas_AreForOperators(t *testing.T) {
	t.Parallel()
	h := &groupHost{worldHost: world(t)}
	alone := brokerAPI(t, h.worldHost)
	for who, want := range map[string]int{"user:ana": 403, "operator:olga": 501} {
		if code := call(t, alone, who, "GET", "/v1/replicas", nil, nil); code != want {
			t.Errorf("%s, of a broker alone: %d", who, code)
		}
	}
	s := brokerAPI(t, h.worldHost, func(o *Options) {
		o.Host = h
		o.Replicas = func(context.Context) (api.Replicas, error) {
			return api.Replicas{Term: 7, Members: []api.Replica{{Name: "replica:vo1/1", Role: "leader"}}}, nil
		}
	})
	var list api.Replicas
	if code := call(t, s, "operator:olga", "GET", "/v1/replicas", nil, &list); code != 200 || list.Term != 7 {
		t.Errorf("%d, %+v", code, list)
	}
	good := `{"out": 3, "in": 4, "address": "four:7402", "api": "https://four:7480"}`
	for _, x := range []struct {
		who, body string
		why       grid.Code
		want      int
	}{
		{"user:ana", good, "", 403},
		{"operator:olga", good, "", 200},
		{"operator:olga", good, grid.Busy, 409},
		{"operator:olga", good, grid.Unknown, 422},
		{"operator:olga", `{"out": 3, "in": 3, "address": "four:7402"}`, "", 422},
		{"operator:olga", `{"out": 3, "in": 4, "address": "four"}`, "", 422},
		{"operator:olga", `{"out": 3, "in": 4, "address": "four:7402", "api": "four:7480"}`, "", 422},
		{"operator:olga", `{"out": 0, "in": 4, "address": "four:7402"}`, "", 422},
	} {
		h.answer = grid.Reason{Code: x.why}
		if code := call(t, s, x.who, "POST", "/v1/replicas", x.body, nil); code != x.want {
			t.Errorf("%s posts %s, answered %q: %d, want %d", x.who, x.body, x.why, code, x.want)
		}
	}
	if want := (agents.ReplicaReplace{Group: "broker:vo1", Out: "replica:vo1/3", In: "replica:vo1/4", Endpoint: "four:7402", API: "https://four:7480"}); len(h.asked) != 3 || h.asked[0] != want {
		t.Errorf("the group is asked %+v", h.asked)
	}
}

// groupHost answers for the replica that holds the broker.
type groupHost struct {
	*worldHost
	asked  []agents.ReplicaReplace
	answer grid.Reason
}

func (h *groupHost) Ask(ctx context.Context, from, to agents.ID, m agents.Message) (agents.Message, error) {
	r, is := m.(agents.ReplicaReplace)
	if !is {
		return h.worldHost.Ask(ctx, from, to, m)
	}
	h.asked = append(h.asked, r)
	return agents.ReplicaReplaced{Group: r.Group, Out: r.Out, In: r.In, Reason: h.answer}, nil
}

// Hand has the answer at once.
func (h *groupHost) Hand(from, to agents.ID, m agents.Message) (func(context.Context) (agents.Message, error), error) {
	r, err := h.Ask(context.Background(), from, to, m)
	return func(context.Context) (agents.Message, error) { return r, err }, nil
}

// One that was the leader, and has not noticed that another one is, does not say of a job
// that it does not exist: the other one may have taken it.
func TestReplicated_WhoLeadsNoMoreDeniesNothing(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	if code := call(t, s, "user:ana", "GET", "/v1/jobs/nobody", nil, nil); code != http.StatusNotFound {
		t.Errorf("the leader answers %d", code)
	}
	h.mu.Lock()
	h.down = &live.ElsewhereError{Agent: "broker:vo1"}
	h.mu.Unlock()
	for _, path := range []string{"/v1/jobs/nobody", "/v1/jobs/nobody/explanation", "/v1/jobs?name=nobody", "/v1/jobs"} {
		if code := call(t, s, "user:ana", "GET", path, nil, nil); code != http.StatusServiceUnavailable {
			t.Errorf("%s: one that leads no more answers %d", path, code)
		}
	}
}
