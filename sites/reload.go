package sites

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// Settings marks the type as an agents.Settings.
func (Config) Settings() {}

// reload puts other settings into force. If they concern the cluster too, that is asked in
// line, so that no request is served between the two. Rows S124, S125.
func (o *operator) reload(t step, m agents.Reload) {
	why := o.reloadable(m)
	switch {
	case why.Refused():
		t.out.Row("S125")
		t.reply(agents.ReloadReply{Reason: why})
	case m.Cluster == nil:
		o.reloaded(t, m, agents.ClusterReloaded{})
	default:
		o.requests.add(t, request{from: t.from, m: m})
	}
}

// reloadable says why a Reload cannot be tried now.
func (o *operator) reloadable(m agents.Reload) grid.Reason {
	to, ok := m.Site.(Config)
	switch {
	case m.Site != nil && !ok, m.Site == nil && m.Cluster == nil, len(m.Changes) > agents.MaxSettings:
		return refused(grid.Invalid, "these are not settings of %s", o.cfg.Name).Refusal
	case ok && to.Name != o.cfg.Name:
		return refused(grid.Invalid, "these are the settings of site %s, and this is %s; reload its own file", to.Name, o.cfg.Name).Refusal
	case len(m.Why) > maxWords:
		return tooLong("why", m.Why, maxWords)
	case o.requests.reloading():
		return refused(grid.Busy, "another reload of %s is under way; repeat this one when that has been answered", o.cfg.Name).Refusal
	}
	return o.requests.full("")
}

// reloaded carries out a Reload once the cluster, if it was asked, has answered.
func (o *operator) reloaded(t step, m agents.Reload, said agents.ClusterReloaded) {
	answer := agents.ReloadReply{Reason: said.Refusal, Lost: said.Lost, Legs: said.Locks, Jobs: said.Jobs}
	if m.Dry || answer.Reason.Refused() {
		t.out.Row("S125")
	} else {
		t.out.Row("S124")
		if len(said.Groups) > 0 {
			o.record(t, facts.NodesSet{Groups: said.Groups, Force: m.Force, Why: m.Why})
		}
		for _, x := range m.Changes {
			o.record(t, facts.SettingChanged{Key: x.Key, Was: x.Was, Is: x.Is, Why: m.Why})
		}
		if to, ok := m.Site.(Config); ok {
			o.become(to, m.Cluster != nil)
		}
	}
	t.reply(answer)
}

// clusterReloaded takes the cluster's answer to the Reload that is first in line.
func (s *Site) clusterReloaded(t step, m agents.ClusterReloaded) {
	q := &s.requests
	if q.question != settings || m.Ref != q.ref {
		return
	}
	k := q.first()
	t.from = k.from
	s.operator.reloaded(t, k.m.(agents.Reload), m)
	q.next(t)
}

// become puts a configuration into force. What makes the agent what it is stays: its name,
// its peers, its key. If its cluster has changed too, all that the site knows of it is void.
func (s *Site) become(to Config, cluster bool) {
	to.Name, to.Cluster, to.Key, to.Meeting = s.cfg.Name, s.cfg.Cluster, s.cfg.Key, s.cfg.Meeting
	to.Lossless, to.MaxWork, to.MaxKept = s.cfg.Lossless, s.cfg.MaxWork, s.cfg.MaxKept
	*s.cfg = to.complete()
	s.limits.of(s.offers.index())
	v := s.offers.view
	if cluster {
		*v = view{books: make([]*pricing.Book, len(s.cfg.Groups))}
	}
	v.promises = s.cfg.Promises
	clear(v.planned)
	clear(v.schedules)
	for i := range v.books {
		v.books[i] = pricing.NewBook()
		v.books[i].Price(s.cfg.Pricing)
	}
}

// complete fills in what a Config leaves out.
func (c Config) complete() Config {
	if c.FallsAtOnce {
		c.Cancellation.Full = 0
	} else if c.Cancellation == (grid.Cancellation{}) {
		c.Cancellation = grid.HalfTime
	}
	if c.MaxKept == 0 {
		c.MaxKept = MaxKept
	}
	return c
}

// of takes how many nodes the site has.
func (l *limits) of(nodes int) { l.nodes = nodes }

// index brings the index of the groups up to date, and returns how many nodes they have.
func (o *offers) index() (nodes int) { return o.cfg.index(o.groups) }

// index makes groups the index of c.Groups by name, and returns how many nodes they have.
func (c *Config) index(groups map[string]int) (nodes int) {
	clear(groups)
	for i, g := range c.Groups {
		groups[g.Name] = i
		nodes += g.Nodes
	}
	return nodes
}
