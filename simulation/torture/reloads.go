package torture

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Reloads: in a quarter of the worlds beyond those that seeds on record need, operators change
// prices and nodes of their sites while legs are held, placed and running. A change that would
// take nodes away from legs is asked without the operator's word first.

// SiteReload is a site that gets other settings. Size says which: a price, more nodes, fewer
// nodes, or fewer by force.
const SiteReload sim.Kind = "site-reload"

// reloading reports whether sites get other settings in the world of a seed.
func reloading(seed uint64) bool { return seed > 60 && seed%4 == 3 }

// reloads is how many a run has.
const reloads = 12

// reloadFaults draws the reloads of a seed.
func reloadFaults(seed uint64) (list []sim.Fault) {
	r := rand.New(rand.NewPCG(seed, streamReloads))
	for range reloads {
		list = append(list, sim.Fault{Kind: SiteReload, Host: siteID(siteNames[r.IntN(len(siteNames))]), Salt: 1 + r.Uint64N(1<<32), Size: r.Int64N(4),
			At: start.Add(grid.Duration(r.Int64N(int64(storm - 20*grid.Minute))))})
	}
	return list
}

// reload asks a site to go on by other settings. Its file has them once its cluster does: a
// life that begins before goes by the old one.
func (w *world) reload(f sim.Fault) {
	for i := range w.sites {
		s := &w.sites[i]
		if siteID(s.config.Name) != f.Host {
			continue
		}
		next := *s
		next.config.Groups, next.nodeNames = slices.Clone(s.config.Groups), slices.Clone(s.nodeNames)
		k := int(f.Salt % uint64(len(next.config.Groups)))
		g, n := &next.config.Groups[k], 1+int(f.Salt>>8%4)
		was := *g
		switch {
		case f.Size == 0 || s.deadlines != nil:
			g.Price = grid.Price(1+f.Salt>>8%4) * 500_000
		case f.Size == 1 && s.kind == simulated:
			g.Nodes += n
		case f.Size == 1: // as many as its manager has
			g.Nodes = min(g.Nodes+n, cap(next.nodeNames[k]))
		default:
			g.Nodes = max(2, g.Nodes-n)
		}
		if s.kind != simulated {
			next.nodeNames[k] = next.nodeNames[k][:g.Nodes]
		}
		why := fmt.Sprintf("reload %x", f.Salt)
		if w.readings == nil {
			w.readings = map[string]site{}
		}
		w.readings[why] = next
		w.Inject(w.Now(), siteOperatorID, f.Host, agents.Reload{
			Site: next.config, Cluster: cluster.Nodes{Groups: next.config.Groups, New: next.backend}, Nonce: f.Salt << 20, Force: f.Size == 3, Why: why,
			Changes: []grid.Setting{{Key: "group " + g.Name, Was: fmt.Sprint(was.Nodes, " at ", was.Price), Is: fmt.Sprint(g.Nodes, " at ", g.Price)}}})
	}
}

// reloaded makes the file of a site that of its cluster.
func (w *world) reloaded(s *sim.Step) {
	name, is := strings.CutPrefix(string(s.ID), "cluster:")
	if !is {
		return
	}
	for _, f := range s.Facts {
		set, ok := f.(facts.NodesSet)
		if !ok {
			continue
		}
		for i := range w.sites {
			if w.sites[i].config.Name == name {
				w.sites[i] = w.readings[set.Why]
			}
		}
	}
}

// set takes the nodes that a cluster now has.
func (c *checker) set(s *sim.Step, f agents.Fact) {
	set, ok := f.(facts.NodesSet)
	if !ok {
		return
	}
	name := strings.TrimPrefix(string(s.ID), "cluster:")
	for _, g := range set.Groups {
		known := c.groups[name][g.Group]
		known.Nodes = g.Nodes
		c.groups[name][g.Group] = known
	}
}

// unasked checks that a reload takes nodes away from legs only with the operator's word.
func unasked(s *sim.Step, f facts.LockMoved) error {
	if m, is := s.Message.(agents.ClusterReload); is && f.State == facts.LockLost && (m.Dry || !m.Force) {
		return fmt.Errorf("leg %v loses its nodes to a reload without its operator's word", f.Leg)
	}
	return nil
}
