package broker

import (
	"encoding/binary"
	"hash/fnv"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A site may ask a job's user to give up the job's place for another one and a payment,
// so that somebody else fits in. The offer is recorded and shown with the job; nothing
// changes until the user, or in a simulation a draw, accepts. Accepting begins a
// transaction that replaces the leg, like any move. The new price is the old one less
// the payment, and the old price is refunded. Rows B74 to B77.

// longestOffer bounds how long an offer is kept open, whatever its site says.
const longestOffer = grid.Day

// offerDue is the alarm for an offer's expiry.
type offerDue struct {
	Leg    grid.LegID
	Number uint32
}

// Kind names the alarm.
func (offerDue) Kind() string { return "OfferDue" }

// shifts answers sites that ask to move a leg.
type shifts struct {
	*memory
	co      *transaction.Coordinator
	errands *errands
}

// shiftOffered takes a site's offer to move a leg. An offer that was declined before is
// declined again, and one that cannot be accepted is declined at once. Rows B74, B77.
func (shi *shifts) shiftOffered(now grid.Time, t *transaction.Tx, l *transaction.Leg, m agents.ShiftOffer, out *agents.Outbox) {
	j := shi.JobOf(t)
	if o := j.Offer(m.Leg, m.Number); o != nil {
		if o.State == facts.OfferRejected || o.State == facts.OfferExpired {
			out.Row("B77")
			shi.decline(o, out)
		}
		return
	}
	// Only as much of the site's window is accepted as suits the job.
	o := facts.JobOffer{Site: t.Sites()[0], Leg: m.Leg, State: facts.OfferOpen, ShiftOffer: facts.ShiftOffer{
		Number: m.Number, Version: m.Version, Start: m.Start, End: m.End, Ready: max(m.Ready, j.Ready), Due: min(m.Due, j.Deadline, grid.MaxTime),
		Pay: m.Pay, Expires: now.Add(min(max(m.For, 0), longestOffer))}}
	why := shi.unfit(now, t, l, &o)
	if !why.Refused() {
		why = crowded(j, m.Leg)
	}
	if why.Refused() {
		out.Row("B77")
		o.Reason = why
		shi.decline(&o, out)
		return
	}
	out.Row("B74")
	shi.Record(facts.ShiftOffered{Leg: m.Leg, ShiftOffer: o.ShiftOffer}, out)
	out.Alarm(o.Expires, offerDue{m.Leg, m.Number})
	if shi.cfg.AcceptShifts == 0 {
		return
	}
	why = reason(grid.NotAllowed, "its user keeps the old place")
	if shi.willing(m.Leg, m.Number) {
		why = shi.accept(now, j, j.Offer(m.Leg, m.Number), "", out)
	}
	if why.Refused() {
		out.Row("B76")
		shi.closeOffer(j.Offer(m.Leg, m.Number), facts.OfferRejected, why, out)
	}
}

// unfit says why a leg cannot be moved as offered; no reason: it can.
func (shi *shifts) unfit(now grid.Time, t *transaction.Tx, l *transaction.Leg, o *facts.JobOffer) grid.Reason {
	j := shi.JobOf(t)
	at, ok := j.Follows()
	w := grid.Flex{Ready: o.Ready, Due: o.Due}
	switch {
	case len(j.Parts) > 1:
		return reason(grid.BadState, "leg %v is one of a job of parts, which start together or at stated offsets", o.Leg)
	case len(t.Legs()) != 1 || t.State() != grid.TxCommitted || t.Apart() || t.GivenUp() != grid.Kept || l.State() != grid.Confirmed || l.Moved() || j.State != grid.JobPlaced:
		return reason(grid.BadState, "leg %v is not the only one of a window that waits to start", o.Leg)
	case o.Version != max(l.Version(), 1):
		return reason(grid.Stale, "leg %v is at version %d, not %d", o.Leg, max(l.Version(), 1), o.Version)
	case now >= o.Expires:
		return reason(grid.Expired, "the offer expired at %v", o.Expires)
	case o.Number == 0 || o.End.Sub(o.Start) != l.What().Duration() || o.Pay < 0 || o.Pay > l.Fare().Total():
		return reason(grid.Invalid, "[%v, %v) for %v credits is no offer for a leg of %v seconds that costs %v", o.Start, o.End, o.Pay, l.What().Duration(), l.Fare().Total())
	case o.Start < now.Add(shi.cfg.Lead):
		return reason(grid.Past, "%v is too soon to be had", o.Start)
	case !w.Holds(o.Start, o.End) || o.Start < j.Ready || o.End > j.Deadline || ok && o.Start < at:
		return reason(grid.NoWindow, "[%v, %v) does not suit the job's own times", o.Start, o.End)
	}
	return grid.Reason{}
}

// crowded says why a job takes no further offer now; no reason: it does.
func crowded(j *jobs.Job, leg grid.LegID) grid.Reason {
	open := 0
	for _, o := range j.Offers() {
		if o.State == facts.OfferOpen {
			if open++; o.Leg == leg {
				return reason(grid.Conflict, "offer %d is open", o.Number)
			}
		}
	}
	if open >= jobs.MaxJobOffers {
		return reason(grid.QueueFull, "%d offers for the job are open", open)
	}
	return grid.Reason{}
}

// willing draws whether the user of a leg accepts an offer. The result depends only on
// the seed, the leg and the offer's number, not on other draws.
func (shi *shifts) willing(leg grid.LegID, number uint32) bool {
	h := fnv.New64a()
	var x [12]byte
	binary.LittleEndian.PutUint64(x[:], shi.cfg.Draws)
	binary.LittleEndian.PutUint32(x[8:], number)
	h.Write(x[:])
	h.Write([]byte(leg.String()))
	n := h.Sum64()
	n ^= n >> 33 // mix, because FNV's low bits are poor
	n *= 0xff51afd7ed558ccd
	n ^= n >> 33
	return int(n%1000) < shi.cfg.AcceptShifts
}

// offerAnswer handles a user's answer to an offer. A repeated answer gets the same
// reply. Rows B75, B76.
func (shi *shifts) offerAnswer(now grid.Time, from agents.ID, m agents.OfferAnswer, out *agents.Outbox) {
	why, begun := shi.answered(now, from, m, out)
	if begun && !why.Refused() {
		return // its asker hears later that it has taken effect, or why not
	}
	out.Send(from, agents.JobReply{Job: m.Job, Reason: why})
}

// answered acts on a user's answer, or says why it cannot. begun reports whether it has
// begun a transaction.
func (shi *shifts) answered(now grid.Time, from agents.ID, m agents.OfferAnswer, out *agents.Outbox) (why grid.Reason, begun bool) {
	j := shi.Names[m.Job]
	switch {
	case j == nil:
		return reason(grid.Unknown, "%s has no job %q", shi.cfg.Name, m.Job), false
	case j.User != m.User:
		return reason(grid.NotAllowed, "job %q is not %s's", m.Job, m.User), false
	}
	var o *facts.JobOffer
	for i := range j.Offers() {
		if x := &j.Offers()[i]; x.N == m.N {
			o = x
		}
	}
	switch {
	case o == nil:
		return reason(grid.Unknown, "job %q has no offer %d", m.Job, m.N), false
	case o.State == facts.OfferAccepted && m.Accept, o.State == facts.OfferRejected && !m.Accept:
		return grid.Reason{}, false
	case o.State == facts.OfferExpired || o.State == facts.OfferOpen && now >= o.Expires:
		return reason(grid.Expired, "offer %d expired at %v", m.N, o.Expires), false
	case o.State != facts.OfferOpen:
		return reason(grid.BadState, "offer %d is answered: %s", m.N, o.State), false
	case shi.errands.errandOf(j) != nil:
		out.Row("B116")
		return shi.errands.errandOf(j).busy(), false
	case m.Accept:
		return shi.accept(now, j, o, from, out), true
	}
	out.Row("B76")
	shi.closeOffer(o, facts.OfferRejected, grid.Reason{}, out)
	return grid.Reason{}, false
}

// accept begins the transaction that moves a leg, or says why it cannot and leaves the
// offer as it is. The accounts must cover the new price before the old one is refunded.
// Row B75.
func (shi *shifts) accept(now grid.Time, j *jobs.Job, o *facts.JobOffer, asker agents.ID, out *agents.Outbox) grid.Reason {
	t := shi.Txs.Get(o.Leg.Tx)
	if t == nil || shi.errands.lies(j) != t || !shi.co.MayBuy(now) || shi.errands.errandOf(j) != nil {
		return reason(grid.BadState, "leg %v is not the window of job %q, or that is about to change", o.Leg, j.Name)
	}
	l := &t.Legs()[0]
	if why := shi.unfit(now, t, l, o); why.Refused() {
		return why
	}
	if !shi.Peers.Serves(t.Sites()[0]) {
		out.Row("B115")
		return shi.errands.away(t.Sites()[0])
	}
	price := l.Fare().Total() - o.Pay
	if left := min(shi.Accounts.Left(), shi.Accounts.UserLeft(j.User)); price > left {
		return reason(grid.NoMoney, "its price of %v credits must be paid before the old one comes back, the accounts have %v left", price, left)
	}
	what := l.What()
	what.Start, what.End = o.Start, o.End
	flex := grid.Flex{Ready: o.Ready, Due: o.Due, Fix: t.Flex().Fix, Phi: t.Flex().Phi}
	if r := shi.Tenancy.Over(j.User, []grid.Leg{what}, price, flex, j.Name); r.Refused() {
		return r
	}
	e := &errand{job: j, request: j.Request(), asker: asker}
	shi.errands.newErrand(e)
	f := shi.co.NewTx(j.Name, 1)
	f.Alternative, f.Limits, f.Request, f.Offer = 1, []grid.Credits{price}, e.request, o.Number
	f.Sites, f.Legs = append(f.Sites, t.Sites()[0]), append(f.Legs, what)
	f.Replaces, f.Versions = []grid.LegID{o.Leg}, []uint32{o.Version}
	if part := t.Part(0); part != "" { // of a job of one part
		f.Parts = []string{part}
	}
	f.Flex = flex
	out.Row("B75")
	e.try = shi.co.Open(now, f, t.Run(), false, out)
	return grid.Reason{}
}

// offerFailed closes an offer whose transaction failed. If the site just did not answer,
// the offer stays open for another try.
func (shi *shifts) offerFailed(now grid.Time, t *transaction.Tx, out *agents.Outbox) {
	o := shi.Accepted(t)
	if o == nil || o.State != facts.OfferOpen || t.Reason().Code == grid.NoOffer && now < o.Expires && shi.cfg.AcceptShifts == 0 {
		return
	}
	out.Row("B75")
	shi.closeOffer(o, facts.OfferRejected, t.Reason(), out)
}

// closeOffer ends an offer that is open, and tells its site.
func (shi *shifts) closeOffer(o *facts.JobOffer, to facts.OfferState, why grid.Reason, out *agents.Outbox) {
	shi.Record(facts.OfferClosed{Leg: o.Leg, Number: o.Number, State: to, Reason: why}, out)
	shi.decline(o, out)
}

// decline tells a site that its offer is declined.
func (shi *shifts) decline(o *facts.JobOffer, out *agents.Outbox) {
	out.Send(transaction.SiteID(o.Site), agents.ShiftDeclined{Leg: o.Leg, Number: o.Number, Version: o.Version, Reason: o.Reason})
}

// offerDue closes an offer that nobody has answered. Row B77.
func (shi *shifts) offerDue(now grid.Time, m offerDue, out *agents.Outbox) {
	t := shi.Txs.Get(m.Leg.Tx)
	if t == nil {
		return
	}
	if o := shi.JobOf(t).Offer(m.Leg, m.Number); o != nil && o.State == facts.OfferOpen && now >= o.Expires {
		out.Row("B77")
		shi.closeOffer(o, facts.OfferExpired, grid.Reason{}, out)
	}
}

// offersAgain sets the alarms of open offers in a new life.
func (shi *shifts) offersAgain(out *agents.Outbox) {
	for _, j := range shi.Jobs {
		for _, o := range j.Offers() {
			if o.State == facts.OfferOpen {
				out.Alarm(max(shi.Now, o.Expires), offerDue{o.Leg, o.Number})
			}
		}
	}
}
