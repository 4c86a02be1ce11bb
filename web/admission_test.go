package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"

	"github.com/danielgtaylor/huma/v2/sse"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

var errRevoked = errors.New("certificate of bourse://vo1/user/ana refused: serial 5a1d is revoked")

// An event stream ends, with the reason, once its caller may no longer listen, whether
// there is much to tell or nothing.
func TestEvents_EndWithAReasonOnceTheirCallerIsRevoked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		who  Caller
		much bool
	}{{Caller{User, "ana"}, true}, {Caller{Operator, "olga"}, true}, {Caller{User, "eve"}, false}} {
		synctest.Test(t, func(t *testing.T) {
			s := brokerAPI(t, world(t))
			submit(t, s, ana, wave("batch-0001"))
			x := s.feed.listen(c.who, "", "")
			var revoked atomic.Bool
			x.again = func() error {
				if revoked.Load() {
					return errRevoked
				}
				return nil
			}
			type event struct {
				at   time.Time
				data any
			}
			var sent []event
			ended := make(chan bool)
			go func() {
				(&streams{jobs: &jobs{s.agent, s.list}, feed: s.feed}).follow(context.WithValue(t.Context(), streamKey{}, x), nil, func(m sse.Message) error {
					sent = append(sent, event{time.Now(), m.Data})
					return nil
				})
				close(ended)
			}()
			var j api.Job
			call(t, s, ana, "GET", "/v1/jobs/wave", nil, &j)
			var at time.Time
			for i := range 15_000 {
				if i == 12_345 {
					revoked.Store(true)
					at = time.Now()
				}
				if c.much {
					s.feed.tell(&api.Turn{Turn: "placed", Job: j})
				}
				time.Sleep(time.Millisecond)
			}
			<-ended
			last := sent[len(sent)-1]
			if d, ok := last.data.(api.Denied); !ok || !strings.Contains(d.Why, "is revoked") || last.at.Sub(at) > checkEvery {
				t.Errorf("%v: the last event is %+v, %v after it was revoked", c.who, last.data, last.at.Sub(at))
			}
			if c.much && len(sent) < 12_000 {
				t.Errorf("%v was told %d events", c.who, len(sent))
			}
			s.feed.leave(x)
			if n := testutil.ToFloat64(s.count.denied); n != 1 {
				t.Errorf("%v denied were counted", n)
			}
		})
	}
}

// Every request on a kept connection checks anew who is calling. The connection of a
// caller who may no longer call is closed.
func TestServer_ARevokedCallerIsRefusedOnAConnectionThatIsOpen(t *testing.T) {
	t.Parallel()
	var revoked atomic.Bool
	s := brokerAPI(t, world(t), func(o *Options) {
		o.Identify = func(*http.Request) (Caller, error) {
			if revoked.Load() {
				return Caller{}, errRevoked
			}
			return Caller{User, "ana"}, nil
		}
	})
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	ask := func(path string) (int, bool) {
		a, err := server.Client().Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		_, _ = io.Copy(io.Discard, a.Body)
		return a.StatusCode, a.Close
	}
	paths := []string{"/v1/jobs", "/", "/metrics", "/openapi.json", "/none"}
	for _, path := range paths {
		if code, closed := ask(path); code == 403 || closed {
			t.Errorf("%s before: %d, closed %t", path, code, closed)
		}
	}
	revoked.Store(true)
	for _, path := range paths {
		if code, closed := ask(path); code != 403 || !closed {
			t.Errorf("%s after: %d, closed %t", path, code, closed)
		}
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if code, _ := ask(path); code != 200 {
			t.Errorf("%s: %d", path, code)
		}
	}
}

// A member whose certificate is revoked gets no further than to be told so, not even to the
// health of the process.
func TestServer_WhoIsRevokedReadsThatEverywhere(t *testing.T) {
	t.Parallel()
	s := brokerAPI(t, world(t), func(o *Options) {
		o.Identify = func(*http.Request) (Caller, error) {
			return Caller{}, &certificate.Refusal{Cause: certificate.Revoked, Whose: "bourse://vo1/user/ana", What: "serial 5a1d is revoked", Remedy: "issue another"}
		}
	})
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	for _, path := range []string{"/v1/jobs", "/metrics", "/healthz", "/readyz", "/none"} {
		a, err := server.Client().Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(a.Body)
		a.Body.Close()
		if a.StatusCode != 403 || !a.Close || !strings.Contains(string(text), "serial 5a1d is revoked") {
			t.Errorf("%s: %d, closed %t, %s", path, a.StatusCode, a.Close, text)
		}
	}
}

// slow is a request with a body that does not end.
func slow(t *testing.T, url, who string) (*http.Request, *io.PipeWriter) {
	body, in := io.Pipe()
	t.Cleanup(func() { _ = in.Close() })
	r, err := http.NewRequestWithContext(t.Context(), "POST", url+"/v1/batches", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Test-Caller", who)
	r.Header.Set("Content-Type", "application/json")
	return r, in
}

// A user whose requests come slowly takes an eighth of the places; others are
// served.
func TestServer_SlowBodiesOfOneUserLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	s := brokerAPI(t, world(t), func(o *Options) { o.Limits.Requests = 16 })
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	codes := make(chan int, 16)
	for range 16 {
		r, in := slow(t, server.URL, ana)
		go func() { _, _ = in.Write([]byte(`{"id":`)) }()
		go func() {
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				codes <- 0
				return
			}
			defer a.Body.Close()
			codes <- a.StatusCode
		}()
	}
	for range 14 {
		if code := <-codes; code != http.StatusTooManyRequests {
			t.Errorf("beyond ana's share: %d", code)
		}
	}
	for range 3 {
		if code := call(t, s, ben, "GET", "/v1/jobs", nil, nil); code != 200 {
			t.Errorf("ben is answered %d", code)
		}
	}
	var p problem
	if code := call(t, s, ana, "GET", "/v1/jobs", nil, &p); code != http.StatusTooManyRequests || !strings.Contains(p.Detail, "you have too many") {
		t.Errorf("ana is answered %d %q", code, p.Detail)
	}
	if w := get(s, "/metrics"); w.Code != 200 {
		t.Errorf("metrics: %d", w.Code)
	}
	server.CloseClientConnections()
}

// pipes is a listener of connections in memory, whose deadlines go by the time of
// the test.
type pipes chan net.Conn

func (l pipes) Accept() (net.Conn, error) {
	if c, ok := <-l; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (l pipes) Close() error   { return nil }
func (l pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// A body must come at its rate: one that trickles is cut off soon, one that is
// large and comes at the rate is read to its end however long that takes.
func TestServer_BodiesMustComeAtTheirRate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		size, piece int // of the body, and what comes of it each second
		code        int
		least, most time.Duration
	}{
		{"trickles", 100, 1, http.StatusRequestTimeout, bodyGrace, bodyGrace + time.Second},
		{"stops", 100, 0, http.StatusRequestTimeout, bodyGrace, bodyGrace},
		{"too slow", 1 << 20, bodyRate / 2, http.StatusRequestTimeout, 8 * time.Second, 12 * time.Second},
		{"at the rate", 3 << 20, bodyRate, http.StatusOK, 47 * time.Second, 49 * time.Second},
		{"nobody reads it", 0, 0, http.StatusForbidden, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := brokerAPI(t, world(t))
				l := make(pipes, 1)
				go func() { _ = s.Serve(l) }()
				defer close(l)
				far, near := net.Pipe()
				l <- far
				began := time.Now()
				answer := make(chan *http.Response, 1)
				go func() {
					a, err := http.ReadResponse(bufio.NewReader(near), nil)
					if err != nil {
						t.Error(err)
					}
					answer <- a
				}()
				who, body := ana, `{"id":"batch-0001","jobs":[{"name":"a","nodes":1,"length":60,"budget":5}]}`
				if c.size == 0 {
					who = ""
				}
				body += strings.Repeat(" ", max(c.size-len(body), 0))
				fmt.Fprintf(near, "POST /v1/batches HTTP/1.1\r\nHost: x\r\nTest-Caller: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", who, len(body))
				var writing sync.WaitGroup
				writing.Go(func() {
					for at := 0; c.piece > 0 && at < len(body); at += c.piece {
						if _, err := io.WriteString(near, body[at:min(at+c.piece, len(body))]); err != nil {
							return
						}
						time.Sleep(time.Second)
					}
				})
				a := <-answer
				took := time.Since(began)
				if a == nil || a.StatusCode != c.code || took < c.least || took > c.most {
					t.Errorf("%v after %v, want %d within %v to %v", a, took, c.code, c.least, c.most)
				}
				_, _ = near.Close(), far.Close()
				writing.Wait()
			})
		})
	}
}

// One caller may have so many connections; one more is closed when it asks.
func TestServer_ConnectionsOfOneCallerAreBounded(t *testing.T) {
	t.Parallel()
	s := brokerAPI(t, world(t), func(o *Options) { o.Limits.Requests = 8 }) // 2 connections of a user
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	ask := func(who string) (net.Conn, int) {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		fmt.Fprintf(c, "GET /v1/jobs HTTP/1.1\r\nHost: x\r\nTest-Caller: %s\r\n\r\n", who)
		a, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		return c, a.StatusCode
	}
	first, code := ask(ana)
	if _, second := ask(ana); code != 200 || second != 200 {
		t.Fatalf("answered %d and %d", code, second)
	}
	if _, code := ask(ana); code != http.StatusTooManyRequests {
		t.Errorf("ana's third connection: %d", code)
	}
	if _, code := ask(ben); code != 200 {
		t.Errorf("ben: %d", code)
	}
	_ = first.Close()
	eventually(t, func() bool { _, code := ask(ana); return code == 200 })
}

// Refusals do not make a broker's journal grow without a bound, and are counted
// all the same.
func TestSubmit_RefusalsAreCountedWhetherOrNotTheyAreRecorded(t *testing.T) {
	t.Parallel()
	h := world(t, func(c *broker.Config) { c.MaxQueue, c.BatchSize, c.Refusals = 1, 1000, 50 })
	s := brokerAPI(t, h)
	b := api.Batch{ID: "batch-0001"}
	for i := range 500 {
		b.Jobs = append(b.Jobs, job(fmt.Sprint("j", i)))
	}
	submit(t, s, ana, b)
	recorded := 0
	for _, f := range h.facts {
		if _, ok := f.(facts.SubmissionRefused); ok {
			recorded++
		}
	}
	if n := testutil.ToFloat64(s.count.refused.WithLabelValues(string(grid.QueueFull))); n != 499 || recorded != 50 {
		t.Errorf("%v refusals are counted, %d recorded", n, recorded)
	}
}

// Explanations of several callers run at once, up to a bound; one caller's do not
// keep others waiting, and one whose caller has gone is ended.
func TestExplain_RunsForSeveralCallersAtOnceUpToABound(t *testing.T) {
	t.Parallel()
	began, ended := make(chan bool), make(chan bool)
	s := brokerAPI(t, world(t), func(o *Options) {
		o.Explain = func(ctx context.Context, _ string, since grid.Time) (string, any, error) {
			if since != zero {
				t.Errorf("since %v, want %v", since, zero)
			}
			began <- true
			<-ctx.Done()
			ended <- true
			return "", nil, ctx.Err()
		}
	})
	ask := func(ctx context.Context, who string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(ctx, "GET", "/v1/jobs/wave/explanation", nil)
		r.Header.Set("Test-Caller", who)
		s.Handler().ServeHTTP(w, r)
		return w
	}
	users := []string{ana, ben, "user:cem", "user:dora", "user:eve"}
	for _, who := range users {
		submit(t, s, who, wave("batch-0001"))
	}
	gone, goes := context.WithCancel(t.Context())
	for _, who := range users[:4] {
		go ask(gone, who)
		<-began // while the others run
	}
	if w := ask(t.Context(), ana); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
		t.Errorf("a second one of ana: %d %v", w.Code, w.Header())
	}
	if w := ask(t.Context(), users[4]); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("a fifth one: %d %v", w.Code, w.Header())
	}
	goes()
	for range 4 {
		<-ended
	}
	again, stop := context.WithCancel(t.Context())
	eventually(t, func() bool { return len(s.explains.slots) == 0 })
	go ask(again, users[4])
	<-began
	stop()
	<-ended
}
