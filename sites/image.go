package sites

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// maxPart is the most legs in one part of an image, which is then some 500 kB of the
// journal.
const maxPart = 1000

// Image returns everything the site keeps as one fact. Its size grows with the number of
// legs; Parts and Part return it in pieces.
func (m *memory) Image() agents.Fact {
	f := m.common()
	m.listed(&f, 0, len(m.kept))
	return f
}

// Parts is how many facts the image takes, with a thousand legs in each; at least 1.
func (m *memory) Parts() int { return max((len(m.kept)+m.part-1)/m.part, 1) }

// Part returns the i-th part of the image, from 0 to Parts()-1.
func (m *memory) Part(i int) agents.Fact {
	var f facts.SiteImage
	if i == 0 {
		f = m.common()
	}
	if n := m.Parts(); n > 1 {
		f.Part, f.Parts = i, n
	}
	m.listed(&f, i*m.part, min((i+1)*m.part, len(m.kept)))
	return f
}

// common is what an image has besides legs.
func (m *memory) common() facts.SiteImage {
	f := facts.SiteImage{Facts: m.facts, Accounts: m.accounts.list(),
		Drain: m.drain, Closed: slices.Clone(m.closed), Maintained: m.maintained, Epochs: slices.Clone(m.epochs), Sizes: slices.Clone(m.sizes)}
	for _, x := range m.maintenance {
		f.Maintenance = append(f.Maintenance, x.MaintenanceSet)
	}
	for _, x := range m.lives {
		for _, seen := range x.seen {
			f.Lives = append(f.Lives, facts.SiteLife{LifeSeen: seen, Listed: seen.Incarnation == x.listed})
		}
	}
	slices.SortFunc(f.Lives, func(a, b facts.SiteLife) int {
		return cmp.Or(cmp.Compare(a.Broker, b.Broker), cmp.Compare(a.Incarnation, b.Incarnation))
	})
	return f
}

// listed adds the legs from..to-1 to an image.
func (m *memory) listed(f *facts.SiteImage, from, to int) {
	for _, l := range m.kept[from:to] {
		f.Legs = append(f.Legs, facts.LegMemory{LegMoved: l.whole(), Tomb: l.tomb, Charged: l.charged,
			Noted: l.noted, HeldAt: l.heldAt, At: l.at, Shifts: l.shifts, Told: l.told, Offered: facts.JobOffer(l.offer())})
	}
}

// load replaces the memory by an image, or adds another part of it.
func (m *memory) load(f facts.SiteImage) {
	if f.Part == 0 {
		m.loadCommon(f)
	} else {
		m.facts-- // an image counts as no fact
	}
	m.loadLegs(f.Legs)
}

// loadCommon loads what an image has besides legs.
func (m *memory) loadCommon(f facts.SiteImage) {
	*m = newMemory(m.cfg)
	m.facts, m.epochs, m.sizes = f.Facts, slices.Clone(f.Epochs), slices.Clone(f.Sizes)
	m.accounts.load(f.Accounts)
	m.drain, m.closed = f.Drain, slices.Clone(f.Closed)
	for _, x := range f.Maintenance {
		m.wishes.apply(x)
	}
	m.maintained = f.Maintained
	for _, x := range f.Lives {
		l := m.lives[x.Broker]
		if l == nil {
			l = &life{broker: x.Broker}
			m.lives[x.Broker] = l
		}
		l.see(x.LifeSeen)
		if x.Listed {
			l.listed = x.Incarnation
		}
	}
}

func (m *memory) loadLegs(legs []facts.LegMemory) {
	for _, x := range legs {
		l := m.keep(x.Leg)
		l.take(x.LegMoved)
		l.tomb, l.charged, l.noted, l.heldAt, l.at = x.Tomb, x.Charged, x.Noted, x.HeldAt, x.At
		l.shifts, l.told = x.Shifts, x.Told
		if x.Offered.Number > 0 {
			o := offer(x.Offered)
			l.lastOffer = &o
		}
		if l.tomb {
			m.tombs = append(m.tombs, l)
		}
		if l.State.Blocks() {
			m.open.add(l)
		}
		if l.State == grid.Held || l.State == grid.Prepared {
			m.accounts.reserve(l)
		}
	}
}
