package check

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// lives is what the present life of each broker's process has been told by the
// sites that it asked at its beginning: by that it is held to what it decides.
type lives struct {
	of   map[int]*lifeTold  // by process
	lied map[grid.TxID]bool // a site has, about a leg of it
}

// about reports whether sites have lied about all transactions of some legs.
func (v *lives) about(legs []grid.LegID) bool {
	return !slices.ContainsFunc(legs, func(id grid.LegID) bool { return !v.lied[id.Tx] })
}

// lifeTold is what one life was told.
type lifeTold struct {
	life        uint64
	incarnation uint32
	sites       map[agents.ID]bool
	legs        []agents.ListedLeg
	took        map[grid.TxID]bool // a leg of it was confirmed
	began       grid.Time          // by its own clock
	stamps      map[agents.ID]agents.Stamp
	since       map[agents.ID]grid.Time  // when a site's latest life was first heard
	heard       map[grid.LegID]grid.Time // when something was last heard of it
	asked       map[grid.LegID]grid.Time // when Confirm was last said
	lists       map[agents.ID]grid.Time  // when a site was last asked for its legs
}

// step records what a broker hears, and checks what it does in the same step against
// everything it has heard. A transaction of which a site has listed a confirmed leg is
// never aborted (B51), and once all sites have listed, no leg that is held, prepared or
// confirmed remains without a record (B55).
func (v *lives) step(s *sim.Step, m *mirror) error {
	for _, f := range s.Facts {
		if x, ok := f.(facts.LifeBegun); ok {
			v.of[s.Process] = newLife(s, x)
		}
	}
	l := v.of[s.Process]
	if l == nil || l.life != s.Life {
		return nil
	}
	if x, ok := s.Message.(agents.Listing); ok && x.Incarnation == l.incarnation && !x.Refusal.Refused() && !l.sites[s.From] && !s.Died {
		l.take(s.From, x, v.lied)
		if err := l.adopted(s, m, v.lied); err != nil {
			return err
		}
	}
	if id, stamp, ok := agents.SaidOfLeg(s.Message); ok && !asks(s.Message) && (l.sites[s.From] || l.incarnation == 1) && !m.fenced {
		if err := l.reply(s, m, id, stamp); err != nil {
			return err
		}
	}
	return l.deeds(s, m)
}

func newLife(s *sim.Step, f facts.LifeBegun) *lifeTold {
	return &lifeTold{life: s.Life, incarnation: f.Incarnation, began: s.Now, sites: map[agents.ID]bool{}, took: map[grid.TxID]bool{},
		stamps: map[agents.ID]agents.Stamp{}, since: map[agents.ID]grid.Time{}, heard: map[grid.LegID]grid.Time{}, asked: map[grid.LegID]grid.Time{}, lists: map[agents.ID]grid.Time{}}
}

// deeds checks what a life decides and says.
func (l *lifeTold) deeds(s *sim.Step, m *mirror) error {
	for _, f := range s.Facts {
		switch x := f.(type) {
		case facts.TxDecided:
			if !x.Commit && l.took[x.Tx] {
				return fmt.Errorf("B51: %v is aborted, and a site has listed a confirmed leg of it", x.Tx)
			}
		case facts.Amnesia:
			if err := l.asserted(s, m, x); err != nil {
				return err
			}
		}
	}
	for _, x := range s.Sends {
		switch m := x.Message.(type) {
		case agents.Confirm:
			l.asked[m.Leg] = s.Now
		case agents.List: // messages to a lost site
			l.lists[x.To] = s.Now
		}
	}
	return nil
}

// judges reports whether a life knows all it needs to judge a transaction.
func (l *lifeTold) judges(tx grid.TxID) bool {
	return tx.Incarnation == l.incarnation || len(l.sites) == len(world.SiteNames)
}

// reply checks how a life handles a site's statement about a leg: it ignores one older than
// what it has heard of that site's life (B62), notices if the site says that it has
// forgotten (B60), and has asked about a leg of which it heard nothing (B63).
func (l *lifeTold) reply(s *sim.Step, m *mirror, id grid.LegID, stamp agents.Stamp) error {
	last, known := l.stamps[s.From]
	if known && last.Epoch == stamp.Epoch && stamp.Seq < last.Seq {
		if len(s.Facts) > 0 {
			return fmt.Errorf("B62: a reply with stamp %+v is heeded after one with %+v", stamp, last)
		}
		return nil
	}
	l.stamps[s.From] = stamp
	if !known || last.Epoch != stamp.Epoch {
		l.since[s.From] = s.Now
	}
	t := m.txs[id.Tx]
	if t == nil || id.Leg >= len(t.begun.Legs) || !l.judges(id.Tx) {
		return nil
	}
	what := t.begun.Legs[id.Leg]
	closed, done := m.closed[id], m.done[id] != (facts.LegDone{})
	if r, ok := s.Message.(agents.Refused); ok && s.Now > l.since[s.From].Add(patienceToProbe) && r.Reason.Code == grid.Unknown &&
		r.Step == "Confirm" && closed.Commit && !done && what.End > s.Now && !m.named[id] {
		return fmt.Errorf("B60: %s does not know leg %v any more, and %s does not record that", s.From, id, s.ID)
	}
	heard := l.heard[id]
	l.heard[id] = max(heard, s.Now)                 // a start that a clock ahead has told of counts on
	if _, ok := s.Message.(agents.LegStarted); ok { // by a clock that may be ahead
		l.heard[id] = max(s.Now, what.Start)
	}
	ends := m.done[id].State == grid.Released || m.done[id].State == grid.Lost // it need not be asked after
	if _, ok := s.Message.(agents.Settled); ok && closed.Commit && !m.done[id].Claim && !ends && l.began < what.Start && heard > l.began && heard < what.Start &&
		max(l.asked[id], l.lists[s.From]) < what.Start && s.Now > what.Start.Add(patienceToWatch) && !m.named[id] {
		return fmt.Errorf("B63: nothing was heard of leg %v since %v, it began at %v, and %s has not asked", id, heard, what.Start, s.ID)
	}
	return nil
}

// patienceToProbe is how long a broker may take to find out what a site's new life
// remembers; until then it heeds none of its replies.
const patienceToProbe = grid.Minute

// patienceToWatch is how long after a leg's start its broker must have asked after
// it: a minute, and two in which it may pause.
const patienceToWatch = 4 * grid.Minute

// asserted checks that an amnesia of a site names every leg there whose end has
// not passed, the closed ones too (B60).
func (l *lifeTold) asserted(s *sim.Step, m *mirror, f facts.Amnesia) error {
	if f.Site == "" {
		return nil
	}
	for _, tx := range m.begun {
		t := m.txs[tx]
		for i, what := range t.begun.Legs {
			id := grid.LegID{Tx: tx, Leg: i}
			if _, priced := m.priced[id]; priced && t.begun.Sites[i] == f.Site && what.End > s.Now && l.judges(tx) && !slices.Contains(f.Legs, id) {
				return fmt.Errorf("B60: %s records what %s has forgotten without leg %v, which ends at %v", s.ID, f.Site, id, what.End)
			}
		}
	}
	return nil
}

// asks reports whether a message of a site is a question, which may be answered at any
// time: it says nothing about the leg's state.
func asks(m agents.Message) bool {
	p, known := agents.Lookup(m.Kind())
	return known && p.Class == agents.Request
}

// take takes in the first Listing of a site, but for what it has lied about.
func (l *lifeTold) take(site agents.ID, x agents.Listing, lied map[grid.TxID]bool) {
	l.sites[site] = true
	for i := range x.Legs {
		if lied[x.Legs[i].Leg.Tx] {
			continue
		}
		if paid(x.Legs[i].State) {
			l.took[x.Legs[i].Leg.Tx] = true
		}
		if s := x.Legs[i].State; s.Blocks() && s != grid.Asked {
			l.legs = append(l.legs, x.Legs[i])
		}
	}
}

// adopted checks B55 once all sites have listed and no nonexistent site is waited for. If a
// site has lied, prices beyond any payer's means may have been disowned (B99), with
// whatever else the account does not cover.
func (l *lifeTold) adopted(s *sim.Step, m *mirror, lied map[grid.TxID]bool) error {
	if len(l.sites) < len(world.SiteNames) || m.fenced || m.member[world.SiteName(world.GhostID)] {
		return nil
	}
	if len(lied) > 0 && slices.ContainsFunc(s.Facts, func(f agents.Fact) bool { _, no := f.(facts.LegsDisowned); return no }) {
		return nil
	}
	for i := range l.legs {
		if leg := l.legs[i].Leg; m.txs[leg.Tx] == nil && !lied[leg.Tx] {
			return fmt.Errorf("B55: all sites have listed, leg %v is %v, and %s has no record of it", leg, l.legs[i].State, s.ID)
		}
	}
	return nil
}
