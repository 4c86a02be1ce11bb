package sites

import (
	"github.com/bourse-grid/bourse/agents/retry"
	"github.com/bourse-grid/bourse/grid"
)

// What the site repeats to a leg's broker, or to its cluster, until it is answered. The state
// says whether an answer is still missing; package retry keeps the times.

// owed names something to repeat.
type owed struct {
	what word
	leg  grid.LegID // zero for messages to the cluster
}

// word is what is repeated.
type word uint8

const (
	theInquiry  word = iota // for the decision on a leg in doubt
	theNotice               // the outcome of a leg
	theShift                // where a leg lies now
	theOffer                // to shift a leg
	theQuestion             // to the cluster, for the first request in line
	theOrders               // to the cluster, that it has not acknowledged
)

// Kind names the alarm.
func (k owed) Kind() string {
	return [...]string{"InquireDue", "NoticeDue", "ShiftDue", "OfferDue", "QuestionDue", "OrdersDue"}[k.what]
}

// How long to wait before repeating: the first wait, the longest that it doubles to, and the
// longest where nobody waits for the answer.
const (
	firstWait = 500 * grid.Millisecond
	lastWait  = 5 * grid.Second
	slowWait  = grid.Minute
)

// retries holds what is repeated, and when. The component that began it knows whether an
// answer is still missing.
type retries struct {
	list     retry.List[owed]
	lossless bool // nothing is repeated; what has a time of its own still ends
}

// begin starts repeating something.
func (r *retries) begin(t step, what word, leg grid.LegID, last grid.Duration) {
	r.schedule(t, what, leg, retry.Schedule{First: firstWait, Last: last})
}

// schedule starts repeating something on a schedule of its own.
func (r *retries) schedule(t step, what word, leg grid.LegID, x retry.Schedule) {
	if r.lossless && x.Until == 0 {
		return
	}
	r.list.Begin(t.now, owed{what, leg}, x, t.out)
}

// renew starts repeating something in place of its predecessor. However often that happens,
// only one alarm is pending.
func (r *retries) renew(t step, what word, last grid.Duration) {
	if r.owes(what) {
		r.list.Renew(owed{what: what})
		return
	}
	r.begin(t, what, grid.LegID{}, last)
}

// owes reports whether something that concerns no leg is being repeated.
func (r *retries) owes(what word) bool { return r.list.Owes(owed{what: what}) }

// due handles an alarm, and says what must follow.
func (r *retries) due(t step, d retry.Due[owed], owes bool) retry.Outcome {
	return r.list.Due(t.now, d, owes, t.out)
}

// again handles the alarm, and repeats what is still unanswered.
func (s *Site) again(t step, d retry.Due[owed]) {
	k := d.Subject
	switch s.retries.due(t, d, s.owes(t.now, k)) {
	case retry.Again:
		s.sayAgain(t, k)
	case retry.Over:
		if l := s.legs[k.leg]; l != nil && k.what == theOffer {
			s.negotiation.expire(t, l)
		}
	}
}

// owes reports whether something is still unanswered.
func (s *Site) owes(now grid.Time, k owed) bool {
	switch k.what {
	case theQuestion:
		return s.requests.open()
	case theOrders:
		return s.orders.outstanding()
	}
	l := s.legs[k.leg]
	if l == nil {
		return false
	}
	switch k.what {
	case theInquiry:
		return l.State == grid.Prepared
	case theNotice:
		return !l.noted && notable(l.State)
	case theShift:
		return l.told < l.shifts
	}
	return l.open(now)
}

// sayAgain repeats something. Rows S32, S55, S82, S89.
func (s *Site) sayAgain(t step, k owed) {
	l := s.legs[k.leg]
	switch k.what {
	case theInquiry:
		t.out.Row("S32")
		s.notices.inquire(t, l)
	case theNotice:
		t.out.Row("S55")
		s.notices.tellNotice(t, l)
	case theShift:
		t.out.Row("S82")
		s.notices.tellShift(t, l)
	case theOffer:
		t.out.Row("S89")
		s.negotiation.tellOffer(t, l)
	case theQuestion:
		s.requests.say(t)
	case theOrders:
		s.orders.tellAgain(t)
	}
}
