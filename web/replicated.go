package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Replicated serves the API of a broker that several processes hold. While this process
// leads, it serves the API of the broker, made anew for each leadership from the broker's
// facts at that time. Otherwise it redirects callers to the leader, or tells them to try
// again while no leader is known. At each change it closes all connections.
type Replicated struct {
	opt    Options
	leader func() (name, url string)

	mu     sync.Mutex
	door   *door // to the present server
	closed bool
}

// NewReplicated returns the API of a replica. leader returns the name of the leading replica,
// "" if unknown, and the URL of its API.
func NewReplicated(opt Options, leader func() (name, url string)) *Replicated {
	r := &Replicated{opt: opt, leader: leader}
	r.Follow()
	return r
}

// Lead reads the broker, and serves its API from then on.
func (r *Replicated) Lead() error {
	s, err := NewBroker(r.opt)
	if err != nil {
		return err
	}
	r.open(s)
	return nil
}

// Follow redirects callers to the leader from then on.
func (r *Replicated) Follow() {
	registry := prometheus.NewRegistry()
	registry.MustRegister(r.opt.Collectors...)
	mux := http.NewServeMux()
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
	known := &admission{opt: &r.opt}
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, q *http.Request) {
		if _, err := known.identify(q); err != nil {
			refuse(w, err)
			return
		}
		metrics.ServeHTTP(w, q)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", r.ready)
	mux.HandleFunc("GET /v1/replicas", func(w http.ResponseWriter, q *http.Request) { r.replicas(w, q, known) })
	mux.HandleFunc("/", r.elsewhere)
	handler := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if !known.barred(w, q) {
			mux.ServeHTTP(w, q)
		}
	})
	r.open(&follower{&http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10}})
}

// ready answers for a process that follows: ready means ready to lead.
func (r *Replicated) ready(w http.ResponseWriter, _ *http.Request) {
	if r.opt.Ready != nil {
		if err := r.opt.Ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
	}
	name, _ := r.leader()
	_, _ = fmt.Fprintf(w, "follows %s\n", name)
}

// replicas answers operators who ask what this process itself knows of the group.
func (r *Replicated) replicas(w http.ResponseWriter, q *http.Request, known *admission) {
	if here, _ := strconv.ParseBool(q.URL.Query().Get("here")); !here || r.opt.Replicas == nil {
		r.elsewhere(w, q)
		return
	}
	who, err := known.identify(q)
	if err == nil && who.Role != Operator {
		err = errors.New(onlyOperators)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	ctx, cancel := context.WithTimeout(q.Context(), r.opt.Limits.filled().Wait)
	defer cancel()
	is, err := r.opt.Replicas(ctx)
	if err != nil {
		sendProblem(w, http.StatusServiceUnavailable, fmt.Sprintf("%s cannot report its state: %v", r.opt.Agent, err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(is)
}

// elsewhere redirects a caller to the leader.
func (r *Replicated) elsewhere(w http.ResponseWriter, q *http.Request) {
	name, url := r.leader()
	status, detail := http.StatusServiceUnavailable, fmt.Sprintf("no replica of %s leads at the moment; try again in a second", r.opt.Agent)
	switch {
	case url != "":
		w.Header().Set("Location", url+q.URL.RequestURI())
		status, detail = http.StatusTemporaryRedirect, fmt.Sprintf("%s leads; its API is %s", name, url)
	default:
		w.Header().Set("Retry-After", "1")
		if name != "" {
			detail = fmt.Sprintf("%s leads, but the address of its API is not known here; call it directly", name)
		}
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"title": http.StatusText(status), "status": status, "detail": detail})
}

// served is a server that answers callers for some time.
type served interface {
	Serve(net.Listener) error
	Close(context.Context)
}

// follower is a server without an agent.
type follower struct{ http *http.Server }

func (f *follower) Serve(l net.Listener) error { return f.http.Serve(l) }
func (f *follower) Close(context.Context)      { _ = f.http.Close() }

// open sends callers to another server from now on. Unanswered requests of the previous one
// are cut off.
func (r *Replicated) open(s served) {
	d := &door{server: s, conns: make(chan net.Conn), done: make(chan struct{})}
	r.mu.Lock()
	before, closed := r.door, r.closed
	if !closed {
		r.door = d
	}
	r.mu.Unlock()
	if closed {
		s.Close(ended())
		return
	}
	go func() { _ = s.Serve(d) }()
	if before != nil {
		before.server.Close(ended())
		_ = before.Close()
	}
}

// ended is a context that is over.
func ended() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	return ctx
}

// Serve answers requests on a listener until Close.
func (r *Replicated) Serve(l net.Listener) error {
	go func() {
		for d := r.current(); d != nil; d = r.current() {
			<-d.done
		}
		_ = l.Close()
	}()
	for {
		conn, err := l.Accept()
		if err != nil {
			if r.current() == nil {
				return nil
			}
			if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
				continue
			}
			return fmt.Errorf("%s: serving HTTP on %s: %w", r.opt.Agent, l.Addr(), err)
		}
		go func() {
			for d := r.current(); d != nil; d = r.current() {
				select {
				case d.conns <- conn:
					return
				case <-d.done:
				}
			}
			_ = conn.Close()
		}()
	}
}

func (r *Replicated) current() *door {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	return r.door
}

// Close ends the present server.
func (r *Replicated) Close(ctx context.Context) {
	r.mu.Lock()
	d := r.door
	done := r.closed
	r.closed = true
	r.mu.Unlock()
	if !done {
		d.server.Close(ctx)
		_ = d.Close()
	}
}

// door is the listener of a server that answers for some time.
type door struct {
	server served
	conns  chan net.Conn
	done   chan struct{}
	once   sync.Once
}

var errShut = errors.New("another server answers now")

func (d *door) Accept() (net.Conn, error) {
	select {
	case c := <-d.conns:
		return c, nil
	case <-d.done:
		return nil, errShut
	}
}

// Close stops accepting connections.
func (d *door) Close() error {
	d.once.Do(func() { close(d.done) })
	return nil
}

// Addr is not used.
func (d *door) Addr() net.Addr { return &net.TCPAddr{} }
