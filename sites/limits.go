package sites

import (
	"fmt"

	"bourse"
	"bourse/agents/plant"
	"bourse/policy/backfill"
)

// allowed checks a leg against what the operator allows: the limits on
// reservations and the share of the node-time that VOs may hold, net of the leg
// that it replaces.
func (s *Site) allowed(now bourse.Time, user string, group int, l bourse.Leg, old *leg, reserved []backfill.Reserved) bourse.Reason {
	if s.cfg.VOShare < 1000 {
		if r := s.shared(now, l, old); r.Refused() {
			return r
		}
	}
	return s.cfg.Limits.Check(user, now, l.Start, l.Nodes, l.Duration(), s.cfg.Groups[group].Nodes, reserved)
}

// shared checks l against vo_share: the node-time that open legs hold over the
// span from now, in all, as a share of the site's.
func (s *Site) shared(now bourse.Time, l bourse.Leg, old *leg) bourse.Reason {
	end := now.Add(s.cfg.Span)
	sum := nodeTime(l, now, end)
	for o := range s.open.each {
		if o != old {
			sum += nodeTime(o.What, now, end)
		}
	}
	most := int64(s.nodes) * int64(s.cfg.Span) / 1000 * int64(s.cfg.VOShare)
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

// capped checks a leg against what one broker may hold unconfirmed. A lone hold
// is always allowed, or a leg above the cap could never be had.
func (s *Site) capped(l *leg) bourse.Reason {
	if s.cfg.Cap == 0 || plant.On("no-cap") {
		return bourse.Reason{}
	}
	sum, held := nodeTime(l.What, l.What.Start, l.What.End), 0
	for o := range s.open.each {
		if o.Leg.Tx.Broker == l.Leg.Tx.Broker && o.State < bourse.Confirmed {
			sum += nodeTime(o.What, o.What.Start, o.What.End)
			held++
		}
	}
	if held == 0 || sum <= s.cfg.Cap {
		return bourse.Reason{}
	}
	return bourse.Reason{Code: bourse.Cap, Detail: fmt.Sprintf(
		"%s would hold %v node-seconds of %s unconfirmed, %v are allowed; the same again when some are confirmed or given up",
		l.Leg.Tx.Broker, bourse.Duration(sum), s.cfg.Name, bourse.Duration(s.cfg.Cap))}
}
