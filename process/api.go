package process

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/web"
	"github.com/bourse-grid/bourse/web/rendezvous"
)

// api answers users and operators.
type apiServer interface {
	Serve(net.Listener) error
	Close(context.Context)
}

// answering is the API of a process while it is served.
type answering struct {
	passive
	p        *process
	make     func(web.Options) (apiServer, error)
	listener net.Listener // nil: there is no API
	api      apiServer
	served   chan error // receives the error with which serving has ended by itself
}

func (a *answering) begin(context.Context) (err error) {
	if a.listener == nil {
		return nil
	}
	if a.api, err = a.make(a.p.webOptions()); err != nil {
		return err
	}
	go func() { a.served <- a.api.Serve(a.listener) }()
	return nil
}

// ready says whether the certificate under which the API answers is any good.
func (a *answering) ready() error {
	if a.p.store == nil {
		return nil
	}
	return a.p.store.Self()
}

func (a *answering) end(ctx context.Context) error {
	if a.api != nil {
		a.api.Close(ctx)
	}
	return nil
}

// listen opens the address of the API; nil if there is no API.
func (p *process) listen() (net.Listener, error) {
	if p.cfg.HTTP == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", p.cfg.HTTP)
	if err != nil {
		return nil, fmt.Errorf("the API cannot listen: %w", err)
	}
	if p.store == nil {
		return l, nil
	}
	c := p.store.Server(certificate.User, certificate.Operator)
	if p.token.Load() != nil {
		c = p.store.ServerOfAnybody(certificate.User, certificate.Operator)
	}
	c = certificate.TellRevoked(c) // the API identifies each request again
	c.NextProtos = []string{"http/1.1"}
	return tls.NewListener(l, c), nil
}

// meeting is the rendezvous of a site.
type meeting struct {
	passive
	p        *process
	listener net.Listener
	server   *rendezvous.Place
}

// meet opens the address of a rendezvous.
func (p *process) meet(address string, key agents.Key) (*meeting, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("the rendezvous cannot listen: %w", err)
	}
	return &meeting{p: p, listener: l, server: rendezvous.New(key)}, nil
}

func (m *meeting) begin(context.Context) error {
	go func() {
		if err := m.server.Serve(m.listener); err != nil {
			m.p.log.Error().Err(err).Msg("the rendezvous has failed: no job can use it until this process is restarted")
		}
	}()
	return nil
}

func (m *meeting) end(context.Context) error {
	m.server.Close()
	return nil
}

// apiURL is the URL of the API for users.
func (p *process) apiURL() string {
	switch {
	case p.cfg.HTTP == "":
		return ""
	case p.store == nil:
		return "http://" + p.cfg.HTTP
	}
	return "https://" + p.cfg.HTTP
}

func (p *process) webOptions() web.Options {
	o := web.Options{Host: p.host, Agent: p.name, Identify: web.Anybody, Log: p.log, Collectors: append([]prometheus.Collector{&processMetrics{p}}, p.tells...)}
	o.Ready = p.parts.ready
	o.Mirror, o.VOs, o.Brokers = p.mirrorState, p.voNames, p.brokers
	o.LetGo = func(vo string) bool { return p.vos != nil && !slices.Contains(p.voNames(), vo) }
	if p.reloads.again != nil {
		o.Reload = p.reload
	}
	if p.store != nil {
		o.Warning = p.store.Warning
		byCertificate := web.ByCertificate(p.store)
		o.Identify = func(r *http.Request) (web.Caller, error) {
			if t := p.token.Load(); t != nil { // the present ones: rereading the file may change them
				return t.Or(byCertificate)(r)
			}
			return byCertificate(r)
		}
		o.Barred = func(user string) bool { return p.store.Barred(certificate.User, user) }
	}
	return o
}
