package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/manager"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// behind holds what truly is in the resource managers of a world, and has run on their
// nodes, against what sites have on record: I19 to I24, and I1. Of what clusters say of
// themselves it uses nothing but their names for legs.
type behind struct {
	c     *Checker
	legs  map[string]grid.LegID // by the name of everything for a leg
	named map[grid.LegID]string // and the reverse: every step asks for the names of all legs
	sites map[agents.ID]*behindSite
	since map[difference]grid.Time
	right map[grid.LegID]grid.Time // since when a leg has everything it needs
	lost  map[grid.LegID]bool      // its cluster has said so
	names map[grid.LegID][]string  // of the nodes that were locked for a leg
	// begins holds by name whose work runs by its cluster's record.
	begins map[string]bool
	pilots *pilots
}

// behindSite is what is known about one manager.
type behindSite struct {
	site    *world.Site
	manager *manager.Manager
	seen    int             // of its runs
	looked  grid.Time       // at it
	told    grid.Time       // when its cluster last had a look that was new
	life    grid.Time       // the last beginning of its site or cluster
	denied  map[string]bool // what it has not created, though it is there: whether its leg was locked
	faults  []sim.Fault     // that part them, or stop either
}

// difference is a way in which a leg may differ from what is behind its site.
type difference struct {
	leg  grid.LegID
	what string
}

// Bounds on how long something may last while no fault strikes the manager, the cluster or
// its site.
const (
	causeBound  = 2 * grid.Minute  // for a leg that has everything it needs, and is lost
	orphanBound = 10 * grid.Minute // for remains of a leg that has ended
	endBound    = 5 * grid.Minute  // of its work
	mendBound   = 8 * grid.Minute  // of a difference
	unfitBound  = 7 * grid.Minute  // since when a node may not be up that a leg is placed on: a look of 5 minutes ago counts
	goneBound   = grid.Minute      // for a leg whose reservation has vanished, after a look has shown that
	leisure     = 15 * grid.Minute // after the calm, to see these bounds reached
)

func newBehind(c *Checker) *behind {
	b := &behind{c: c, legs: map[string]grid.LegID{}, named: map[grid.LegID]string{}, sites: map[agents.ID]*behindSite{}, since: map[difference]grid.Time{}, right: map[grid.LegID]grid.Time{}, lost: map[grid.LegID]bool{}, names: map[grid.LegID][]string{}, begins: map[string]bool{}}
	b.pilots = newPilots(b)
	for i := range c.w.Sites {
		s := &c.w.Sites[i]
		name := s.Config.Name
		m := c.w.Managers[world.DriverID(name)]
		if m == nil {
			continue
		}
		b.sites[world.DriverID(name)] = &behindSite{site: s, manager: m, denied: map[string]bool{}, faults: c.w.FaultsOf(world.SiteID(name), world.ClusterID(name))}
	}
	return b
}

// name returns what everything for a leg is called in a manager.
func (b *behind) name(id grid.LegID) string {
	n, known := b.named[id]
	if !known {
		n = managed.Name(world.Prefix, id)
		b.named[id] = n
	}
	return n
}

// life records that an agent restarts.
func (b *behind) life(l *sim.Life) {
	_, name, _ := strings.Cut(string(l.ID), ":")
	if x := b.sites[world.DriverID(name)]; x != nil && (l.ID == world.SiteID(name) || l.ID == world.ClusterID(name)) {
		x.life = l.At
	}
}

// step takes note of the legs that clusters are asked to hold, and looks behind them
// when a manager has stepped.
func (b *behind) step(s *sim.Step) error {
	if h, ok := s.Message.(agents.ClusterHold); ok {
		b.legs[b.name(h.Leg)] = h.Leg
	}
	b.pilots.step(s)
	if err := b.ofCluster(s); err != nil {
		return err
	}
	x := b.sites[s.ID]
	if x == nil {
		return nil
	}
	if t := x.manager.Touched(); len(t) > 0 {
		if strings.HasPrefix(t[0], "I1: ") {
			return fmt.Errorf("%s", t[0])
		}
		return fmt.Errorf("I21: at %s %s", s.ID, t[0])
	}
	for ; x.seen < len(x.manager.Runs()); x.seen++ {
		if err := b.begun(x, x.seen); err != nil {
			return err
		}
	}
	if _, struck := s.Message.(manager.Strike); !struck && s.At.Sub(x.looked) < 2*grid.Second {
		return nil
	}
	x.looked = s.At
	return cmp.Or(b.compare(x), b.pilots.atSite(x))
}

// ofCluster records what a cluster hears from its driver, and checks that the cluster does
// not take a leg for lost that has everything it needs (I24), if it could know that, unless the
// operator's word takes its nodes away.
func (b *behind) ofCluster(s *sim.Step) error {
	_, name, _ := strings.Cut(string(s.ID), ":")
	x := b.sites[world.DriverID(name)]
	if x == nil || s.ID != world.ClusterID(name) {
		return nil
	}
	if l, ok := s.Message.(agents.Looked); ok && !s.Died && l.Look != nil && l.Look.At > s.At.Add(-4*world.MaxOff) {
		x.told = s.At
	}
	if err := b.submits(x, s); err != nil {
		return err
	}
	for _, f := range s.Facts {
		if f, ok := f.(facts.NodesLocked); ok {
			b.names[f.Leg] = f.Names
			if err := b.pilots.locked(x, s, &f); err != nil {
				return err
			}
			for _, n := range f.Names {
				if since := x.manager.Unfit(n); since > 0 && s.At > since.Add(unfitBound) {
					return fmt.Errorf("I25: leg %v is placed on node %s, which has not been up since %v", f.Leg, n, since)
				}
			}
		}
	}
	if err := b.unread(x, s); err != nil {
		return err
	}
	for _, out := range s.Sends {
		l, ok := out.Message.(agents.ClusterLost)
		if !ok || b.lost[l.Leg] || !l.Reason.Refused() {
			continue
		}
		b.lost[l.Leg] = true
		rec := b.onRecord(x, l.Leg)
		if rec == nil {
			continue
		}
		b.judge(x, l.Leg, rec, b.differences(x, l.Leg, rec, b.kept(x)[b.name(l.Leg)])) // as it is now
		if reload, ok := s.Message.(agents.ClusterReload); ok && reload.Force {
			continue
		}
		if since := b.right[l.Leg]; since > 0 && s.At > max(since, x.life).Add(causeBound) && s.At < x.told.Add(causeBound) {
			return fmt.Errorf("I24: leg %v has had all that it needs since %v, and is lost: %v", l.Leg, since, l.Reason)
		}
	}
	return nil
}

// unread checks that no leg is refused or lost because the manager has denied creating its
// reservation although that exists: reading back would find it (I24). For a lost leg it
// counts until the next look. That a leg is lost is said again until it is heard; a denial
// since then, as of deleting its reservation, was not the cause.
func (b *behind) unread(x *behindSite, s *sim.Step) error {
	switch m := s.Message.(type) {
	case agents.CommandDone:
		delete(x.denied, m.Name)
		if id := b.legs[m.Name]; m.Outcome == agents.Denied && b.reserved(x, m.Name) {
			x.denied[m.Name] = b.names[id] != nil
		}
	case agents.Looked:
		maps.DeleteFunc(x.denied, func(name string, locked bool) bool { return locked && m.Look != nil || !b.reserved(x, name) })
	}
	for _, out := range s.Sends {
		var id grid.LegID
		var why grid.Reason
		switch m := out.Message.(type) {
		case agents.ClusterHeld:
			id, why = m.Leg, m.Refusal
		case agents.ClusterLost:
			if reload, is := s.Message.(agents.ClusterReload); is && reload.Force || b.lost[m.Leg] {
				continue // the operator's word is no denial
			}
			id, why = m.Leg, m.Reason
		default:
			continue
		}
		name := b.name(id)
		if _, denied := x.denied[name]; denied && why.Code == grid.Busy {
			return fmt.Errorf("I24: leg %v is given up by a denial that was not read back: %v", id, why)
		}
		delete(x.denied, name)
	}
	return nil
}

// reserved reports whether a manager keeps a reservation of ours.
func (b *behind) reserved(x *behindSite, name string) bool {
	return slices.ContainsFunc(b.kept(x)[name], func(k manager.Kept) bool { return k.Job == 0 })
}

// begun checks work that has begun: a confirmed leg covers it (I20), and it was not
// submitted after it had already begun (I22).
func (b *behind) begun(x *behindSite, n int) error {
	runs := x.manager.Runs()
	r := runs[n]
	if !r.Ours {
		return nil
	}
	if _, pilot := b.pilots.names[r.Name]; pilot {
		return nil
	}
	id, known := b.legs[r.Name]
	if !known {
		return fmt.Errorf("I20: work begins as %s, and no leg has that name", r.Name)
	}
	if o := before(runs[:n], r); o != nil {
		return fmt.Errorf("I22: the work of leg %v has begun at %v, was submitted again at %v and begins at %v", id, o.Begun, r.Issued, r.Begun)
	}
	if err := b.pilots.begun(x, r); err != nil {
		return err
	}
	if b.c.exempt[id] {
		return nil
	}
	if t := b.c.txs[id.Tx]; t != nil && !x.site.RunsAs(t.job.User, r.User) {
		return fmt.Errorf("I20: the work of leg %v, of %s, runs as %s", id, t.job.User, r.User)
	}
	if !b.c.leg(id).confirmed {
		return fmt.Errorf("I20: work begins for leg %v, which was never confirmed", id)
	}
	if l := b.onRecord(x, id); l != nil && r.Begun < l.What.Start.Add(-clockOff) {
		return fmt.Errorf("I20: the work of leg %v begins at %v, its window at %v", id, r.Begun, l.What.Start)
	}
	return nil
}

// before is a run of the same work that had begun when it was submitted for another, nil
// if there is none. What was submitted late ends at once.
func before(runs []*manager.Run, r *manager.Run) *manager.Run {
	for _, o := range runs {
		if o.Name == r.Name && o.Job != r.Job && !r.Late && r.Issued > o.Begun {
			return o
		}
	}
	return nil
}

// onRecord is what a site has on record of a leg, nil if nothing, or if it is down.
func (b *behind) onRecord(x *behindSite, id grid.LegID) *legMirror {
	m := b.c.of(world.SiteID(x.site.Config.Name))
	if m == nil {
		return nil
	}
	return m.legs[id]
}

// trouble is until when anything has been wrong that may have kept a cluster from what
// it has to do.
func (b *behind) trouble(x *behindSite) grid.Time {
	now, name := b.c.w.Now(), x.site.Config.Name
	if b.c.w.Agent(world.SiteID(name)) == nil || b.c.w.Agent(world.ClusterID(name)) == nil || !x.manager.Up() {
		return now
	}
	t := max(x.manager.Troubled(), x.life)
	for _, f := range x.faults {
		if f.At <= now {
			t = max(t, f.At.Add(f.For))
		}
	}
	return t
}

// said checks a site's word that a leg runs, or has run: its work has begun.
func (b *behind) said(site agents.ID, f facts.LegMoved) error {
	_, name, _ := strings.Cut(string(site), ":")
	x := b.sites[world.DriverID(name)]
	if x == nil || b.c.exempt[f.Leg] || !b.brings(f.Leg) || f.State != grid.Running && f.State != grid.Settled {
		return nil
	}
	for _, r := range x.manager.Runs() {
		if r.Name == b.name(f.Leg) {
			return nil
		}
	}
	return fmt.Errorf("I20: leg %v is %v at %s, and its work has not begun", f.Leg, f.State, name)
}
