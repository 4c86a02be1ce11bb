package webhook

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/web/api"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/rs/zerolog"
)

func TestWebhooks_QueueAndTriesAreBounded(t *testing.T) {
	t.Parallel()
	r := newListener(t)
	r.fails = true
	r.slow = make(chan bool)
	h := New(Options{Local: true, Retry: time.Millisecond, Tries: 3}, zerolog.Nop())
	defer h.Close()
	for range hookQueue + 100 {
		h.Tell(r.URL, &api.Turn{Turn: "placed"})
	}
	if n := testutil.ToFloat64(h.Sent.WithLabelValues("dropped")); n < 99 || n > 100 {
		t.Errorf("%v of %d dropped", n, hookQueue+100)
	}
	close(r.slow)
	soon(t, func() bool { return testutil.ToFloat64(h.Sent.WithLabelValues("given-up")) > 0 })
	for i := range hookMost + 5 {
		h.Tell(fmt.Sprintf("%s/%d", r.URL, i), &api.Turn{Turn: "placed", Job: api.Job{User: fmt.Sprint("user", i%16)}})
	}
	h.mu.Lock()
	n := len(h.hooks)
	h.mu.Unlock()
	if n != hookMost {
		t.Errorf("%d addresses at once, the most is %d", n, hookMost)
	}
}

// However many addresses users name, the operator is told.
func TestWebhooks_TheOperatorsPlaceIsNobodyElses(t *testing.T) {
	t.Parallel()
	r := newListener(t)
	h := New(Options{URL: r.URL, Local: true, Retry: time.Millisecond}, zerolog.Nop())
	defer h.Close()
	slow := newListener(t)
	slow.slow = make(chan bool)
	defer close(slow.slow)
	for i := range hookMost + 5 {
		h.queue(target{fmt.Sprint("user", i%16), fmt.Sprintf("%s/%d", slow.URL, i)}, delivery{id: "x", body: []byte("{}")})
	}
	h.Tell("", &api.Turn{Turn: "placed"})
	soon(t, func() bool { return r.told() == "placed" })
	if n := testutil.ToFloat64(h.Sent.WithLabelValues("dropped")); n != 6 {
		t.Errorf("%v dropped, want 6: users have all places but one", n)
	}
}

// A user who names the operator's address as their own, and has used up their share, keeps
// nothing from the operator, who is told once.
func TestWebhooks_WhoNamesTheOperatorsAddressKeepsNothingFromThem(t *testing.T) {
	t.Parallel()
	r, slow := newListener(t), newListener(t)
	slow.slow = make(chan bool)
	h := New(Options{URL: r.URL, Local: true, Retry: time.Millisecond}, zerolog.Nop())
	defer h.Close()
	defer close(slow.slow)
	for i := range hookShare {
		h.queue(target{"mallory", fmt.Sprintf("%s/%d", slow.URL, i)}, delivery{id: "x", body: []byte("{}")})
	}
	h.Tell(r.URL, &api.Turn{Turn: "placed", Job: api.Job{User: "mallory"}})
	h.Tell("", &api.Turn{Turn: "done", Job: api.Job{User: "ben"}})
	soon(t, func() bool { return r.told() == "placed done" })
}

// A user with many slow addresses takes a share of the places, and others are told. Who
// names another's address takes nothing of its queue.
func TestWebhooks_OneUsersSlowAddressesLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	r, slow := newListener(t), newListener(t)
	slow.slow = make(chan bool)
	h := New(Options{Local: true, Retry: time.Millisecond}, zerolog.Nop())
	defer h.Close()
	defer close(slow.slow)
	for i := range hookMost {
		h.Tell(fmt.Sprintf("%s/%d", slow.URL, i), &api.Turn{Turn: "placed", Job: api.Job{User: "mallory"}})
	}
	if n := testutil.ToFloat64(h.Sent.WithLabelValues("dropped")); n != hookMost-hookShare {
		t.Errorf("%v of mallory's %d turns are dropped, want %d", n, hookMost, hookMost-hookShare)
	}
	for range hookQueue + 10 {
		h.Tell(slow.URL+"/ben", &api.Turn{Turn: "placed", Job: api.Job{User: "eve"}})
	}
	dropped := testutil.ToFloat64(h.Sent.WithLabelValues("dropped"))
	h.Tell(slow.URL+"/ben", &api.Turn{Turn: "placed", Job: api.Job{User: "ben"}})
	h.Tell(r.URL, &api.Turn{Turn: "done", Job: api.Job{User: "ben"}})
	soon(t, func() bool { return r.told() == "done" })
	if n := testutil.ToFloat64(h.Sent.WithLabelValues("dropped")); n != dropped {
		t.Errorf("%v of ben's turns are dropped", n-dropped)
	}
}

// Of each range of special addresses the first, the last and, as IPv6, the mapped one is
// refused; their neighbours are not.
func TestSpecial_EveryRangeToItsEnds(t *testing.T) {
	t.Parallel()
	for _, a := range strings.Fields(`0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1 127.255.255.255 169.254.169.254
		172.16.0.0 172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.0.0 192.168.255.255 198.18.0.0 198.19.255.255 198.51.100.7 203.0.113.255
		224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 ::ffff:198.18.0.1 ::ffff:240.0.0.1
		:: ::1 ::7f00:1 ::a9fe:a9fe ::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 100::1 100:0:0:1::1 2001::1 2001:2::1 2001:1ff:ffff::1
		2001:db8::1 2002:7f00:1:: 2002:a9fe:a9fe::1 3fff:fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 febf::1 fec0::1 fec0::1%eth0 feff::1 ff02::1
		4000::1 1::1 200::1`) {
		if special(netip.MustParseAddr(a)) == "" {
			t.Errorf("%s may be called", a)
		}
	}
	for _, a := range strings.Fields(`1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 128.0.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.169.0.0
		198.17.255.255 198.20.0.0 223.255.255.255 ::ffff:93.184.216.34 2001:200::1 2001:db9::1 2003::1 2606:4700::1 2a00::1 3ffe::1`) {
		if what := special(netip.MustParseAddr(a)); what != "" {
			t.Errorf("%s is refused as %s", a, what)
		}
	}
}

// The broker is not made to call what only it can reach.
func TestWebhooks_CallNoPrivateAddressUnlessAllowed(t *testing.T) {
	t.Parallel()
	h := New(Options{}, zerolog.Nop())
	defer h.Close()
	for _, a := range []string{"127.0.0.1:80", "[::1]:80", "10.1.2.3:443", "192.168.0.1:443", "169.254.169.254:80", "[fe80::1]:443", "[fd00::1]:443", "100.64.0.1:443", "0.0.0.0:80", "[::ffff:10.0.0.1]:443",
		"198.18.0.1:443", "240.0.0.1:443", "[64:ff9b::a9fe:a9fe]:443", "[2002:7f00:1::]:443", "[::7f00:1]:443", "[fec0::1]:443"} {
		if h.reachable("tcp", a, nil) == nil {
			t.Errorf("%s may be called", a)
		}
	}
	if err := h.reachable("tcp", "93.184.216.34:443", nil); err != nil {
		t.Error(err)
	}
	for _, a := range []string{"http://example.org/", "ftp://example.org/", "https://", "https://u:p@example.org/", "nonsense",
		"https://127.0.0.1/", "https://169.254.169.254/latest", "https://[64:ff9b::a9fe:a9fe]/", "https://198.18.0.1:8443/x"} {
		if h.Allowed(a) == nil {
			t.Errorf("%s is taken", a)
		}
	}
	if err := h.Allowed("https://example.org/hook?x=1"); err != nil {
		t.Error(err)
	}
	r := newListener(t)
	h.Tell(r.URL, &api.Turn{Turn: "placed"})
	soon(t, func() bool { return testutil.ToFloat64(h.Sent.WithLabelValues("given-up")) == 1 })
	if r.told() != "" {
		t.Error("a loopback address was told")
	}
}

// listener is a webhook's other end.
type listener struct {
	*httptest.Server
	mu    sync.Mutex
	turns []string
	slow  chan bool // nil: it answers at once
	fails bool
}

func newListener(t *testing.T) *listener {
	r := &listener{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		if r.slow != nil {
			<-r.slow
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		var turn api.Turn
		_ = json.Unmarshal(body, &turn)
		r.turns = append(r.turns, turn.Turn)
		if r.fails {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *listener) told() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.turns, " ")
}

// soon waits until something has come to pass.
func soon(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come to pass within two minutes")
		}
	}
}
