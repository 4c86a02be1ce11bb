package client

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// several returns a client of processes that hold a broker together.
func several(t *testing.T, slow time.Duration, handlers ...http.HandlerFunc) (*Client, []string) {
	t.Helper()
	r := &replicas{slow: slow}
	var urls []string
	for _, h := range handlers {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		base, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		r.list = append(r.list, replica{base, http.DefaultTransport})
		urls = append(urls, server.URL)
	}
	return &Client{base: urls[0], peer: "the broker", http: &http.Client{Transport: r}, tries: 1}, urls
}

// inMemory is several whose processes are no servers: in a bubble of synctest their time is
// virtual, so that slow is no bet against a busy machine.
func inMemory(t *testing.T, slow time.Duration, handlers ...http.HandlerFunc) (*Client, []string) {
	t.Helper()
	r := &replicas{slow: slow}
	var urls []string
	for i, h := range handlers {
		base := &url.URL{Scheme: "http", Host: fmt.Sprintf("replica%d", i)}
		r.list = append(r.list, replica{base, roundTrip(h)})
		urls = append(urls, base.String())
	}
	return &Client{base: urls[0], peer: "the broker", http: &http.Client{Transport: r}, tries: 1}, urls
}

// roundTrip carries a request to a handler.
type roundTrip http.HandlerFunc

func (h roundTrip) RoundTrip(q *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h(w, q)
	if err := q.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// hangs says nothing until the caller has gone.
func hangs(calls *atomic.Int32) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		<-r.Context().Done()
	}
}

func answers(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"id":"wave"}`)) }

func comeAgain(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }

// A process that hangs is the first of the list for every command anew: it costs each of
// them a moment, not its time.
func TestReplicas_OneThatHangsIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var hung atomic.Int32
		c, _ := inMemory(t, time.Second, hangs(&hung), comeAgain, answers)
		begun := time.Now()
		for range 2 {
			if j, err := c.Job(t.Context(), "wave"); err != nil || j.ID != "wave" {
				t.Fatalf("%+v, %v", j, err)
			}
		}
		if n := hung.Load(); n != 1 {
			t.Errorf("the one that hangs was asked %d times; the second call begins with the one that has answered", n)
		}
		if took := time.Since(begun); took != time.Second {
			t.Errorf("it cost the two calls %v, not one moment of a second", took)
		}
	})
}

// A leader that takes its time is waited for: it is asked once, whatever the others say.
func TestReplicas_ASlowLeaderIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls, others atomic.Int32
		enough := make(chan struct{})
		var leader string
		elsewhere := func(w http.ResponseWriter, r *http.Request) {
			if others.Add(1) == 4 {
				close(enough)
			}
			http.Redirect(w, r, leader+r.URL.RequestURI(), http.StatusTemporaryRedirect)
		}
		c, urls := inMemory(t, time.Second, func(w http.ResponseWriter, r *http.Request) {
			calls.Add(1)
			<-enough
			answers(w, r)
		}, elsewhere, comeAgain)
		leader = urls[0]
		if j, err := c.Job(t.Context(), "wave"); err != nil || j.ID != "wave" || calls.Load() != 1 {
			t.Errorf("%+v, %v, asked %d times", j, err, calls.Load())
		}
	})
}

// If no process leads, the caller is told at once that the command will ask again. If the
// processes are down, the error names each of them, its answer, and the remedy.
func TestReplicas_AllThatWereAskedAreNamed(t *testing.T) {
	t.Parallel()
	for _, alive := range []bool{false, true} {
		c, urls := several(t, time.Hour, comeAgain, comeAgain, comeAgain)
		r := c.http.Transport.(*replicas)
		for i, s := range r.list {
			if gone := httptest.NewServer(http.NotFoundHandler()); !alive || i != 1 {
				u, _ := url.Parse(gone.URL)
				s.base, urls[i] = u, gone.URL
				r.list[i] = s
				gone.Close()
			} else {
				gone.Close()
			}
		}
		_, err := c.Job(t.Context(), "wave")
		for i, u := range urls {
			words := " has nobody who listens (connection refused)"
			if alive && i == 1 {
				words = " runs and knows of no leader"
			}
			if want := strings.TrimPrefix(u, "http://") + words; !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("no %q in %v", want, err)
			}
		}
		if !strings.Contains(fmt.Sprint(err), "start them until 2 run") {
			t.Errorf("no remedy in %v", err)
		}
	}
}

func TestReplicas_NoneThatLeadsIsAnAnswerToo(t *testing.T) {
	t.Parallel()
	c, _ := several(t, time.Hour, comeAgain, comeAgain, comeAgain)
	_, err := c.Job(t.Context(), "wave")
	if p, ok := err.(*Problem); !ok || p.Status != http.StatusServiceUnavailable { //nolint:errorlint // as the client returns it
		t.Errorf("%v", err)
	}
}
