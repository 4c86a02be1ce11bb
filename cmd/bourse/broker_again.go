package main

import (
	"context"
	"os"
	"os/signal"
	"reflect"
	"syscall"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/web"
)

// tokens has the API take the tokens of an issuer, if the file names one.
func (p *process) tokens(o configs.OIDC) error {
	if o.Issuer == "" {
		return nil
	}
	var err error
	p.token, err = web.NewTokens(web.TokenOptions{Issuer: o.Issuer, Audience: o.Audience, UserClaim: o.UserClaim, GroupsClaim: o.GroupsClaim,
		UserGroup: o.UserGroup, OperatorGroup: o.OperatorGroup, Prefix: o.Prefix,
		Barred: func(role web.Role, name string) bool { return p.store.Barred(certificate.Role(role), name) }})
	return err
}

// readAgain reads the broker's file again on SIGHUP, until the context ends.
func (p *process) readAgain(ctx context.Context, file string, id agents.ID, was *configs.BrokerProcess) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
			if err := p.readTerms(ctx, file, id, was); err != nil {
				p.log.Error().Err(err).Msg("the file cannot be used; what it said before stays in force")
			}
		}
	}
}

// readTerms hands the broker what its file says of users and tenants by now.
func (p *process) readTerms(ctx context.Context, file string, id agents.ID, was *configs.BrokerProcess) error {
	cfg, err := configs.ReadBrokerProcess(file)
	if err != nil {
		return err
	}
	agent, err := cfg.Agent(broker.ServiceDefaults(cfg.Name))
	if err != nil {
		return err
	}
	if err := agent.Validate(); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	answer, err := p.host.Ask(ctx, "operator:", id, agents.ReadTerms{Holders: agent.Terms()})
	if err != nil {
		return err
	}
	if r, _ := answer.(agents.OperatorReply); r.Reason.Refused() {
		p.log.Error().Str("reason", r.Reason.String()).Msg("the broker refuses what its file says of users and tenants")
		return nil
	}
	p.log.Info().Msg("the file was read again: what it says of users and tenants is in force")
	if !reflect.DeepEqual(withoutTerms(cfg), withoutTerms(was)) {
		p.log.Warn().Msg("other keys of the file have changed too: they take effect with the next start")
	}
	return nil
}

// withoutTerms is a file without what changes while the process runs.
func withoutTerms(c *configs.BrokerProcess) configs.BrokerProcess {
	x := *c
	x.Users, x.Tenants, x.Quotas, x.MaxWaiting = nil, nil, nil, 0
	return x
}
