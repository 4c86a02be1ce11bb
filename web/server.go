package web

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/webhook"
)

// Host is what the API needs from the process that runs its agent.
type Host interface {
	// Ask sends a message to an agent and waits for the answer, which comes when the facts
	// behind it are durable.
	Ask(ctx context.Context, from, to agents.ID, m agents.Message) (agents.Message, error)
	// Hand sends a message behind those before it; await waits for the answer, and must be called.
	Hand(from, to agents.ID, m agents.Message) (await func(context.Context) (agents.Message, error), err error)
	// View calls f between two steps of the agent. f must be quick and keep nothing.
	View(ctx context.Context, id agents.ID, f func(now grid.Time, a agents.Agent)) error
	// Watch calls f with every durable fact of the agent from now on, in order.
	Watch(id agents.ID, f func(at grid.Time, fact agents.Fact)) (stop func())
}

// Options configure a Server. Host, Agent and Identify must be given.
type Options struct {
	Host     Host
	Agent    agents.ID // "broker:vo1" or "site:north"
	Identify Identify  // Anybody for plain loopback
	Log      zerolog.Logger
	VOs      func() []string // present VOs of the agent; nil: not shown
	// LetGo reports whether a site of several VOs no longer listens to the brokers of one; nil:
	// it listens to all.
	LetGo func(vo string) bool
	// Brokers lists the brokers that a site has heard of; nil: a close is not checked.
	Brokers func() []string

	Explain    Explain    // nil: 501
	Statements Statements // nil: 501
	Reload     Reload     // nil: 501
	// Replicas returns the state of the processes that hold a broker, as far as this one knows
	// it; this one need not lead. nil: 501.
	Replicas func(context.Context) (api.Replicas, error)
	// Ready returns why the process cannot serve yet. nil: it can once its agent answers.
	Ready func() error
	// Mirror returns the state of the second copy of the agent's journals. nil, or a nil
	// result: there is none.
	Mirror func() *api.Mirror
	// Warning is what there is to say of the process's certificate, "" for nothing. nil: it has
	// none.
	Warning func() string
	// Collectors add the metrics of the process to /metrics: host, journal, network,
	// certificate.
	Collectors []prometheus.Collector
	// Barred reports whether a user is no longer a member, whatever the certificate says. The
	// webhooks of that user's jobs are not called. nil: nobody is barred.
	Barred func(user string) bool
	// Notify configures webhooks; the zero value delivers only to https addresses.
	Notify webhook.Options

	Limits Limits
}

// Limits bound what callers may ask for. Zero values are the defaults.
type Limits struct {
	Body      int64         // bytes of a request's body; 1 MiB. A batch may have four times as many.
	BatchJobs int           // jobs of a batch, up to the default, 5,000
	Page      int           // rows of a page, up to the default, 500
	Requests  int           // at once, not counting streams; 256. More are answered 503; more of one caller than its share, 429.
	Streams   int           // event streams at once; 256, for one caller an eighth
	Explains  int           // explanations at once, each of which may keep a processor busy for seconds; 4
	Wait      time.Duration // wait for the agent; 10 s
}

// answerTime is how long an answer may take in addition to the wait for the agent.
const answerTime = 20 * time.Second

func (l Limits) filled() Limits {
	fill := func(n *int, def int) {
		if *n <= 0 {
			*n = def
		}
	}
	if l.Body <= 0 {
		l.Body = 1 << 20
	}
	if l.Wait <= 0 {
		l.Wait = 10 * time.Second
	}
	fill(&l.BatchJobs, 5000)
	fill(&l.Page, 500)
	fill(&l.Requests, 256)
	fill(&l.Streams, 256)
	fill(&l.Explains, 4)
	return l
}

// Server serves the API of one agent. routes.go lists its operations.
type Server struct {
	opt       Options
	mux       *http.ServeMux
	api       huma.API
	http      *http.Server
	count     *counters
	agent     *agent
	admission *admission

	base context.Context // ends with the server: event streams end with it
	stop context.CancelFunc
	once sync.Once

	// Of a broker.
	list     *catalogue
	feed     *feed
	hooks    *webhook.Sender
	explains *explanations
}

// NewBroker returns the API of a broker. It reads the broker's jobs, page by
// page, before it returns.
func NewBroker(opt Options) (*Server, error) {
	s, err := newServer(opt, "Bourse broker")
	if err != nil {
		return nil, err
	}
	tokens := s.api.OpenAPI() // besides certificates, if the configuration names an issuer
	tokens.Components.SecuritySchemes["token"] = &huma.SecurityScheme{Type: "http", Scheme: "bearer", Description: "a token of the VO's issuer"}
	tokens.Security = append(tokens.Security, map[string][]string{"token": {}})
	s.list, s.hooks = newCatalogue(), webhook.New(opt.Notify, opt.Log)
	s.feed = newFeed(s.agent, s.list, s.hooks)
	j := &jobs{s.agent, s.list}
	b := &batches{jobs: j, hooks: s.hooks}
	q := &quotes{batches: b, slots: make(chan struct{}, quotesAtOnce)}
	s.explains = &explanations{jobs: j, quotes: q, slots: make(chan struct{}, s.opt.Limits.Explains)}
	s.serve(brokerRoutes(s.opt.Limits.Body, j, b, q, s.explains, &changes{j},
		&streams{jobs: j, feed: s.feed, api: s.api, identify: s.admission.identify}, &money{&market{s.agent}, s.explains}, &group{s.agent}))
	s.mux.Handle("GET "+livePath, &pages{jobs: j, feed: s.feed, identify: s.admission.identify})
	s.count.ofBroker(s.agent, s.feed)
	if err := s.feed.begin(); err != nil {
		s.Close(context.Background())
		return nil, fmt.Errorf("%s: reading its jobs: %w", opt.Agent, err)
	}
	return s, nil
}

// NewSite returns the API of a site.
func NewSite(opt Options) (*Server, error) {
	s, err := newServer(opt, "Bourse site")
	if err != nil {
		return nil, err
	}
	own := &ownSite{s.agent}
	s.serve(siteRoutes(s.opt.Limits.Body, own))
	s.count.registry.MustRegister(&siteGauges{own})
	return s, nil
}

func newServer(opt Options, title string) (*Server, error) {
	switch {
	case opt.Host == nil || opt.Agent == "":
		return nil, errors.New("web: Host and Agent must be given")
	case opt.Identify == nil:
		return nil, errors.New("web: Identify must be given; use ByCertificate, or Anybody for plain loopback")
	}
	opt.Limits = opt.Limits.filled()
	s := &Server{opt: opt, mux: http.NewServeMux(), count: newCounters()}
	s.base, s.stop = context.WithCancel(context.Background())
	s.agent = &agent{opt: &s.opt, count: s.count, base: s.base}
	s.admission = &admission{opt: &s.opt, count: s.count, slots: make(chan struct{}, opt.Limits.Requests)}
	s.api = humago.New(s.mux, apiConfig(title))
	s.api.UseMiddleware(s.counted)
	s.common()
	s.serve([]route{whoRoute(s.agent)})
	s.http = &http.Server{
		Handler:           s.admission.before(http.NewCrossOriginProtection().Handler(s.mux)),
		ReadHeaderTimeout: 5 * time.Second,
		WriteTimeout:      opt.Limits.Wait + answerTime, // bodies and event streams extend it
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return s.base },
		ConnContext:       s.admission.conns.opened,
		ConnState:         s.admission.conns.changed,
		ErrorLog:          log.New(&refusals{log: opt.Log}, "", 0),
	}
	return s, nil
}

// common serves what both brokers and sites have besides /v1.
func (s *Server) common() {
	s.count.registry.MustRegister(s.opt.Collectors...)
	h := &health{s.agent}
	s.mux.Handle("GET /metrics", promhttp.HandlerFor(s.count.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second}))
	s.mux.HandleFunc("GET /healthz", h.healthy)
	s.mux.HandleFunc("GET /readyz", h.ready)
	ServePage(s.mux)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { unknownPath(s.mux, w, r) })
}

// serve serves the operations under /v1.
func (s *Server) serve(list []route) {
	for _, register := range list {
		register(s.api)
	}
}

// apiConfig is the OpenAPI document without its operations. Huma's pages for browsing it are
// disabled, because they load scripts from other hosts.
func apiConfig(title string) huma.Config {
	c := huma.DefaultConfig(title, "1")
	c.DocsPath, c.SchemasPath, c.CreateHooks = "", "", nil
	c.RejectUnknownQueryParameters = true
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"certificate": {Type: "mutualTLS", Description: "a client certificate of the VO, made by bourse ca issue"},
	}
	c.Security = []map[string][]string{{"certificate": {}}}
	return c
}

// Handler is the API as a handler, without the server's timeouts.
func (s *Server) Handler() http.Handler { return s.http.Handler }

// OpenAPI is the API's document.
func (s *Server) OpenAPI() *huma.OpenAPI { return s.api.OpenAPI() }

// Serve answers requests on a listener, with TLS if the listener has it, until Close. It
// returns nil after a Close.
func (s *Server) Serve(l net.Listener) error {
	err := s.http.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("%s: serving HTTP on %s: %w", s.opt.Agent, l.Addr(), err)
}

// Close ends event streams and webhooks, waits for requests in progress until ctx ends, then
// cuts them off. It may be called more than once.
func (s *Server) Close(ctx context.Context) {
	s.once.Do(func() {
		if s.feed != nil {
			s.feed.close()
		}
		if s.hooks != nil {
			s.hooks.Close()
		}
		s.stop()
		if err := s.http.Shutdown(ctx); err != nil {
			_ = s.http.Close()
		}
	})
}
