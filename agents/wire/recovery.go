package wire

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// recovery has the codecs of the messages for a transaction that fails or is given up.
var recovery = []codec{
	form(func(_ *writer, m agents.Release) *Envelope_Release {
		return &Envelope_Release{&Release{Leg: legID(m.Leg), DecidedBy: m.DecidedBy, Full: m.Full}}
	}, func(r *reader, b *Envelope_Release) agents.Release {
		return agents.Release{Leg: r.legID("leg", b.Release.GetLeg()), DecidedBy: b.Release.GetDecidedBy(), Full: b.Release.GetFull()}
	}),
	form(func(_ *writer, m agents.Released) *Envelope_Released {
		return &Envelope_Released{&Released{Leg: legID(m.Leg), Refund: int64(m.Refund), Stamp: stamp(m.Stamp), Proof: proof(m.Proof)}}
	}, func(r *reader, b *Envelope_Released) agents.Released {
		return agents.Released{Leg: r.legID("leg", b.Released.GetLeg()), Refund: r.credits("refund", b.Released.GetRefund()),
			Stamp: stampOf(b.Released.GetStamp()), Proof: r.proof("proof", b.Released.GetProof())}
	}),
	form(func(_ *writer, m agents.Inquire) *Envelope_Inquire {
		return &Envelope_Inquire{&Inquire{Leg: legID(m.Leg), Stamp: stamp(m.Stamp)}}
	}, func(r *reader, b *Envelope_Inquire) agents.Inquire {
		return agents.Inquire{Leg: r.legID("leg", b.Inquire.GetLeg()), Stamp: stampOf(b.Inquire.GetStamp())}
	}),
	form(func(_ *writer, m agents.Answer) *Envelope_Answer {
		return &Envelope_Answer{&Answer{Leg: legID(m.Leg), Verdict: Verdict(m.Verdict) + 1, DecidedBy: m.DecidedBy}}
	}, func(r *reader, b *Envelope_Answer) agents.Answer {
		return agents.Answer{Leg: r.legID("leg", b.Answer.GetLeg()), Verdict: r.verdict("verdict", b.Answer.GetVerdict()),
			DecidedBy: b.Answer.GetDecidedBy()}
	}),
	form(func(_ *writer, m agents.Heuristic) *Envelope_Heuristic {
		return &Envelope_Heuristic{&Heuristic{Leg: legID(m.Leg), Stamp: stamp(m.Stamp)}}
	}, func(r *reader, b *Envelope_Heuristic) agents.Heuristic {
		return agents.Heuristic{Leg: r.legID("leg", b.Heuristic.GetLeg()), Stamp: stampOf(b.Heuristic.GetStamp())}
	}),
	form(func(_ *writer, m agents.Degraded) *Envelope_Degraded {
		return &Envelope_Degraded{&Degraded{Leg: legID(m.Leg), Refund: int64(m.Refund), Penalty: int64(m.Penalty), Reason: reason(m.Reason), Stamp: stamp(m.Stamp),
			Proof: proof(m.Proof)}}
	}, func(r *reader, b *Envelope_Degraded) agents.Degraded {
		return agents.Degraded{Leg: r.legID("leg", b.Degraded.GetLeg()), Refund: r.credits("refund", b.Degraded.GetRefund()),
			Penalty: r.credits("penalty", b.Degraded.GetPenalty()), Reason: r.reason("reason", b.Degraded.GetReason()), Stamp: stampOf(b.Degraded.GetStamp()),
			Proof: r.proof("proof", b.Degraded.GetProof())}
	}),
	form(func(_ *writer, m agents.Noted) *Envelope_Noted {
		return &Envelope_Noted{&Noted{Leg: legID(m.Leg), Step: text(m.Step), Turn: m.Shifts, Incarnation: m.Incarnation}}
	}, func(r *reader, b *Envelope_Noted) agents.Noted {
		return agents.Noted{Leg: r.legID("leg", b.Noted.GetLeg()), Step: r.name("step", b.Noted.GetStep(), maxCode), Shifts: b.Noted.GetTurn(), Incarnation: b.Noted.GetIncarnation()}
	}),
	form(func(_ *writer, m agents.Shifted) *Envelope_Shifted {
		return &Envelope_Shifted{&Shifted{Leg: legID(m.Leg), Start: int64(m.Start), End: int64(m.End), Turn: m.Shifts, Fixed: m.Fixed, Stamp: stamp(m.Stamp),
			Proof: proof(m.Proof)}}
	}, func(r *reader, b *Envelope_Shifted) agents.Shifted {
		f := b.Shifted
		return agents.Shifted{Leg: r.legID("leg", f.GetLeg()), Start: r.time("start", f.GetStart()), End: r.time("end", f.GetEnd()),
			Shifts: f.GetTurn(), Fixed: f.GetFixed(), Stamp: stampOf(f.GetStamp()), Proof: r.proof("proof", f.GetProof())}
	}),
	form(func(_ *writer, m agents.ShiftOffer) *Envelope_ShiftOffer {
		return &Envelope_ShiftOffer{&ShiftOffer{Leg: legID(m.Leg), Number: m.Number, Version: m.Version, Start: int64(m.Start), End: int64(m.End),
			Ready: int64(m.Ready), Due: int64(m.Due), Pay: int64(m.Pay), For: int64(m.For), Stamp: stamp(m.Stamp)}}
	}, func(r *reader, b *Envelope_ShiftOffer) agents.ShiftOffer {
		f := b.ShiftOffer
		return agents.ShiftOffer{Leg: r.legID("leg", f.GetLeg()), Number: f.GetNumber(), Version: f.GetVersion(),
			Start: r.time("start", f.GetStart()), End: r.time("end", f.GetEnd()), Ready: r.time("ready", f.GetReady()), Due: r.time("due", f.GetDue()),
			Pay: r.credits("pay", f.GetPay()), For: r.span("for", f.GetFor()), Stamp: stampOf(f.GetStamp())}
	}),
	form(func(_ *writer, m agents.ShiftDeclined) *Envelope_ShiftDeclined {
		return &Envelope_ShiftDeclined{&ShiftDeclined{Leg: legID(m.Leg), Number: m.Number, Version: m.Version, Reason: reason(m.Reason)}}
	}, func(r *reader, b *Envelope_ShiftDeclined) agents.ShiftDeclined {
		f := b.ShiftDeclined
		return agents.ShiftDeclined{Leg: r.legID("leg", f.GetLeg()), Number: f.GetNumber(), Version: f.GetVersion(), Reason: r.reason("reason", f.GetReason())}
	}),
	form(func(w *writer, m agents.List) *Envelope_List {
		out := &List{Broker: text(m.Broker), Incarnation: m.Incarnation, Nonce: m.Nonce, Known: make([]*LegID, len(m.Known))}
		for i, l := range m.Known {
			out.Known[i] = legID(l)
		}
		w.within(len(m.Known), maxLegs, "known legs")
		return &Envelope_List{out}
	}, func(r *reader, b *Envelope_List) agents.List { return r.list(b.List) }),
	form(func(w *writer, m agents.Listing) *Envelope_Listing {
		out := &Listing{Incarnation: m.Incarnation, Legs: make([]*ListedLeg, len(m.Legs)), Refusal: reason(m.Refusal), Stamp: stamp(m.Stamp),
			Nonce: m.Nonce, Latest: m.Latest}
		for i := range m.Legs {
			out.Legs[i] = listedLeg(&m.Legs[i])
		}
		w.within(len(m.Legs), maxLegs, "legs")
		return &Envelope_Listing{out}
	}, func(r *reader, b *Envelope_Listing) agents.Listing { return r.listing(b.Listing) }),
	form(func(_ *writer, m agents.Reassert) *Envelope_Reassert {
		return &Envelope_Reassert{&Reassert{Leg: listedLeg(&m.Leg), Incarnation: m.Incarnation, Nonce: m.Nonce, Work: handover(m.Work)}}
	}, func(r *reader, b *Envelope_Reassert) agents.Reassert {
		return agents.Reassert{Leg: r.listedLeg("leg", 0, b.Reassert.GetLeg()), Incarnation: b.Reassert.GetIncarnation(),
			Nonce: b.Reassert.GetNonce(), Work: r.handover("work", b.Reassert.GetWork())}
	}),
	form(func(_ *writer, m agents.Reasserted) *Envelope_Reasserted {
		return &Envelope_Reasserted{&Reasserted{Leg: legID(m.Leg), Reason: reason(m.Reason), Stamp: stamp(m.Stamp)}}
	}, func(r *reader, b *Envelope_Reasserted) agents.Reasserted {
		return agents.Reasserted{Leg: r.legID("leg", b.Reasserted.GetLeg()), Reason: r.reason("reason", b.Reasserted.GetReason()),
			Stamp: stampOf(b.Reasserted.GetStamp())}
	}),
}

func (r *reader) list(l *List) agents.List {
	m := agents.List{Broker: r.some("broker", r.name("broker", l.GetBroker(), maxName)), Incarnation: l.GetIncarnation(), Nonce: l.GetNonce()}
	known := l.GetKnown()
	if len(known) == 0 || !r.count("known", len(known), maxLegs) {
		return m
	}
	m.Known = make([]grid.LegID, len(known))
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
		Refund: r.credits("refund", l.GetRefund()), Penalty: r.credits("penalty", l.GetPenalty()), Run: r.span("run", l.GetRun()), Proof: r.proof("proof", l.GetProof()),
		Result: r.result("result", l.GetResult()), Reason: r.reason("reason", l.GetReason()),
		Flex: r.flex("flex", l.GetFlex()), Shifts: l.GetTurn(), Pilot: r.someLegID("pilot", l.GetPilot())}
}
