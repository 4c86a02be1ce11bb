package sites

import (
	"fmt"
	"slices"

	"bourse"
	"bourse/agents"
)

// apply is the only place where a leg's state and the site's money change.
// Income is pending while a leg is held or prepared, posted when it is
// confirmed, and void when it never is.
func (s *Site) apply(now bourse.Time, l *leg, f bourse.LegMoved) {
	if !l.state.CanMove(f.State) {
		panic(fmt.Sprintf("sites: %s: leg %v cannot go from %v to %v", s.cfg.Name, l.id, l.state, f.State))
	}
	was := l.state
	l.state, l.fare = f.State, f.Fare
	s.facts++
	switch f.State {
	case bourse.Held:
		s.open = append(s.open, l)
		s.ledger.Reserve(l.id, bourse.Transfer{From: string(l.broker), To: income, Amount: l.fare.Total()})
	case bourse.Confirmed:
		s.ledger.Post(l.id)
	case bourse.LegExpired, bourse.Cancelled, bourse.Heuristic:
		if was != bourse.Asked {
			s.ledger.Void(l.id)
		}
	}
	if l.state.Terminal() {
		s.close(now, l)
	}
}

// income is the account that all legs are paid into.
const income = "income"

// close takes a terminal leg off the open ones and forgets those that closed
// keepClosed ago.
func (s *Site) close(now bourse.Time, l *leg) {
	if i := slices.Index(s.open, l); i >= 0 {
		s.open = slices.Delete(s.open, i, i+1)
	}
	l.closed = now
	s.closed = append(s.closed, l)
	old := 0
	for old < len(s.closed) && s.closed[old].closed.Add(keepClosed) < now {
		delete(s.legs, s.closed[old].id)
		old++
	}
	s.closed = slices.Delete(s.closed, 0, old)
}

// allowed checks a leg against what the operator allows: the limits on
// reservations and the share of the node-time that VOs may hold.
func (s *Site) allowed(now bourse.Time, user string, group int, l bourse.Leg) bourse.Reason {
	if s.cfg.VOShare < 1000 {
		if r := s.shared(now, l); r.Refused() {
			return r
		}
	}
	return s.cfg.Limits.Check(user, now, l.Start, l.Nodes, l.Duration(),
		s.cfg.Groups[group].Nodes, s.view.states[group].Reserved)
}

// shared checks l against vo_share: the node-time that open legs hold over the
// span from now, in all, as a share of the site's.
func (s *Site) shared(now bourse.Time, l bourse.Leg) bourse.Reason {
	end := now.Add(s.cfg.Span)
	sum := nodeTime(l, now, end)
	for _, o := range s.open {
		sum += nodeTime(o.what, now, end)
	}
	nodes := 0
	for _, g := range s.cfg.Groups {
		nodes += g.Nodes
	}
	most := int64(nodes) * int64(s.cfg.Span) / 1000 * int64(s.cfg.VOShare)
	if sum <= most {
		return bourse.Reason{}
	}
	return bourse.Reason{Code: bourse.VOShare, Detail: fmt.Sprintf(
		"VOs would hold %v node-seconds of %s's next %v, its share for them is %v",
		bourse.Duration(sum), s.cfg.Name, s.cfg.Span.Words(), bourse.Duration(most))}
}

// nodeTime is what of l lies in [from, to), in node-milliseconds.
func nodeTime(l bourse.Leg, from, to bourse.Time) int64 {
	s, e := max(l.Start, from), min(l.End, to)
	if e <= s {
		return 0
	}
	return int64(l.Nodes) * int64(e-s)
}

// OpenLegs shows the legs that hold nodes, in order of their holds, for reports
// and checks.
func (s *Site) OpenLegs() []OpenLeg {
	list := make([]OpenLeg, len(s.open))
	for i, l := range s.open {
		list[i] = OpenLeg{Leg: l.id, Broker: l.broker, What: l.what, State: l.state, Fare: l.fare}
	}
	return list
}

// OpenLeg is a leg that holds nodes.
type OpenLeg struct {
	Leg    bourse.LegID
	Broker agents.ID
	What   bourse.Leg
	State  bourse.LegState
	Fare   bourse.Fare
}
