package transaction

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Apply applies a fact about a transaction, a leg or a site at an instant, and reports whether
// it is one. It sends nothing and depends on nothing but the state, so that facts can be
// replayed. What follows for a job beyond its window is applied after this, by who keeps the
// job.
func (s *State) Apply(at grid.Time, f agents.Fact) bool {
	switch f := f.(type) {
	case facts.TxBegun:
		s.applyBegun(at, f)
	case facts.TxDecided:
		s.applyDecided(at, f)
	case facts.TxReversed:
		s.applyReversed(f)
	case facts.TxForgotten:
		s.txs.forget(f.Txs)
	case facts.SiteJoined:
		s.peers.ApplyJoined(at, f)
	case facts.SiteLeft:
		s.peers.applyLeft(at, f)
	case facts.SiteLost:
		s.peers.applyLost(at, f)
	case facts.SiteBack:
		s.peers.applyBack(at, f)
	default:
		return s.applyLeg(f)
	}
	return true
}

// applyBegun opens a transaction and reserves its limits on the accounts.
func (s *State) applyBegun(at grid.Time, f facts.TxBegun) {
	t := s.begun(f)
	for i := range t.legs {
		s.accounts.Reserve(t.LegID(i), t.job.User, t.sites[i], f.Limits[i])
		s.peers.Ensure(at, t.Site(i)).deals(f.Tx.Incarnation)
	}
	s.txs.begin(t)
}

// begun makes the transaction that a TxBegun describes.
func (s *State) begun(f facts.TxBegun) *Tx {
	t := &Tx{id: s.id(f.Tx), job: s.host.JobNamed(f.Job), sites: make([]string, len(f.Sites)), number: f.Alternative, legs: make([]Leg, len(f.Legs)), few: &none}
	for i := range f.Sites {
		t.sites[i] = s.host.Shared(f.Sites[i])
	}
	if f.Repairs != (grid.LegID{}) || len(f.Spare) > 0 || f.Flex != (grid.Flex{}) || f.Offer != 0 || f.Request.Nodes > 0 || len(f.Parts) > 0 || len(f.Pilots) > 0 {
		t.few = &few{repairs: f.Repairs, spare: f.Spare, flex: f.Flex, offer: f.Offer, parts: f.Parts, pilots: f.Pilots}
		for i := range t.few.parts {
			t.few.parts[i] = s.host.Shared(t.few.parts[i])
		}
	}
	if f.Request.Nodes > 0 {
		request := f.Request
		t.own().request = &request
	}
	for i := range t.legs {
		t.legs[i] = Leg{what: f.Legs[i], limit: f.Limits[i], oddities: &noOddities}
		t.legs[i].what.Group = s.host.Shared(f.Legs[i].Group)
		if i < len(f.Replaces) {
			if old := f.Replaces[i]; old != (grid.LegID{}) {
				t.legs[i].own().old = &old
			}
		}
	}
	return t
}

// id is a transaction's identity with the shared copy of its broker's name.
func (s *State) id(id grid.TxID) grid.TxID {
	id.Broker = s.host.Shared(id.Broker)
	return id
}

// applyDecided applies the decision. ABORT frees the money at once: no site can charge
// for a leg that was never committed.
func (s *State) applyDecided(at grid.Time, f facts.TxDecided) {
	t := s.txs.Get(f.Tx)
	j := t.job
	t.because(f.Reason)
	if !f.Commit {
		s.abandon(t)
		return
	}
	t.state, t.since = grid.TxCommitted, at
	if l := s.txs.Lookup(t.repairs); l != nil {
		l.mended = true
	}
	if t.request != nil {
		t.setAside(j)
	}
	if t.repairs == (grid.LegID{}) {
		j.leave()
	}
	if j.txs = append(j.txs, t); s.withdrawn(j) {
		t.givenUp = grid.GivenUpByUser
	}
}

// abandon makes a transaction aborted and frees its money. Of one that was adopted beside
// others a leg may be closed already.
func (s *State) abandon(t *Tx) {
	t.state = grid.TxAborted
	for i := range t.legs {
		if !t.legs[i].closed {
			s.accounts.Void(t.LegID(i))
		}
	}
}

// applyReversed turns a COMMIT that took effect nowhere into ABORT.
func (s *State) applyReversed(f facts.TxReversed) {
	t := s.txs.Get(f.Tx)
	t.because(f.Reason)
	s.abandon(t)
	if l := s.txs.Lookup(t.repairs); l != nil {
		l.mended = false
	}
	if t.request != nil {
		s.restore(t)
	}
	t.job.drop(t)
	gone := map[grid.TxID]bool{t.id: true}
	for _, o := range t.job.txs { // repairs of its legs, and repairs of those, are useless alone
		if gone[o.repairs.Tx] {
			gone[o.id], o.givenUp = true, max(o.givenUp, grid.GivenUpAsBroken)
		}
	}
}
