package dash

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/web/client"
)

// world is a server of a broker and a site that note what they are asked.
type world struct {
	*Server
	at       time.Time     // by its clock
	streamed chan struct{} // a stream is open

	mu   sync.Mutex
	said []string // to agents: method and path
	head http.Header
}

func (w *world) heard() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string{}, w.said...)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{at: time.Unix(1_800_000_000, 0), streamed: make(chan struct{}, 1)}
	agent := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.mu.Lock()
		w.said, w.head = append(w.said, r.Method+" "+r.URL.EscapedPath()+" "+string(body)), r.Header
		w.mu.Unlock()
		http.SetCookie(out, &http.Cookie{Name: "theirs", Value: "x"})
		if strings.HasSuffix(r.URL.Path, "/live") { // until the caller goes
			out.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(out, "data: {}\n\n")
			_ = http.NewResponseController(out).Flush()
			w.streamed <- struct{}{}
			<-r.Context().Done()
			return
		}
		_, _ = io.WriteString(out, `{}`)
	}))
	t.Cleanup(agent.Close)
	file := filepath.Join(t.TempDir(), "context.json")
	text, _ := json.Marshal(client.Context{Broker: agent.URL, Sites: map[string]string{"north": agent.URL, "a/b": agent.URL}})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := client.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if w.Server, err = newServer(l, c, func() time.Time { return w.at }); err != nil {
		t.Fatal(err)
	}
	return w
}

// change is what a test does to a request.
type change func(*http.Request)

func header(key, value string) change { return func(r *http.Request) { r.Header.Set(key, value) } }

// ask has the server answer a request of the page itself, unless a change makes it
// somebody else's.
func (w *world) ask(method, path, body string, changes ...change) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://"+w.host+path, strings.NewReader(body))
	r.RemoteAddr, r.Host = "127.0.0.1:40000", w.host
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method != http.MethodGet && method != http.MethodHead {
		r.Header.Set("Origin", "http://"+w.host)
	}
	for _, c := range changes {
		c(r)
	}
	out := httptest.NewRecorder()
	w.http.Handler.ServeHTTP(out, r)
	return out
}

// secret is what stands after the # of a fresh link, as it is posted.
func (w *world) secret(t *testing.T) string {
	t.Helper()
	link, _ := w.Link()
	base, text, ok := strings.Cut(link, "/#")
	if !ok || base != "http://"+w.host || len(text) < 26 {
		t.Fatalf("the link is %q", link)
	}
	return `{"link": "` + text + `"}`
}

// enter begins a session and returns what makes a request one of it.
func (w *world) enter(t *testing.T) (cookie, token change) {
	t.Helper()
	a := w.ask("POST", "/session", w.secret(t))
	var s Session
	if err := json.Unmarshal(a.Body.Bytes(), &s); a.Code != 200 || err != nil {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	c := a.Result().Cookies()[0]
	return func(r *http.Request) { r.AddCookie(c) }, header(TokenHeader, s.Token)
}

func TestNew_ListensOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := New(l, &client.Context{}); err == nil || !strings.Contains(err.Error(), "this machine only") {
		t.Errorf("a listener on %s: %v", l.Addr(), err)
	}
}

func TestServer_RefusesWhoIsNotOnThisMachineAndOtherNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	from := func(a string) change { return func(r *http.Request) { r.RemoteAddr = a } }
	to := func(host string) change { return func(r *http.Request) { r.Host = host } }
	_, port, _ := net.SplitHostPort(w.host)
	for name, c := range map[string]change{
		"another machine": from("10.0.0.7:4000"), "no address": from("@"), "a name made to lead here": to("evil.example:" + port),
		"another port": to("127.0.0.1:1"), "localhost": to("localhost:" + port), "no host": to(""),
	} {
		if a := w.ask("GET", "/", "", c); a.Code != http.StatusForbidden {
			t.Errorf("%s: %d", name, a.Code)
		}
		if a := w.ask("POST", "/session", w.secret(t), c); a.Code != http.StatusForbidden || len(a.Result().Cookies()) > 0 {
			t.Errorf("%s begins a session: %d", name, a.Code)
		}
	}
	if a := w.ask("GET", "/", ""); a.Code != 200 {
		t.Errorf("this machine: %d", a.Code)
	}
}

func TestLink_OpensOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	link := w.secret(t)
	if a := w.ask("POST", "/session", link); a.Code != 200 {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	a := w.ask("POST", "/session", link)
	if a.Code != http.StatusForbidden || len(a.Result().Cookies()) > 0 || !strings.Contains(a.Body.String(), "bourse dash makes another") {
		t.Errorf("the second time: %d %s", a.Code, a.Body)
	}
}

// Of many who use a link in the same instant, one is let in.
func TestLink_OpensOnceForManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	link := w.secret(t)
	var all sync.WaitGroup
	in := make(chan int, 32)
	for range cap(in) {
		all.Go(func() { in <- w.ask("POST", "/session", link).Code })
	}
	all.Wait()
	close(in)
	let := 0
	for code := range in {
		if code == 200 {
			let++
		}
	}
	if let != 1 {
		t.Errorf("%d were let in", let)
	}
}

func TestLink_IsTooOldAfterItsLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	link, late := w.secret(t), w.secret(t)
	w.at = w.at.Add(LinkLife - time.Second)
	if a := w.ask("POST", "/session", link); a.Code != 200 {
		t.Errorf("a second before: %d", a.Code)
	}
	w.at = w.at.Add(time.Second)
	if a := w.ask("POST", "/session", late); a.Code != http.StatusForbidden {
		t.Errorf("at its end: %d", a.Code)
	}
}

// A link is still good after a browser or a program has fetched it ahead of the person.
func TestLink_IsNotUsedUpByHeadPrefetchOrGet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	link := w.secret(t)
	w.ask("HEAD", "/", "")
	w.ask("GET", "/", "", header("Sec-Purpose", "prefetch"))
	w.ask("GET", "/session", "")
	for _, c := range []change{header("Sec-Purpose", "prefetch;prerender"), header("Purpose", "prefetch"), header("Origin", "http://evil.example"),
		header("Origin", "null"), func(r *http.Request) { r.Header.Del("Origin") }, header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Site", "same-site")} {
		if a := w.ask("POST", "/session", link, c); a.Code != http.StatusForbidden {
			t.Errorf("let in: %d", a.Code)
		}
	}
	if a := w.ask("POST", "/session", link); a.Code != 200 {
		t.Errorf("the link is used up: %d %s", a.Code, a.Body)
	}
}

func TestSession_CookieIsHttpOnlyStrictAndBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask("POST", "/session", w.secret(t))
	c := a.Result().Cookies()
	if len(c) != 1 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteStrictMode || c[0].Path != "/" || c[0].Domain != "" ||
		c[0].MaxAge != int(SessionLife.Seconds()) || len(c[0].Value) < 26 {
		t.Errorf("the cookies are %v", c)
	}
	if strings.Contains(a.Body.String(), c[0].Value) {
		t.Error("the answer has the cookie, which scripts are not to see")
	}
}

func TestSession_NeedsCookieAndTokenForEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie, token := w.enter(t)
	otherCookie, otherToken := w.enter(t)
	ways := map[string][]change{"nothing": nil, "the cookie alone": {cookie}, "the token alone": {token},
		"another's token": {cookie, otherToken}, "another's cookie": {otherCookie, token}, "a wrong token": {cookie, header(TokenHeader, "AAAAAAAAAAAAAAAAAAAAAAAAAA")}}
	calls := []string{"GET /session", "DELETE /session"}
	for _, c := range carried {
		calls = append(calls, strings.NewReplacer("{site}", "north", "{id}", "wave").Replace(c))
	}
	for _, call := range calls {
		method, path, _ := strings.Cut(call, " ")
		for name, changes := range ways {
			if a := w.ask(method, path, "", changes...); a.Code != http.StatusUnauthorized {
				t.Errorf("%s with %s: %d", call, name, a.Code)
			}
		}
	}
	if said := w.heard(); len(said) > 0 {
		t.Errorf("agents were asked %q", said)
	}
	if a := w.ask("POST", "/sites/north/v1/drain", "{}", cookie, token); a.Code != 200 {
		t.Errorf("both: %d %s", a.Code, a.Body)
	}
}

// Another page that the same browser shows has the cookie sent along, and is refused all the same.
func TestSession_IsNotForOtherPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie, token := w.enter(t)
	for name, c := range map[string]change{"another site": header("Origin", "http://evil.example"), "another port of this machine": header("Origin", "http://127.0.0.1:9999"),
		"https": header("Origin", "https://"+w.host), "a sandbox": header("Origin", "null"), "no origin": func(r *http.Request) { r.Header.Del("Origin") },
		"by its fetch metadata": header("Sec-Fetch-Site", "same-site")} {
		for _, call := range []string{"POST /sites/north/v1/drain", "DELETE /broker/v1/jobs/wave", "DELETE /session"} {
			method, path, _ := strings.Cut(call, " ")
			if a := w.ask(method, path, "{}", cookie, token, c); a.Code != http.StatusForbidden {
				t.Errorf("%s of %s: %d", call, name, a.Code)
			}
		}
	}
	if said := w.heard(); len(said) > 0 {
		t.Errorf("agents were asked %q", said)
	}
}

func TestSession_EndsAfterItsLifeAndWhenItIsFinished(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie, token := w.enter(t)
	w.at = w.at.Add(SessionLife)
	if a := w.ask("GET", "/session", "", cookie, token); a.Code != http.StatusUnauthorized {
		t.Errorf("after its life: %d", a.Code)
	}
	cookie, token = w.enter(t)
	if a := w.ask("DELETE", "/session", "", cookie, token); a.Code != http.StatusNoContent || a.Result().Cookies()[0].MaxAge >= 0 {
		t.Errorf("finishing: %d", a.Code)
	}
	if a := w.ask("GET", "/session", "", cookie, token); a.Code != http.StatusUnauthorized {
		t.Errorf("after its end: %d", a.Code)
	}
}

func TestSession_TheOldestOfSeventeenEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie, token := w.enter(t)
	second, its := w.enter(t)
	for range most - 1 {
		w.enter(t)
	}
	if a := w.ask("GET", "/session", "", cookie, token); a.Code != http.StatusUnauthorized {
		t.Errorf("the oldest: %d", a.Code)
	}
	if a := w.ask("GET", "/session", "", second, its); a.Code != 200 {
		t.Errorf("the second: %d", a.Code)
	}
}

// A stream that is open ends with its session.
func TestSession_EndsItsStreams(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie, token := w.enter(t)
	streams := make(chan int, 1)
	go func() { streams <- w.ask("GET", "/broker/live", "", cookie, token).Code }()
	<-w.streamed
	w.ask("DELETE", "/session", "", cookie, token)
	select {
	case <-streams:
	case <-time.After(time.Minute):
		t.Fatal("the stream goes on")
	}
}

// Only the request is passed on: no secret of the session, and only operations of the page.
func TestCarry_PassesNoSecretsAndFewOperations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie, token := w.enter(t)
	a := w.ask("POST", "/sites/a%2Fb/v1/drain", `{"why":"new switch"}`, cookie, token, header("Content-Type", "application/json"), header("Authorization", "x"))
	if a.Code != 200 || a.Header().Get("Set-Cookie") != "" {
		t.Errorf("%d %v", a.Code, a.Header())
	}
	if a := w.ask("GET", "/broker/v1/jobs?array=sweep&state=failed", "", cookie, token); a.Code == 404 || len(w.heard()) != 2 {
		t.Errorf("the elements of an array: %d, agents were asked %q", a.Code, w.heard())
	}
	w.ask("DELETE", "/broker/v1/jobs/wave%2F1", "", cookie, token)
	if said := w.heard(); len(said) != 3 || said[0] != `POST /v1/drain {"why":"new switch"}` || said[2] != "DELETE /v1/jobs/wave%2F1 " {
		t.Errorf("agents were asked %q", said)
	}
	for _, key := range []string{"Cookie", TokenHeader, "Origin", "Authorization", "Sec-Fetch-Site", "X-Forwarded-For"} {
		if v := w.head.Get(key); v != "" {
			t.Errorf("an agent was sent %s: %s", key, v)
		}
	}
	for call, want := range map[string]int{"POST /broker/v1/accounts/deposits": 404, "POST /broker/v1/sites/north/lost": 404,
		"POST /broker/v1/jobs/wave/offers": 404, "POST /sites/north/v1/maintenance": 404, "GET /broker/metrics": 404, "GET /sites/west/v1/site": 404, "GET /broker/v1/../metrics": 404} {
		method, path, _ := strings.Cut(call, " ")
		if a := w.ask(method, path, "{}", cookie, token); a.Code != want && a.Code != http.StatusMethodNotAllowed && a.Code/100 != 3 {
			t.Errorf("%s: %d", call, a.Code)
		}
	}
	if said := w.heard(); len(said) != 3 {
		t.Errorf("agents were asked %q", said)
	}
}

func TestServe_BoundsWhatIsSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if a := w.ask("POST", "/session", strings.Repeat("x", maxBody+1)); a.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("%d", a.Code)
	}
}

// An agent that is gone is said to be, with the remedy.
func TestCarry_SaysWhoCannotBeReached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie, token := w.enter(t)
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = gone.Close()
	if w.agents, err = newAgents(&client.Context{Broker: "http://" + gone.Addr().String()}); err != nil {
		t.Fatal(err)
	}
	w.http.Handler = w.guarded(w.routes())
	a := w.ask("GET", "/broker/v1/caller", "", cookie, token)
	if a.Code != http.StatusBadGateway || !strings.Contains(a.Body.String(), "is it running?") {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

func TestServe_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(l, &client.Context{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	answer, err := http.Get("http://" + s.host + "/")
	if err != nil || answer.StatusCode != 200 {
		t.Fatal(answer, err)
	}
	_ = answer.Body.Close()
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
