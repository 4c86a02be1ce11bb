package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/live"
	"github.com/bourse-grid/bourse/configs"
)

// membership is the part that a process has in one VO: the node by which that reaches it.
type membership struct {
	vo     string     // of several; "": there is one
	cfg    configs.VO // of several
	listen configs.Endpoint
	gossip configs.Gossip
	tls    configs.TLS
	store  *certificate.Store // nil: plain text on loopback
	guard  *live.Guard        // nil as well
	node   *live.Node
}

// membership is that of a process in its one VO.
func (p *process) membership() *membership {
	return &membership{listen: p.cfg.Listen, gossip: p.cfg.Gossip, tls: p.cfg.TLS}
}

// certified loads the certificate by which a process is a member, if it has one.
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
	if id := m.store.Identity(); id.VO != m.gossip.VO {
		where := "gossip.vo"
		if m.vo != "" {
			where = "the name of its [[vo]]"
		}
		return failed(fmt.Errorf("%s is a certificate of the VO %s, but %s is %q", m.tls.Certificate, id.VO, where, m.gossip.VO))
	}
	m.guard, err = live.NewGuard(live.GuardOptions{Store: m.store, VO: m.vo, Log: p.logOf(m)})
	return err
}

// load reads the files of a certificate of this process's agent.
func (p *process) load(t configs.TLS, kept string) (*certificate.Store, error) {
	files := certificate.Files{Authority: t.Authority, Certificate: t.Certificate, Key: t.Key, Revoked: t.Revoked, Kept: kept}
	store, err := certificate.Load(files, certificate.Options{Log: func(line string) { p.log.Warn().Msg(line) }})
	if err != nil {
		return nil, failed(err)
	}
	if id := store.Identity(); id.Agent() != p.name {
		return nil, failed(fmt.Errorf("%s is the certificate of %s, but this is the process of %s", files.Certificate, id.Agent(), p.name))
	}
	if line := store.Warning(); line != "" {
		p.log.Warn().Msg(line)
	}
	return store, nil
}

// ofSeveral has the process of a site be in several VOs. The API, if there is one, is for
// those whom the site's own authority vouches for: operators of a VO have no say there.
func (p *process) ofSeveral(list []configs.VO) (err error) {
	if p.cfg.HTTP != "" {
		if p.store, err = p.load(p.cfg.TLS, p.folder(p.name)+".revoked"); err != nil {
			return err
		}
	}
	for i := range list {
		if err := p.notOwn(list[i].Name); err != nil {
			return failed(err)
		}
		if !list[i].LetGo {
			p.in = append(p.in, ofVO(&list[i]))
		}
	}
	return nil
}

// ofVO is the part that a process is to have in one of several VOs.
func ofVO(v *configs.VO) *membership {
	return &membership{vo: v.Name, cfg: *v, listen: v.Listen, gossip: v.Gossip, tls: v.TLS}
}

// notOwn refuses a VO by whose authority the site's own operators are known.
func (p *process) notOwn(vo string) error {
	if p.store == nil || p.store.Identity().VO != vo {
		return nil
	}
	return fmt.Errorf("%s is of the VO %s, whose operators would be the site's: [tls] must name a certificate of an authority of the site's own (bourse ca init), or leave [http] out", p.cfg.TLS.Certificate, vo)
}

// members are the parts that the process has in its VOs at present.
func (p *process) members() []*membership {
	p.changing.Lock()
	defer p.changing.Unlock()
	return p.in
}

// voNames are the VOs that the process is a member of at present.
func (p *process) voNames() (list []string) {
	for _, m := range p.members() {
		list = append(list, m.gossip.VO)
	}
	return list
}

// brokers are those that the process has heard of, by the names that its agent knows
// them by.
func (p *process) brokers() (list []string) {
	for _, m := range p.members() {
		if m.node == nil {
			continue // it has not joined yet
		}
		for _, x := range m.node.Members() {
			name, is := strings.CutPrefix(string(x.Agent), "broker:")
			if is && m.vo != "" {
				name = bourse.InVO(m.vo, name)
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

// become says which those are from now on. A list that was handed out stays as it is.
func (p *process) become(list []*membership) {
	p.changing.Lock()
	p.in = list
	p.changing.Unlock()
}

// enter joins the others of a VO.
func (p *process) enter(m *membership) error {
	o := live.NodeOptions{Name: p.name, Host: p.host, Listen: m.listen.Address, Advertise: m.listen.Advertise,
		Plain: m.tls.Plain, Known: p.known, Held: p.peers != nil, Log: p.logOf(m),
		Gossip: live.GossipOptions{Listen: m.gossip.Address, Advertise: m.gossip.Advertise, Seeds: m.gossip.Seeds,
			Label: m.gossip.VO, Profile: m.gossip.Profile}}
	if !p.begun {
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

// enterAll joins all VOs. One of several that cannot be joined, because its certificate
// has expired or its address is taken, does not keep the site from the others.
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

// begin has the agents begin once the clock may be trusted.
func (p *process) begin(ctx context.Context) error {
	begun := make(chan error, len(p.in))
	for _, m := range p.in {
		go func() { begun <- m.node.Begin(ctx, time.Duration(p.cfg.Clock.Wait)*time.Millisecond) }()
	}
	return <-begun // of several VOs, those go on whose members have another time
}

// waiting says why the agents have not begun.
func (p *process) waiting() (err error) {
	for _, m := range p.members() {
		if err = m.node.Waiting(); err == nil {
			return nil
		}
	}
	return err
}

// leaveAll says goodbye to everybody and stops the host.
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
