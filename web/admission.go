package web

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/bourse-grid/bourse/agents/certificate"
)

// share is how much of a common bound one caller may use: an operator half, a user
// an eighth.
func share(who Caller, all int) int {
	part := 8
	if who.Role == Operator {
		part = 2
	}
	return max(all/part, 1)
}

// The time in which a body must arrive: bodyGrace, plus one second for every bodyRate bytes
// that have arrived.
const (
	bodyGrace = 5 * time.Second
	bodyRate  = 64 << 10
)

// admission bounds what callers may have under way.
type admission struct {
	opt     *Options
	count   *counters
	slots   chan struct{} // a place for each request under way
	callers tally         // the places of each caller
	conns   connections
}

// before wraps a handler and admits requests. It identifies the caller of each request, so
// that a revoked certificate is refused on an open connection too; it bounds the requests
// of one caller and of all; and it cuts off slow bodies. Event streams have bounds of their
// own. These bounds never turn away requests for health and metrics, and health needs no
// certificate role.
func (a *admission) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = paced(r.Body, http.NewResponseController(w), a.opt.Limits.Wait)
		}
		if r.URL.Path == "/healthz" || r.URL.Path == "/readyz" {
			if a.barred(w, r) {
				a.count.denied.Inc()
				return
			}
			next.ServeHTTP(w, r)
			return
		}
		who, err := a.identify(r)
		if err != nil {
			a.count.denied.Inc()
			w.Header().Set("Connection", "close") // later requests on it would be refused too
			refuse(w, err)
			return
		}
		if !a.conns.claim(r.Context(), who, share(who, 2*a.opt.Limits.Requests)) {
			w.Header().Set("Connection", "close")
			a.crowded(w, r, http.StatusTooManyRequests, "you have too many connections open; close some")
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), callerKey{}, who))
		if r.URL.Path == "/metrics" || r.URL.Path == eventsPath || r.URL.Path == livePath {
			next.ServeHTTP(w, r)
			return
		}
		if !a.callers.enter(who, share(who, a.opt.Limits.Requests)) {
			a.crowded(w, r, http.StatusTooManyRequests, "you have too many requests in progress; try again in a second")
			return
		}
		defer a.callers.leave(who)
		select {
		case a.slots <- struct{}{}:
			defer func() { <-a.slots }()
			next.ServeHTTP(w, r)
		default:
			a.crowded(w, r, http.StatusServiceUnavailable, "too many requests at once; try again in a second")
		}
	})
}

// barred tells a member whose certificate is revoked so, and reports whether it did. It stands
// before what is answered without asking who calls: TLS lets such a member get so far, to be told.
func (a *admission) barred(w http.ResponseWriter, r *http.Request) bool {
	_, err := a.opt.Identify(r)
	if certificate.CauseOf(err) != certificate.Revoked {
		return false
	}
	w.Header().Set("Connection", "close")
	refuse(w, err)
	return true
}

// refuse answers a caller who is unidentified, or who may not call.
func refuse(w http.ResponseWriter, err error) {
	status := http.StatusForbidden
	if errors.As(err, &unknownCaller{}) {
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	sendProblem(w, status, err.Error())
}

// crowded answers that a bound is reached, without waiting for the body.
func (a *admission) crowded(w http.ResponseWriter, r *http.Request, status int, detail string) {
	a.count.busy.Inc()
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
	w.Header().Set("Retry-After", "1")
	sendProblem(w, status, detail)
}

// identify returns the caller, or why they may not call.
func (a *admission) identify(r *http.Request) (Caller, error) {
	who, err := a.opt.Identify(r)
	if err == nil && who.Role != User && who.Role != Operator {
		err = errors.New("a certificate with the role user or operator is required; see bourse ca issue --help")
	}
	return who, err
}

// tally counts how many of something each caller has.
type tally struct {
	mu   sync.Mutex
	have map[Caller]int
}

// enter counts one more for a caller, unless the caller already has the most allowed.
func (t *tally) enter(who Caller, most int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.have[who] >= most {
		return false
	}
	if t.have == nil {
		t.have = map[Caller]int{}
	}
	t.have[who]++
	return true
}

// leave counts one less.
func (t *tally) leave(who Caller) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.have[who]--; t.have[who] <= 0 {
		delete(t.have, who)
	}
}

// connections knows the caller of each open connection, from its first request on. The
// server's timeouts close a connection without requests within seconds.
type connections struct {
	tally

	of sync.Map // net.Conn to *connection
}

// connection is one of them.
type connection struct {
	mu  sync.Mutex
	who *Caller // nil: unknown yet
}

type connectionKey struct{}

// opened is the server's ConnContext.
func (c *connections) opened(ctx context.Context, conn net.Conn) context.Context {
	x := &connection{}
	c.of.Store(conn, x)
	return context.WithValue(ctx, connectionKey{}, x)
}

// changed is the server's ConnState.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	if x, ok := c.of.LoadAndDelete(conn); ok {
		x := x.(*connection)
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.who != nil {
			c.leave(*x.who)
		}
	}
}

// claim assigns a request's connection to its caller, unless the caller already has the most
// allowed.
func (c *connections) claim(ctx context.Context, who Caller, most int) bool {
	x, ok := ctx.Value(connectionKey{}).(*connection)
	if !ok {
		return true // not a connection of this server, as in tests
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.who == nil && c.enter(who, most) {
		x.who = &who
	}
	return x.who != nil
}

// pacedBody is a body that must arrive at a minimum rate.
type pacedBody struct {
	io.ReadCloser
	at    *http.ResponseController
	wait  time.Duration // for the agent, once the body is there
	began time.Time
	read  int64
}

// paced cuts off a body that arrives too slowly, even if nobody reads it.
func paced(body io.ReadCloser, at *http.ResponseController, wait time.Duration) *pacedBody {
	b := &pacedBody{ReadCloser: body, at: at, wait: wait, began: time.Now()}
	b.hurry()
	return b
}

// hurry sets the deadline for more of the body. Without a connection, as in tests,
// there is none.
func (b *pacedBody) hurry() {
	_ = b.at.SetReadDeadline(b.began.Add(bodyGrace + time.Duration(b.read)*time.Second/bodyRate))
}

// Read reads what has arrived in time.
func (b *pacedBody) Read(p []byte) (int, error) {
	b.hurry()
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if errors.Is(err, io.EOF) { // the server watches the connection from here on
		_ = b.at.SetReadDeadline(time.Time{})
		_ = b.at.SetWriteDeadline(time.Now().Add(b.wait + answerTime))
	}
	return n, err
}
