// Package webhook delivers the turns of jobs to addresses that users and the operator have named,
// each in order and independently of the others, within the bounds of docs/BOUNDS.md.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/bourse-grid/bourse/web/api"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// Options configures the webhooks for the turns of jobs.
type Options struct {
	// URL is called with every turn of every job, in addition to the addresses that
	// batches name; "": none.
	URL string
	// Secret signs deliveries; empty: they are not signed.
	Secret []byte
	// Local allows http, and addresses of this machine and of private networks. Without it,
	// users cannot make the broker call machines that only the broker can reach.
	Local bool

	// Retry is the wait before the second try, doubled before each further try; 0: one second.
	// Tries is the number of tries; 0: 8, over about two minutes.
	Retry time.Duration
	Tries int
}

// Bounds of the webhooks.
const (
	hookQueue   = 256 // turns waiting for one address; more are dropped and counted
	hookMost    = 64  // addresses at once, including the operator's; turns for more are dropped and counted
	hookShare   = 8   // of these, for the jobs of one user
	hookTimeout = 10 * time.Second
	hookIdle    = time.Minute // after this, an address without turns is dropped
)

// SignatureHeader has "t=UNIX,v1=HEX": the time of the delivery, and the HMAC-SHA256 of
// "UNIX.BODY" under the configured secret. DeliveryHeader identifies the delivery; all tries
// of a delivery have the same one.
const (
	SignatureHeader = "Bourse-Signature"
	DeliveryHeader  = "Bourse-Delivery"
)

// Sender delivers turns: in order for each user and address, at least once while the
// process runs, and independently of other users and addresses. Turns that are waiting when the
// process ends are not delivered.
type Sender struct {
	opt    Options
	log    zerolog.Logger
	client *http.Client
	Sent   *prometheus.CounterVec // by outcome

	base context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu    sync.Mutex
	hooks map[target]*hook
}

// target is an address, and whose jobs it is told of: a user who names another's address has
// a queue of their own. user "" is the operator's address, which is told of all.
type target struct{ user, url string }

// hook delivers to one target.
type hook struct {
	target
	queue chan delivery
}

type delivery struct {
	id   string
	body []byte
}

// New returns a Sender, which delivers until it is closed.
func New(opt Options, log zerolog.Logger) *Sender {
	if opt.Retry <= 0 {
		opt.Retry = time.Second
	}
	if opt.Tries <= 0 {
		opt.Tries = 8
	}
	h := &Sender{opt: opt, log: log, hooks: map[target]*hook{}, Sent: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "bourse_webhook_deliveries_total", Help: "Events for webhooks: delivered, given up after the last try, or dropped because too many were waiting."},
		[]string{"outcome"})}
	for _, outcome := range []string{"delivered", "given-up", "dropped"} {
		h.Sent.WithLabelValues(outcome)
	}
	h.base, h.stop = context.WithCancel(context.Background())
	dialer := &net.Dialer{Timeout: 5 * time.Second, Control: h.reachable}
	h.client = &http.Client{
		Timeout:       hookTimeout,
		Transport:     &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 1, IdleConnTimeout: hookIdle, TLSHandshakeTimeout: 5 * time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return h
}

// Allowed returns why an address cannot be called. "" means no address and is allowed.
func (h *Sender) Allowed(address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.User != nil:
		return fmt.Errorf("%q is not a webhook address; must be https://HOST/PATH, without a user", address)
	case u.Scheme != "https" && !(u.Scheme == "http" && h.opt.Local):
		return fmt.Errorf("%q: must be an https address, unless the broker's operator allows others", address)
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil { // a name is looked up when it is called
		if err := h.public(ip); err != nil {
			return fmt.Errorf("%q: %w", address, err)
		}
	}
	return nil
}

// public returns why an address of the network cannot be called.
func (h *Sender) public(ip netip.Addr) error {
	if what := special(ip); what != "" && !h.opt.Local {
		return fmt.Errorf("%w: %s (%s)", errPrivate, ip, what)
	}
	return nil
}

// errPrivate refuses to call a machine that only the broker can reach.
var errPrivate = errors.New("the address is no public one, and the broker's operator has not allowed others")

// reachable checks the address that a name has resolved to, before a connection is
// opened.
func (h *Sender) reachable(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	return h.public(at.Addr())
}

// Tell queues a turn for the address that the job's user has named, "" for none, and for the
// operator's.
func (h *Sender) Tell(address string, t *api.Turn) {
	if address == "" && h.opt.URL == "" {
		return
	}
	body, err := json.Marshal(t)
	if err != nil {
		panic(err) // such a value can always be encoded
	}
	d := delivery{rand.Text(), body}
	if address != "" && address != h.opt.URL { // the operator's is told of all, whoever names it
		h.queue(target{t.Job.User, address}, d)
	}
	if h.opt.URL != "" {
		h.queue(h.operators(), d)
	}
}

// operators is the operator's own address.
func (h *Sender) operators() target { return target{url: h.opt.URL} }

func (h *Sender) queue(to target, d delivery) {
	h.mu.Lock()
	defer h.mu.Unlock()
	x := h.hooks[to]
	if x == nil {
		if h.base.Err() != nil || to != h.operators() && !h.room(to.user) {
			h.Sent.WithLabelValues("dropped").Inc()
			return
		}
		x = &hook{to, make(chan delivery, hookQueue)}
		h.hooks[to] = x
		h.wg.Go(func() { h.serve(x) })
	}
	select {
	case x.queue <- d:
	default:
		h.Sent.WithLabelValues("dropped").Inc()
	}
}

// room reports whether a user may have one more address: neither the user's share nor all
// places are taken, of which one is always the operator's. The lock is held.
func (h *Sender) room(user string) bool {
	own, most := 0, hookMost
	for x := range h.hooks {
		if x.user == user && x != h.operators() {
			own++
		}
	}
	if h.opt.URL != "" && h.hooks[h.operators()] == nil {
		most--
	}
	return own < hookShare && len(h.hooks) < most
}

// serve delivers to one address until there was nothing to deliver for a while.
func (h *Sender) serve(x *hook) {
	idle := time.NewTimer(hookIdle)
	defer idle.Stop()
	for {
		select {
		case d := <-x.queue:
			h.deliver(x.url, d)
			idle.Reset(hookIdle)
		case <-idle.C:
			h.mu.Lock()
			empty := len(x.queue) == 0
			if empty {
				delete(h.hooks, x.target)
			}
			h.mu.Unlock()
			if empty {
				return
			}
			idle.Reset(hookIdle)
		case <-h.base.Done():
			return
		}
	}
}

// deliver tries until the address accepts the delivery or the tries are used up.
func (h *Sender) deliver(address string, d delivery) {
	wait := h.opt.Retry
	for try := 1; ; try++ {
		err := h.post(address, d)
		if err == nil {
			h.Sent.WithLabelValues("delivered").Inc()
			return
		}
		if h.base.Err() != nil {
			return
		}
		if try == h.opt.Tries || errors.Is(err, errPrivate) {
			h.Sent.WithLabelValues("given-up").Inc()
			h.log.Warn().Str("host", hostOf(address)).Str("delivery", d.id).Int("tries", try).Err(err).Msg("a webhook could not be called")
			return
		}
		select {
		case <-time.After(wait):
		case <-h.base.Done():
			return
		}
		wait *= 2
	}
}

func (h *Sender) post(address string, d delivery) error {
	r, err := http.NewRequestWithContext(h.base, http.MethodPost, address, bytes.NewReader(d.body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "bourse")
	r.Header.Set(DeliveryHeader, d.id)
	if len(h.opt.Secret) > 0 {
		r.Header.Set(SignatureHeader, sign(h.opt.Secret, time.Now(), d.body))
	}
	answer, err := h.client.Do(r)
	if err != nil {
		if u := (*url.Error)(nil); errors.As(err, &u) {
			return u.Err // without the URL, whose path may hold a secret
		}
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10))
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("answered %s", answer.Status)
	}
	return nil
}

// sign is the value of SignatureHeader.
func sign(secret []byte, at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	_, _ = fmt.Fprintf(mac, "%d.", at.Unix())
	mac.Write(body)
	return "t=" + strconv.FormatInt(at.Unix(), 10) + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

// hostOf is the part of an address that a log may show: paths hold secrets.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Host
	}
	return ""
}

// Close waits for deliveries that are on their way; turns that wait are dropped.
func (h *Sender) Close() {
	h.mu.Lock()
	h.stop() // no new addresses from here on
	h.mu.Unlock()
	h.wg.Wait()
	h.client.CloseIdleConnections()
}
