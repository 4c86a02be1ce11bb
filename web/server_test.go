package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

func get(s *Server, path string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set("Test-Caller", olga)
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

func TestAnybody_LetsOnlyThisMachineIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		remote, host string
		in           bool
	}{
		{"127.0.0.1:4000", "127.0.0.1:7070", true},
		{"[::1]:4000", "localhost:7070", true},
		{"[::ffff:127.0.0.1]:4000", "[::1]", true},
		{"10.0.0.7:4000", "127.0.0.1:7070", false},
		{"127.0.0.1:4000", "evil.example:7070", false}, // a name that was made to lead here
		{"127.0.0.1:4000", "127.0.0.1.evil.example", false},
		{"@", "localhost", false},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr, r.Host = c.remote, c.host
		if _, err := Anybody(r); (err == nil) != c.in {
			t.Errorf("from %s to %s: %v", c.remote, c.host, err)
		}
	}
}

// A page that a browser shows cannot have it submit or cancel.
func TestServer_RefusesWhatAnotherPageSends(t *testing.T) {
	t.Parallel()
	s := brokerAPI(t, world(t))
	r := httptest.NewRequest("DELETE", "/v1/jobs/wave", nil)
	r.Header.Set("Test-Caller", olga)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	if w.Code != http.StatusForbidden {
		t.Errorf("answered %d", w.Code)
	}
}

func TestServer_AnAgentThatDoesNotAnswerIsSaidTo(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	if w := get(s, "/readyz"); w.Code != 200 || w.Body.String() != "ok\n" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	h.mu.Lock()
	h.down = errors.New("the mailbox is full")
	h.mu.Unlock()
	for _, path := range []string{"/healthz", "/readyz", "/v1/jobs?state=open", "/v1/sites"} {
		if path == "/v1/jobs?state=open" {
			s.list.add(&grid.Job{Name: "x"})
		}
		if w := get(s, path); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "mailbox is full") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := get(s, "/metrics"); w.Code != 200 || strings.Contains(w.Body.String(), "bourse_jobs{") {
		t.Errorf("metrics without an agent: %d", w.Code)
	}
}

func TestMetrics_CountJobsMoneyCyclesAndTransactions(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	submit(t, s, ana, wave("batch-0001"))
	h.pass(grid.Second)
	eventually(t, func() bool { return strings.Contains(get(s, "/metrics").Body.String(), "bourse_cycles_total") })
	text := get(s, "/metrics").Body.String()
	for _, want := range []string{`bourse_jobs{state="placed"} 1`, `bourse_money_credits{what="left"} 9996`, `bourse_cycles_total{answered="yes"} 1`,
		`bourse_transactions_total{decision="commit",reason=""} 1`, `bourse_site_usable{site="north"} 1`, `bourse_sites{member="yes"} 2`, `bourse_api_requests_total{operation="submit",status="200"} 1`, "bourse_cycle_seconds_count 1"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
}

func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come to pass within two minutes")
		}
	}
}

// The live page loads nothing from elsewhere, and its policy says so.
func TestPage_LoadsNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	s := brokerAPI(t, world(t))
	for _, path := range []string{"/", "/page/live.js", "/page/live.css", "/view/view.js", "/view/uplot/uPlot.iife.min.js"} {
		w := get(s, path)
		if p := w.Header().Get("Content-Security-Policy"); w.Code != 200 || !strings.Contains(p, "default-src 'none'; script-src 'self';") || !strings.Contains(p, "frame-ancestors 'none'") {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
		for _, word := range []string{"https://", "//cdn", "=\"//", "@import", "url(", "eval(", "innerHTML"} {
			if strings.Contains(w.Body.String(), word) && !strings.Contains(path, "uplot") {
				t.Errorf("%s says %s", path, word)
			}
		}
	}
	if w := get(s, "/other"); w.Code != 404 {
		t.Errorf("another page: %d", w.Code)
	}
}

// Beyond the bound of requests at once the next is turned away, and health is
// still told.
func TestServer_RequestsAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h, func(o *Options) { o.Limits.Requests = 2 })
	in, out := make(chan bool), make(chan bool)
	h.mu.Lock()
	h.before = func(agents.Message) error { in <- true; <-out; return errors.New("late") }
	h.mu.Unlock()
	done := make(chan int, 2)
	s.admission.slots <- struct{}{}
	go func() { done <- call(t, s, ana, "POST", "/v1/batches", wave("batch-0001"), nil) }()
	<-in
	if w := get(s, "/v1/openapi"); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("the third at once: %d", w.Code)
	}
	out <- true
	if code := <-done; code != http.StatusServiceUnavailable {
		t.Errorf("answered %d", code)
	}
}

func TestServer_ServesUntilClosed(t *testing.T) {
	t.Parallel()
	s := brokerAPI(t, world(t))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	r, _ := http.NewRequest("GET", "http://"+l.Addr().String()+eventsPath, nil)
	r.Header.Set("Test-Caller", ana)
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != 200 {
		t.Fatal(err, answer)
	}
	defer answer.Body.Close()
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	s.Close(ctx)
	if err := <-done; err != nil || ctx.Err() != nil {
		t.Errorf("with a stream open it closed with %v, %v", err, ctx.Err())
	}
}

// A broker whose sites are all silent or gone is not ready: what users submit
// there waits, and another process may have its name.
func TestReady_NotWhileNoSiteAnswers(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	for _, site := range []agents.ID{"site:north", "site:south"} {
		if w := get(s, "/readyz"); w.Code != 200 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		h.w.Post(h.w.Now(), "broker:vo1", agents.SiteLeft{Site: site})
		h.pass(1)
	}
	if w := get(s, "/readyz"); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "no site answers") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	// A broker that waits for its clock has heard of no site either: the clock is why.
	s.opt.Ready = func() error { return errors.New("that of site:north is 2h0m0s behind it") }
	if w := get(s, "/readyz"); w.Code != http.StatusServiceUnavailable || !strings.HasPrefix(w.Body.String(), "that of site:north") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
