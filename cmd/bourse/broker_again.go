package main

import (
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/live"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/web"
)

// tokens has the API take the tokens of an issuer from now on, if the file names one, and
// no others.
func (p *process) tokens(o configs.OIDC) error {
	if o.Issuer == "" {
		p.token.Store(nil)
		return nil
	}
	t, err := web.NewTokens(web.TokenOptions{Issuer: o.Issuer, Audience: o.Audience, UserClaim: o.UserClaim, GroupsClaim: o.GroupsClaim,
		UserGroup: o.UserGroup, OperatorGroup: o.OperatorGroup, Prefix: o.Prefix,
		Barred: func(role web.Role, name string) bool { return p.store.Barred(certificate.Role(role), name) }})
	if err == nil {
		p.token.Store(t)
	}
	return err
}

// brokerFile is the file of a broker's process, which may be read again while it runs.
type brokerFile struct {
	*process
	file  string
	text  []byte                 // as the process was started with it
	cfg   *configs.BrokerProcess // likewise
	id    agents.ID
	terms []bourse.Holder // that it said last of users and tenants
	oidc  configs.OIDC    // whose tokens are taken
}

// readBroker reads the file of a broker's process, and returns its text and what its agent
// makes of it too.
func readBroker(file string) (text []byte, cfg *configs.BrokerProcess, agent broker.Config, err error) {
	if _, err := configs.ReadBrokerProcess(file); err != nil { // which bounds its size
		return nil, nil, agent, err
	}
	if text, err = os.ReadFile(file); err != nil {
		return nil, nil, agent, err
	}
	if cfg, err = configs.ParseBrokerProcess(file, text); err != nil {
		return nil, nil, agent, err
	}
	if agent, err = cfg.Agent(broker.ServiceDefaults(cfg.Name)); err == nil {
		err = agent.Validate()
	}
	return text, cfg, agent, err
}

// again reads the file again: whose tokens are taken, and what it says of users and tenants
// by now, which the broker is handed. Of several processes that hold the broker only the one
// that leads does that.
func (f *brokerFile) again(ctx context.Context) (r web.Reloaded, err error) {
	r = web.Reloaded{Changed: []string{}, Restart: []string{}}
	text, cfg, agent, err := readBroker(f.file)
	if err != nil {
		return r, err
	}
	keys, err := configs.Changed(f.text, text)
	if err != nil {
		return r, err
	}
	for _, key := range keys {
		switch {
		case key == "oidc" && f.cfg.OIDC.Issuer != "": // else its port asks for certificates
		case key != "broker" || !reflect.DeepEqual(withoutTerms(cfg), withoutTerms(f.cfg)):
			r.Restart = append(r.Restart, key)
		}
	}
	if cfg.Name != f.cfg.Name {
		return r, nil
	}
	if f.cfg.OIDC.Issuer != "" && cfg.OIDC != f.oidc {
		if err := f.tokens(cfg.OIDC); err != nil {
			return r, err
		}
		f.oidc = cfg.OIDC
		r.Changed = append(r.Changed, "whose tokens are taken")
	}
	if now, _, err := f.host.Leadership(f.id); err == nil && !now.Leads {
		f.follows()
		return r, nil
	}
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	terms := agent.Terms()
	answer, err := f.host.Ask(ctx, "operator:", f.id, agents.ReadTerms{Holders: terms})
	if elsewhere := (*live.ElsewhereError)(nil); errors.As(err, &elsewhere) {
		f.follows() // the one that leads now has read its own
		return r, nil
	}
	if err != nil {
		return r, err
	}
	if a, _ := answer.(agents.OperatorReply); a.Reason.Refused() {
		return r, errors.New(a.Reason.String())
	}
	if !slices.EqualFunc(terms, f.terms, bourse.Holder.Equal) {
		r.Changed = append(r.Changed, "terms of users and tenants")
	}
	f.terms = terms
	return r, nil
}

// follows says that this process does not lead.
func (f *brokerFile) follows() {
	f.log.Info().Msg("another process leads: what its file says of users and tenants is in force")
}

// withoutTerms are the keys of [broker] without what changes while the process runs.
func withoutTerms(c *configs.BrokerProcess) configs.Broker {
	x := c.Broker
	x.Users, x.Tenants, x.Quotas, x.MaxWaiting = nil, nil, nil, 0
	return x
}
