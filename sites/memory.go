package sites

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// memory is what a site must not forget. It changes only when a fact is applied, so that
// replaying the facts after a restart gives the same memory. All components read it.
type memory struct {
	cfg      *Config
	facts    uint64 // recorded so far
	lives    map[string]*life
	legs     map[grid.LegID]*leg // including those in state Asked, which follow from no fact
	kept     []*leg              // those that follow from facts, in order of their first
	tombs    []*leg              // cancelled before they were known, oldest first
	keptOf   map[string]int      // by VO
	part     int                 // how many legs one part of an image has
	open     openLegs
	accounts accounts
	epochs   []facts.SiteEpoch // the site's own lives that prove their answers
	sizes    []grid.GroupNodes // of the groups, by the last fact that says so
	wishes

	// This life only.
	epoch    uint64 // its nonce
	started  uint64 // how many facts there were when it began
	began    grid.Time
	compared bool // it has seen what the cluster keeps
}

func newMemory(cfg *Config) memory {
	return memory{cfg: cfg, part: maxPart, lives: map[string]*life{}, legs: map[grid.LegID]*leg{}, keptOf: map[string]int{}}
}

// begin begins a life.
func (m *memory) begin(now grid.Time, nonce uint64) {
	m.epoch, m.began, m.started = nonce, now, m.facts
}

// orphaned reports whether it is still too early to release nodes that the cluster keeps
// for legs unknown to the site.
func (m *memory) orphaned(now grid.Time) bool { return now < m.began.Add(orphanGrace) }

// record records a fact and applies it. The memory changes in no other way.
func (m *memory) record(t step, f agents.Fact) {
	t.out.Record(f)
	m.apply(t.now, f)
}

// apply applies a fact that was recorded at an instant.
func (m *memory) apply(at grid.Time, f agents.Fact) {
	m.facts++
	switch f := f.(type) {
	case facts.LegMoved:
		m.moved(at, f)
	case facts.LegRestored:
		m.restored(at, f)
	case facts.LegShifted:
		m.shifted(f)
	case facts.ShiftNoted:
		l := m.legs[f.Leg]
		l.told = max(l.told, f.Shifts)
	case facts.ShiftOffered:
		l := m.legs[f.Leg]
		l.lastOffer = &offer{Leg: f.Leg, ShiftOffer: f.ShiftOffer, State: facts.OfferOpen, For: f.For}
	case facts.OfferClosed:
		l := m.legs[f.Leg]
		l.lastOffer.State, l.lastOffer.Reason = f.State, f.Reason
	case facts.SiteBegun:
		m.lived(f)
	case facts.LifeSeen:
		x := m.lives[f.Broker]
		if x == nil {
			x = &life{broker: f.Broker}
			m.lives[f.Broker] = x
		}
		x.see(f)
	case facts.LifeListed:
		m.lives[f.Broker].listed = f.Incarnation
	case facts.Tombstone:
		l := m.keep(f.Leg)
		l.tomb, l.State, l.at, l.noted = true, grid.Cancelled, at, true
		m.tombs = append(m.tombs, l)
	case facts.NoticeNoted:
		m.legs[f.Leg].noted = true
	case facts.LegsForgotten:
		m.drop(f.Legs)
	case facts.SiteImage:
		m.load(f)
	case facts.SiteDrained, facts.SiteClosed, facts.SiteOpened, facts.MaintenanceSet, facts.MaintenanceOver:
		m.wishes.apply(f)
	case facts.NodesSet:
		m.sizes = grid.WithoutPast(f.Groups)
	case facts.SettingChanged: // a life goes by its file
	default:
		panic(fmt.Sprintf("sites: cannot apply %s", f.Kind()))
	}
}

// keep remembers a leg from now on, and returns it.
func (m *memory) keep(id grid.LegID) *leg {
	l := m.legs[id]
	if l == nil {
		l = &leg{}
		l.Leg = id
		m.legs[id] = l
	}
	m.kept = append(m.kept, l)
	m.keptOf[grid.VOOf(id.Tx.Broker)]++
	return l
}

// moved moves a leg to another state, and its money accordingly. It panics if the state
// table does not allow that.
func (m *memory) moved(at grid.Time, f facts.LegMoved) {
	l := m.legs[f.Leg]
	if l == nil || l.State == grid.Asked {
		l = m.keep(f.Leg)
	}
	was := l.State
	if !was.CanMove(f.State) {
		panic(fmt.Sprintf("sites: leg %v cannot go from %v to %v", f.Leg, was, f.State))
	}
	l.take(f)
	l.at = at
	if f.State == grid.Held {
		l.heldAt = at
		m.open.add(l)
	}
	if f.State == grid.Confirmed && l.Replaces != (grid.LegID{}) {
		if old := m.legs[l.Replaces]; old != nil && old.charged {
			inherit(l, old)
		}
	}
	m.accounts.moved(l, was)
	if was.Blocks() && f.State.Terminal() {
		m.open.remove(l)
	}
}

// inherit gives a confirmed leg what it takes over from the leg it replaces.
func inherit(l, old *leg) {
	l.heldAt = min(l.heldAt, old.heldAt) // a move does not restart the refund schedule
	if l.Offer > 0 && l.Offer == old.offer().Number {
		old.lastOffer.State, old.lastOffer.Reason = facts.OfferAccepted, grid.Reason{}
	}
}

// restored sets a leg to what its broker has asserted.
func (m *memory) restored(at grid.Time, f facts.LegRestored) {
	l := m.legs[f.Was.Leg]
	if l != nil && l.tomb { // forget the tombstone: the leg counts as new
		m.drop([]grid.LegID{l.Leg})
		l = nil
	}
	if l == nil || l.State == grid.Asked {
		l = m.keep(f.Was.Leg)
	}
	was := l.State
	l.take(f.Was)
	l.at, l.heldAt = at, f.Held
	l.noted = !l.State.Blocks() // its broker knows the outcome, having asserted it
	m.accounts.restored(l, was)
	switch {
	case l.State.Blocks() && !was.Blocks():
		m.open.add(l)
	case !l.State.Blocks() && was.Blocks():
		m.open.remove(l)
	}
}

// shifted applies a move of a leg. If the leg is fixed, its window is its own interval.
func (m *memory) shifted(f facts.LegShifted) {
	l := m.legs[f.Leg]
	l.What.Start, l.What.End, l.shifts = f.Start, f.End, f.Shifts
	if f.Fixed {
		l.Flex.Ready, l.Flex.Due = f.Start, f.End
	}
}

// drop forgets legs that are over.
func (m *memory) drop(ids []grid.LegID) {
	for _, id := range ids {
		m.legs[id].gone = true
		delete(m.legs, id)
		if vo := grid.VOOf(id.Tx.Broker); m.keptOf[vo] > 1 {
			m.keptOf[vo]--
		} else {
			delete(m.keptOf, vo)
		}
	}
	gone := func(l *leg) bool { return l.gone }
	m.kept = slices.DeleteFunc(m.kept, gone)
	m.tombs = slices.DeleteFunc(m.tombs, gone)
}

// legOf returns the leg of that name, of a broker or of a maintenance, or nil.
func (m *memory) legOf(id grid.LegID) *leg {
	if id.Tx.Broker != "" {
		return m.legs[id]
	}
	for _, x := range m.maintenance {
		if x.Leg == id {
			return x.leg
		}
	}
	return nil
}

func (m *memory) stamp() agents.Stamp {
	return agents.Stamp{Epoch: m.epoch, Seq: m.facts, From: m.started}
}
