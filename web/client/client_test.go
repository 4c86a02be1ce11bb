package client

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/live"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web"
	"github.com/bourse-grid/bourse/web/api"
)

func plain(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c, err := (&Context{}).to(server.URL, "", "", "the broker")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// cutOff ends a connection without an answer.
func cutOff(w http.ResponseWriter) {
	if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
		_ = c.Close()
	}
}

func TestSubmit_RepeatsTheSameBatchWhenTheAnswerIsLost(t *testing.T) {
	t.Parallel()
	var bodies []string
	c := plain(t, func(w http.ResponseWriter, r *http.Request) {
		var b api.Batch
		_ = json.NewDecoder(r.Body).Decode(&b)
		bodies = append(bodies, b.ID+b.Jobs[0].Name)
		switch len(bodies) {
		case 1:
			cutOff(w)
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			_ = json.NewEncoder(w).Encode(api.BatchAnswer{ID: b.ID})
		}
	})
	b := api.Batch{ID: NewBatchID(), Jobs: []api.JobRequest{{Name: "wave"}}}
	a, err := c.Submit(t.Context(), b)
	if err != nil || a.ID != b.ID || len(bodies) != 3 || bodies[0] != bodies[2] {
		t.Errorf("%v, %+v after %q", err, a, bodies)
	}
}

func TestCall_DoesNotRepeatWhatIsRefused(t *testing.T) {
	t.Parallel()
	calls := 0
	c := plain(t, func(w http.ResponseWriter, _ *http.Request) {
		calls++
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"title":"Conflict","status":409,"detail":"2 jobs are named wave"}`)
	})
	_, err := c.Job(t.Context(), "wave")
	var p *Problem
	if !errors.As(err, &p) || p.Status != 409 || p.Input() || err.Error() != "2 jobs are named wave" || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

func TestFollow_OpensABrokenStreamAnew(t *testing.T) {
	t.Parallel()
	var opened atomic.Int32
	c := plain(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		switch opened.Add(1) {
		case 1:
			fmt.Fprintf(w, "event: job\ndata: {\"id\":\"a\",\"state\":\"waiting\",\"name\":%q}\n\n", strings.Repeat("x", 100_000))
			w.(http.Flusher).Flush()
			cutOff(w)
		default:
			fmt.Fprint(w, "event: alive\ndata: {}\n\nevent: job\ndata: {\"id\":\"a\",\"state\":\"placed\"}\n\nevent: turn\ndata: {\"turn\":\"done\",\"job\":{\"id\":\"a\",\"state\":\"done\"}}\n\n")
		}
	})
	var seen []string
	err := c.Follow(t.Context(), "a", func(e Event) error {
		if e.Turn != nil {
			seen = append(seen, e.Turn.Turn)
			return ErrEnough
		}
		seen = append(seen, e.Job.State)
		return nil
	})
	if got := strings.Join(seen, " "); err != nil || got != "waiting placed done" {
		t.Errorf("%v, saw %s", err, got)
	}
	own := errors.New("my own")
	if err := c.Follow(t.Context(), "a", func(Event) error { return own }); !errors.Is(err, own) {
		t.Errorf("the caller's own error: %v", err)
	}
}

// A stream that breaks is opened anew with the id of the last event that was seen, and not
// with that of one that broke off; where the broker cannot go on there, it is said why.
func TestFollow_GoesOnWhereItBroke(t *testing.T) {
	t.Parallel()
	var from []string
	c := plain(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		switch from = append(from, r.Header.Get("Last-Event-ID")); len(from) {
		case 1:
			fmt.Fprint(w, "id: x-1\nevent: alive\ndata: {}\n\nid: x-2\nevent: turn\ndata: {\"turn\":\"trying\"}\n\nid: x-3\nevent: turn\n")
			w.(http.Flusher).Flush()
			cutOff(w)
		case 2:
			fmt.Fprint(w, "id: x-3\nevent: turn\ndata: {\"turn\":\"placed\"}\n\nevent: lost\ndata: {}\n\n")
		default:
			fmt.Fprint(w, "id: y-1\nevent: missed\ndata: {\"why\":\"the broker has begun anew\"}\n\nid: y-2\nevent: turn\ndata: {\"turn\":\"done\"}\n\n")
		}
	})
	var seen []string
	c.Missed = func(why string) { seen = append(seen, why) }
	err := c.Follow(t.Context(), "", func(e Event) error {
		if seen = append(seen, e.Turn.Turn); e.Turn.Turn == "done" {
			return ErrEnough
		}
		return nil
	})
	if err != nil || !slices.Equal(from, []string{"", "x-2", "x-3"}) || !slices.Equal(seen, []string{"trying", "placed", "the broker has begun anew", "done"}) {
		t.Errorf("%v: opened after %q, saw %q", err, from, seen)
	}
}

// A stream that ends because its caller may no longer listen is not opened again.
func TestFollow_EndsWithTheReasonWhenItIsDenied(t *testing.T) {
	t.Parallel()
	opened := 0
	c := plain(t, func(w http.ResponseWriter, _ *http.Request) {
		opened++
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: alive\ndata: {}\n\nevent: denied\ndata: {\"why\":\"serial 5a1d is revoked\"}\n\n")
	})
	err := c.Follow(t.Context(), "", func(Event) error { return errors.New("nothing is to be seen") })
	var p *Problem
	if !errors.As(err, &p) || p.Status != http.StatusForbidden || err.Error() != "serial 5a1d is revoked" || opened != 1 {
		t.Errorf("%v after %d streams", err, opened)
	}
}

func TestContext_RefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for text, want := range map[string]string{
		`{}`:                                     "neither a broker nor a site",
		`{"x":1}`:                                "unknown field",
		`nonsense`:                               "not a context file",
		`{"broker":"https://h:1","ca":"ca.pem"}`: "go together",
		`{"broker":"https://h:1"}`:               "needs certificates",
		`{"broker":"h:1"}`:                       "no address of an API",
		`{"broker":"http://h:1","ca":"a","certificate":"b","key":"c"}`: "in plain text",
		`{"sites":{"north":"http://h:1"}}`:                             "names no broker",
	} {
		file := filepath.Join(dir, fmt.Sprintf("%x.json", len(text)))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Read(file)
		if err == nil {
			_, err = c.ToBroker()
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// The context of sites' operators, which names no broker, points to those of the VOs.
func TestContext_OfOperatorsNamesThoseOfTheVOs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	vo := filepath.Join(dir, "vo1", "context.json")
	if err := os.Mkdir(filepath.Dir(vo), 0o700); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(dir, "context.json")
	for _, file := range []string{own, vo} {
		if err := os.WriteFile(file, []byte(`{"sites":{"north":"http://h:1"}}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Read(own)
	if err == nil {
		_, err = c.ToBroker()
	}
	if err == nil || !strings.Contains(err.Error(), vo+": name one with --context") {
		t.Error(err)
	}
}

// A submission is known by its batch after the broker's process has died and started again from its
// journal.
func TestSubmit_TheSameBatchIsKnownAfterARestart(t *testing.T) {
	t.Parallel()
	disk := &journal.Memory{}
	b := api.Batch{ID: NewBatchID(), Notify: "https://example.org/hook", Jobs: []api.JobRequest{{Name: "wave", Nodes: 1, Deadline: api.Write(api.Moment{After: grid.Day}),
		Length: api.Seconds{Duration: grid.Hour}, Budget: &api.Credits{Credits: grid.Credit}}}}
	var first api.BatchAnswer
	for life := range 3 {
		h := live.NewHost(live.Options{})
		if err := h.Add("broker:vo1", broker.New(broker.ServiceDefaults("vo1")), disk, journal.Options{}); err != nil {
			t.Fatal(err)
		}
		answers, err := web.NewBroker(web.Options{Host: h, Agent: "broker:vo1", Identify: web.Anybody})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(answers.Handler())
		c, err := (&Context{}).to(server.URL, "", "", "the broker")
		if err != nil {
			t.Fatal(err)
		}
		a, err := c.Submit(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if life == 0 {
			first = a
		}
		list, err := c.Jobs(t.Context(), Filter{Batch: b.ID})
		if err != nil || len(list) != 1 || !a.Jobs[0].Taken || a.Jobs[0] != first.Jobs[0] {
			t.Errorf("life %d: %v, %+v, %d jobs", life, err, a, len(list))
		}
		other := b
		other.Notify = ""
		var p *Problem
		if _, err := c.Submit(t.Context(), other); !errors.As(err, &p) || p.Status != http.StatusConflict {
			t.Errorf("life %d: other content: %v", life, err)
		}
		server.Close()
		answers.Close(t.Context())
		if err := h.Stop(t.Context()); err != nil { // also begins the journal anew with an image
			t.Fatal(err)
		}
	}
}

// Over TLS with a VO's certificates, a user is the one named in the certificate, and
// nobody gets in without one.
func TestClient_IsWhoItsCertificateSays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ca, err := certificate.Init(dir, "atlas", certificate.InitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []certificate.Request{
		{Role: certificate.Broker, Name: "vo1", Hosts: []string{"127.0.0.1"}}, {Role: certificate.User, Name: "ana"},
		{Role: certificate.User, Name: "ben"}, {Role: certificate.Site, Name: "north", Hosts: []string{"127.0.0.1"}},
	} {
		if _, err := ca.Issue(r); err != nil {
			t.Fatal(err)
		}
	}
	store, err := certificate.Load(certificate.In(dir, certificate.Broker, "vo1"), certificate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := live.NewHost(live.Options{})
	if err := h.Add("broker:vo1", broker.New(broker.ServiceDefaults("vo1")), &journal.Memory{}, journal.Options{}); err != nil {
		t.Fatal(err)
	}
	server, err := web.NewBroker(web.Options{Host: h, Agent: "broker:vo1", Identify: web.ByCertificate(store)})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	calls := &counter{Listener: l}
	go func() { _ = server.Serve(tls.NewListener(calls, store.Server(certificate.User, certificate.Operator))) }()
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		server.Close(ctx)
		_ = h.Stop(ctx)
	})
	as := func(role certificate.Role, name string) *Client {
		c := &Context{Broker: "https://" + l.Addr().String(), file: filepath.Join(dir, "context.json")}
		files := certificate.In(dir, role, name)
		c.CA, c.Certificate, c.Key = files.Authority, files.Certificate, files.Key
		x, err := c.ToBroker()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	ana, ben, north := as(certificate.User, "ana"), as(certificate.User, "ben"), as(certificate.Site, "north")
	b := api.Batch{ID: NewBatchID(), Jobs: []api.JobRequest{{Name: "wave", Nodes: 1, Length: api.Seconds{Duration: grid.Hour}, Budget: &api.Credits{Credits: grid.Credit}}}}
	if _, err := ana.Submit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if j, err := ana.Job(t.Context(), "wave"); err != nil || j.User != "ana" {
		t.Errorf("ana's job: %v %+v", err, j)
	}
	var p *Problem
	if _, err := ben.Cancel(t.Context(), b.Jobs[0].Name); !errors.As(err, &p) || p.Status != http.StatusNotFound {
		t.Errorf("ben cancels ana's job: %v", err)
	}
	b.ID, b.Jobs[0].User = NewBatchID(), "ana"
	if _, err := ben.Submit(t.Context(), b); !errors.As(err, &p) || p.Status != http.StatusForbidden {
		t.Errorf("ben submits in ana's name: %v", err)
	}
	before := calls.n.Load()
	if _, err := north.Sites(t.Context()); certificate.CauseOf(err) == "" {
		t.Errorf("a site calls: %v", err)
	}
	if n := calls.n.Load() - before; n != 1 {
		t.Errorf("what was refused was tried %d times", n)
	}
}

// counter counts the connections that a listener accepts.
type counter struct {
	net.Listener
	n atomic.Int64
}

func (c *counter) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.n.Add(1)
	}
	return conn, err
}

// A context file is taken or refused in words, whatever is in it; one that is taken is
// written as what it is.
func FuzzContext(f *testing.F) {
	for _, text := range []string{`{"broker":"https://10.0.0.5:7070"}`, `{"broker":"b","ca":"a","certificate":"c","key":"k"}`,
		`{"sites":{"north":"http://127.0.0.1:1"}}`, `{"broker":"b","ca":"a","token_file":"t"}`, `{"broker":"b","key":"k"}`, `{"x":1}`, `[]`, ``} {
		f.Add([]byte(text))
	}
	name := filepath.Join(f.TempDir(), "context.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Read(name)
		if err != nil {
			if !strings.Contains(err.Error(), name) {
				t.Fatalf("%v does not name the file", err)
			}
			return
		}
		_, _ = c.ToBroker()
		for site := range c.Sites {
			_, _ = c.ToSite(site)
		}
		if err := c.Write(name); err != nil {
			t.Fatal(err)
		}
		if again, err := Read(name); err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%q is read as %+v, and once written as %+v, %v", text, c, again, err)
		}
	})
}
