package sites

import (
	"bourse"
	"bourse/agents/plant"
	"bourse/agents/retry"
)

// What the site says again until it is answered: to the broker of a leg, or to its
// cluster. That it is owed follows from the state; retry keeps the times.

// owed names it.
type owed struct {
	what word
	leg  bourse.LegID // none for what the cluster is told
}

// word is what is said again.
type word uint8

const (
	theInquiry  word = iota // for the decision on a leg in doubt
	theNotice               // what became of a leg
	theShift                // where a leg lies
	theOffer                // of a shift
	theQuestion             // that the first request in line waits for
	theOrders               // that the cluster has not acknowledged
)

// Kind names the alarm.
func (k owed) Kind() string {
	return [...]string{"InquireDue", "NoticeDue", "ShiftDue", "OfferDue", "DeskDue", "DutiesDue"}[k.what]
}

// Waits between two tries to be heard: the first, the longest that it doubles to
// and, where nobody waits for it, a minute.
const (
	firstWait = 500 * bourse.Millisecond
	lastWait  = 5 * bourse.Second
	slowWait  = bourse.Minute
)

// begin has something said again.
func (s *Site) begin(t step, what word, leg bourse.LegID, last bourse.Duration) {
	s.retries.Begin(t.now, owed{what, leg}, retry.Schedule{First: firstWait, Last: last}, t.out)
}

// again takes the alarm.
func (s *Site) again(t step, d retry.Due[owed]) {
	k := d.Subject
	switch s.retries.Due(t.now, d, s.owes(t.now, k), t.out) {
	case retry.Again:
		s.sayAgain(t, k)
	case retry.Over:
		if l := s.legs[k.leg]; l != nil && k.what == theOffer {
			s.expire(t, l)
		}
	}
}

// owes reports whether something is still to be answered.
func (s *Site) owes(now bourse.Time, k owed) bool {
	switch k.what {
	case theQuestion:
		return s.desk.question != nothing
	case theOrders:
		return s.duties.open()
	}
	l := s.legs[k.leg]
	if l == nil {
		return false
	}
	switch k.what {
	case theInquiry:
		return l.State == bourse.Prepared && !plant.On("no-inquiry")
	case theNotice:
		return !l.noted && notable(l.State) && !plant.On("no-repeat")
	case theShift:
		return l.told < l.turn
	}
	return l.open(now)
}

// sayAgain says it. Rows S32, S55, S82, S89.
func (s *Site) sayAgain(t step, k owed) {
	l := s.legs[k.leg]
	switch k.what {
	case theInquiry:
		s.inquire(t, l)
	case theNotice:
		s.tellNotice(t, l)
	case theShift:
		s.tellShift(t, l)
	case theOffer:
		s.tellOffer(t, l)
	case theQuestion:
		s.say(t)
	case theOrders:
		s.tellAgain(t)
	}
}
