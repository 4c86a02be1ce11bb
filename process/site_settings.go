package process

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/sites"
	"github.com/bourse-grid/bourse/web/api"
)

// settings makes the settings of both agents from the new reading, and lists what differs.
// A cluster that would stay the same is left alone.
func (c *rereading) settings(text []byte) (err error) {
	was, to := c.cfg, c.to // what needs a restart stays until then
	to.Policy, to.SLA, to.Shared, to.Queues, to.Overrun, to.Estimates, to.HalfLife = was.Policy, was.SLA, was.Shared, was.Queues, was.Overrun, was.Estimates, was.HalfLife
	to.Cluster = was.Cluster
	these := atRunTime
	if c.siteFile.nodes.driver != nil {
		these = slices.DeleteFunc(slices.Clone(these), func(key string) bool { return slices.Contains(simulated, key) })
	}
	if c.changes, err = keys.Differences(c.applied, text, these); err != nil {
		return err
	}
	if c.agent, err = c.to.Agent(c.siteFile.agent.Cluster, c.to.ShareSpan, c.to.Lead); err != nil {
		return err
	}
	nodes, remarks, err := c.siteFile.nodes.again(c.to, &c.agent)
	if err != nil {
		return err
	}
	for _, remark := range remarks {
		c.log.Warn().Msg(remark)
	}
	c.found()
	for _, x := range c.changes {
		top, _, _ := strings.Cut(strings.ReplaceAll(x.Key, ":", " "), " ")
		if !slices.Contains([]string{"vo", "vo_share", "vo_shares"}, top) || strings.Contains(x.Key, " account ") {
			c.words = append(c.words, fmt.Sprintf("%s: %s is now %s", x.Key, cmp.Or(x.Was, "nothing"), cmp.Or(x.Is, "nothing")))
		}
	}
	if len(c.changes) > agents.MaxSettings {
		return fmt.Errorf("%d settings differ, at most %d can change at once; restart the site, or change the file in parts", len(c.changes), agents.MaxSettings)
	}
	if c.concernsCluster() {
		c.nodes = &nodes
	}
	return nil
}

// found adds what has changed though the file has not: the rows of a price file, and the
// nodes that a resource manager has.
func (c *rereading) found() {
	was := c.siteFile.agent.Groups
	for _, g := range c.agent.Groups {
		i := slices.IndexFunc(was, func(x grid.Group) bool { return x.Name == g.Name })
		if i < 0 {
			continue
		}
		if !slices.ContainsFunc(c.changes, func(x grid.Setting) bool { return strings.HasPrefix(x.Key, "price") }) && !reflect.DeepEqual(was[i].Curve, g.Curve) {
			c.changes = append(c.changes, grid.Setting{Key: "price_file", Was: "as read before", Is: "as read now"})
		}
		key := "group " + g.Name + ": nodes"
		if was[i].Nodes != g.Nodes && !slices.ContainsFunc(c.changes, func(x grid.Setting) bool { return x.Key == key }) {
			c.changes = append(c.changes, grid.Setting{Key: key, Was: fmt.Sprint(was[i].Nodes), Is: fmt.Sprint(g.Nodes)})
		}
	}
}

// concernsCluster reports whether the cluster must go on by other settings: other nodes,
// other local work, other accounts, or, where it prices promises itself, other prices.
func (c *rereading) concernsCluster() bool {
	was, is := c.cfg, c.to
	same := slices.EqualFunc(c.siteFile.agent.Groups, c.agent.Groups, func(a, b grid.Group) bool {
		if was.SLA == nil {
			a.Price, a.Curve, b.Price, b.Curve = 0, nil, 0, nil
		}
		return reflect.DeepEqual(a, b)
	})
	if c.siteFile.nodes.driver != nil {
		return !same || !slices.EqualFunc(was.Mapping(), is.Mapping(), configs.Account.Same)
	}
	return !same || !reflect.DeepEqual(was.Workload, is.Workload) || was.JobLimits != is.JobLimits || was.QueueLimit != is.QueueLimit
}

// wish is the message that puts the settings into force.
func (c *rereading) wish(w api.ReloadWish) agents.Reload {
	m := agents.Reload{Site: c.agent, Changes: c.changes, Nonce: nonce(), Force: w.Force, Why: w.Why}
	if c.nodes != nil {
		m.Cluster = *c.nodes
	}
	return m
}

// nonce is a number that no other Reload has; never 0.
func nonce() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // which never fails
	return binary.NativeEndian.Uint64(b[:]) | 1
}

// rehearse asks what would come of the settings, and refuses what takes nodes away from legs
// without the operator's word.
func (c *rereading) rehearse(ctx context.Context, w api.ReloadWish, r *api.Reloaded) error {
	m := c.wish(w)
	m.Dry = true
	said, err := c.ask(ctx, m)
	if err != nil {
		return err
	}
	if r.Legs, r.Jobs = said.Legs, said.Jobs; said.Legs > 0 {
		if r.Lost, err = c.losers(ctx, said.Lost); err != nil {
			return err
		}
	}
	if said.Legs == 0 || w.Force {
		return nil
	}
	why := takes(said.Legs, &r.Lost[0])
	if w.DryRun {
		r.Refused = why
		return nil
	}
	return fmt.Errorf("%s. --dry-run lists them; --force takes the nodes, with refund and penalty. To keep them, put the file back as it was: no start goes by one that takes them away", why)
}

// takes says from whom a file takes nodes, or an account, away.
func takes(legs int, first *api.LostLeg) string {
	whose := fmt.Sprintf("job %s of %s, ", cmp.Or(first.Job, "none"), cmp.Or(first.User, first.Broker, "nobody"))
	if first.Broker == "" {
		whose = "maintenance " + first.Name + ", "
	}
	if first.Nodes == 0 { // of none that the site still has
		whose = "which is over for the site"
	} else {
		whose += fmt.Sprintf("%s of %s until %s", grid.Count(first.Nodes, "node"), first.Group, first.End.Time().UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("it would take away nodes or accounts that are promised to legs (%d), the first %s (%s)", legs, first.Leg, whose)
}

// losers says whose legs those are.
func (c *rereading) losers(ctx context.Context, lost []grid.LegID) (list []api.LostLeg, err error) {
	err = c.host.View(ctx, c.name, func(_ grid.Time, a agents.Agent) { list = lostLegs(a.(*sites.Site), lost) })
	return list, err
}

// lostLegs says whose the legs are that lose their nodes. Maintenance is a leg of no broker.
func lostLegs(s *sites.Site, lost []grid.LegID) []api.LostLeg {
	of := map[grid.LegID]sites.OpenLeg{}
	for _, l := range s.OpenLegs() {
		of[l.Leg] = l
	}
	names := map[grid.LegID]string{}
	for _, m := range s.Maintained() {
		of[m.Leg], names[m.Leg] = sites.OpenLeg{What: m.What}, m.Name
	}
	list := make([]api.LostLeg, len(lost))
	for i, id := range lost {
		x := api.LostLeg{Leg: id.String(), Broker: id.Tx.Broker, Name: names[id]}
		if l, known := of[id]; known {
			if x.Job, x.User = l.Job, l.User; id.Tx.Broker != "" {
				x.State = l.State.String()
			}
			x.Group, x.Nodes, x.Start, x.End = l.What.Group, l.What.Nodes, api.Instant(l.What.Start), api.Instant(l.What.End)
		}
		list[i] = x
	}
	return list
}

// reloadWithin bounds how long the agents may take over a Reload.
const reloadWithin = time.Minute

// ask hands a Reload to the site.
func (c *rereading) ask(ctx context.Context, m agents.Reload) (r agents.ReloadReply, err error) {
	if len(m.Changes) == 0 && m.Cluster == nil && c.same() {
		return r, nil
	}
	ctx, stop := context.WithTimeout(ctx, reloadWithin)
	defer stop()
	answer, err := c.host.Ask(ctx, "operator:", c.process.name, m)
	if err != nil {
		return r, err
	}
	r, _ = answer.(agents.ReloadReply)
	if r.Reason.Refused() {
		return r, fmt.Errorf("%s", r.Reason)
	}
	return r, nil
}

// same reports whether the site's own settings stay as they are.
func (c *rereading) same() bool {
	return c.siteFile.agent.VOShare == c.agent.VOShare && reflect.DeepEqual(c.siteFile.agent.VOShares, c.agent.VOShares)
}

// takeBack puts the settings before these into force again. What has lost its nodes stays
// lost.
func (c *rereading) takeBack(ctx context.Context) error {
	m := agents.Reload{Site: c.siteFile.agent, Nonce: nonce(), Force: true, Why: "a reload was taken back"}
	for _, x := range c.changes {
		m.Changes = append(m.Changes, grid.Setting{Key: x.Key, Was: x.Is, Is: x.Was})
	}
	if c.nodes != nil {
		was := c.siteFile.agent
		before, _, err := c.siteFile.nodes.again(c.cfg, &was)
		if err != nil {
			return err
		}
		m.Cluster = before
	}
	_, err := c.ask(ctx, m)
	return err
}
