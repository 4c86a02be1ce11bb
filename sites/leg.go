package sites

import (
	"bourse"
	"bourse/agents"
)

// leg is one leg of a transaction as its site sees it.
type leg struct {
	id     bourse.LegID
	broker agents.ID
	what   bourse.Leg
	job    string
	user   string
	state  bourse.LegState
	fare   bourse.Fare    // that binds
	limit  bourse.Credits // the most the broker would pay
	ends   bourse.Time    // of the hold or the doubt: later alarms are stale
	closed bourse.Time    // when it came to a terminal state
}

// limitReached is the alarm that ends a hold or a doubt.
type limitReached struct{ leg bourse.LegID }

// Kind names the alarm.
func (limitReached) Kind() string { return "LimitReached" }

// hold begins a leg: it is asked of the cluster in its turn.
func (s *Site) hold(now bourse.Time, from agents.ID, m agents.Hold, out *agents.Outbox) {
	if l := s.legs[m.Leg]; l != nil {
		s.answerAgain(l, "Hold", out)
		return
	}
	l := &leg{id: m.Leg, broker: from, what: m.What, job: m.Job, user: m.User, limit: m.Limit,
		ends: now.Add(min(m.For, s.cfg.Hold))}
	s.legs[m.Leg] = l
	s.enqueue(now, task{from: from, m: m, leg: l}, out)
}

// tryHold prices the leg on the state just received and asks the cluster for
// the nodes; false if it ended here.
func (s *Site) tryHold(now bourse.Time, t *task, m agents.Hold, out *agents.Outbox) bool {
	if t.leg.state != bourse.Asked {
		return false // cancelled while it stood in line
	}
	q := s.quote(now, t.from, m.User, m.What)
	if !q.Refusal.Refused() && q.Fare.Total() > m.Limit {
		q.Refusal = bourse.Reason{Code: bourse.TooDear,
			Detail: "costs " + q.Fare.Total().String() + " now, the limit is " + m.Limit.String()}
	}
	if q.Refusal.Refused() {
		s.refuse(now, t.leg, q.Fare, q.Refusal, out)
		return false
	}
	t.leg.fare = q.Fare
	out.Send(s.cfg.Cluster, agents.ClusterHold{Leg: m.Leg, What: m.What, Run: m.Run})
	return true
}

// clusterHeld ends the wait of the first hold in line.
func (s *Site) clusterHeld(now bourse.Time, m agents.ClusterHeld, out *agents.Outbox) {
	l := s.legs[m.Leg]
	switch {
	case l.state != bourse.Asked: // cancelled while the cluster was asked
		if !m.Refusal.Refused() {
			out.Send(s.cfg.Cluster, agents.ClusterRelease{Leg: m.Leg})
		}
	case m.Refusal.Refused():
		s.refuse(now, l, l.fare, m.Refusal, out)
	default:
		s.move(now, l, bourse.Held, bourse.None, 0, out)
		out.Alarm(l.ends, limitReached{l.id})
		out.Send(l.broker, agents.HeldReply{Leg: l.id, Fare: l.fare, Stamp: s.stamp()})
	}
	s.next(out)
}

// prepare extends a hold to the in-doubt limit: the broker has all its legs.
func (s *Site) prepare(now bourse.Time, from agents.ID, m agents.Prepare, out *agents.Outbox) {
	l := s.known(m.Leg, from, "Prepare", out)
	switch {
	case l == nil:
	case l.state == bourse.Held:
		l.ends = now.Add(min(m.For, s.cfg.InDoubt))
		s.move(now, l, bourse.Prepared, bourse.None, 0, out)
		out.Alarm(l.ends, limitReached{l.id})
		out.Send(from, agents.PreparedReply{Leg: l.id, Stamp: s.stamp()})
	default:
		s.answerAgain(l, "Prepare", out)
	}
}

// confirm makes the leg an advance reservation.
func (s *Site) confirm(now bourse.Time, from agents.ID, m agents.Confirm, out *agents.Outbox) {
	l := s.known(m.Leg, from, "Confirm", out)
	switch {
	case l == nil:
	case l.state == bourse.Held || l.state == bourse.Prepared:
		s.move(now, l, bourse.Confirmed, bourse.None, 0, out)
		out.Send(s.cfg.Cluster, agents.ClusterConfirm{Leg: l.id})
		out.Send(from, agents.ConfirmedReply{Leg: l.id, Stamp: s.stamp()})
	default:
		s.answerAgain(l, "Confirm", out)
	}
}

// cancel gives a leg up before it was confirmed. Of a leg it does not know a
// site has nothing to give up, and says so in the same words.
func (s *Site) cancel(now bourse.Time, from agents.ID, m agents.Cancel, out *agents.Outbox) {
	l := s.legs[m.Leg]
	if l != nil && l.state.CanMove(bourse.Cancelled) {
		if l.state != bourse.Asked {
			out.Send(s.cfg.Cluster, agents.ClusterRelease{Leg: l.id})
		}
		s.move(now, l, bourse.Cancelled, bourse.None, 0, out)
	}
	if l != nil && l.state.Blocks() {
		s.answerAgain(l, "Cancel", out)
		return
	}
	out.Send(from, agents.CancelledReply{Leg: m.Leg, Stamp: s.stamp()})
}

// limitReached lets go of a leg whose hold or doubt has lasted too long.
func (s *Site) limitReached(now bourse.Time, m limitReached, out *agents.Outbox) {
	l := s.legs[m.leg]
	if l == nil || now < l.ends || l.state != bourse.Held && l.state != bourse.Prepared {
		return // an alarm for what has moved on
	}
	to := bourse.LegExpired
	if l.state == bourse.Prepared {
		to = bourse.Heuristic
	}
	out.Send(s.cfg.Cluster, agents.ClusterRelease{Leg: l.id})
	s.move(now, l, to, bourse.None, 0, out)
}

// started passes on that a confirmed leg runs.
func (s *Site) started(now bourse.Time, m agents.ClusterStarted, out *agents.Outbox) {
	if l := s.legs[m.Leg]; l != nil && l.state == bourse.Confirmed {
		s.move(now, l, bourse.Running, bourse.None, 0, out)
		out.Send(l.broker, agents.StartedNotice{Leg: l.id, Stamp: s.stamp()})
	}
}

// ended settles a leg: a reservation is paid for irrespective of its use, so
// an early end changes no money.
func (s *Site) ended(now bourse.Time, m agents.ClusterEnded, out *agents.Outbox) {
	if l := s.legs[m.Leg]; l != nil && l.state == bourse.Running {
		s.move(now, l, bourse.Settled, bourse.None, m.End, out)
		out.Send(l.broker, agents.SettledNotice{Leg: l.id, End: m.End, Charged: l.fare.Total(), Stamp: s.stamp()})
	}
}

// known returns the leg, or refuses the step.
func (s *Site) known(id bourse.LegID, from agents.ID, step string, out *agents.Outbox) *leg {
	l := s.legs[id]
	if l == nil {
		out.Send(from, agents.RefusedReply{Leg: id, Step: step, Stamp: s.stamp(),
			Reason: bourse.Reason{Code: bourse.Unknown, Detail: s.cfg.Name + " does not know leg " + id.String()}})
	}
	return l
}

// answerAgain answers a step that finds its leg past it: the same reply as the
// first time where that was granted, a refusal where it cannot be.
func (s *Site) answerAgain(l *leg, step string, out *agents.Outbox) {
	switch {
	case l.state == bourse.Asked: // the answer is on its way
	case step == "Hold" && l.state.Blocks():
		out.Send(l.broker, agents.HeldReply{Leg: l.id, Fare: l.fare, Stamp: s.stamp()})
	case step == "Prepare" && l.state.Blocks():
		out.Send(l.broker, agents.PreparedReply{Leg: l.id, Stamp: s.stamp()})
	case step == "Confirm" && (l.state.Blocks() || l.state == bourse.Settled):
		out.Send(l.broker, agents.ConfirmedReply{Leg: l.id, Stamp: s.stamp()})
	default:
		out.Send(l.broker, agents.RefusedReply{Leg: l.id, Step: step, Fare: l.fare, Stamp: s.stamp(),
			Reason: bourse.Reason{Code: bourse.BadState, Detail: "leg " + l.id.String() + " is " + l.state.String()}})
	}
}

// refuse ends a leg that was never held.
func (s *Site) refuse(now bourse.Time, l *leg, fare bourse.Fare, why bourse.Reason, out *agents.Outbox) {
	l.fare = fare
	s.record(now, l, bourse.Refused, why, 0, out)
	out.Send(l.broker, agents.RefusedReply{Leg: l.id, Step: "Hold", Fare: fare, Reason: why, Stamp: s.stamp()})
}

// move brings a leg to a state without a reason.
func (s *Site) move(now bourse.Time, l *leg, to bourse.LegState, code bourse.Code, end bourse.Time, out *agents.Outbox) {
	s.record(now, l, to, bourse.Reason{Code: code}, end, out)
}

// record records a leg's move and applies it.
func (s *Site) record(now bourse.Time, l *leg, to bourse.LegState, why bourse.Reason, end bourse.Time, out *agents.Outbox) {
	f := bourse.LegMoved{Leg: l.id, State: to, What: l.what, Job: l.job, User: l.user,
		Fare: l.fare, Limit: l.limit, End: end, Reason: why}
	out.Record(f)
	s.apply(now, l, f)
}

func (s *Site) stamp() agents.Stamp { return agents.Stamp{Epoch: 1, Seq: s.facts} }
