package client

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bourse-grid/bourse/web/api"
)

// process is one of those that hold a broker, as a test has it answer.
type process struct {
	*httptest.Server
	asked  atomic.Int64
	answer atomic.Pointer[http.HandlerFunc]
}

func newProcess(t *testing.T) *process {
	t.Helper()
	p := &process{}
	p.waits()
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked.Add(1)
		(*p.answer.Load())(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *process) as(h http.HandlerFunc) { p.answer.Store(&h) }

// waits has it know of no leader.
func (p *process) waits() {
	p.as(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
}

// follows has it send callers to another one.
func (p *process) follows(leader *process) {
	p.as(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", leader.URL+r.URL.RequestURI())
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
}

// leads has it take a batch.
func (p *process) leads() {
	p.as(func(w http.ResponseWriter, r *http.Request) {
		var b api.Batch
		if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(api.BatchAnswer{ID: b.ID})
	})
}

// toGroup is a client of three processes, of which the last is not in its context.
func toGroup(t *testing.T) (c *Client, list [3]*process) {
	t.Helper()
	for k := range list {
		list[k] = newProcess(t)
	}
	c, err := (&Context{Broker: list[0].URL, Replicas: []string{list[1].URL}, file: "context.json"}).ToBroker()
	if err != nil {
		t.Fatal(err)
	}
	return c, list
}

func submits(t *testing.T, c *Client) {
	t.Helper()
	if a, err := c.Submit(t.Context(), api.Batch{ID: "b-1"}); err != nil || a.ID != "b-1" {
		t.Fatal(a, err)
	}
}

// Whoever leads gets the whole request, at once if it has answered last, and also one that has
// come since the context was written.
func TestReplicas_TheLeaderIsFoundAndAskedFromThenOn(t *testing.T) {
	t.Parallel()
	c, list := toGroup(t)
	list[0].follows(list[1])
	list[1].leads()
	submits(t, c)
	submits(t, c)
	if a, b := list[0].asked.Load(), list[1].asked.Load(); a != 1 || b != 2 {
		t.Errorf("asked %d and %d times", a, b)
	}
	list[1].follows(list[2])
	list[2].leads()
	submits(t, c)
	submits(t, c)
	if b, d := list[1].asked.Load(), list[2].asked.Load(); b != 3 || d != 2 {
		t.Errorf("asked %d and %d times, the new one %d", list[0].asked.Load(), b, d)
	}
	list[2].Close() // its machine is gone
	list[0].leads()
	submits(t, c)
}

// While nobody leads, a call is repeated in full until somebody does.
func TestReplicas_ACallWaitsForALeader(t *testing.T) {
	t.Parallel()
	c, list := toGroup(t)
	list[1].as(func(w http.ResponseWriter, r *http.Request) {
		if list[1].asked.Load() > 2 {
			list[0].leads()
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	submits(t, c)
	if n := list[1].asked.Load(); n != 3 {
		t.Errorf("asked %d times", n)
	}
}

// Two processes that each take the other for the leader are asked once each and once more;
// then the caller is told to come again. A request that must not be repeated is sent once.
func TestReplicas_NobodyIsAskedRoundAndRound(t *testing.T) {
	t.Parallel()
	c, list := toGroup(t)
	list[0].follows(list[1])
	list[1].follows(list[0])
	trip := func(body io.Reader) int {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, list[0].URL+"/v1/batches", body)
		if err != nil {
			t.Fatal(err)
		}
		before := list[0].asked.Load() + list[1].asked.Load()
		answer, err := c.http.Transport.RoundTrip(q)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("answered %d", answer.StatusCode)
		}
		return int(list[0].asked.Load() + list[1].asked.Load() - before)
	}
	if n := trip(strings.NewReader("{}")); n != 3 {
		t.Errorf("asked %d times", n)
	}
	if n := trip(io.MultiReader(strings.NewReader("{}"))); n != 1 {
		t.Errorf("what cannot be said twice is said %d times", n)
	}
}

// A redirect does not make the client know ever more processes, nor lead it elsewhere than
// to an API of the same kind.
func TestReplicas_WhoIsNamedIsBounded(t *testing.T) {
	t.Parallel()
	c, _ := toGroup(t)
	r := c.http.Transport.(*replicas)
	for _, bad := range []string{"", "ftp://x:1/", "/v1/jobs"} {
		if i := r.at(bad); i >= 0 {
			t.Errorf("%q is replica %d", bad, i)
		}
	}
	for k := range 2 * maxReplicas {
		r.at("http://127.0.0.1:" + string(rune('1'+k%9)) + strings.Repeat("0", k/9) + "/v1/jobs")
	}
	if len(r.list) > maxReplicas || len(r.list) < 10 {
		t.Errorf("%d are known", len(r.list))
	}
}
