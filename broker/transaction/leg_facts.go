package transaction

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// applyLeg applies a fact about a leg, and reports whether it is one.
func (s *State) applyLeg(f agents.Fact) bool {
	switch f := f.(type) {
	case facts.LegPriced:
		s.applyPriced(f)
	case facts.LegClosed:
		s.applyClosed(f)
	case facts.LegStarted:
		s.txs.Leg(f.Leg).state = grid.Running
	case facts.LegDone:
		s.applyDone(f)
	case facts.LegProved:
		s.txs.Leg(f.Leg).proof = f.Proof
	case facts.LegAdopted:
		s.applyAdopted(f)
	case facts.LegShifted:
		s.applyShifted(f)
	case facts.ClaimSettled:
		s.applySettled(f)
	default:
		return false
	}
	return true
}

// applyPriced binds a leg's price and frees the rest of its limit. It also lifts any bar:
// the site evidently serves this user now.
func (s *State) applyPriced(f facts.LegPriced) {
	l, t := s.txs.Leg(f.Leg), s.txs.Get(f.Leg.Tx)
	s.trust.Lift(t.sites[f.Leg.Leg], t.job.User)
	l.state, l.fare, l.priced, l.version = grid.Held, f.Fare, true, max(f.Version, 1)
	l.know(realLeg{names: f.Names, meeting: f.Meeting, token: f.Token})
	if f.End > 0 {
		l.what.Start, l.what.End = f.Start, f.End
	}
	s.accounts.Shrink(f.Leg, f.Fare.Total())
}

// applyClosed closes the question for one leg. An acknowledged COMMIT posts its price; a
// committed leg that its site does not have is Lost and costs nothing.
func (s *State) applyClosed(f facts.LegClosed) {
	t, l := s.txs.Get(f.Leg.Tx), s.txs.Leg(f.Leg)
	l.closed = true
	switch {
	case f.Commit:
		l.state, l.charged = grid.Confirmed, true
		if !l.priced { // its site had named a price above the limit
			s.accounts.Shrink(f.Leg, f.Posted)
		}
		s.accounts.Post(f.Leg)
		if t.replaces() {
			s.replaceBy(t)
		}
	case t.state == grid.TxCommitted:
		l.state, l.claim, l.given = grid.Lost, f.Claim, f.Claim
		s.accounts.Void(f.Leg)
		switch {
		case t.request == nil:
		case len(t.legs) == 1 && !t.apart: // a move that failed
			t.job.drop(t)
			t.apart = true
			s.restore(t)
		case t.replaces():
			s.replaceBy(t)
		}
	case t.Open(): // earlier versions closed legs of a transaction before its decision
		s.accounts.Void(f.Leg)
		l.state = grid.Cancelled
	case f.Claim: // aborted, but its site had confirmed it: see adoptLate
		l.state, l.claim, l.given = grid.Lost, true, true
	default:
		l.state = grid.Cancelled
	}
}

// applyDone ends a leg that was paid for.
func (s *State) applyDone(f facts.LegDone) {
	t, l := s.txs.Get(f.Leg.Tx), s.txs.Leg(f.Leg)
	l.state, l.end, l.claim, l.given = f.State, f.End, f.Claim, f.Claim
	x := l.onNodes()
	x.names, x.result = nil, f.Result
	l.know(x)
	if undone := s.withdrawn(t.job); undone != l.undone {
		l.own().undone = undone
	}
	if f.State == grid.Asked {
		l.state = grid.Settled
	}
	if back := f.Refund.Plus(f.Penalty); back > 0 {
		l.own().back = l.back.Plus(back)
		s.accounts.Refund(t.job.User, t.sites[f.Leg.Leg], back)
	}
}

// applyAdopted puts a leg on record as if its transaction had been begun, at its price.
// If the account does not cover that, because processes that did not know of each other
// spent the money twice, an overdraft does, and the budget is used up.
func (s *State) applyAdopted(f facts.LegAdopted) {
	t := s.txs.Get(f.Leg.Tx)
	if t == nil {
		t = &Tx{id: s.id(f.Leg.Tx), job: s.host.JobNamed(f.Job), few: &none}
		s.txs.keep(t)
	}
	t.sites = slices.Clone(t.sites) // they may be shared with a fact or an image
	for len(t.legs) <= f.Leg.Leg {  // nothing is known of legs in between
		t.legs = append(t.legs, Leg{state: grid.Cancelled, closed: true, oddities: &noOddities})
		t.sites = append(t.sites, "")
	}
	amount := f.Fare.Total()
	t.sites[f.Leg.Leg] = s.host.Shared(f.Site)
	f.What.Group = s.host.Shared(f.What.Group)
	t.legs[f.Leg.Leg] = Leg{what: f.What, limit: max(f.Limit, amount), fare: f.Fare, state: grid.Held, priced: true, version: f.Version, oddities: &noOddities}
	if alone := len(t.legs) == 1; alone && f.Flex.Due > 0 {
		t.own().flex = f.Flex
	} else if !alone && t.flex.Due > 0 { // several legs have one start
		t.own().flex = grid.Flex{}
	}
	if f.State == grid.Prepared {
		t.legs[f.Leg.Leg].state = grid.Prepared
	}
	if left := s.accounts.Available(); left < amount && t.state != grid.TxAborted {
		s.accounts.Overdraw(amount - left)
	}
	if t.state != grid.TxAborted { // its other legs may have been adopted and aborted before
		s.accounts.Reserve(f.Leg, t.job.User, f.Site, amount)
	}
}
