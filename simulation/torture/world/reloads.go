package world

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
// prices, limits, accounts and nodes of their sites while legs are held, placed and running. A
// change that would take nodes away from legs is asked without the operator's word first.

// SiteReload is a site that gets other settings. Size says which: a price with limits and accounts, more nodes, fewer
// nodes, or fewer by force.
const SiteReload sim.Kind = "site-reload"

// Reloading reports whether sites get other settings in the world of a seed.
func Reloading(seed uint64) bool { return seed > 60 && seed%4 == 3 }

// Reloads is how many a run has.
const Reloads = 12

// reloadFaults draws the reloads of a seed.
func reloadFaults(seed uint64) (list []sim.Fault) {
	r := rand.New(rand.NewPCG(seed, streamReloads))
	for range Reloads {
		list = append(list, sim.Fault{Kind: SiteReload, Host: SiteID(SiteNames[r.IntN(len(SiteNames))]), Salt: 1 + r.Uint64N(1<<32), Size: r.Int64N(4),
			At: Start.Add(grid.Duration(r.Int64N(int64(Storm - 20*grid.Minute))))})
	}
	return list
}

// reload asks a site to go on by other settings. Its file has them once its cluster does: a
// life that begins before goes by the old one.
func (w *World) reload(f sim.Fault) {
	for i := range w.Sites {
		s := &w.Sites[i]
		if SiteID(s.Config.Name) != f.Host {
			continue
		}
		next := *s
		next.Config.Groups, next.nodeNames = slices.Clone(s.Config.Groups), slices.Clone(s.nodeNames)
		k := int(f.Salt % uint64(len(next.Config.Groups)))
		g, n := &next.Config.Groups[k], 1+int(f.Salt>>8%4)
		was := *g
		switch {
		case f.Size == 0 || s.Deadlines != nil:
			g.Price = grid.Price(1+f.Salt>>8%4) * 500_000
			next.Config.Limits.MaxShare = []int{0, 0, 900, 600}[f.Salt>>16%4]
			next.renamed()
		case f.Size == 1 && s.Behind == Simulated:
			g.Nodes += n
		case f.Size == 1: // as many as its manager has
			g.Nodes = min(g.Nodes+n, cap(next.nodeNames[k]))
		default:
			g.Nodes = max(2, g.Nodes-n)
		}
		if s.Behind != Simulated {
			next.nodeNames[k] = next.nodeNames[k][:g.Nodes]
		}
		why := fmt.Sprintf("reload %x", f.Salt)
		if w.readings == nil {
			w.readings = map[string]Site{}
		}
		w.readings[why] = next
		w.Inject(w.Now(), siteOperatorID, f.Host, agents.Reload{
			Site: next.Config, Cluster: cluster.Nodes{Groups: next.Config.Groups, New: next.backend}, Nonce: f.Salt << 20, Force: f.Size == 3, Why: why,
			Changes: []grid.Setting{{Key: "group " + g.Name, Was: fmt.Sprint(was.Nodes, " at ", was.Price), Is: fmt.Sprint(g.Nodes, " at ", g.Price)}}})
	}
}

// reloaded makes the file of a site that of its cluster.
func (w *World) reloaded(s *sim.Step) {
	name, is := strings.CutPrefix(string(s.ID), "cluster:")
	if !is {
		return
	}
	for _, f := range s.Facts {
		set, ok := f.(facts.NodesSet)
		if !ok {
			continue
		}
		for i := range w.Sites {
			if to, asked := w.readings[set.Why]; asked && w.Sites[i].Config.Name == name {
				w.Sites[i] = to
			}
		}
	}
}
