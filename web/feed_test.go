package web

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
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

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/live"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
)

// listen opens an event stream over a real connection and returns its lines.
func listen(t *testing.T, s *Server, who, query string) (*bufio.Reader, func()) {
	t.Helper()
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	r, _ := http.NewRequestWithContext(ctx, "GET", server.URL+eventsPath+query, nil)
	r.Header.Set("Test-Caller", who)
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(err, answer)
	}
	return bufio.NewReader(answer.Body), stop
}

// next reads the next event that is not a sign of life.
func next(t *testing.T, r *bufio.Reader) (name string, turn Turn) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return "end", turn
		}
		line = strings.TrimSpace(line)
		if n, ok := strings.CutPrefix(line, "event: "); ok {
			name = n
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok && name != "alive" {
			if name == "turn" {
				if err := json.Unmarshal([]byte(data), &turn); err != nil {
					t.Fatal(err)
				}
			}
			return name, turn
		}
	}
}

func TestEvents_TellAUserEveryTurnOfHisJobsAndNoOthers(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	r, stop := listen(t, s, ana, "")
	defer stop()
	eventually(t, func() bool { return s.feed.open() == 1 })
	submit(t, s, ben, wave("batch-ben1"))
	submit(t, s, ana, wave("batch-ana1"))
	h.pass(grid.Second)
	h.pass(2 * grid.Hour)
	var told []string
	for len(told) == 0 || told[len(told)-1] != "done" {
		name, turn := next(t, r)
		if name == "end" {
			t.Fatalf("the stream ended after %q", told)
		}
		if turn.Job.User != "ana" {
			t.Errorf("ana is told of a job of %s", turn.Job.User)
		}
		told = append(told, turn.Turn)
	}
	if got := strings.Join(told, " "); got != "submitted trying placed confirmed started leg-ended done" {
		t.Errorf("told %s", got)
	}
}

func TestEvents_OfAJobBeginWithItsState(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	submit(t, s, ana, wave("batch-0001"))
	h.pass(grid.Second)
	r, stop := listen(t, s, ana, "?job=wave")
	defer stop()
	if name, _ := next(t, r); name != "job" {
		t.Errorf("the first event is %s", name)
	}
	call(t, s, ana, "DELETE", "/v1/jobs/wave", nil, nil)
	for {
		name, turn := next(t, r)
		if turn.Turn == string(history.Withdrawn) {
			break
		}
		if name == "end" {
			t.Fatal("the stream ended before the cancellation was told")
		}
	}
}

// A reader that does not read is disconnected. The feed and other readers go on.
func TestEvents_AReaderWhoDoesNotReadIsLetGo(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	submit(t, s, ana, wave("batch-0001"))
	h.pass(grid.Second)
	slow := s.feed.listen(Caller{User, "ana"}, "", "")
	var j Job
	call(t, s, ana, "GET", "/v1/jobs/wave", nil, &j)
	for range streamQueue + 1 {
		s.feed.tell(&Turn{Turn: "placed", Job: j})
	}
	n := 0
	for range slow.turns { // ends: the channel is closed
		n++
	}
	if n != streamQueue || !slow.lost || s.feed.open() != 0 || testutil.ToFloat64(s.count.slow) != 1 {
		t.Errorf("%d turns waited, lost %t, %d streams open", n, slow.lost, s.feed.open())
	}
}

func TestEvents_StreamsAreBoundedForEachCallerAndInAll(t *testing.T) {
	t.Parallel()
	s := brokerAPI(t, world(t), func(o *Options) { o.Limits.Streams = 16 })
	for i := range 2 {
		if s.feed.listen(Caller{User, "ana"}, "", "") == nil {
			t.Fatalf("stream %d was refused", i)
		}
	}
	var p problem
	if code := call(t, s, ana, "GET", eventsPath, nil, &p); code != http.StatusTooManyRequests {
		t.Errorf("ana's third of 16: %d %q", code, p.Detail)
	}
	for i := range 14 {
		if s.feed.listen(Caller{User, fmt.Sprint(i)}, "", "") == nil {
			t.Fatalf("stream %d of others was refused", i)
		}
	}
	if s.feed.listen(Caller{User, "late"}, "", "") != nil {
		t.Error("the 17th of 16 was let in")
	}
}

// A watch that the host has ended, as for a feed that was too slow, is begun anew,
// and what was missed is read.
func TestFeed_WatchesAnewWhenTheHostEndsTheWatch(t *testing.T) {
	t.Parallel()
	if (live.WatchEnded{}).Kind() != watchEnded {
		t.Fatalf("the host's last fact is called %s", live.WatchEnded{}.Kind())
	}
	h := world(t)
	s := brokerAPI(t, h)
	h.mu.Lock()
	for key, x := range h.watches {
		delete(h.watches, key)
		x.see(zero, live.WatchEnded{Err: live.ErrBehind})
	}
	h.mu.Unlock()
	b := wave("batch-0001")
	jobs, err := b.vocabulary(zero, b.suffixes())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Ask(t.Context(), "user:ana", "broker:vo1", agents.Submit{Job: jobs[0]}); err != nil { // not through this API
		t.Fatal(err)
	}
	eventually(t, func() bool { _, ok := s.list.get(jobs[0].Name); return ok })
	x := s.feed.listen(Caller{Operator, "olga"}, "", "")
	h.pass(2 * grid.Hour)
	for n := range x.turns {
		if n.turn.Turn == "done" {
			break
		}
	}
}

// receiver is a webhook's other end.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	fail  int // answers that are refused first
	turns []string
	ids   []string
	bad   int // signatures that are wrong
	slow  chan bool
}

func newReceiver(t *testing.T, secret string) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		if r.slow != nil {
			<-r.slow
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		at, mac, _ := strings.Cut(q.Header.Get(SignatureHeader), ",v1=")
		want := hmac.New(sha256.New, []byte(secret))
		fmt.Fprintf(want, "%s.%s", strings.TrimPrefix(at, "t="), body)
		if mac != hex.EncodeToString(want.Sum(nil)) {
			r.bad++
		}
		var turn Turn
		_ = json.Unmarshal(body, &turn)
		r.turns = append(r.turns, turn.Turn)
		r.ids = append(r.ids, q.Header.Get(DeliveryHeader))
		if r.fail > 0 {
			r.fail--
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) told() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.turns, " ")
}

func TestWebhooks_TellInOrderSignedAndTryAgain(t *testing.T) {
	t.Parallel()
	h, r := world(t), newReceiver(t, "a secret of 16 bytes or more")
	r.fail = 2
	s := brokerAPI(t, h, func(o *Options) {
		o.Notify = Notify{Secret: []byte("a secret of 16 bytes or more"), Local: true, Retry: time.Millisecond}
	})
	b := wave("batch-0001")
	b.Notify = r.URL
	submit(t, s, ana, b)
	h.pass(grid.Second)
	eventually(t, func() bool { return r.told() == "submitted submitted submitted trying placed confirmed" })
	if r.bad > 0 || r.ids[0] != r.ids[2] || r.ids[2] == r.ids[3] {
		t.Errorf("%d wrong signatures, deliveries %q", r.bad, r.ids)
	}
	eventually(t, func() bool { return testutil.ToFloat64(s.hooks.sent.WithLabelValues("delivered")) == 4 })
}

// Only the operator is told about the jobs of a user who is no longer a member.
func TestWebhooks_ABarredUsersAreNotTold(t *testing.T) {
	t.Parallel()
	h, r, own := world(t), newReceiver(t, ""), newReceiver(t, "")
	s := brokerAPI(t, h, func(o *Options) {
		o.Notify = Notify{URL: own.URL, Local: true, Retry: time.Millisecond}
		o.Barred = func(user string) bool { return user == "ana" }
	})
	for _, who := range []string{ana, ben} {
		b := wave("batch-0001")
		b.Notify = r.URL
		submit(t, s, who, b)
	}
	h.pass(grid.Second)
	eventually(t, func() bool { return len(strings.Fields(own.told())) == 8 && len(strings.Fields(r.told())) == 4 })
	if n := testutil.ToFloat64(s.hooks.sent.WithLabelValues("dropped")); n != 4 {
		t.Errorf("%v dropped, want 4", n)
	}
}

func TestWebhooks_QueueAndTriesAreBounded(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, "")
	r.fail = 1 << 30
	r.slow = make(chan bool)
	h := newWebhooks(Notify{Local: true, Retry: time.Millisecond, Tries: 3}, zerolog.Nop())
	defer h.close()
	for range hookQueue + 100 {
		h.tell(r.URL, &Turn{Turn: "placed"})
	}
	if n := testutil.ToFloat64(h.sent.WithLabelValues("dropped")); n < 99 || n > 100 {
		t.Errorf("%v of %d dropped", n, hookQueue+100)
	}
	close(r.slow)
	eventually(t, func() bool { return testutil.ToFloat64(h.sent.WithLabelValues("given-up")) > 0 })
	for i := range hookMost + 5 {
		h.tell(fmt.Sprintf("%s/%d", r.URL, i), &Turn{Turn: "placed", Job: Job{User: fmt.Sprint("user", i%16)}})
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
	r := newReceiver(t, "")
	h := newWebhooks(Notify{URL: r.URL, Local: true, Retry: time.Millisecond}, zerolog.Nop())
	defer h.close()
	slow := newReceiver(t, "")
	slow.slow = make(chan bool)
	defer close(slow.slow)
	for i := range hookMost + 5 {
		h.queue(target{fmt.Sprint("user", i%16), fmt.Sprintf("%s/%d", slow.URL, i)}, delivery{id: "x", body: []byte("{}")})
	}
	h.tell("", &Turn{Turn: "placed"})
	eventually(t, func() bool { return r.told() == "placed" })
	if n := testutil.ToFloat64(h.sent.WithLabelValues("dropped")); n != 6 {
		t.Errorf("%v dropped, want 6: users have all places but one", n)
	}
}

// A user who names the operator's address as their own, and has used up their share, keeps
// nothing from the operator, who is told once.
func TestWebhooks_WhoNamesTheOperatorsAddressKeepsNothingFromThem(t *testing.T) {
	t.Parallel()
	r, slow := newReceiver(t, ""), newReceiver(t, "")
	slow.slow = make(chan bool)
	h := newWebhooks(Notify{URL: r.URL, Local: true, Retry: time.Millisecond}, zerolog.Nop())
	defer h.close()
	defer close(slow.slow)
	for i := range hookShare {
		h.queue(target{"mallory", fmt.Sprintf("%s/%d", slow.URL, i)}, delivery{id: "x", body: []byte("{}")})
	}
	h.tell(r.URL, &Turn{Turn: "placed", Job: Job{User: "mallory"}})
	h.tell("", &Turn{Turn: "done", Job: Job{User: "ben"}})
	eventually(t, func() bool { return r.told() == "placed done" })
}

// A user with many slow addresses takes a share of the places, and others are told. Who
// names another's address takes nothing of its queue.
func TestWebhooks_OneUsersSlowAddressesLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	r, slow := newReceiver(t, ""), newReceiver(t, "")
	slow.slow = make(chan bool)
	h := newWebhooks(Notify{Local: true, Retry: time.Millisecond}, zerolog.Nop())
	defer h.close()
	defer close(slow.slow)
	for i := range hookMost {
		h.tell(fmt.Sprintf("%s/%d", slow.URL, i), &Turn{Turn: "placed", Job: Job{User: "mallory"}})
	}
	if n := testutil.ToFloat64(h.sent.WithLabelValues("dropped")); n != hookMost-hookShare {
		t.Errorf("%v of mallory's %d turns are dropped, want %d", n, hookMost, hookMost-hookShare)
	}
	for range hookQueue + 10 {
		h.tell(slow.URL+"/ben", &Turn{Turn: "placed", Job: Job{User: "eve"}})
	}
	dropped := testutil.ToFloat64(h.sent.WithLabelValues("dropped"))
	h.tell(slow.URL+"/ben", &Turn{Turn: "placed", Job: Job{User: "ben"}})
	h.tell(r.URL, &Turn{Turn: "done", Job: Job{User: "ben"}})
	eventually(t, func() bool { return r.told() == "done" })
	if n := testutil.ToFloat64(h.sent.WithLabelValues("dropped")); n != dropped {
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
	h := newWebhooks(Notify{}, zerolog.Nop())
	defer h.close()
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
		if h.allowed(a) == nil {
			t.Errorf("%s is taken", a)
		}
	}
	if err := h.allowed("https://example.org/hook?x=1"); err != nil {
		t.Error(err)
	}
	r := newReceiver(t, "")
	h.tell(r.URL, &Turn{Turn: "placed"})
	eventually(t, func() bool { return testutil.ToFloat64(h.sent.WithLabelValues("given-up")) == 1 })
	if r.told() != "" {
		t.Error("a loopback address was told")
	}
}
