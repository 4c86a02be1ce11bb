package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/grid"
)

// Client calls one API.
type Client struct {
	base  string
	peer  string // for messages: "the broker at https://..."
	http  *http.Client
	store *certificate.Store // nil: plain
	tries int

	// Missed is told when Follow could not go on where it broke, and why. nil: nobody is told.
	Missed func(why string)
}

// Bounds of a call.
const (
	callTime  = 30 * time.Second
	idle      = 500 * time.Millisecond // a connection is kept for the next call: an API counts those of a user
	maxAnswer = 64 << 20
	tries     = 4 // of a call whose answer was lost, or that is told to come again
	firstWait = 250 * time.Millisecond

	// Where several processes hold the broker one of them may have to find out first that
	// the leader is gone: it is asked more often, for longer.
	triesOfReplicas = 60
	waitForLeader   = 200 * time.Millisecond
)

// to returns a client of an API at an address.
func (c *Context) to(address string, role certificate.Role, name, words string) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("%s: %q is no address of an API; write https://HOST:PORT", c.file, address)
	}
	x := &Client{base: strings.TrimSuffix(address, "/"), peer: words + " at " + address, http: &http.Client{}, tries: tries}
	transport := &http.Transport{DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext, ForceAttemptHTTP2: false,
		TLSHandshakeTimeout: 10 * time.Second, MaxIdleConnsPerHost: 4, IdleConnTimeout: idle}
	x.http.Transport = transport
	if c.CA == "" {
		if u.Scheme == "https" {
			return nil, fmt.Errorf("%s: %s needs certificates; give ca, certificate and key", c.file, address)
		}
		return x, nil
	}
	if u.Scheme == "http" {
		return nil, fmt.Errorf("%s: %s would be called in plain text though there are certificates; write https, or leave ca, certificate and key out", c.file, address)
	}
	want := certificate.Want{Role: role, Name: name, Host: u.Hostname()}
	if c.tokened() && role == certificate.Broker { // sites know nobody by a token
		x.http.Transport = bearer{transport, c.token}
		if c.Certificate == "" {
			transport.TLSClientConfig, err = certificate.Trusting(c.path(c.CA), want)
			return x, err
		}
	}
	if c.Certificate == "" {
		return nil, fmt.Errorf("%s: %s takes certificates alone; give certificate and key", c.file, address)
	}
	x.store, err = certificate.Load(certificate.Files{Authority: c.path(c.CA), Certificate: c.path(c.Certificate), Key: c.path(c.Key)}, certificate.Options{})
	if err != nil {
		return nil, err
	}
	transport.TLSClientConfig = x.store.Client(want)
	return x, nil
}

// Problem is what an API has answered in place of a result.
type Problem struct {
	Peer   string // who has
	Status int
	Title  string
	Detail string
	Errors []struct {
		Message  string `json:"message"`
		Location string `json:"location"`
	}
}

// Error shows the detail and what is wrong with each key.
func (p *Problem) Error() string {
	s := grid.Rounded(p.Detail)
	if s == "" {
		s = fmt.Sprintf("%s answered %d %s", p.Peer, p.Status, http.StatusText(p.Status))
	}
	for i, e := range p.Errors {
		if i == 0 && strings.Contains(s, e.Message) {
			continue
		}
		s += fmt.Sprintf("\n  %s: %s", e.Location, e.Message)
	}
	return s
}

// Input reports whether what was sent makes no sense.
func (p *Problem) Input() bool {
	return p.Status == http.StatusBadRequest || p.Status == http.StatusUnprocessableEntity || p.Status == http.StatusRequestEntityTooLarge
}

// call makes a request and decodes the answer into out; nil: it is not decoded. The
// request must be one that may be repeated.
func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	wait := firstWait
	for try := 1; ; try++ {
		err := c.once(ctx, method, path, body, out)
		if err == nil || try >= c.tries || !again(err) {
			return err
		}
		select {
		case <-time.After(wait):
			if wait *= 2; c.tries > tries {
				wait = waitForLeader
			}
		case <-ctx.Done():
			return err
		}
	}
}

// again reports whether a call may succeed a moment later: nobody listens there yet, the
// answer was lost, or the other end has said so.
func again(err error) bool {
	var p *Problem
	if errors.As(err, &p) {
		return p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests
	}
	var refused *certificate.Refusal
	return !errors.As(err, &refused) && !errors.Is(err, context.Canceled)
}

func (c *Client) once(ctx context.Context, method, path string, body []byte, out any) error {
	ctx, stop := context.WithTimeout(ctx, callTime)
	defer stop()
	answer, err := c.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("%s: its answer broke off: %w", c.peer, err)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("%s: its answer makes no sense, is it a bourse? %w", c.peer, err)
	}
	return nil
}

// send makes a request; an answer that is a problem is an error.
func (c *Client) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	return c.sendWith(ctx, method, path, body, nil)
}

// sendWith makes a request with further headers; those that are "" are left out.
func (c *Client) sendWith(ctx context.Context, method, path string, body []byte, headers map[string]string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for key, value := range headers {
		if value != "" {
			r.Header.Set(key, value)
		}
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, c.Unreachable(err)
	}
	if answer.StatusCode/100 == 2 {
		return answer, nil
	}
	defer func() { _ = answer.Body.Close() }()
	p := &Problem{Peer: c.peer, Status: answer.StatusCode}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if json.Unmarshal(text, p) != nil {
		p.Detail = fmt.Sprintf("%s answered %s: %.200s", c.peer, answer.Status, strings.TrimSpace(string(text)))
	}
	p.Status = answer.StatusCode
	return nil, p
}

// Transport is where the API is and what carries requests there, under the context's
// certificate.
func (c *Client) Transport() (*url.URL, http.RoundTripper) {
	base, err := url.Parse(c.base)
	if err != nil {
		panic(err) // it was parsed when the client was made
	}
	return base, c.http.Transport
}

// Unreachable says what went wrong in words, without the noise of net/http.
func (c *Client) Unreachable(err error) error {
	if c.store != nil {
		if e := c.store.Explain(err, c.peer); e != err {
			return e
		}
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var none *noLeader
	if errors.As(err, &none) {
		return fmt.Errorf("%s cannot serve: %w; start them until %d run", c.peer, err, none.of/2+1)
	}
	return fmt.Errorf("%s cannot be reached: %w; is it running?", c.peer, err)
}
