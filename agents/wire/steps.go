package wire

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// steps has the codecs of the messages between a broker and a site for a transaction that
// goes well.
var steps = []codec{
	form(func(_ *writer, m agents.OfferRequest) *Envelope_OfferRequest {
		return &Envelope_OfferRequest{&OfferRequest{Cycle: m.Cycle, Horizon: int64(m.Horizon), Incarnation: m.Incarnation, Nonce: m.Nonce, Parts: m.Parts}}
	}, func(r *reader, b *Envelope_OfferRequest) agents.OfferRequest {
		o := b.OfferRequest
		return agents.OfferRequest{Cycle: o.GetCycle(), Horizon: r.time("horizon", o.GetHorizon()), Incarnation: o.GetIncarnation(), Nonce: o.GetNonce(), Parts: o.GetParts()}
	}),
	form(func(w *writer, m agents.Offers) *Envelope_Offers {
		out := &Offers{Cycle: m.Cycle, Now: int64(m.Now), Version: m.Version, Refusal: reason(m.Refusal), Stamp: stamp(m.Stamp), Nonce: m.Nonce, Latest: m.Latest}
		steps := 0
		for i := range m.Groups {
			g := &m.Groups[i]
			curve := priceCurve(g.Group.Curve)
			steps += len(g.Admissible) + len(g.Clear) + len(curve.GetAt())
			out.Groups = append(out.Groups, &GroupOffer{Group: group(&g.Group), Admissible: profile(g.Admissible), Clear: profile(g.Clear),
				Queued: int64(g.Queued), Shared: g.Shared, Curve: curve, Padding: int64(g.Group.Padding), Longest: int64(g.Group.Longest), Opened: opened(g.Opened)})
			for k := range g.Opened {
				steps += len(g.Opened[k].Free)
			}
		}
		w.within(len(m.Groups), maxGroups, "groups")
		w.within(steps, maxSteps, "steps of profiles")
		return &Envelope_Offers{out}
	}, func(r *reader, b *Envelope_Offers) agents.Offers { return r.offers(b.Offers) }),
	form(func(w *writer, m agents.QuoteRequest) *Envelope_QuoteRequest {
		out := &QuoteRequest{Ref: m.Ref, Users: texts(m.Users), Legs: make([]*Leg, len(m.Legs)), Together: m.Together}
		for i, l := range m.Legs {
			out.Legs[i] = leg(l)
		}
		for _, q := range m.Queued {
			out.Queued = append(out.Queued, &Queueing{Group: text(q.Group), Nodes: int64(q.Nodes), Limit: int64(q.Limit)})
		}
		w.within(len(m.Users), maxLegs, "users")
		w.within(len(m.Legs), maxLegs, "legs")
		w.within(len(m.Queued), agents.MaxQueued, "queued jobs")
		return &Envelope_QuoteRequest{out}
	}, func(r *reader, b *Envelope_QuoteRequest) agents.QuoteRequest { return r.quoteRequest(b.QuoteRequest) }),
	form(func(w *writer, m agents.Quotes) *Envelope_Quotes {
		out := &Quotes{Ref: m.Ref, Version: m.Version, Quotes: make([]*Quote, len(m.Quotes)), Stamp: stamp(m.Stamp)}
		for i, q := range m.Quotes {
			out.Quotes[i] = &Quote{Fare: fare(q.Fare), Delayed: int64(q.Delayed), Refusal: reason(q.Refusal), RefundFull: int64(q.Cancellation.Full), HoldingFee: int64(q.Cancellation.Holding)}
		}
		for _, b := range m.BestEffort {
			out.BestEffort = append(out.BestEffort, bestEffort(&b))
		}
		w.within(len(m.Quotes), maxLegs, "quotes")
		w.within(len(m.BestEffort), agents.MaxQueued, "forecasts")
		return &Envelope_Quotes{out}
	}, func(r *reader, b *Envelope_Quotes) agents.Quotes { return r.quotes(b.Quotes) }),
	form(func(_ *writer, m agents.Hold) *Envelope_Hold {
		return &Envelope_Hold{&Hold{Leg: legID(m.Leg), What: leg(m.What), Job: text(m.Job), User: text(m.User),
			Limit: int64(m.Limit), For: int64(m.For), Run: int64(m.Run), Replaces: someLegID(m.Replaces), Version: m.Version, Flex: flex(m.Flex), Offer: m.Offer, Pilot: someLegID(m.Pilot)}}
	}, func(r *reader, b *Envelope_Hold) agents.Hold {
		h := b.Hold
		return agents.Hold{Leg: r.legID("leg", h.GetLeg()), What: r.leg("what", h.GetWhat()), Job: r.name("job", h.GetJob(), maxName),
			User: r.name("user", h.GetUser(), maxName), Limit: r.credits("limit", h.GetLimit()), For: r.span("for", h.GetFor()),
			Run: r.span("run", h.GetRun()), Replaces: r.someLegID("replaces", h.GetReplaces()), Version: h.GetVersion(),
			Flex: r.flex("flex", h.GetFlex()), Offer: h.GetOffer(), Pilot: r.someLegID("pilot", h.GetPilot())}
	}),
	form(func(_ *writer, m agents.Held) *Envelope_Held {
		return &Envelope_Held{&Held{Leg: legID(m.Leg), Fare: fare(m.Fare), Version: m.Version, Stamp: stamp(m.Stamp),
			Start: int64(m.Start), End: int64(m.End), Proof: proof(m.Proof), Nodes: texts(m.Nodes), Meeting: text(m.Meeting), Token: text(m.Token)}}
	}, func(r *reader, b *Envelope_Held) agents.Held {
		return agents.Held{Leg: r.legID("leg", b.Held.GetLeg()), Fare: r.fare("fare", b.Held.GetFare()),
			Version: b.Held.GetVersion(), Stamp: stampOf(b.Held.GetStamp()),
			Start: r.time("start", b.Held.GetStart()), End: r.time("end", b.Held.GetEnd()), Proof: r.proof("proof", b.Held.GetProof()),
			Nodes: r.nodeNames("nodes", b.Held.GetNodes()), Meeting: r.name("meeting", b.Held.GetMeeting(), maxName), Token: r.name("token", b.Held.GetToken(), maxToken)}
	}),
	form(func(w *writer, m agents.Refused) *Envelope_Refused {
		out := &Refused{Leg: legID(m.Leg), Step: text(m.Step), Fare: fare(m.Fare),
			Reason: reason(m.Reason), DecidedBy: m.DecidedBy, Stamp: stamp(m.Stamp), Latest: m.Latest}
		for _, p := range m.Instead {
			out.Instead = append(out.Instead, &Place{Start: int64(p.Start), End: int64(p.End), Fare: fare(p.Fare)})
		}
		w.within(len(m.Instead), agents.MaxInstead, "alternatives")
		return &Envelope_Refused{out}
	}, func(r *reader, b *Envelope_Refused) agents.Refused {
		f := b.Refused
		return agents.Refused{Leg: r.legID("leg", f.GetLeg()), Step: r.name("step", f.GetStep(), maxCode), Fare: r.fare("fare", f.GetFare()),
			Reason: r.reason("reason", f.GetReason()), DecidedBy: f.GetDecidedBy(), Stamp: stampOf(f.GetStamp()),
			Instead: r.places("instead", f.GetInstead()), Latest: f.GetLatest()}
	}),
	form(func(_ *writer, m agents.Prepare) *Envelope_Prepare {
		return &Envelope_Prepare{&Prepare{Leg: legID(m.Leg), For: int64(m.For)}}
	}, func(r *reader, b *Envelope_Prepare) agents.Prepare {
		return agents.Prepare{Leg: r.legID("leg", b.Prepare.GetLeg()), For: r.span("for", b.Prepare.GetFor())}
	}),
	form(func(_ *writer, m agents.Prepared) *Envelope_Prepared {
		return &Envelope_Prepared{&Prepared{Leg: legID(m.Leg), Stamp: stamp(m.Stamp)}}
	}, func(r *reader, b *Envelope_Prepared) agents.Prepared {
		return agents.Prepared{Leg: r.legID("leg", b.Prepared.GetLeg()), Stamp: stampOf(b.Prepared.GetStamp())}
	}),
	form(func(_ *writer, m agents.Confirm) *Envelope_Confirm {
		return &Envelope_Confirm{&Confirm{Leg: legID(m.Leg), DecidedBy: m.DecidedBy, Work: handover(m.Work)}}
	}, func(r *reader, b *Envelope_Confirm) agents.Confirm {
		return agents.Confirm{Leg: r.legID("leg", b.Confirm.GetLeg()), DecidedBy: b.Confirm.GetDecidedBy(), Work: r.handover("work", b.Confirm.GetWork())}
	}),
	form(func(_ *writer, m agents.Confirmed) *Envelope_Confirmed {
		return &Envelope_Confirmed{&Confirmed{Leg: legID(m.Leg), Refund: int64(m.Refund), Stamp: stamp(m.Stamp),
			Proof: proof(m.Proof), Replaced: proof(m.Replaced)}}
	}, func(r *reader, b *Envelope_Confirmed) agents.Confirmed {
		return agents.Confirmed{Leg: r.legID("leg", b.Confirmed.GetLeg()), Refund: r.credits("refund", b.Confirmed.GetRefund()),
			Stamp: stampOf(b.Confirmed.GetStamp()), Proof: r.proof("proof", b.Confirmed.GetProof()), Replaced: r.proof("replaced", b.Confirmed.GetReplaced())}
	}),
	form(func(_ *writer, m agents.Cancel) *Envelope_Cancel {
		return &Envelope_Cancel{&Cancel{Leg: legID(m.Leg), DecidedBy: m.DecidedBy}}
	}, func(r *reader, b *Envelope_Cancel) agents.Cancel {
		return agents.Cancel{Leg: r.legID("leg", b.Cancel.GetLeg()), DecidedBy: b.Cancel.GetDecidedBy()}
	}),
	form(func(_ *writer, m agents.Cancelled) *Envelope_Cancelled {
		return &Envelope_Cancelled{&Cancelled{Leg: legID(m.Leg), Stamp: stamp(m.Stamp)}}
	}, func(r *reader, b *Envelope_Cancelled) agents.Cancelled {
		return agents.Cancelled{Leg: r.legID("leg", b.Cancelled.GetLeg()), Stamp: stampOf(b.Cancelled.GetStamp())}
	}),
	form(func(_ *writer, m agents.LegStarted) *Envelope_LegStarted {
		return &Envelope_LegStarted{&LegStarted{Leg: legID(m.Leg), Stamp: stamp(m.Stamp)}}
	}, func(r *reader, b *Envelope_LegStarted) agents.LegStarted {
		return agents.LegStarted{Leg: r.legID("leg", b.LegStarted.GetLeg()), Stamp: stampOf(b.LegStarted.GetStamp())}
	}),
	form(func(_ *writer, m agents.Settled) *Envelope_Settled {
		return &Envelope_Settled{&Settled{Leg: legID(m.Leg), End: int64(m.End), Charged: int64(m.Charged), Stamp: stamp(m.Stamp), Result: result(m.Result)}}
	}, func(r *reader, b *Envelope_Settled) agents.Settled {
		return agents.Settled{Leg: r.legID("leg", b.Settled.GetLeg()), End: r.time("end", b.Settled.GetEnd()),
			Charged: r.credits("charged", b.Settled.GetCharged()), Stamp: stampOf(b.Settled.GetStamp()), Result: r.result("result", b.Settled.GetResult())}
	}),
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
		m.Groups[i].Group.Curve = r.priceCurve("curve", g.GetCurve())
		m.Groups[i].Group.Padding = r.span("padding", g.GetPadding())
		m.Groups[i].Group.Longest = r.span("longest", g.GetLongest())
		m.Groups[i].Opened = r.opened("opened", g.GetOpened())
		r.leave()
	}
	return m
}

func (r *reader) flex(field string, w *Flex) grid.Flex {
	if w == nil {
		return grid.Flex{}
	}
	return grid.Flex{Ready: r.time(field+".ready", w.GetReady()), Due: r.time(field+".due", w.GetDue()),
		Fix: r.whole(field+".fix", w.GetFix(), 0, 1000), Phi: r.whole(field+".phi", w.GetPhi(), 0, maxPhi)}
}

func (r *reader) places(field string, list []*Place) []grid.Place {
	if len(list) == 0 || !r.count(field, len(list), agents.MaxInstead) {
		return nil
	}
	out := make([]grid.Place, len(list))
	for i, p := range list {
		r.enter(field, i)
		out[i] = grid.Place{Start: r.time("start", p.GetStart()), End: r.time("end", p.GetEnd()), Fare: r.fare("fare", p.GetFare())}
		r.leave()
	}
	return out
}

func (r *reader) quoteRequest(q *QuoteRequest) agents.QuoteRequest {
	m := agents.QuoteRequest{Ref: q.GetRef(), Together: q.GetTogether()}
	if !r.count("legs", len(q.GetLegs()), maxLegs) || !r.count("users", len(q.GetUsers()), len(q.GetLegs())) {
		return m
	}
	m.Users = r.texts("users", q.GetUsers())
	if list := q.GetLegs(); len(list) > 0 {
		m.Legs = make([]grid.Leg, len(list))
		for i, l := range list {
			m.Legs[i] = r.legAt("legs", i, l)
		}
	}
	if list := q.GetQueued(); r.count("queued", len(list), agents.MaxQueued) {
		for i, l := range list {
			r.enter("queued", i)
			m.Queued = append(m.Queued, grid.Queueing{Group: r.name("group", l.GetGroup(), maxName), Nodes: r.whole("nodes", l.GetNodes(), 1, maxNodes), Limit: r.span("limit", l.GetLimit())})
			r.leave()
		}
	}
	return m
}

func (r *reader) bestEffort(list []*BestEffort) (out []grid.BestEffort) {
	if !r.count("best_effort", len(list), agents.MaxQueued) {
		return nil
	}
	for i, b := range list {
		r.enter("best_effort", i)
		out = append(out, r.oneBestEffort(b))
		r.leave()
	}
	return out
}

func (r *reader) oneBestEffort(b *BestEffort) grid.BestEffort {
	return grid.BestEffort{Median: r.perhaps("median", b.GetMedian()), Lower: r.perhaps("lower", b.GetLower()), Upper: r.perhaps("upper", b.GetUpper()),
		Level: r.whole("level", b.GetLevel(), 0, 100), Calibrated: b.GetCalibrated(), AtOnce: b.GetAtOnce(),
		Held: r.whole("held", b.GetHeld(), 0, maxForecast), Of: r.whole("of", b.GetOf(), 0, maxForecast)}
}

func bestEffort(b *grid.BestEffort) *BestEffort {
	return &BestEffort{Median: int64(b.Median), Lower: int64(b.Lower), Upper: int64(b.Upper),
		Level: int64(b.Level), Calibrated: b.Calibrated, Held: int64(b.Held), Of: int64(b.Of), AtOnce: b.AtOnce}
}

func (r *reader) quotes(q *Quotes) agents.Quotes {
	m := agents.Quotes{Ref: q.GetRef(), Version: q.GetVersion(), Stamp: stampOf(q.GetStamp()), BestEffort: r.bestEffort(q.GetBestEffort())}
	list := q.GetQuotes()
	if len(list) == 0 || !r.count("quotes", len(list), maxLegs) {
		return m
	}
	m.Quotes = make([]grid.Quote, len(list))
	for i, l := range list {
		r.enter("quotes", i)
		m.Quotes[i] = grid.Quote{Fare: r.fare("fare", l.GetFare()), Delayed: r.whole("delayed", l.GetDelayed(), 0, maxDelayed),
			Refusal: r.reason("refusal", l.GetRefusal()), Cancellation: grid.Cancellation{Full: r.whole("refund_full", l.GetRefundFull(), 0, 1000), Holding: r.whole("holding_fee", l.GetHoldingFee(), 0, 1000)}}
		r.leave()
	}
	return m
}
