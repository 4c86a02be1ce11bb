package wire

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"bourse"
	"bourse/agents"
)

// put fills the body with a message.
func (e *Envelope) put(m agents.Message) error {
	switch m := m.(type) {
	case agents.OfferRequest:
		e.Body = &Envelope_OfferRequest{&OfferRequest{Cycle: m.Cycle, Horizon: int64(m.Horizon), Incarnation: m.Incarnation, Nonce: m.Nonce}}
	case agents.Offers:
		return e.putOffers(m)
	case agents.QuoteRequest:
		return e.putQuoteRequest(m)
	case agents.Quotes:
		return e.putQuotes(m)
	case agents.Hold:
		e.Body = &Envelope_Hold{&Hold{Leg: legID(m.Leg), What: leg(m.What), Job: text(m.Job), User: text(m.User),
			Limit: int64(m.Limit), For: int64(m.For), Run: int64(m.Run), Replaces: someLegID(m.Replaces), Version: m.Version, Flex: flex(m.Flex), Offer: m.Offer}}
	case agents.HeldReply:
		e.Body = &Envelope_Held{&Held{Leg: legID(m.Leg), Fare: fare(m.Fare), Version: m.Version, Stamp: stamp(m.Stamp),
			Start: int64(m.Start), End: int64(m.End), Proof: proof(m.Proof)}}
	case agents.RefusedReply:
		out := &Refused{Leg: legID(m.Leg), Step: text(m.Step), Fare: fare(m.Fare),
			Reason: reason(m.Reason), DecidedBy: m.DecidedBy, Stamp: stamp(m.Stamp), Latest: m.Latest}
		for _, p := range m.Instead {
			out.Instead = append(out.Instead, &Place{Start: int64(p.Start), End: int64(p.End), Fare: fare(p.Fare)})
		}
		e.Body = &Envelope_Refused{out}
		return within(len(m.Instead), agents.MaxInstead, "alternatives", 0, 0, "")
	case agents.Prepare:
		e.Body = &Envelope_Prepare{&Prepare{Leg: legID(m.Leg), For: int64(m.For)}}
	case agents.PreparedReply:
		e.Body = &Envelope_Prepared{&Prepared{Leg: legID(m.Leg), Stamp: stamp(m.Stamp)}}
	case agents.Confirm:
		e.Body = &Envelope_Confirm{&Confirm{Leg: legID(m.Leg), DecidedBy: m.DecidedBy}}
	case agents.ConfirmedReply:
		e.Body = &Envelope_Confirmed{&Confirmed{Leg: legID(m.Leg), Refund: int64(m.Refund), Stamp: stamp(m.Stamp),
			Proof: proof(m.Proof), Replaced: proof(m.Replaced)}}
	case agents.Cancel:
		e.Body = &Envelope_Cancel{&Cancel{Leg: legID(m.Leg), DecidedBy: m.DecidedBy}}
	case agents.CancelledReply:
		e.Body = &Envelope_Cancelled{&Cancelled{Leg: legID(m.Leg), Stamp: stamp(m.Stamp)}}
	case agents.StartedNotice:
		e.Body = &Envelope_LegStarted{&LegStarted{Leg: legID(m.Leg), Stamp: stamp(m.Stamp)}}
	case agents.SettledNotice:
		e.Body = &Envelope_Settled{&Settled{Leg: legID(m.Leg), End: int64(m.End), Charged: int64(m.Charged), Stamp: stamp(m.Stamp)}}
	default:
		return e.putRecovery(m)
	}
	return nil
}

// putRecovery fills the body with a message of a transaction that did not go
// smoothly.
func (e *Envelope) putRecovery(m agents.Message) error {
	switch m := m.(type) {
	case agents.Release:
		e.Body = &Envelope_Release{&Release{Leg: legID(m.Leg), DecidedBy: m.DecidedBy, Full: m.Full}}
	case agents.ReleasedReply:
		e.Body = &Envelope_Released{&Released{Leg: legID(m.Leg), Refund: int64(m.Refund), Stamp: stamp(m.Stamp), Proof: proof(m.Proof)}}
	case agents.Inquire:
		e.Body = &Envelope_Inquire{&Inquire{Leg: legID(m.Leg), Stamp: stamp(m.Stamp)}}
	case agents.Answer:
		e.Body = &Envelope_Answer{&Answer{Leg: legID(m.Leg), Verdict: Verdict(m.Verdict) + 1, DecidedBy: m.DecidedBy}}
	case agents.HeuristicNotice:
		e.Body = &Envelope_Heuristic{&Heuristic{Leg: legID(m.Leg), Stamp: stamp(m.Stamp)}}
	case agents.DegradedNotice:
		e.Body = &Envelope_Degraded{&Degraded{Leg: legID(m.Leg), Refund: int64(m.Refund), Penalty: int64(m.Penalty), Reason: reason(m.Reason), Stamp: stamp(m.Stamp),
			Proof: proof(m.Proof)}}
	case agents.Noted:
		e.Body = &Envelope_Noted{&Noted{Leg: legID(m.Leg), Step: text(m.Step), Turn: m.Turn}}
	case agents.ShiftedNotice:
		e.Body = &Envelope_Shifted{&Shifted{Leg: legID(m.Leg), Start: int64(m.Start), End: int64(m.End), Turn: m.Turn, Fixed: m.Fixed, Stamp: stamp(m.Stamp),
			Proof: proof(m.Proof)}}
	case agents.ShiftOffer:
		e.Body = &Envelope_ShiftOffer{&ShiftOffer{Leg: legID(m.Leg), Number: m.Number, Version: m.Version, Start: int64(m.Start), End: int64(m.End),
			Ready: int64(m.Ready), Due: int64(m.Due), Pay: int64(m.Pay), For: int64(m.For), Stamp: stamp(m.Stamp)}}
	case agents.ShiftDeclined:
		e.Body = &Envelope_ShiftDeclined{&ShiftDeclined{Leg: legID(m.Leg), Number: m.Number, Version: m.Version, Reason: reason(m.Reason)}}
	case agents.List:
		return e.putList(m)
	case agents.Listing:
		return e.putListing(m)
	case agents.Reassert:
		e.Body = &Envelope_Reassert{&Reassert{Leg: listedLeg(&m.Leg), Incarnation: m.Incarnation, Nonce: m.Nonce}}
	case agents.ReassertedReply:
		e.Body = &Envelope_Reasserted{&Reasserted{Leg: legID(m.Leg), Reason: reason(m.Reason), Stamp: stamp(m.Stamp)}}
	default:
		return fmt.Errorf("wire: %s stays within a process and has no form on the wire", m.Kind())
	}
	return nil
}

func (e *Envelope) putOffers(m agents.Offers) error {
	out := &Offers{Cycle: m.Cycle, Now: int64(m.Now), Version: m.Version, Refusal: reason(m.Refusal), Stamp: stamp(m.Stamp), Nonce: m.Nonce, Latest: m.Latest}
	steps := 0
	for i := range m.Groups {
		g := &m.Groups[i]
		steps += len(g.Admissible) + len(g.Clear)
		out.Groups = append(out.Groups, &GroupOffer{Group: group(&g.Group), Admissible: profile(g.Admissible), Clear: profile(g.Clear),
			Queued: int64(g.Queued), Shared: g.Shared})
	}
	e.Body = &Envelope_Offers{out}
	return within(len(m.Groups), maxGroups, "groups", steps, maxSteps, "steps of profiles")
}

func (e *Envelope) putQuoteRequest(m agents.QuoteRequest) error {
	out := &QuoteRequest{Ref: m.Ref, Users: texts(m.Users), Legs: make([]*Leg, len(m.Legs))}
	for i, l := range m.Legs {
		out.Legs[i] = leg(l)
	}
	e.Body = &Envelope_QuoteRequest{out}
	return within(len(m.Users), maxLegs, "users", len(m.Legs), maxLegs, "legs")
}

func (e *Envelope) putQuotes(m agents.Quotes) error {
	out := &Quotes{Ref: m.Ref, Version: m.Version, Quotes: make([]*Quote, len(m.Quotes)), Stamp: stamp(m.Stamp)}
	for i, q := range m.Quotes {
		out.Quotes[i] = &Quote{Fare: fare(q.Fare), Delayed: int64(q.Delayed), Refusal: reason(q.Refusal), RefundFull: int64(q.Cancellation.Full)}
	}
	e.Body = &Envelope_Quotes{out}
	return within(len(m.Quotes), maxLegs, "quotes", 0, 0, "")
}

func (e *Envelope) putList(m agents.List) error {
	out := &List{Broker: text(m.Broker), Incarnation: m.Incarnation, Nonce: m.Nonce, Known: make([]*LegID, len(m.Known))}
	for i, l := range m.Known {
		out.Known[i] = legID(l)
	}
	e.Body = &Envelope_List{out}
	return within(len(m.Known), maxLegs, "known legs", 0, 0, "")
}

func (e *Envelope) putListing(m agents.Listing) error {
	out := &Listing{Incarnation: m.Incarnation, Legs: make([]*ListedLeg, len(m.Legs)), Refusal: reason(m.Refusal), Stamp: stamp(m.Stamp),
		Nonce: m.Nonce, Latest: m.Latest}
	for i := range m.Legs {
		out.Legs[i] = listedLeg(&m.Legs[i])
	}
	e.Body = &Envelope_Listing{out}
	return within(len(m.Legs), maxLegs, "legs", 0, 0, "")
}

// within refuses lists that no receiver would take.
func within(n, most int, what string, n2, most2 int, what2 string) error {
	if n > most {
		return fmt.Errorf("wire: %d %s, at most %d go into a message", n, what, most)
	}
	if n2 > most2 {
		return fmt.Errorf("wire: %d %s, at most %d go into a message", n2, what2, most2)
	}
	return nil
}

// The values. What is zero is left out, and read back as zero.

func legID(l bourse.LegID) *LegID {
	return &LegID{Broker: text(l.Tx.Broker), Incarnation: l.Tx.Incarnation, Nonce: l.Tx.Nonce, Seq: l.Tx.Seq, Leg: uint32(l.Leg)}
}

// someLegID is legID where there may be none.
func someLegID(l bourse.LegID) *LegID {
	if l == (bourse.LegID{}) {
		return nil
	}
	return legID(l)
}

func leg(l bourse.Leg) *Leg {
	return &Leg{Group: text(l.Group), Nodes: int64(l.Nodes), Start: int64(l.Start), End: int64(l.End), Work: int64(l.Work)}
}

func fare(f bourse.Fare) *Fare {
	if f == (bourse.Fare{}) {
		return nil
	}
	return &Fare{Base: int64(f.Base), Additive: int64(f.Additive)}
}

func flex(w bourse.Flex) *Flex {
	if w == (bourse.Flex{}) {
		return nil
	}
	return &Flex{Ready: int64(w.Ready), Due: int64(w.Due), Fix: int64(w.Fix), Phi: int64(w.Phi)}
}

func stamp(s agents.Stamp) *Stamp { return &Stamp{Epoch: s.Epoch, Seq: s.Seq, From: s.From} }

// proof is left out where there is none.
func proof(p bourse.Proof) *Proof {
	if p == (bourse.Proof{}) {
		return nil
	}
	return &Proof{State: LegState(p.State) + 1, Epoch: p.Epoch, Seq: p.Seq, Mac: p.MAC[:]}
}

// reason cuts the words to maxDetail bytes and leaves one line of them.
func reason(r bourse.Reason) *Reason {
	if r == (bourse.Reason{}) {
		return nil
	}
	detail := text(r.Detail)
	if len(detail) > maxDetail {
		cut := maxDetail
		for !utf8.RuneStart(detail[cut]) {
			cut--
		}
		detail = detail[:cut]
	}
	if strings.ContainsFunc(detail, control) {
		detail = strings.Map(func(c rune) rune {
			if control(c) {
				return ' '
			}
			return c
		}, detail)
	}
	return &Reason{Code: text(string(r.Code)), Detail: detail}
}

func group(g *bourse.Group) *Group {
	out := &Group{Site: text(g.Site), Name: text(g.Name), Nodes: int64(g.Nodes), Performance: int64(g.Performance), Price: int64(g.Price)}
	if m := g.Machine; m.Memory != 0 || m.Disk != 0 || m.GPUs != 0 || m.OS != "" || m.Arch != "" || len(m.Features) > 0 {
		out.Machine = &Machine{Memory: m.Memory, Disk: m.Disk, Gpus: int64(m.GPUs), Os: text(m.OS), Arch: text(m.Arch), Features: texts(m.Features)}
	}
	return out
}

// profile writes spans between steps in place of instants: three bytes, not six.
func profile(p bourse.Profile) *Profile {
	out := &Profile{At: make([]int64, len(p)), Free: make([]int64, len(p))}
	var before bourse.Time
	for i, s := range p {
		out.At[i], out.Free[i] = int64(s.At-before), int64(s.Free)
		before = s.At
	}
	return out
}

func listedLeg(l *agents.ListedLeg) *ListedLeg {
	return &ListedLeg{Leg: legID(l.Leg), What: leg(l.What), Job: text(l.Job), User: text(l.User), State: LegState(l.State) + 1,
		Fare: fare(l.Fare), Limit: int64(l.Limit), Left: int64(l.Left), End: int64(l.End), Version: l.Version,
		Refund: int64(l.Refund), Penalty: int64(l.Penalty), Run: int64(l.Run), Proof: proof(l.Proof)}
}

func texts(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = text(s)
	}
	return out
}
