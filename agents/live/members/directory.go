package members

import (
	"cmp"
	"slices"
	"sync"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/wire"
)

// Most bounds how many processes a directory knows: about 1 MB. Further ones are
// ignored and counted.
const Most = 4096

// Directory says where agents are, as far as gossip knows. Of several living processes with
// one name it returns the latest; one that is leaving or has not begun only if there is no
// other. It is safe for concurrent use; a lookup is a map access.
type Directory struct {
	mu      sync.RWMutex
	lives   map[agents.ID][]Member // the living; the one in use is first
	members int
	ignored uint64
}

// Change is what a piece of gossip has changed about an agent.
type Change struct {
	Member
	Kind ChangeKind
}

// ChangeKind says what has changed about an agent for others.
type ChangeKind int

const (
	Stayed ChangeKind = iota // nothing relevant
	Came                     // it may be asked from now on, or it is a new life, possibly at another address
	Told                     // its metadata has changed
	Went                     // it must not be asked for anything new
)

// New returns a directory that knows nobody.
func New() *Directory { return &Directory{lives: map[agents.ID][]Member{}} }

// Find returns the process in which an agent lives; false if gossip knows none that is
// alive and shares a version of the wire format.
func (d *Directory) Find(id agents.ID) (Member, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.find(id)
}

func (d *Directory) find(id agents.ID) (Member, bool) {
	if lives := d.lives[id]; len(lives) > 0 && lives[0].Understood() {
		return lives[0], true
	}
	return Member{}, false
}

// Has reports whether a life is among the living, at the address that it gives.
func (d *Directory) Has(m Member) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return slices.ContainsFunc(d.lives[m.Agent], func(l Member) bool { return l.Life == m.Life && l.Address == m.Address })
}

// Members returns the living processes, one for each agent, in order of name.
func (d *Directory) Members() []Member {
	d.mu.RLock()
	defer d.mu.RUnlock()
	list := make([]Member, 0, len(d.lives))
	for _, lives := range d.lives {
		list = append(list, lives[0])
	}
	slices.SortFunc(list, func(a, b Member) int { return cmp.Compare(a.Agent, b.Agent) })
	return list
}

// Rivals returns how many living processes have an agent's name.
func (d *Directory) Rivals(id agents.ID) int {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return len(d.lives[id])
}

// Beyond returns how often a process was ignored because there were too many.
func (d *Directory) Beyond() uint64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.ignored
}

// Hear takes the gossip that a life of an agent is alive or not, and returns what that
// changes for processes that ask the agent.
func (d *Directory) Hear(m Member, alive bool) Change {
	d.mu.Lock()
	defer d.mu.Unlock()
	before, asked := d.find(m.Agent)
	lives := d.lives[m.Agent]
	i := slices.IndexFunc(lives, func(l Member) bool { return l.Life == m.Life })
	switch {
	case alive && i >= 0:
		lives[i] = m
	case alive && d.members == Most:
		d.ignored++
		return Change{Member: m}
	case alive:
		lives = append(lives, m)
		d.members++
	case i >= 0:
		lives = slices.Delete(lives, i, i+1)
		d.members--
	}
	slices.SortFunc(lives, meant)
	if d.lives[m.Agent] = lives; len(lives) == 0 {
		delete(d.lives, m.Agent)
	}
	after, ask := d.find(m.Agent)
	return compare(before, asked && before.Flags&Idle == 0, after, ask && after.Flags&Idle == 0)
}

// Idle are the flags of a life that must not be asked for anything new: it is about to
// leave, or has not begun.
const Idle = Leaving | Waiting

// meant orders the lives of an agent: first those that are not idle, then by the latest
// term in which they lead, then by the latest start.
func meant(a, b Member) int {
	return cmp.Or(cmp.Compare(min(a.Flags&Idle, 1), min(b.Flags&Idle, 1)), cmp.Compare(b.Term, a.Term), cmp.Compare(b.Life, a.Life))
}

// compare compares the previous life of an agent in use with the present one.
func compare(before Member, asked bool, after Member, ask bool) Change {
	switch {
	case !asked && !ask:
		return Change{Member: after}
	case !ask:
		return Change{before, Went}
	case !asked || before.Life != after.Life || before.Address != after.Address:
		return Change{after, Came}
	case before != after:
		return Change{after, Told}
	}
	return Change{Member: after}
}

// Understood reports whether there is a common version of the wire format.
func (m Member) Understood() bool { return m.Oldest <= wire.Version && wire.Oldest <= m.Version }
