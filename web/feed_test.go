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
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/live"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/webhook"
	"github.com/prometheus/client_golang/prometheus/testutil"
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
func next(t *testing.T, r *bufio.Reader) (name string, turn api.Turn) {
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
	var j api.Job
	call(t, s, ana, "GET", "/v1/jobs/wave", nil, &j)
	for range streamQueue + 1 {
		s.feed.tell(&api.Turn{Turn: "placed", Job: j})
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
	jobs, err := b.Vocabulary(zero, b.Suffixes())
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
		at, mac, _ := strings.Cut(q.Header.Get(webhook.SignatureHeader), ",v1=")
		want := hmac.New(sha256.New, []byte(secret))
		fmt.Fprintf(want, "%s.%s", strings.TrimPrefix(at, "t="), body)
		if mac != hex.EncodeToString(want.Sum(nil)) {
			r.bad++
		}
		var turn api.Turn
		_ = json.Unmarshal(body, &turn)
		r.turns = append(r.turns, turn.Turn)
		r.ids = append(r.ids, q.Header.Get(webhook.DeliveryHeader))
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
		o.Notify = webhook.Options{Secret: []byte("a secret of 16 bytes or more"), Local: true, Retry: time.Millisecond}
	})
	b := wave("batch-0001")
	b.Notify = r.URL
	submit(t, s, ana, b)
	h.pass(grid.Second)
	eventually(t, func() bool { return r.told() == "submitted submitted submitted trying placed confirmed" })
	if r.bad > 0 || r.ids[0] != r.ids[2] || r.ids[2] == r.ids[3] {
		t.Errorf("%d wrong signatures, deliveries %q", r.bad, r.ids)
	}
	eventually(t, func() bool { return testutil.ToFloat64(s.hooks.Sent.WithLabelValues("delivered")) == 4 })
}

// Only the operator is told about the jobs of a user who is no longer a member.
func TestWebhooks_ABarredUsersAreNotTold(t *testing.T) {
	t.Parallel()
	h, r, own := world(t), newReceiver(t, ""), newReceiver(t, "")
	s := brokerAPI(t, h, func(o *Options) {
		o.Notify = webhook.Options{URL: own.URL, Local: true, Retry: time.Millisecond}
		o.Barred = func(user string) bool { return user == "ana" }
	})
	for _, who := range []string{ana, ben} {
		b := wave("batch-0001")
		b.Notify = r.URL
		submit(t, s, who, b)
	}
	h.pass(grid.Second)
	eventually(t, func() bool { return len(strings.Fields(own.told())) == 8 && len(strings.Fields(r.told())) == 4 })
	if n := testutil.ToFloat64(s.hooks.Sent.WithLabelValues("dropped")); n != 4 {
		t.Errorf("%v dropped, want 4", n)
	}
}
