package torture

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

// mixed reports whether an agent of a seed's world is of the last release.
func mixed(seed uint64) bool { return seed > 60 && seed%4 == 1 }

// drawRelease draws who that is. Its nodes are not divided, and its jobs take whole nodes: the
// release has no others.
func (w *world) drawRelease() {
	r := rand.New(rand.NewPCG(w.seed, streamRelease))
	w.release, w.carried = wire.LastRelease(), map[string]int{}
	if r.IntN(2) == 0 {
		s := &w.sites[r.IntN(len(w.sites))]
		w.old = siteID(s.config.Name)
		for k := range s.config.Groups {
			s.config.Groups[k].Slices, s.config.Groups[k].Cores = 0, 0
		}
		return
	}
	v := &w.brokers[r.IntN(len(w.brokers))]
	w.old = brokerID(v.config.Name)
	v.jobs = slices.Clone(v.jobs)
	for k := range v.jobs {
		v.jobs[k].Portion = grid.Portion{}
	}
}

// carry takes a message over the wire between the agent of the last release and the others;
// nil: nobody there knows it. It panics if what is left of it cannot be read, as a build may
// not need what a release within its promise does not say.
func (w *world) carry(from, to agents.ID, m agents.Message) agents.Message {
	from, to = voice(from), voice(to)
	if _, _, crosses := wire.Ends(m.Kind()); !crosses || (from == w.old) == (to == w.old) {
		return m
	}
	out, err := w.release.Pass(from, to, m)
	if err != nil {
		panic(fmt.Sprintf("%s from %s to %s, as the last release says it: %v", m.Kind(), from, to, err))
	}
	w.carried[m.Kind()]++
	return out
}
