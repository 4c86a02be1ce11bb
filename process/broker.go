package process

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web"
	"github.com/bourse-grid/bourse/web/webhook"
)

// RunBroker runs the process of a broker by its file until ctx ends, it is told to stop, or
// it fails. An error of its file is not marked as a failure.
func RunBroker(ctx context.Context, file string, o Options) error {
	text, cfg, agent, err := readBroker(file)
	if err != nil {
		return err
	}
	notify, err := webhooks(cfg.Notify)
	if err != nil {
		return err
	}
	id := agents.ID("broker:" + cfg.Name)
	if cfg.Replica.Number == 0 {
		if err := Strange(file, &cfg.Process, "broker", cfg.Name); err != nil {
			return err
		}
	}
	p, err := newProcess(o, &cfg.Process, id)
	if err != nil {
		return err
	}
	if err := p.tokens(cfg.OIDC); err != nil {
		return err
	}
	p.reloads.again = (&brokerFile{process: p, file: file, text: text, cfg: cfg, id: id, terms: agent.Terms(), oidc: cfg.OIDC}).again
	if cfg.Replica.Number > 0 {
		r := newReplicaProcess(p, cfg, agent)
		return r.run(ctx, func(o web.Options) (apiServer, error) {
			o.Replicas = r.replicas
			o.Notify, o.Explain, o.Statements = notify, explainer(p.folder(r.self)), Statements(agent, p.folder(r.self))
			r.web = web.NewReplicated(o, r.leader)
			return r.web, nil
		})
	}
	add := func() error {
		if err := p.standsBack(ctx); err != nil {
			return err
		}
		if err := p.add(id, broker.New(agent)); err != nil {
			return err
		}
		return p.host.View(ctx, id, func(_ grid.Time, a agents.Agent) {
			for s := range a.(*broker.Broker).Sites() {
				if s.Member {
					p.known = append(p.known, s.Address)
				}
			}
		})
	}
	return p.run(ctx, hosted{p: p, add: add}, func(o web.Options) (apiServer, error) {
		o.Notify, o.Explain, o.Statements = notify, explainer(p.folder(id)), Statements(agent, p.folder(id))
		return web.NewBroker(o)
	})
}

// webhooks reads the secret that signs deliveries to webhooks.
func webhooks(n configs.Notify) (webhook.Options, error) {
	out := webhook.Options{URL: n.URL, Local: n.Local}
	if n.Secret == "" {
		return out, nil
	}
	secret, err := os.ReadFile(n.Secret)
	if err != nil {
		return out, fmt.Errorf("notify.secret: %w", err)
	}
	if out.Secret = bytes.TrimSpace(secret); len(out.Secret) < 16 {
		return out, fmt.Errorf("notify.secret: %s has %d bytes; must be at least 16, such as `openssl rand -hex 32` prints", n.Secret, len(out.Secret))
	}
	return out, nil
}
