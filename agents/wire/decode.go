package wire

import (
	"bourse"
	"bourse/agents"
)

// broker reads the messages between a broker and a site as long as all goes
// well; nil if the body is another one.
func (r *reader) broker(e *Envelope) agents.Message {
	switch b := e.Body.(type) {
	case *Envelope_OfferRequest:
		o := b.OfferRequest
		return agents.OfferRequest{Cycle: o.GetCycle(), Horizon: r.time("horizon", o.GetHorizon()), Incarnation: o.GetIncarnation(), Nonce: o.GetNonce()}
	case *Envelope_Offers:
		return r.offers(b.Offers)
	case *Envelope_QuoteRequest:
		return r.quoteRequest(b.QuoteRequest)
	case *Envelope_Quotes:
		return r.quotes(b.Quotes)
	case *Envelope_Hold:
		h := b.Hold
		return agents.Hold{Leg: r.legID("leg", h.GetLeg()), What: r.leg("what", h.GetWhat()), Job: r.name("job", h.GetJob(), maxName),
			User: r.name("user", h.GetUser(), maxName), Limit: r.credits("limit", h.GetLimit()), For: r.span("for", h.GetFor()),
			Run: r.span("run", h.GetRun()), Replaces: r.someLegID("replaces", h.GetReplaces()), Version: h.GetVersion(),
			Flex: r.flex("flex", h.GetFlex()), Offer: h.GetOffer()}
	case *Envelope_Held:
		return agents.HeldReply{Leg: r.legID("leg", b.Held.GetLeg()), Fare: r.fare("fare", b.Held.GetFare()),
			Version: b.Held.GetVersion(), Stamp: stampOf(b.Held.GetStamp()),
			Start: r.time("start", b.Held.GetStart()), End: r.time("end", b.Held.GetEnd()), Proof: r.proof("proof", b.Held.GetProof())}
	case *Envelope_Refused:
		f := b.Refused
		return agents.RefusedReply{Leg: r.legID("leg", f.GetLeg()), Step: r.name("step", f.GetStep(), maxCode), Fare: r.fare("fare", f.GetFare()),
			Reason: r.reason("reason", f.GetReason()), DecidedBy: f.GetDecidedBy(), Stamp: stampOf(f.GetStamp()),
			Instead: r.places("instead", f.GetInstead()), Latest: f.GetLatest()}
	case *Envelope_Prepare:
		return agents.Prepare{Leg: r.legID("leg", b.Prepare.GetLeg()), For: r.span("for", b.Prepare.GetFor())}
	case *Envelope_Prepared:
		return agents.PreparedReply{Leg: r.legID("leg", b.Prepared.GetLeg()), Stamp: stampOf(b.Prepared.GetStamp())}
	case *Envelope_Confirm:
		return agents.Confirm{Leg: r.legID("leg", b.Confirm.GetLeg()), DecidedBy: b.Confirm.GetDecidedBy()}
	case *Envelope_Confirmed:
		return agents.ConfirmedReply{Leg: r.legID("leg", b.Confirmed.GetLeg()), Refund: r.credits("refund", b.Confirmed.GetRefund()),
			Stamp: stampOf(b.Confirmed.GetStamp()), Proof: r.proof("proof", b.Confirmed.GetProof()), Replaced: r.proof("replaced", b.Confirmed.GetReplaced())}
	case *Envelope_Cancel:
		return agents.Cancel{Leg: r.legID("leg", b.Cancel.GetLeg()), DecidedBy: b.Cancel.GetDecidedBy()}
	case *Envelope_Cancelled:
		return agents.CancelledReply{Leg: r.legID("leg", b.Cancelled.GetLeg()), Stamp: stampOf(b.Cancelled.GetStamp())}
	case *Envelope_LegStarted:
		return agents.StartedNotice{Leg: r.legID("leg", b.LegStarted.GetLeg()), Stamp: stampOf(b.LegStarted.GetStamp())}
	case *Envelope_Settled:
		return agents.SettledNotice{Leg: r.legID("leg", b.Settled.GetLeg()), End: r.time("end", b.Settled.GetEnd()),
			Charged: r.credits("charged", b.Settled.GetCharged()), Stamp: stampOf(b.Settled.GetStamp())}
	}
	return nil
}

// recovery reads the messages of a transaction that did not go smoothly; nil if
// the body is another one.
func (r *reader) recovery(e *Envelope) agents.Message {
	switch b := e.Body.(type) {
	case *Envelope_Release:
		return agents.Release{Leg: r.legID("leg", b.Release.GetLeg()), DecidedBy: b.Release.GetDecidedBy(), Full: b.Release.GetFull()}
	case *Envelope_Released:
		return agents.ReleasedReply{Leg: r.legID("leg", b.Released.GetLeg()), Refund: r.credits("refund", b.Released.GetRefund()),
			Stamp: stampOf(b.Released.GetStamp()), Proof: r.proof("proof", b.Released.GetProof())}
	case *Envelope_Inquire:
		return agents.Inquire{Leg: r.legID("leg", b.Inquire.GetLeg()), Stamp: stampOf(b.Inquire.GetStamp())}
	case *Envelope_Answer:
		return agents.Answer{Leg: r.legID("leg", b.Answer.GetLeg()), Verdict: r.verdict("verdict", b.Answer.GetVerdict()),
			DecidedBy: b.Answer.GetDecidedBy()}
	case *Envelope_Heuristic:
		return agents.HeuristicNotice{Leg: r.legID("leg", b.Heuristic.GetLeg()), Stamp: stampOf(b.Heuristic.GetStamp())}
	case *Envelope_Degraded:
		return agents.DegradedNotice{Leg: r.legID("leg", b.Degraded.GetLeg()), Refund: r.credits("refund", b.Degraded.GetRefund()),
			Penalty: r.credits("penalty", b.Degraded.GetPenalty()), Reason: r.reason("reason", b.Degraded.GetReason()), Stamp: stampOf(b.Degraded.GetStamp()),
			Proof: r.proof("proof", b.Degraded.GetProof())}
	case *Envelope_Noted:
		return agents.Noted{Leg: r.legID("leg", b.Noted.GetLeg()), Step: r.name("step", b.Noted.GetStep(), maxCode), Turn: b.Noted.GetTurn()}
	case *Envelope_Shifted:
		f := b.Shifted
		return agents.ShiftedNotice{Leg: r.legID("leg", f.GetLeg()), Start: r.time("start", f.GetStart()), End: r.time("end", f.GetEnd()),
			Turn: f.GetTurn(), Fixed: f.GetFixed(), Stamp: stampOf(f.GetStamp()), Proof: r.proof("proof", f.GetProof())}
	case *Envelope_ShiftOffer:
		f := b.ShiftOffer
		return agents.ShiftOffer{Leg: r.legID("leg", f.GetLeg()), Number: f.GetNumber(), Version: f.GetVersion(),
			Start: r.time("start", f.GetStart()), End: r.time("end", f.GetEnd()), Ready: r.time("ready", f.GetReady()), Due: r.time("due", f.GetDue()),
			Pay: r.credits("pay", f.GetPay()), For: r.span("for", f.GetFor()), Stamp: stampOf(f.GetStamp())}
	case *Envelope_ShiftDeclined:
		f := b.ShiftDeclined
		return agents.ShiftDeclined{Leg: r.legID("leg", f.GetLeg()), Number: f.GetNumber(), Version: f.GetVersion(), Reason: r.reason("reason", f.GetReason())}
	case *Envelope_List:
		return r.list(b.List)
	case *Envelope_Listing:
		return r.listing(b.Listing)
	case *Envelope_Reassert:
		return agents.Reassert{Leg: r.listedLeg("leg", 0, b.Reassert.GetLeg()), Incarnation: b.Reassert.GetIncarnation(),
			Nonce: b.Reassert.GetNonce()}
	case *Envelope_Reasserted:
		return agents.ReassertedReply{Leg: r.legID("leg", b.Reasserted.GetLeg()), Reason: r.reason("reason", b.Reasserted.GetReason()),
			Stamp: stampOf(b.Reasserted.GetStamp())}
	}
	r.fail("body", "has no reader")
	return nil
}

func (r *reader) offers(o *Offers) agents.Offers {
	m := agents.Offers{Cycle: o.GetCycle(), Now: r.time("now", o.GetNow()), Version: o.GetVersion(),
		Refusal: r.reason("refusal", o.GetRefusal()), Stamp: stampOf(o.GetStamp()), Nonce: o.GetNonce(), Latest: o.GetLatest()}
	list := o.GetGroups()
	if len(list) == 0 || !r.count("groups", len(list), maxGroups) {
		return m
	}
	m.Groups = make([]agents.GroupOffer, len(list))
	for i, g := range list {
		r.enter("groups", i)
		m.Groups[i] = agents.GroupOffer{Group: r.group(g.GetGroup()),
			Admissible: r.profile("admissible", g.GetAdmissible()), Clear: r.profile("clear", g.GetClear()),
			Queued: r.span("queued", g.GetQueued()), Shared: g.GetShared()}
		r.leave()
	}
	return m
}

func (r *reader) flex(field string, w *Flex) bourse.Flex {
	if w == nil {
		return bourse.Flex{}
	}
	return bourse.Flex{Ready: r.time(field+".ready", w.GetReady()), Due: r.time(field+".due", w.GetDue()),
		Fix: r.whole(field+".fix", w.GetFix(), 0, 1000), Phi: r.whole(field+".phi", w.GetPhi(), 0, maxPhi)}
}

func (r *reader) places(field string, list []*Place) []bourse.Place {
	if len(list) == 0 || !r.count(field, len(list), agents.MaxInstead) {
		return nil
	}
	out := make([]bourse.Place, len(list))
	for i, p := range list {
		r.enter(field, i)
		out[i] = bourse.Place{Start: r.time("start", p.GetStart()), End: r.time("end", p.GetEnd()), Fare: r.fare("fare", p.GetFare())}
		r.leave()
	}
	return out
}

func (r *reader) quoteRequest(q *QuoteRequest) agents.QuoteRequest {
	m := agents.QuoteRequest{Ref: q.GetRef()}
	if !r.count("legs", len(q.GetLegs()), maxLegs) || !r.count("users", len(q.GetUsers()), len(q.GetLegs())) {
		return m
	}
	m.Users = r.texts("users", q.GetUsers())
	if list := q.GetLegs(); len(list) > 0 {
		m.Legs = make([]bourse.Leg, len(list))
		for i, l := range list {
			m.Legs[i] = r.legAt("legs", i, l)
		}
	}
	return m
}

func (r *reader) quotes(q *Quotes) agents.Quotes {
	m := agents.Quotes{Ref: q.GetRef(), Version: q.GetVersion(), Stamp: stampOf(q.GetStamp())}
	list := q.GetQuotes()
	if len(list) == 0 || !r.count("quotes", len(list), maxLegs) {
		return m
	}
	m.Quotes = make([]bourse.Quote, len(list))
	for i, l := range list {
		r.enter("quotes", i)
		m.Quotes[i] = bourse.Quote{Fare: r.fare("fare", l.GetFare()), Delayed: r.whole("delayed", l.GetDelayed(), 0, maxDelayed),
			Refusal: r.reason("refusal", l.GetRefusal()), Cancellation: bourse.Cancellation{Full: r.whole("refund_full", l.GetRefundFull(), 0, 1000)}}
		r.leave()
	}
	return m
}

func (r *reader) list(l *List) agents.List {
	m := agents.List{Broker: r.some("broker", r.name("broker", l.GetBroker(), maxName)), Incarnation: l.GetIncarnation(), Nonce: l.GetNonce()}
	known := l.GetKnown()
	if len(known) == 0 || !r.count("known", len(known), maxLegs) {
		return m
	}
	m.Known = make([]bourse.LegID, len(known))
	for i, id := range known {
		r.enter("known", i)
		m.Known[i] = r.legID("leg", id)
		r.leave()
	}
	return m
}

func (r *reader) listing(l *Listing) agents.Listing {
	m := agents.Listing{Incarnation: l.GetIncarnation(), Refusal: r.reason("refusal", l.GetRefusal()), Stamp: stampOf(l.GetStamp()),
		Nonce: l.GetNonce(), Latest: l.GetLatest()}
	list := l.GetLegs()
	if len(list) == 0 || !r.count("legs", len(list), maxLegs) {
		return m
	}
	m.Legs = make([]agents.ListedLeg, len(list))
	for i, leg := range list {
		m.Legs[i] = r.listedLeg("legs", i, leg)
	}
	return m
}

func (r *reader) listedLeg(field string, i int, l *ListedLeg) agents.ListedLeg {
	r.enter(field, i)
	defer r.leave()
	return agents.ListedLeg{Leg: r.legID("leg", l.GetLeg()), What: r.leg("what", l.GetWhat()), Job: r.name("job", l.GetJob(), maxName),
		User: r.name("user", l.GetUser(), maxName), State: r.state("state", l.GetState()), Fare: r.fare("fare", l.GetFare()),
		Limit: r.credits("limit", l.GetLimit()), Left: r.span("left", l.GetLeft()), End: r.time("end", l.GetEnd()), Version: l.GetVersion(),
		Refund: r.credits("refund", l.GetRefund()), Penalty: r.credits("penalty", l.GetPenalty()), Run: r.span("run", l.GetRun()), Proof: r.proof("proof", l.GetProof())}
}
