package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
)

// modelSite is a site by the table, in one page: what a broker may rely on, and nothing
// else.
type modelSite struct {
	id      agents.ID
	free    int
	legs    map[grid.LegID]*agents.ListedLeg
	order   []grid.LegID
	charged map[grid.LegID]bool
	instead map[grid.LegID]grid.LegID // what a leg replaces
	highest uint32
	listed  uint32
	facts   uint64
	shut    string // user that it is closed to
}

func (m *modelSite) answer(now grid.Time, x agents.Message) agents.Message {
	m.facts++
	st := agents.Stamp{Epoch: 1, Seq: m.facts}
	no := func(id grid.LegID, step string, code grid.Code, by uint32) agents.Message {
		return agents.Refused{Leg: id, Step: step, Reason: reason(code, "%s", code), DecidedBy: by, Stamp: st}
	}
	switch x := x.(type) {
	case agents.OfferRequest:
		g := grid.Group{Site: transaction.SiteName(m.id), Name: "main", Nodes: 4, Performance: grid.Unit, Price: 3_600_000}
		p := grid.NewProfile(now, m.free)
		return agents.Offers{Cycle: x.Cycle, Now: now, Stamp: st, Groups: []agents.GroupOffer{{Group: g, Admissible: p, Clear: p}}}
	case agents.Hold:
		l := m.legs[x.Leg]
		switch {
		case x.Leg.Tx.Incarnation < m.highest:
			return no(x.Leg, "Hold", grid.Fenced, x.Leg.Tx.Incarnation)
		case l == nil && m.shut != "" && x.User == m.shut:
			return no(x.Leg, "Hold", grid.NotAllowed, x.Leg.Tx.Incarnation)
		case l == nil && x.What.Nodes > m.free:
			return no(x.Leg, "Hold", grid.Busy, x.Leg.Tx.Incarnation)
		case l == nil && x.Replaces != (grid.LegID{}) && (m.legs[x.Replaces] == nil || m.legs[x.Replaces].State != grid.Confirmed):
			return no(x.Leg, "Hold", grid.Stale, x.Leg.Tx.Incarnation)
		case l == nil:
			m.instead[x.Leg] = x.Replaces
			l = m.put(agents.ListedLeg{Leg: x.Leg, What: x.What, Job: x.Job, User: x.User, State: grid.Held,
				Fare: grid.Fare{Base: x.Limit / 2}, Limit: x.Limit, Version: 1, Left: x.For})
		case l.State.Terminal():
			return no(x.Leg, "Hold", grid.Withdrawn, x.Leg.Tx.Incarnation)
		}
		m.highest = max(m.highest, x.Leg.Tx.Incarnation)
		return agents.Held{Leg: x.Leg, Fare: l.Fare, Version: 1, Stamp: st}
	case agents.Prepare:
		l := m.legs[x.Leg]
		switch {
		case x.Leg.Tx.Incarnation < m.highest:
			return no(x.Leg, "Prepare", grid.Fenced, x.Leg.Tx.Incarnation)
		case l == nil:
			return no(x.Leg, "Prepare", grid.Unknown, x.Leg.Tx.Incarnation)
		case l.State.Terminal():
			return no(x.Leg, "Prepare", grid.Expired, x.Leg.Tx.Incarnation)
		case l.State == grid.Held:
			l.State, l.Left = grid.Prepared, x.For
		}
		return agents.Prepared{Leg: x.Leg, Stamp: st}
	case agents.List:
		for _, id := range x.Known {
			if m.legs[id] == nil {
				m.put(agents.ListedLeg{Leg: id, State: grid.Cancelled})
			}
		}
		m.highest, m.listed = max(m.highest, x.Incarnation), max(m.listed, x.Incarnation)
		a := agents.Listing{Incarnation: x.Incarnation, Stamp: st}
		for _, id := range m.order {
			if l := m.legs[id]; l.What.Nodes > 0 {
				a.Legs = append(a.Legs, *l)
			}
		}
		return a
	}
	return m.decide(x, st, no)
}

// decide takes a decision.
func (m *modelSite) decide(x agents.Message, st agents.Stamp, no func(grid.LegID, string, grid.Code, uint32) agents.Message) agents.Message {
	switch x := x.(type) {
	case agents.Confirm:
		l := m.legs[x.Leg]
		switch {
		case x.DecidedBy < m.listed:
			return no(x.Leg, "Confirm", grid.Fenced, x.DecidedBy)
		case l == nil:
			return no(x.Leg, "Confirm", grid.Unknown, x.DecidedBy)
		case l.State.Terminal() && !m.charged[x.Leg]:
			return no(x.Leg, "Confirm", grid.Expired, x.DecidedBy)
		case l.State < grid.Confirmed:
			l.State, m.charged[x.Leg] = grid.Confirmed, true
			if old := m.legs[m.instead[x.Leg]]; old != nil && old.State == grid.Confirmed {
				old.State, old.Refund = grid.Released, old.Fare.Base/2
			}
		}
		a := agents.Confirmed{Leg: x.Leg, Stamp: st}
		if old := m.legs[m.instead[x.Leg]]; old != nil && old.State == grid.Released {
			a.Refund = old.Refund
		}
		return a
	case agents.Cancel:
		l := m.legs[x.Leg]
		switch {
		case x.DecidedBy < m.listed:
			return no(x.Leg, "Cancel", grid.Fenced, x.DecidedBy)
		case l == nil:
			m.put(agents.ListedLeg{Leg: x.Leg, State: grid.Cancelled})
		case l.State == grid.Confirmed:
			return no(x.Leg, "Cancel", grid.BadState, x.DecidedBy)
		case l.State < grid.Confirmed:
			l.State = grid.Cancelled
		}
		return agents.Cancelled{Leg: x.Leg, Stamp: st}
	case agents.Release:
		l := m.legs[x.Leg]
		switch {
		case x.DecidedBy < m.listed:
			return no(x.Leg, "Release", grid.Fenced, x.DecidedBy)
		case l == nil || l.State < grid.Confirmed:
			return no(x.Leg, "Release", grid.BadState, x.DecidedBy)
		case l.State == grid.Confirmed:
			l.State, l.Refund = grid.Released, l.Fare.Base/2
			if x.Full {
				l.Refund = l.Fare.Base
			}
		}
		return agents.Released{Leg: x.Leg, Refund: l.Refund, Stamp: st}
	}
	return nil
}

func (m *modelSite) put(l agents.ListedLeg) *agents.ListedLeg {
	m.legs[l.Leg] = &l
	m.order = append(m.order, l.Leg)
	return &l
}

// happen has something befall the site's leg n; its work is over no sooner than it
// may begin.
func (m *modelSite) happen(now grid.Time, n int) agents.Message {
	if len(m.order) == 0 {
		return nil
	}
	l := m.legs[m.order[n%len(m.order)]]
	switch l.State {
	case grid.Held:
		m.facts++
		l.State = grid.LegExpired
	case grid.Prepared:
		m.facts++
		l.State = grid.Heuristic
	case grid.Confirmed:
		m.facts++
		if l.State, l.Refund = grid.Lost, l.Fare.Base; n%2 == 0 && now >= l.What.Start {
			l.State, l.Refund = grid.Settled, 0
		}
	}
	return m.notice(l)
}

// notice is what is repeated of a leg until it is noted.
func (m *modelSite) notice(l *agents.ListedLeg) agents.Message {
	st := agents.Stamp{Epoch: 1, Seq: m.facts}
	switch l.State {
	case grid.Heuristic:
		return agents.Heuristic{Leg: l.Leg, Stamp: st}
	case grid.Lost:
		return agents.Degraded{Leg: l.Leg, Refund: l.Refund, Stamp: st}
	case grid.Settled:
		return agents.Settled{Leg: l.Leg, Charged: l.Fare.Base, Stamp: st}
	}
	return nil
}
