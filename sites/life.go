package sites

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
)

// life is what a site remembers about the lives of one broker.
type life struct {
	broker  string
	highest uint32           // the latest incarnation seen
	listed  uint32           // the latest incarnation to which the site has listed legs
	seen    []facts.LifeSeen // the latest few
}

// see adds a life later than all before. Only the latest few are remembered: requests of
// earlier ones are fenced by highest, and their decisions by listed.
func (f *life) see(x facts.LifeSeen) {
	if len(f.seen) >= maxLives {
		f.seen = slices.Delete(f.seen, 0, 1)
	}
	f.seen = append(f.seen, x)
	f.highest = x.Incarnation
}

// address is where the site reports to the broker: the address of its latest life.
func (f *life) address() agents.ID { return agents.ID(f.seen[len(f.seen)-1].Address) }

// twin reports whether the incarnation is known with another nonce: another process uses the
// broker's name, or the broker has restarted from an older journal.
func (f *life) twin(incarnation uint32, nonce uint64) bool {
	for _, x := range f.seen {
		if x.Incarnation == incarnation {
			return x.Nonce != nonce
		}
	}
	return false
}

// life returns what is known about a broker, which is empty if the site never heard from it.
func (m *memory) life(broker string) *life {
	if f := m.lives[broker]; f != nil {
		return f
	}
	return &life{broker: broker}
}
