package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/sites"
	"github.com/bourse-grid/bourse/web/api"
)

// siteFile is the file of a site's process. It can be read again while the process runs.
type siteFile struct {
	*process
	file    string
	text    []byte               // as it was when the process started
	applied []byte               // as it was when it was last put into force
	cfg     *configs.SiteProcess // what applies now
	agent   sites.Config         // the site's configuration by it
	nodes   behind
	seen    map[*certificate.Store]uint64 // the reading of each that was last reported; none: the first
}

// readSite reads the file of a site's process, and returns its text too.
func readSite(file string) ([]byte, *configs.SiteProcess, error) {
	if _, err := configs.ReadSiteProcess(file); err != nil { // which bounds its size
		return nil, nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	cfg, err := configs.ParseSiteProcess(file, text)
	return text, cfg, err
}

// atRunTime are the keys at the top level of the file that a reload applies at once. What is
// of [[vo]] and shares is told in words of its own.
var (
	atRunTime = slices.Concat([]string{"vo", "vo_share", "vo_shares", "account"}, terms, simulated)
	terms     = []string{"group", "price", "price_file", "price_repeat", "pricing", "limits", "hold", "in_doubt", "cap", "penalty",
		"refund_full_until", "holding_fee", "refund_schedule_only", "share_span", "lead"}
	simulated = []string{"workload", "job_limits", "queue_limit"} // of a cluster without a driver
)

// again reads the file again and applies it. It checks all it can before it changes
// anything; if a VO then cannot be joined, it takes the rest back.
func (f *siteFile) again(ctx context.Context, w api.ReloadWish) (r api.Reloaded, err error) {
	r = api.Reloaded{DryRun: w.DryRun, Changed: []string{}, Restart: []string{}}
	text, cfg, err := readSite(f.file)
	if err != nil {
		return r, err
	}
	if cfg.Name != f.cfg.Name {
		return r, fmt.Errorf("%s is now the file of site %q, and this is the process of site %q: put its own file back, or start a process of its own for %q", f.file, cfg.Name, f.cfg.Name, cfg.Name)
	}
	keys, err := keys.Changed(f.text, text)
	if err != nil {
		return r, err
	}
	several := f.vos != nil && len(cfg.VOs) > 0
	for _, key := range keys {
		if !slices.Contains(atRunTime, key) || key == "vo" && !several || f.nodes.driver != nil && slices.Contains(simulated, key) {
			r.Restart = append(r.Restart, key)
		}
	}
	if (f.vos != nil) != (len(cfg.VOs) > 0) { // names of brokers and users would be others
		return r, nil
	}
	c, err := f.compare(ctx, cfg)
	if err != nil {
		return r, err
	}
	r.Restart = append(r.Restart, c.moved...)
	if err := c.settings(text); err != nil {
		return r, err
	}
	if err := c.check(!w.DryRun); err != nil {
		return r, err
	}
	if err := c.rehearse(ctx, w, &r); err != nil {
		return r, err
	}
	r.Changed = append(r.Changed, c.words...)
	if w.DryRun {
		return r, nil
	}
	if err := c.carryOut(ctx, w); err != nil {
		return r, err
	}
	f.cfg, f.agent, f.applied = cfg, c.agent, text
	return r, nil
}

// rereading is the change that a new reading of the file asks for.
type rereading struct {
	*siteFile
	to      *configs.SiteProcess
	in, out []*membership
	moved   []string // VOs with other addresses or certificates, which need a restart
	words   []string // what changes, in words
	agent   sites.Config
	changes []grid.Setting // for the record
	nodes   *cluster.Nodes // the cluster's settings; nil: they are the same
}

// compare finds what changes. A VO with open legs can be let go only by let_go = true:
// without its table, a restart of the site would find no account for their work.
func (f *siteFile) compare(ctx context.Context, to *configs.SiteProcess) (*rereading, error) {
	c := &rereading{siteFile: f, to: to}
	named := func(vo string) int { return slices.IndexFunc(to.VOs, func(v configs.VO) bool { return v.Name == vo }) }
	for i := range f.cfg.VOs {
		vo := f.cfg.VOs[i].Name
		if named(vo) >= 0 {
			continue
		}
		n, err := f.openOf(ctx, vo)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			return nil, fmt.Errorf("%s has %s that are not over, and their work needs its accounts: set let_go = true in its [[vo]], and remove the table when they are over", vo, grid.Count(n, "leg"))
		}
	}
	for _, m := range f.members() {
		if m.vo == "" {
			continue
		}
		i := named(m.vo)
		switch {
		case i < 0 || to.VOs[i].LetGo:
			c.out = append(c.out, m)
			c.words = append(c.words, "VO "+m.vo+" is let go")
		case to.VOs[i].Listen != m.listen || to.VOs[i].TLS != m.tls || !reflect.DeepEqual(to.VOs[i].Gossip, m.gossip):
			c.moved = append(c.moved, "vo "+m.vo+" (listen, gossip and certificate files; or let it go and take it in again)")
		}
	}
	for i := range to.VOs {
		v := &to.VOs[i]
		if v.LetGo || slices.ContainsFunc(f.members(), func(m *membership) bool { return m.vo == v.Name }) {
			continue
		}
		c.in = append(c.in, ofVO(v))
		c.words = append(c.words, "VO "+v.Name+" is taken in")
	}
	if f.cfg.VOShare != to.VOShare || !slices.Equal(f.cfg.VOShares, to.VOShares) {
		c.words = append(c.words, "shares of VOs")
	}
	return c, nil
}

// openOf counts the legs of a VO that hold nodes.
func (f *siteFile) openOf(ctx context.Context, vo string) (n int, err error) {
	err = f.host.View(ctx, f.name, func(_ grid.Time, a agents.Agent) {
		for _, l := range a.(*sites.Site).OpenLegs() {
			if grid.VOOf(l.Leg.Tx.Broker) == vo {
				n++
			}
		}
	})
	return n, err
}

// check tries the new settings without applying them, and reads certificates and
// revocations again if they may take effect.
func (c *rereading) check(certificates bool) error {
	for _, m := range c.in {
		if err := c.notOwn(m.vo); err != nil {
			return err
		}
		if err := c.certified(m); err != nil {
			return fmt.Errorf("VO %s: %w", m.vo, err)
		}
		if _, err := certificate.GossipKeys(m.gossip.Key); err != nil {
			return fmt.Errorf("VO %s: %w", m.vo, err)
		}
	}
	remarks, err := c.siteFile.nodes.accounts(c.to.Mapping())
	if err != nil {
		return err
	}
	for _, remark := range remarks {
		c.log.Warn().Msg(remark)
	}
	if !certificates {
		return nil
	}
	stores := []*certificate.Store{c.store}
	for _, m := range c.members() {
		if m.store != c.store {
			stores = append(stores, m.store)
		}
	}
	for _, s := range stores {
		if s == nil {
			continue
		}
		if err := s.Reload(); err != nil {
			return err
		}
		if n := s.Current(); n != max(c.seen[s], 1) { // a peer's message may already have caused the reading
			c.seen[s] = n
			c.words = append(c.words, "certificates of "+s.Identity().VO)
		}
	}
	return nil
}

// carryOut reconfigures the agents, joins new VOs, and leaves those that are let go, whose
// brokers are told.
func (c *rereading) carryOut(ctx context.Context, w api.ReloadWish) error {
	if _, err := c.ask(ctx, c.wish(w)); err != nil {
		return err
	}
	in := slices.Clone(c.members())
	for _, m := range c.in {
		if err := c.enter(m); err != nil {
			for _, entered := range in[len(c.members()):] {
				c.part(ctx, entered)
			}
			return errors.Join(fmt.Errorf("VO %s: %w", m.vo, err), c.takeBack(ctx))
		}
		in = append(in, m)
	}
	c.become(slices.DeleteFunc(in, func(m *membership) bool { return slices.Contains(c.out, m) }))
	for _, m := range c.out {
		c.part(ctx, m)
	}
	return nil
}

// part makes the site leave a VO.
func (c *rereading) part(ctx context.Context, m *membership) {
	c.vos.LetGo(m.vo)
	if err := m.node.Leave(ctx); err != nil {
		c.log.Warn().Str("vo", m.vo).Err(err).Msg("leaving the VO")
	}
}
