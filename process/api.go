package process

import (
	"cmp"
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

// meet serves the rendezvous of a site until stop is called.
func (p *process) meet(address string, key agents.Key) (stop func(), err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("the rendezvous cannot listen: %w", err)
	}
	r := rendezvous.New(key)
	go func() {
		if err := r.Serve(l); err != nil {
			p.log.Error().Err(err).Msg("the rendezvous has failed: no job can use it until this process is restarted")
		}
	}()
	return r.Close, nil
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
	o.Ready = func() error { return cmp.Or(p.waiting(), p.lacking()) }
	o.Mirror, o.VOs, o.Brokers = p.mirrorState, p.voNames, p.brokers
	o.LetGo = func(vo string) bool { return p.vos != nil && !slices.Contains(p.voNames(), vo) }
	if p.reread != nil {
		o.Reload = p.reload
	}
	if p.store != nil {
		o.Ready = func() error { return cmp.Or(p.waiting(), p.store.Self(), p.lacking()) }
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
