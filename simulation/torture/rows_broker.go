package torture

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// broker takes in a step of a broker.
func (x *taking) broker() {
	for _, f := range x.step.Facts {
		switch f := f.(type) {
		case facts.TxBegun:
			x.take("B1")
			lists, later := x.lists[x.step.Process]
			x.takeIf(later && len(lists) < len(siteNames), "B64")
			x.takeIf(f.Replaces != nil && x.sameNodes(f), "B73")
			x.takeIf(f.Replaces != nil, "B28")
			x.takeIf(f.Replaces != nil && x.answers(), "B75")
		case facts.TxDecided:
			x.decided(f)
		case facts.TxReversed:
			x.take("B54")
		case facts.LegPriced:
			x.priced(f)
		case facts.LegClosed:
			x.closed(f)
		case facts.LegDone:
			x.done(f)
		case facts.LegShifted:
			x.take(map[bool]string{true: "B58", false: "B71"}[x.listing()])
		case facts.LegProved:
			x.take(map[bool]string{true: "B96", false: "B95"}[x.listing()])
		case facts.LegAdopted:
			x.adopted(f)
		case facts.ShiftOffered:
			x.take("B74")
		default:
			x.news(f)
		}
	}
	x.takeIf(x.hearsNobody(), "B109")
	x.brokerSends()
	x.brokerHears()
}

// news are the rows of facts that are about no transaction.
func (x *taking) news(f agents.Fact) {
	switch f := f.(type) {
	case facts.LifeBegun:
		x.takeIf(f.Incarnation > 1, "B50")
		x.takeIf(x.m.fenced, "B111")
	case facts.LifeFenced:
		_, offers := x.step.Message.(agents.Offers)
		x.take(map[bool]string{true: "B110", false: "B44"}[offers])
	case facts.Amnesia:
		x.takeIf(f.Site != "", "B60")
	case facts.LegsDisowned:
		x.take(map[grid.Code]string{grid.NoMoney: "B99", grid.Invalid: "B142", grid.QueueFull: "B143"}[f.Reason.Code])
	case facts.WordBroken:
		x.take("B144")
		x.takeIf(x.m.broken >= 3, "B145")
	case facts.SiteLost:
		x.take(map[bool]string{true: "B106", false: "B105"}[f.Wish])
	case facts.SiteBack, facts.ClaimSettled:
		x.take("B107")
	case facts.JobSubmitted:
		x.takeIf(len(f.Job.After) > 0, "B80")
	case facts.JobPostponed:
		x.takeIf(f.Reason.Code == grid.After && !f.Final, "B81")
		x.takeIf(f.Reason.Code == grid.Bound, "B140")
	case facts.JobBroken:
		x.takeIf(f.Reason.Code == grid.After, "B82", "B83")
		x.takeIf(f.Reason.Code == grid.After && x.step.Message.Kind() == "LateDue", "B86")
		x.takeIf(x.givenBack(f.Job), "B57")
	case facts.JobCancelled:
		x.takeIf(!f.Reason.Refused(), "B27")
		x.takeIf(f.Reason.Refused(), "B84")
	case facts.CycleClosed:
		x.takeIf(len(x.m.jobs) > 1, "B126")
		x.takeIf(f.Sites < x.c.members(x.m), "B67")
	case facts.SiteJoined, facts.SiteLeft:
		x.take("B65")
	case facts.UserBarred:
		x.take(map[bool]string{true: "B128", false: "B127"}[x.m.barred])
	}
}

// decided are the rows of a decision, by what it follows from.
func (x *taking) decided(f facts.TxDecided) {
	t := x.m.txs[f.Tx]
	if t == nil {
		return // begun or adopted in this step
	}
	several := len(t.begun.Legs) > 1
	held := true // all legs are, so that it prepares
	for i := range t.begun.Legs {
		_, priced := x.m.priced[grid.LegID{Tx: f.Tx, Leg: i}]
		held = held && priced
	}
	switch m := x.step.Message.(type) {
	case agents.Held:
		x.takeIf(f.Commit, "B3")
		x.takeIf(!f.Commit, "B5")
	case agents.Prepared:
		x.takeIf(f.Commit, "B11")
	case agents.Refused:
		x.takeIf(!f.Commit && m.Step == "Hold", "B6")
		x.takeIf(!f.Commit && m.Step == "Prepare", "B12")
		x.takeIf(!f.Commit && len(m.Instead) > 0, "B72")
	case agents.Heuristic, agents.Degraded:
		x.takeIf(!f.Commit, "B8")
	case agents.Listing:
		x.take(map[bool]string{true: "B51", false: "B52"}[f.Commit])
		x.takeIf(x.m.lost[t.begun.Sites[0]], "B108")
	case agents.Reasserted:
		x.take("B61")
	case agents.JobCancel:
		x.take("B27")
	case agents.SiteLost:
		x.take("B106")
	default:
		x.takeIf(x.alarm && !f.Commit && held && several, "B13")
		x.takeIf(x.alarm && !f.Commit && !(held && several), "B7")
	}
}

func (x *taking) priced(f facts.LegPriced) {
	x.takeIf(sent[agents.Hold](x), "B2")
	x.takeIf(sent[agents.Prepare](x), "B4")
	x.takeIf(f.End > 0, "B70")
}

// closed are the rows of a decision that a site has acknowledged, or of a leg that is gone.
func (x *taking) closed(f facts.LegClosed) {
	t := x.m.txs[f.Leg.Tx]
	commit := t != nil && t.commit
	if f.Commit {
		_, here := x.step.Message.(agents.Confirmed)
		x.takeIf(here, "B20")
		return
	}
	switch x.step.Message.(type) {
	case agents.Cancelled:
		x.take("B30")
	case agents.Heuristic:
		x.take(map[bool]string{true: "B22", false: "B33"}[commit])
	case agents.Refused:
		x.takeIf(commit, "B22")
	case agents.Reasserted:
		x.takeIf(commit, "B61")
	case agents.Listing:
		x.takeIf(commit, "B54")
	}
}

// done are the rows of a leg that was paid for and is over.
func (x *taking) done(f facts.LegDone) {
	switch x.step.Message.(type) {
	case agents.Degraded:
		x.take("B23")
	case agents.Settled:
		x.take("B25")
		x.takeIf(f.State == grid.Lost, "B101")
	case agents.Released:
		x.take("B26")
	case agents.Refused:
		x.takeIf(f.State == grid.Lost, "B63")
	}
}

func (x *taking) adopted(f facts.LegAdopted) {
	t := x.m.txs[f.Leg.Tx]
	x.take("B55", map[bool]string{true: "B56"}[t != nil && t.decided])
	x.takeIf(f.Leg.Leg > 0 && t == nil, "B91") // places that are unknown
}

// brokerSends counts the rows recognised by a repeat, or only by an answer.
func (x *taking) brokerSends() {
	for _, s := range x.step.Sends {
		switch m := s.Message.(type) {
		case agents.Confirm:
			t := x.m.txs[m.Leg.Tx]
			closed := x.m.closed[m.Leg].Commit
			x.takeIf(x.alarm && closed, "B63")
			x.takeIf(x.alarm && !closed, "B21")
			x.takeIf(x.listing() && t != nil && t.commit, "B53")
			x.takeIf(x.asks(), "B40")
		case agents.Cancel:
			x.takeIf(x.alarm, "B31")
			switch x.step.Message.(type) {
			case agents.Held, agents.Prepared:
				t := x.m.txs[m.Leg.Tx]
				x.takeIf(t != nil && t.decided && !t.commit, "B32")
			}
		case agents.Answer:
			switch {
			case m.Verdict == agents.Wait:
				x.take("B41")
			case m.Verdict == agents.Unknown:
				x.take("B43")
			case x.m.txs[m.Leg.Tx] == nil:
				x.take("B42")
			default:
				x.take("B40")
			}
		case agents.Reassert:
			x.take("B60")
			x.takeIf(m.Leg.Proof != (grid.Proof{}), "B97")
		case agents.OfferRequest:
			_, offers := x.step.Message.(agents.Offers)
			_, joins := x.step.Message.(agents.SiteJoined)
			x.takeIf(offers, "B60")
			x.takeIf(joins, "B130")
			x.takeIf(x.alarm, "B112")
			x.takeIf(x.step.Message.Kind() == "CycleDue" && m.Cycle > 0 && m.Cycle == x.m.cycle, "B113")
		case agents.QuoteRequest:
			x.takeIf(m.Together, "B114")
			x.takeIf(x.alarm, "B112")
		case agents.ShiftDeclined:
			x.takeIf(x.answers(), "B76")
			x.takeIf(!x.answers() && !x.refusesOffer(), "B77")
		case agents.JobReply:
			_, modify := x.step.Message.(agents.JobModify)
			_, cancel := x.step.Message.(agents.JobCancel)
			x.takeIf(cancel && m.Reason.Code == grid.QueueFull, "B117")
			x.takeIf(modify && m.Reason.Code == grid.BadState, "B116")
			x.takeIf(modify && m.Reason.Code == grid.NoOffer, "B115")
		case agents.OperatorReply:
			x.takeIf(m.To == (agents.GrantTerms{}).Kind() || m.To == (agents.ReadTerms{}).Kind(), "B141")
		case agents.SubmitReply:
			x.takeIf(m.Reason.Code == grid.QueueFull, "B125")
		}
	}
}

// brokerHears counts the rows for messages that change little or nothing.
func (x *taking) brokerHears() {
	if m, ok := x.step.Message.(agents.Stamped); ok {
		k := heardFrom{x.step.Process, x.step.From}
		last, at := x.heard[k], m.At()
		if x.takeIf(last.Epoch == at.Epoch && at.Seq < last.Seq, "B62"); last.Epoch != at.Epoch || at.Seq > last.Seq {
			x.heard[k] = at
		}
	}
	switch m := x.step.Message.(type) {
	case agents.Offers:
		x.takeIf(m.Cycle == 0, "B130")
	case agents.Listing:
		if lists, later := x.lists[x.step.Process]; later && !m.Refusal.Refused() {
			lists[x.step.From] = true
		}
	case agents.Prepared:
		t := x.m.txs[m.Leg.Tx]
		x.takeIf(t != nil && !t.decided && len(x.step.Facts) == 0, "B10")
	case agents.LegStarted:
		t := x.m.txs[m.Leg.Tx]
		if t == nil || m.Leg.Leg >= len(t.begun.Legs) {
			return
		}
		x.take("B24")
		x.takeIf(x.step.Now < t.begun.Legs[m.Leg.Leg].Start.Add(-2*grid.Second), "B100")
	case agents.Reasserted:
		x.take("B61")
		x.takeIf(m.Reason.Code == grid.Unproven, "B98")
	}
}

func (x *taking) listing() bool {
	_, ok := x.step.Message.(agents.Listing)
	return ok
}

// givenBack reports whether a site lists a part of a job's window as given back, and its
// broker names that part as forgotten.
func (x *taking) givenBack(job string) bool {
	m, ok := x.step.Message.(agents.Listing)
	return ok && slices.ContainsFunc(m.Legs, func(l agents.ListedLeg) bool {
		t := x.m.txs[l.Leg.Tx]
		return l.State == grid.Released && t != nil && t.begun.Job == job && slices.ContainsFunc(x.step.Facts, func(f agents.Fact) bool {
			a, ok := f.(facts.Amnesia)
			return ok && a.Site == "" && slices.Contains(a.Legs, l.Leg)
		})
	})
}

func (x *taking) asks() bool {
	_, ok := x.step.Message.(agents.Inquire)
	return ok
}

// answers reports whether a user answers an offer in this step.
func (x *taking) answers() bool {
	_, ok := x.step.Message.(agents.OfferAnswer)
	return ok
}

// refusesOffer reports whether the transaction that accepts an offer fails, and the offer ends.
func (x *taking) refusesOffer() bool {
	return slices.ContainsFunc(x.step.Facts, func(f agents.Fact) bool {
		o, ok := f.(facts.OfferClosed)
		return ok && o.State == facts.OfferRejected
	})
}

// sent reports whether a message of a kind left.
func sent[M agents.Message](x *taking) bool {
	return x.says(func(m agents.Message) bool { _, ok := m.(M); return ok })
}

func (x *taking) says(is func(agents.Message) bool) bool {
	return slices.ContainsFunc(x.step.Sends, func(s agents.Send) bool { return is(s.Message) })
}

// sameNodes reports whether a move leaves its job in the same place.
func (x *taking) sameNodes(f facts.TxBegun) bool {
	for i, id := range f.Replaces {
		t := x.m.txs[id.Tx]
		if t == nil || id.Leg >= len(t.begun.Legs) || t.begun.Legs[id.Leg] != f.Legs[i] {
			return false
		}
	}
	return true
}
