package process

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/live"
	"github.com/bourse-grid/bourse/agents/live/gossip"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
)

// membership is a process's part in one VO: the node through which the VO reaches it.
type membership struct {
	vo     string     // if there are several VOs; else ""
	cfg    configs.VO // if there are several VOs
	listen configs.Endpoint
	gossip configs.Gossip
	tls    configs.TLS
	store  *certificate.Store // nil: plain text on loopback
	guard  *live.Guard        // nil likewise
	node   *live.Node
}

// membership returns the membership of a process in its only VO.
func (p *process) membership() *membership {
	return &membership{listen: p.cfg.Listen, gossip: p.cfg.Gossip, tls: p.cfg.TLS}
}

// certified loads the certificate of a membership, if it has one.
func (p *process) certified(m *membership) (err error) {
	if m.tls.Plain {
		return nil
	}
	kept := p.folder(p.name)
	if m.vo != "" {
		kept += "." + m.vo
	}
	if m.store, err = p.load(m.tls, kept+".revoked"); err != nil {
		return err
	}
	if err := m.fits(m.store.Identity()); err != nil {
		return failure.Of(err)
	}
	m.guard, err = live.NewGuard(live.GuardOptions{Store: m.store, VO: m.vo, Log: p.logOf(m)})
	return err
}

// fits says why a certificate is not one for this VO.
func (m *membership) fits(id certificate.Identity) error {
	if id.VO == m.gossip.VO {
		return nil
	}
	where := "gossip.vo"
	if m.vo != "" {
		where = "the name of its [[vo]]"
	}
	return fmt.Errorf("%s is a certificate of the VO %s, but %s is %q", m.tls.Certificate, id.VO, where, m.gossip.VO)
}

// load reads the files of a certificate of this process's agent.
func (p *process) load(t configs.TLS, kept string) (*certificate.Store, error) {
	files := certificate.Files{Authority: t.Authority, Certificate: t.Certificate, Key: t.Key, Revoked: t.Revoked, Kept: kept}
	store, err := certificate.Load(files, certificate.Options{Log: func(line string) { p.log.Warn().Msg(line) }})
	if err != nil {
		return nil, failure.Of(err)
	}
	if id := store.Identity(); id.Agent() != p.name {
		return nil, failure.Of(fmt.Errorf("%s is the certificate of %s, but this is the process of %s", files.Certificate, id.Agent(), p.name))
	}
	if line := store.Warning(); line != "" {
		p.log.Warn().Msg(line)
	}
	return store, nil
}

// ofSeveral makes a site's process a member of several VOs. Its API, if any, is only for
// members certified by the site's own authority: operators of a VO have no rights there.
func (p *process) ofSeveral(list []configs.VO) (err error) {
	if p.cfg.HTTP != "" {
		if p.store, err = p.load(p.cfg.TLS, p.folder(p.name)+".revoked"); err != nil {
			return err
		}
	}
	for i := range list {
		if err := p.notOwn(list[i].Name); err != nil {
			return failure.Of(err)
		}
		if !list[i].LetGo {
			p.in = append(p.in, ofVO(&list[i]))
		}
	}
	return nil
}

// ofVO makes the membership in one of several VOs.
func ofVO(v *configs.VO) *membership {
	return &membership{vo: v.Name, cfg: *v, listen: v.Listen, gossip: v.Gossip, tls: v.TLS}
}

// notOwn refuses a VO whose authority also certifies the site's own operators.
func (p *process) notOwn(vo string) error {
	if p.store == nil || p.store.Identity().VO != vo {
		return nil
	}
	return fmt.Errorf("%s is a certificate of the VO %s, so the VO's operators would be operators of this site: [tls] must name a certificate of the site's own authority (bourse ca init), or leave [http] out", p.cfg.TLS.Certificate, vo)
}

// members returns the present memberships of the process.
func (p *process) members() []*membership {
	p.changing.Lock()
	defer p.changing.Unlock()
	return p.in
}

// voNames lists the VOs that the process is a member of at present.
func (p *process) voNames() (list []string) {
	for _, m := range p.members() {
		list = append(list, m.gossip.VO)
	}
	return list
}

// brokers lists the brokers that the process has heard of, by the names that its agent
// uses for them.
func (p *process) brokers() (list []string) {
	for _, m := range p.members() {
		if m.node == nil {
			continue // not joined yet
		}
		for _, x := range m.node.Members() {
			name, is := strings.CutPrefix(string(x.Agent), "broker:")
			if is && m.vo != "" {
				name = grid.InVO(m.vo, name)
			}
			if is {
				list = append(list, name)
			}
		}
		if m.vo != "" {
			list = append(list, m.vo)
		}
	}
	return list
}

// become replaces the memberships. A list returned by members does not change.
func (p *process) become(list []*membership) {
	p.changing.Lock()
	p.in = list
	p.changing.Unlock()
}

// enter joins the other members of a VO.
func (p *process) enter(m *membership) error {
	o := live.NodeOptions{Name: p.name, Host: p.host, Listen: m.listen.Address, Advertise: m.listen.Advertise,
		Plain: m.tls.Plain, Known: p.known, Held: p.held, Log: p.logOf(m),
		Gossip: gossip.Options{Listen: m.gossip.Address, Advertise: m.gossip.Advertise, Seeds: m.gossip.Seeds,
			Label: m.gossip.VO, Profile: m.gossip.Profile}}
	if !p.reloads.begun {
		o.Begins = p.host
	}
	var err error
	if m.gossip.Key != "" {
		if o.Gossip.Keys, err = certificate.GossipKeys(m.gossip.Key); err != nil {
			return err
		}
	}
	if m.guard != nil {
		o.Transport = m.guard.Transport()
	}
	if m.vo != "" {
		if o.Host, err = p.vos.In(m.vo); err != nil {
			return err
		}
	}
	if m.node, err = live.StartNode(o); err != nil && m.vo != "" {
		p.vos.LetGo(m.vo)
	}
	return err
}

// enterAll joins all VOs. If a site has several and one cannot be joined, because its
// certificate has expired or its address is taken, the site still joins the others.
func (p *process) enterAll() error {
	if p.vos == nil {
		return p.enter(p.in[0])
	}
	var errs []error
	var in []*membership
	for _, m := range p.in {
		err := p.certified(m)
		if err == nil {
			err = p.enter(m)
		}
		if err != nil {
			p.log.Error().Str("vo", m.vo).Err(err).Msg("this VO is not served")
			errs = append(errs, fmt.Errorf("VO %s: %w", m.vo, err))
			continue
		}
		in = append(in, m)
	}
	p.become(in)
	if len(in) == 0 {
		return errors.Join(errs...)
	}
	return nil
}

// beginAgents starts the agents once the clock can be trusted.
func (p *process) beginAgents(ctx context.Context) error {
	begun := make(chan error, len(p.in))
	for _, m := range p.in {
		go func() {
			begun <- m.node.Begin(ctx, time.Duration(p.cfg.Clock.Wait)*time.Millisecond, time.Duration(p.cfg.Clock.Alone)*time.Millisecond)
		}()
	}
	return <-begun // with several VOs one is enough: the others keep comparing clocks
}

// waiting returns why the agents have not begun.
func (p *process) waiting() (err error) {
	for _, m := range p.members() {
		if err = m.node.Waiting(); err == nil {
			return nil
		}
	}
	return err
}

// leaveAll tells all VOs that the process leaves, and stops the host.
func (p *process) leaveAll(ctx context.Context) error {
	in := p.members()
	left := make(chan error, len(in))
	for _, m := range in {
		go func() { left <- m.node.Leave(ctx) }()
	}
	var first error
	for range in {
		if err := <-left; first == nil {
			first = err
		}
	}
	return first
}
