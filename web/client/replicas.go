package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// replicas carries requests to whichever of the processes that hold a broker leads. One
// that does not says who does, which may be one that has come since the context was
// written; where none answers, the next one is asked. One that takes its time may hang, or
// wait in vain for the others: then they are asked too, and the first answer of one that
// leads counts. So a request must be one that may be repeated.
type replicas struct {
	to func(address string) (replica, error) // makes one of an address

	mu   sync.Mutex
	list []replica
	now  atomic.Int64  // the one that has answered last
	slow time.Duration // after so long without an answer another one is asked too
}

const slowReplica = time.Second

// maxReplicas bounds how many are known: those of the context, and others that they named.
const maxReplicas = 32

// known are those that are known now. What is in the list stays where it is.
func (r *replicas) known() []replica {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.list
}

// replica is one of the processes.
type replica struct {
	base *url.URL
	by   http.RoundTripper
}

// RoundTrip asks replicas, beginning with the one that answered last. It gives up when all
// have said that they do not lead, and waits for who says nothing. A request whose body
// cannot be read again is made once.
func (r *replicas) RoundTrip(q *http.Request) (*http.Response, error) {
	once := q.Body != nil && q.GetBody == nil
	if q.Body != nil && !once {
		defer func() { _ = q.Body.Close() }()
	}
	most := max(maxReplicas, len(r.known()))
	a := asked{replicas: r, q: q, answers: make(chan answer, most), stop: make([]context.CancelFunc, most)}
	defer a.end()
	a.ask(int(r.now.Load()))
	slow := time.NewTicker(r.slow)
	defer slow.Stop()
	for said := 1; ; {
		select {
		case x := <-a.answers:
			a.stop[x.at] = nil
			a.open--
			if x.leads() {
				r.now.Store(int64(x.at))
				return x.Response, nil
			}
			next := (x.at + 1) % len(r.known())
			if i := r.at(x.leader()); i >= 0 {
				next = i
			}
			r.now.Store(int64(next))
			enough := said > len(r.known()) || q.Context().Err() != nil || once
			a.heard(&x)
			if enough && a.open == 0 {
				return a.none(&x)
			}
			x.drop()
			if said++; !enough {
				a.ask(next)
			}
		case <-slow.C:
			if !once {
				said = 1
				a.ask(a.another())
			}
		}
	}
}

// at is the replica at an address, which is learned where it is new; -1 if it makes no
// sense or there are too many.
func (r *replicas) at(address string) int {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return -1
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.IndexFunc(r.list, func(x replica) bool { return x.base.Host == u.Host }); i >= 0 || len(r.list) >= maxReplicas {
		return i
	}
	x, err := r.to(u.Scheme + "://" + u.Host)
	if err != nil {
		return -1
	}
	r.list = append(r.list, x)
	return len(r.list) - 1
}

// asked is a request under way.
type asked struct {
	*replicas
	q       *http.Request
	answers chan answer
	stop    []context.CancelFunc // by replica: ends the request there; nil: it is not being asked
	open    int                  // that are being asked
	last    int                  // that was asked
	words   map[int]string       // by replica: what it has said last
	errs    []error              // of those that could not be asked
}

// ask asks a replica.
func (a *asked) ask(at int) {
	if a.stop[at] != nil {
		return
	}
	ctx, stop := context.WithCancel(a.q.Context())
	a.stop[at], a.last = stop, at
	a.open++
	to := a.known()[at]
	one := a.q.Clone(ctx)
	one.URL.Scheme, one.URL.Host, one.Host = to.base.Scheme, to.base.Host, ""
	go func() {
		x := answer{at: at, stop: stop}
		if a.q.GetBody != nil {
			one.Body, x.err = a.q.GetBody()
		}
		if x.err == nil {
			x.Response, x.err = to.by.RoundTrip(one)
		}
		a.answers <- x
	}()
}

// heard notes what one has said that does not lead.
func (a *asked) heard(x *answer) {
	if a.words == nil {
		a.words = map[int]string{}
	}
	if a.words[x.at] = x.words(); x.err != nil {
		a.errs = append(a.errs, x.err)
	}
}

// none is the answer where no replica leads: the last one's or, if some could not be
// asked, what each has said.
func (a *asked) none(x *answer) (*http.Response, error) {
	if len(a.errs) == 0 || len(a.words) == 1 {
		return x.comeAgain()
	}
	x.drop()
	known := a.known()
	e := noLeader{errs: a.errs, of: len(known)}
	for at := range known {
		if words, ok := a.words[at]; ok {
			e.said = append(e.said, known[at].base.Host+" "+words)
		}
	}
	return nil, &e
}

// noLeader says why none of the processes that hold a broker has carried a request out.
type noLeader struct {
	said []string // by process: where it is, and what it has said
	errs []error
	of   int
}

// Error says what each has answered.
func (e *noLeader) Error() string {
	return fmt.Sprintf("none of its %d processes leads: %s", e.of, strings.Join(e.said, "; "))
}

// Unwrap is what went wrong.
func (e *noLeader) Unwrap() []error { return e.errs }

// another is the next one that is not being asked, or the last one if all are.
func (a *asked) another() int {
	n := len(a.known())
	for i := range n {
		if at := (a.last + 1 + i) % n; a.stop[at] == nil {
			return at
		}
	}
	return a.last
}

// end lets go of those that are still being asked.
func (a *asked) end() {
	for _, stop := range a.stop {
		if stop != nil {
			stop()
		}
	}
	go func() {
		for range a.open {
			x := <-a.answers
			x.drop()
		}
	}()
}

// answer is what one has answered, or err.
type answer struct {
	*http.Response
	err  error
	at   int
	stop context.CancelFunc
}

// leads reports whether it is of one that leads.
func (x *answer) leads() bool {
	return x.err == nil && x.StatusCode != http.StatusTemporaryRedirect && x.StatusCode != http.StatusServiceUnavailable
}

// leader is the address that it names, "" if none.
func (x *answer) leader() string {
	if x.err != nil || x.StatusCode != http.StatusTemporaryRedirect {
		return ""
	}
	return x.Header.Get("Location")
}

// words say what one has answered that does not lead.
func (x *answer) words() string {
	switch {
	case errors.Is(x.err, syscall.ECONNREFUSED):
		return "has nobody who listens (connection refused)"
	case errors.Is(x.err, context.Canceled), errors.Is(x.err, context.DeadlineExceeded):
		return "has not answered in time"
	case x.err != nil:
		return "cannot be reached (" + x.err.Error() + ")"
	case x.leader() != "":
		return "says that " + x.leader() + " leads"
	}
	return "runs and knows of no leader"
}

// drop has no more to do with it.
func (x *answer) drop() {
	if x.err == nil {
		_ = x.Body.Close()
	}
	x.stop()
}

// comeAgain makes of an answer that names another leader one that says to come again.
func (x *answer) comeAgain() (*http.Response, error) {
	if x.leader() != "" {
		x.StatusCode = http.StatusServiceUnavailable
		x.Status = "503 " + http.StatusText(x.StatusCode)
	}
	return x.Response, x.err
}
