package sites

import (
	"bourse"
	"bourse/agents"
	"bourse/agents/plant"
	"bourse/agents/retry"
)

// firstInquiry is how long a prepared leg waits for its decision before the
// site asks for it: two seconds, or half of the time it has.
func (s *Site) firstInquiry(t step, l *leg) bourse.Duration {
	return max(min(2*bourse.Second, l.ends.Sub(t.now)/2), bourse.Millisecond)
}

// doubt has the site inquire after a while. Row S32.
func (s *Site) doubt(t step, l *leg) {
	s.retries.Begin(t.now, owed{theInquiry, l.Leg}, retry.Schedule{First: s.firstInquiry(t, l), Last: lastWait}, t.out)
}

// inquire asks the broker's latest life for the decision on a prepared leg.
func (s *Site) inquire(t step, l *leg) {
	t.out.Send(s.life(l.Leg.Tx.Broker).address(), agents.Inquire{Leg: l.Leg, Stamp: s.stamp()})
}

// answered takes the decision that the site has inquired for. Rows S33, S34.
func (s *Site) answered(t step, m agents.Answer) {
	l := s.legs[m.Leg]
	if l == nil || l.State != bourse.Prepared {
		return // it has come by another way
	}
	if m.DecidedBy < s.life(m.Leg.Tx.Broker).listed && !plant.On("no-list-fence") {
		return // S4; nobody waits for a refusal
	}
	switch {
	case m.Verdict == agents.Commit:
		t.m = agents.Confirm{Leg: m.Leg, DecidedBy: m.DecidedBy}
		table[onConfirm][l.State](s, l, t)
	case m.Verdict == agents.Abort, m.Verdict == agents.Unknown && plant.On("unknown-aborts"):
		t.m = agents.Cancel{Leg: m.Leg, DecidedBy: m.DecidedBy}
		table[onCancel][l.State](s, l, t)
	}
}

// notice is what the broker must acknowledge about a leg, nil if nothing.
func (s *Site) notice(l *leg) agents.Message {
	switch l.State {
	case bourse.Heuristic:
		return agents.HeuristicNotice{Leg: l.Leg, Stamp: s.stamp()}
	case bourse.Lost:
		return agents.DegradedNotice{Leg: l.Leg, Refund: l.Refund, Penalty: l.Penalty, Reason: l.Reason, Stamp: s.stamp(), Proof: s.proof(l)}
	case bourse.Settled:
		return agents.SettledNotice{Leg: l.Leg, End: l.End, Charged: l.Fare.Total(), Stamp: s.stamp()}
	}
	return nil
}

// notable reports whether a broker must acknowledge that a leg has come to a state.
func notable(x bourse.LegState) bool {
	return x == bourse.Heuristic || x == bourse.Lost || x == bourse.Settled
}

// notify tells the broker what became of a leg, until it is noted.
func (s *Site) notify(t step, l *leg) {
	s.tellNotice(t, l)
	s.beginNotice(t, l)
}

func (s *Site) tellNotice(t step, l *leg) {
	t.out.Send(s.life(l.Leg.Tx.Broker).address(), s.notice(l))
}

// beginNotice has a notice given again. Nobody waits for that of a leg that is
// settled.
func (s *Site) beginNotice(t step, l *leg) {
	last := lastWait
	if l.State == bourse.Settled {
		last = slowWait
	}
	s.begin(t, theNotice, l.Leg, last)
}

// noted ends the repeating of a notice. Row S56.
func (s *Site) noted(t step, m agents.Noted) {
	l := s.legs[m.Leg]
	if l != nil && m.Turn > 0 {
		s.notedShift(t, l, m.Turn)
		return
	}
	if l == nil || l.noted {
		return
	}
	if n := s.notice(l); n != nil && (m.Step == "" || m.Step == n.Kind()) {
		s.record(t, bourse.NoticeNoted{Leg: l.Leg})
	}
}

// keepClosed is how long a site remembers a leg that has come to its end, so
// that a step repeated late gets the same answer, and a tombstone.
const keepClosed = bourse.Day

// forgetAtMost is how often a site looks for what it may forget.
const forgetAtMost = bourse.Hour

// oldAt is when a leg that is over may be forgotten: a day after it came to
// that, and after its nodes would have been free.
func oldAt(l *leg) bourse.Time { return max(l.at, l.What.End).Add(keepClosed) }

// remember sets the alarm that forgets legs, when one is over.
func (s *Site) remember(t step, l *leg) {
	if !s.forgetful {
		s.forgetful = true
		t.out.Alarm(oldAt(l), forgetDue{})
	}
}

// bury makes a leg that the site does not know one that is never to be held.
func (s *Site) bury(t step, id bourse.LegID) {
	if len(s.kept) >= s.cfg.MaxKept && len(s.tombs) > 0 {
		s.record(t, bourse.LegsForgotten{Legs: []bourse.LegID{s.tombs[0].Leg}})
	}
	s.record(t, bourse.Tombstone{Leg: id})
	s.remember(t, s.legs[id])
}

// forget drops what has been over for a day. Row S57.
func (s *Site) forget(t step) {
	s.forgetful = false
	var old []bourse.LegID
	next := bourse.Never
	for _, l := range s.kept {
		switch {
		case !l.State.Terminal():
		case oldAt(l) <= t.now:
			old = append(old, l.Leg)
		default:
			next = min(next, oldAt(l))
		}
	}
	if len(old) > 0 {
		s.record(t, bourse.LegsForgotten{Legs: old})
	}
	if next < bourse.Never {
		s.forgetful = true
		t.out.Alarm(max(next, t.now.Add(forgetAtMost)), forgetDue{})
	}
}
