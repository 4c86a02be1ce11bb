package world

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/wire"
	"github.com/bourse-grid/bourse/grid"
)

// Mixed versions: in a quarter of the worlds one agent, a site or a broker, is of the last
// release as far as anybody can tell: what it sends and what it is sent passes through that
// release's wire, which ignores what it does not know. The first worlds have none.

// Mixed reports whether an agent of a seed's world is of the last release.
func Mixed(seed uint64) bool { return seed > 60 && seed%4 == 1 }

// drawRelease draws who that is. Its nodes are not divided, and its jobs take whole nodes: the
// release has no others.
func (w *World) drawRelease() {
	r := rand.New(rand.NewPCG(w.seed, streamRelease))
	w.release, w.Carried = wire.LastRelease(), map[string]int{}
	if r.IntN(2) == 0 {
		s := &w.Sites[r.IntN(len(w.Sites))]
		w.old = SiteID(s.Config.Name)
		for k := range s.Config.Groups {
			s.Config.Groups[k].Slices, s.Config.Groups[k].Cores = 0, 0
		}
		return
	}
	v := &w.Brokers[r.IntN(len(w.Brokers))]
	w.old = BrokerID(v.Config.Name)
	v.Jobs = slices.Clone(v.Jobs)
	for k := range v.Jobs {
		j := &v.Jobs[k]
		j.Portion, j.Parts = grid.Portion{}, slices.Clone(j.Parts)
		for p := range j.Parts {
			j.Parts[p].Portion = grid.Portion{}
		}
	}
}

// carry takes a message over the wire between the agent of the last release and the others;
// nil: nobody there knows it. It panics if what is left of it cannot be read, as a build may
// not need what a release within its promise does not say.
func (w *World) carry(from, to agents.ID, m agents.Message) agents.Message {
	from, to = Voice(from), Voice(to)
	if _, _, crosses := wire.Ends(m.Kind()); !crosses || (from == w.old) == (to == w.old) {
		return m
	}
	out, err := w.release.Pass(from, to, m)
	if err != nil {
		panic(fmt.Sprintf("%s from %s to %s, as the last release says it: %v", m.Kind(), from, to, err))
	}
	w.Carried[m.Kind()]++
	return out
}
