package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web"
)

// newBroker builds "bourse broker".
func newBroker() *cobra.Command {
	var f processFlags
	return f.add(&cobra.Command{
		Use:   "broker CONFIG.toml",
		Short: "Run a VO's broker as a process",
		Long: `Runs the broker of one VO until SIGTERM or Ctrl-C. Jobs arrive through its API; it
finds sites by gossip. Its promises and waiting jobs are kept in its journal for
the next start.

The file has the keys of a scenario's broker under [broker], and the tables of a
process: [listen], [gossip], [tls], [journal], [http], [oidc], [notify], [log].
bourse check reports what is wrong with it. On SIGHUP the broker reads it again:
users, tenants, quotas, max_waiting and (if there was an issuer at the start)
[oidc] change at once, the rest at the next start. If several processes hold the
broker ([replica]), only the leader applies the file on SIGHUP, and each process
applies its own when it becomes leader: all must have the same [broker].

Logs go to stderr, as JSON if it is not a terminal. The line "ready" means that
users can reach the broker. First it compares its clock with those of its peers;
while they disagree, or the journal ends in the future, it waits and says so. Exit
status 1: the journal cannot be written, an address is taken, or a certificate is
refused.`,
		Example: "  bourse check vo1.toml && bourse broker vo1.toml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runBroker(cmd, f, args[0])
		},
	})
}

func runBroker(cmd *cobra.Command, f processFlags, file string) error {
	text, cfg, agent, err := readBroker(file)
	if err != nil {
		return err
	}
	notify, err := webhooks(cfg.Notify)
	if err != nil {
		return err
	}
	id := agents.ID("broker:" + cfg.Name)
	p, err := f.newProcess(cmd, &cfg.Process, id)
	if err != nil {
		return err
	}
	if err := p.tokens(cfg.OIDC); err != nil {
		return err
	}
	p.reread = (&brokerFile{process: p, file: file, text: text, cfg: cfg, id: id, terms: agent.Terms(), oidc: cfg.OIDC}).again
	if cfg.Replica.Number > 0 {
		r := newReplicaProcess(p, cfg, agent)
		return r.run(cmd.Context(), func(o web.Options) (api, error) {
			o.Replicas = r.replicas
			before := o.Ready
			o.Ready = func() error { return cmp.Or(before(), r.ready()) }
			o.Notify, o.Explain, o.Statements = notify, explainer(p.folder(r.self)), statements(agent, p.folder(r.self))
			r.web = web.NewReplicated(o, r.leader)
			return r.web, nil
		})
	}
	begin := func() error {
		if err := p.standsBack(cmd.Context()); err != nil {
			return err
		}
		if err := p.add(id, broker.New(agent)); err != nil {
			return err
		}
		return p.host.View(cmd.Context(), id, func(_ grid.Time, a agents.Agent) {
			for s := range a.(*broker.Broker).Sites() {
				if s.Member {
					p.known = append(p.known, s.Address)
				}
			}
		})
	}
	return p.run(cmd.Context(), begin, func(o web.Options) (api, error) {
		o.Notify, o.Explain, o.Statements = notify, explainer(p.folder(id)), statements(agent, p.folder(id))
		return web.NewBroker(o)
	})
}

// webhooks reads the secret that signs deliveries to webhooks.
func webhooks(n configs.Notify) (web.Notify, error) {
	out := web.Notify{URL: n.URL, Local: n.Local}
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
