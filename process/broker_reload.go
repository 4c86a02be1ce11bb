package process

import (
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/live"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web"
	"github.com/bourse-grid/bourse/web/api"
)

// tokens makes the API accept the tokens of the file's issuer, if it names one, and no
// others from now on.
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

// brokerFile is the file of a broker's process. It can be read again while the process
// runs.
type brokerFile struct {
	*process
	file  string
	text  []byte                 // as it was when the process started
	cfg   *configs.BrokerProcess // parsed from text
	id    agents.ID
	terms []grid.Holder // of users and tenants, as last read
	oidc  configs.OIDC  // the issuer whose tokens the API accepts
}

// readBroker reads the file of a broker's process. It returns the text, the parsed file
// and the agent's configuration.
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

// again rereads the file, and applies the issuer of tokens and the terms of users and
// tenants. If several processes hold the broker, only the leader does so.
func (f *brokerFile) again(ctx context.Context, _ api.ReloadWish) (r api.Reloaded, err error) {
	r = api.Reloaded{Changed: []string{}, Restart: []string{}}
	text, cfg, agent, err := readBroker(f.file)
	if err != nil {
		return r, err
	}
	keys, err := keys.Changed(f.text, text)
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
	if !slices.EqualFunc(terms, f.terms, grid.Holder.Equal) {
		r.Changed = append(r.Changed, "terms of users and tenants")
	}
	f.terms = terms
	return r, nil
}

// follows says that this process does not lead.
func (f *brokerFile) follows() {
	f.log.Info().Msg("another process leads: the terms of users and tenants in its file apply")
}

// withoutTerms returns [broker] without the keys that can change while the process runs.
func withoutTerms(c *configs.BrokerProcess) configs.Broker {
	x := c.Broker
	x.Users, x.Tenants, x.Quotas, x.MaxWaiting = nil, nil, nil, 0
	return x
}
