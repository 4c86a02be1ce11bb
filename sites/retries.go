package sites

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents/retry"
)

// What the site says again until it is answered: to the broker of a leg, or to
// its cluster. Whether it is still owed follows from the state; retry keeps the
// times.

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
	return [...]string{"InquireDue", "NoticeDue", "ShiftDue", "OfferDue", "QuestionDue", "OrdersDue"}[k.what]
}

// Waits between two tries to be heard: the first, the longest that it doubles to
// and, where nobody waits for it, a minute.
const (
	firstWait = 500 * bourse.Millisecond
	lastWait  = 5 * bourse.Second
	slowWait  = bourse.Minute
)

// retries is what is said again, and when. The component that began it says
// whether it is still owed.
type retries struct {
	list     retry.List[owed]
	lossless bool // nothing is said again; what has a time of its own still ends
}

// begin has something said again.
func (r *retries) begin(t step, what word, leg bourse.LegID, last bourse.Duration) {
	r.schedule(t, what, leg, retry.Schedule{First: firstWait, Last: last})
}

// schedule has something said again by a schedule of its own.
func (r *retries) schedule(t step, what word, leg bourse.LegID, x retry.Schedule) {
	if r.lossless && x.Until == 0 {
		return
	}
	r.list.Begin(t.now, owed{what, leg}, x, t.out)
}

// renew has something said again in place of what was said before. However often
// that happens, one alarm is on its way.
func (r *retries) renew(t step, what word, last bourse.Duration) {
	if r.owes(what) {
		r.list.Renew(owed{what: what})
		return
	}
	r.begin(t, what, bourse.LegID{}, last)
}

// owes reports whether something that is of no leg is said again.
func (r *retries) owes(what word) bool { return r.list.Owes(owed{what: what}) }

// due takes an alarm, and says what comes of it.
func (r *retries) due(t step, d retry.Due[owed], owes bool) retry.Outcome {
	return r.list.Due(t.now, d, owes, t.out)
}

// again takes the alarm.
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

// owes reports whether something is still to be answered.
func (s *Site) owes(now bourse.Time, k owed) bool {
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
		return l.State == bourse.Prepared
	case theNotice:
		return !l.noted && notable(l.State)
	case theShift:
		return l.told < l.shifts
	}
	return l.open(now)
}

// sayAgain says it. Rows S32, S55, S82, S89.
func (s *Site) sayAgain(t step, k owed) {
	l := s.legs[k.leg]
	switch k.what {
	case theInquiry:
		s.notices.inquire(t, l)
	case theNotice:
		s.notices.tellNotice(t, l)
	case theShift:
		s.notices.tellShift(t, l)
	case theOffer:
		s.negotiation.tellOffer(t, l)
	case theQuestion:
		s.requests.say(t)
	case theOrders:
		s.orders.tellAgain(t)
	}
}
