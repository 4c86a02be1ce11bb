package sites

import (
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// life is what a site remembers of the lives of one broker.
type life struct {
	broker  string
	highest uint32            // the latest incarnation seen
	listed  uint32            // the latest that has been told its legs
	seen    []bourse.LifeSeen // the latest few
}

// see takes note of a life later than all before. Of those before only the
// latest few are remembered: what earlier ones ask for is fenced by highest, and
// what they decided by listed.
func (f *life) see(x bourse.LifeSeen) {
	if len(f.seen) >= maxLives {
		f.seen = slices.Delete(f.seen, 0, 1)
	}
	f.seen = append(f.seen, x)
	f.highest = x.Incarnation
}

// address is where the broker is told of its legs: where its latest life spoke
// from.
func (f *life) address() agents.ID { return agents.ID(f.seen[len(f.seen)-1].Address) }

// twin reports whether the incarnation is known with another nonce: another
// process has taken the broker's name, or it has begun again from an older
// journal.
func (f *life) twin(incarnation uint32, nonce uint64) bool {
	for _, x := range f.seen {
		if x.Incarnation == incarnation {
			return x.Nonce != nonce
		}
	}
	return false
}

// life returns what is known of a broker, nothing if it never spoke.
func (m *memory) life(broker string) *life {
	if f := m.lives[broker]; f != nil {
		return f
	}
	return &life{broker: broker}
}
