package wire

import (
	"math"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// sent is the envelope of a sample, to be spoilt.
func sent(t *testing.T, kind string) *Envelope {
	t.Helper()
	for _, m := range samples() {
		if m.Kind() == kind {
			e, err := Encode("broker:vo1", "site:north", m)
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
	}
	t.Fatalf("no sample of %s", kind)
	return nil
}

// A value outside the limits of package grid is refused by an error that names
// the field; so nothing that an agent gets can overflow a sum or a table.
func TestDecode_RefusesWhatNoAgentCouldMean(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxName+1)
	for _, c := range []struct {
		kind, want string
		spoil      func(e *Envelope)
	}{
		{"OfferRequest", "OfferRequest.horizon is ", func(e *Envelope) { e.GetOfferRequest().Horizon = int64(grid.Never) }},
		{"OfferRequest", "OfferRequest.from ", func(e *Envelope) { e.From = "vo1" }},
		{"OfferRequest", "OfferRequest.from ", func(e *Envelope) { e.From = "" }},
		{"OfferRequest", "OfferRequest.to ", func(e *Envelope) { e.To = "site:" + long + long }},
		{"OfferRequest", "OfferRequest.to ", func(e *Envelope) { e.To = "site:a\nb" }},
		{"OfferRequest", "OfferRequest.trace ", func(e *Envelope) { e.Trace = long + long }},
		{"Offers", "Offers.now is ", func(e *Envelope) { e.GetOffers().Now = math.MinInt64 }},
		{"Offers", "Offers.groups has 10001 elements", func(e *Envelope) { e.GetOffers().Groups = make([]*GroupOffer, maxGroups+1) }},
		{"Offers", "Offers.groups[0].group is missing", func(e *Envelope) { e.GetOffers().Groups[0].Group = nil }},
		{"Offers", "Offers.groups[0].group.nodes is 0", func(e *Envelope) { e.GetOffers().Groups[0].Group.Nodes = 0 }},
		{"Offers", "Offers.groups[0].group.nodes is 1000001", func(e *Envelope) { e.GetOffers().Groups[0].Group.Nodes = 1_000_001 }},
		{"Offers", "Offers.groups[0].group.name is missing", func(e *Envelope) { e.GetOffers().Groups[0].Group.Name = "" }},
		{"Offers", "Offers.groups[0].group.name has 257 bytes", func(e *Envelope) { e.GetOffers().Groups[0].Group.Name = long }},
		{"Offers", "Offers.groups[0].group.price is -1", func(e *Envelope) { e.GetOffers().Groups[0].Group.Price = -1 }},
		{"Offers", "Offers.groups[0].group.performance is 0", func(e *Envelope) { e.GetOffers().Groups[0].Group.Performance = 0 }},
		{"Offers", "Offers.groups[0].group.machine.gpus is -1", func(e *Envelope) { e.GetOffers().Groups[0].Group.Machine.Gpus = -1 }},
		{"Offers", "Offers.groups[0].group.machine.memory is -1", func(e *Envelope) { e.GetOffers().Groups[0].Group.Machine.Memory = -1 }},
		{"Offers", "Offers.groups[0].group.machine.features[1].text ", func(e *Envelope) { e.GetOffers().Groups[0].Group.Machine.Features[1] = "a\x1b" }},
		{"Offers", "Offers.groups[0].group.machine.features has 1001", func(e *Envelope) {
			e.GetOffers().Groups[0].Group.Machine.Features = make([]string, maxFeatures+1)
		}},
		{"Offers", "Offers.groups[0].curve has 1 times and 0 factors", func(e *Envelope) { e.GetOffers().Groups[0].Curve = &PriceCurve{At: []int64{0}} }},
		{"Offers", "Offers.groups[0].curve.factor is -1", func(e *Envelope) {
			e.GetOffers().Groups[0].Curve = &PriceCurve{At: []int64{0}, Factor: []int64{-1}}
		}},
		{"Offers", "Offers.groups[0].curve step 1: ", func(e *Envelope) {
			e.GetOffers().Groups[0].Curve = &PriceCurve{At: []int64{5, math.MaxInt64}, Factor: []int64{500, 600}}
		}},
		{"Offers", "Offers.groups[0].curve piece 2: begins at 0.004, which is not after the one before it, 0.005", func(e *Envelope) {
			e.GetOffers().Groups[0].Curve = &PriceCurve{At: []int64{5, -1}, Factor: []int64{500, 600}}
		}},
		{"Offers", "Offers.groups[0].curve repeats every 0.001s", func(e *Envelope) {
			e.GetOffers().Groups[0].Curve = &PriceCurve{Repeat: 1, At: []int64{0}, Factor: []int64{500}}
		}},
		{"Offers", "Offers.groups[0].clear is missing", func(e *Envelope) { e.GetOffers().Groups[0].Clear = nil }},
		{"Offers", "Offers.groups[0].admissible has 2 times and 1 numbers", func(e *Envelope) { p := e.GetOffers().Groups[0].Admissible; p.Free = p.Free[:1] }},
		{"Offers", "Offers.groups[0].admissible step 1: 0 ms", func(e *Envelope) { e.GetOffers().Groups[0].Admissible.At[1] = 0 }},
		{"Offers", "Offers.groups[0].admissible step 1: ", func(e *Envelope) { e.GetOffers().Groups[0].Admissible.At[1] = math.MaxInt64 }},
		{"Offers", "Offers.groups[0].admissible step 0: ", func(e *Envelope) { e.GetOffers().Groups[0].Admissible.At[0] = int64(grid.Never) }},
		{"Offers", "Offers.groups[0].admissible step 0: 1000001 free", func(e *Envelope) { e.GetOffers().Groups[0].Admissible.Free[0] = maxNodes + 1 }},
		{"Offers", "Offers.groups[0].admissible has 1000001 elements", func(e *Envelope) {
			e.GetOffers().Groups[0].Admissible = &Profile{At: make([]int64, maxSteps+1), Free: make([]int64, maxSteps+1)}
		}},
		{"Offers", "Offers.refusal.code has 65 bytes", func(e *Envelope) { e.GetOffers().Refusal.Code = long[:65] }},
		{"Offers", "Offers.refusal.detail has ", func(e *Envelope) { e.GetOffers().Refusal.Detail = strings.Repeat(long, 4) }},
		{"QuoteRequest", "QuoteRequest.legs has 100001", func(e *Envelope) { e.GetQuoteRequest().Legs = make([]*Leg, maxLegs+1) }},
		{"QuoteRequest", "QuoteRequest.users has 3 elements", func(e *Envelope) { q := e.GetQuoteRequest(); q.Users = append(q.Users, "c") }},
		{"QuoteRequest", "QuoteRequest.users[1].text ", func(e *Envelope) { e.GetQuoteRequest().Users[1] = "\x00" }},
		{"QuoteRequest", "QuoteRequest.legs[1].leg.nodes is -1", func(e *Envelope) { e.GetQuoteRequest().Legs[1].Nodes = -1 }},
		{"QuoteRequest", "QuoteRequest.queued has 33 elements", func(e *Envelope) { e.GetQuoteRequest().Queued = make([]*Queueing, 33) }},
		{"QuoteRequest", "QuoteRequest.queued[0].nodes is 0", func(e *Envelope) { e.GetQuoteRequest().Queued = []*Queueing{{Group: "main"}} }},
		{"Quotes", "Quotes.best_effort has 33 elements", func(e *Envelope) { e.GetQuotes().BestEffort = make([]*BestEffort, 33) }},
		{"Quotes", "Quotes.best_effort[0].held is -1", func(e *Envelope) { e.GetQuotes().BestEffort = []*BestEffort{{Held: -1}} }},
		{"Quotes", "Quotes.quotes has 100001", func(e *Envelope) { e.GetQuotes().Quotes = make([]*Quote, maxLegs+1) }},
		{"Quotes", "Quotes.quotes[1].fare.base is -1", func(e *Envelope) { e.GetQuotes().Quotes[1].Fare.Base = -1 }},
		{"Quotes", "Quotes.quotes[0].refund_full is 1001", func(e *Envelope) { e.GetQuotes().Quotes[0].RefundFull = 1001 }},
		{"Quotes", "Quotes.quotes[0].delayed is -1", func(e *Envelope) { e.GetQuotes().Quotes[0].Delayed = -1 }},
		{"Held", "Held.nodes has 8193 elements", func(e *Envelope) { e.GetHeld().Nodes = make([]string, grid.MaxNames+1) }},
		{"Held", "Held.nodes[1].name has 257 bytes", func(e *Envelope) { e.GetHeld().Nodes = []string{"n1", long} }},
		{"Confirm", "Confirm.work.work.command missing", func(e *Envelope) { e.GetConfirm().Work = &Handover{} }},
		{"Confirm", "Confirm.work.work.script has 65537 bytes", func(e *Envelope) {
			e.GetConfirm().Work = &Handover{Work: &Work{Script: "#!" + strings.Repeat("x", grid.MaxScript-1)}}
		}},
		{"Confirm", "Confirm.work.peers has 10001", func(e *Envelope) {
			e.GetConfirm().Work = &Handover{Work: &Work{Command: []string{"x"}}, Peers: make([]*Peer, maxPeers+1)}
		}},
		{"Confirm", "Confirm.work.peers.nodes has 24576", func(e *Envelope) {
			p := &Peer{Nodes: make([]string, grid.MaxNames)}
			e.GetConfirm().Work = &Handover{Work: &Work{Command: []string{"x"}}, Peers: []*Peer{p, p, p}}
		}},
		{"Settled", "Settled.result.signal is -1", func(e *Envelope) { e.GetSettled().Result = &WorkResult{Signal: -1} }},
		{"LegOutput", "LegOutput.from is -1", func(e *Envelope) { e.GetLegOutput().From = -1 }},
		{"LegOutput", "LegOutput.data has 65537", func(e *Envelope) { e.GetLegOutput().Data = make([]byte, grid.MaxTail+1) }},
		{"Hold", "Hold.leg is missing", func(e *Envelope) { e.GetHold().Leg = nil }},
		{"Hold", "Hold.leg.broker is missing", func(e *Envelope) { e.GetHold().Leg.Broker = "" }},
		{"Hold", "Hold.leg.leg is ", func(e *Envelope) { e.GetHold().Leg.Leg = math.MaxUint32 }},
		{"Hold", "Hold.replaces.broker is missing", func(e *Envelope) { e.GetHold().Replaces = &LegID{} }},
		{"Hold", "Hold.what is missing", func(e *Envelope) { e.GetHold().What = nil }},
		{"Hold", "Hold.what.nodes is 1000001", func(e *Envelope) { e.GetHold().What.Nodes = maxNodes + 1 }},
		{"Hold", "Hold.what.start is ", func(e *Envelope) { e.GetHold().What.Start = math.MaxInt64 }},
		{"Hold", "Hold.what.end is ", func(e *Envelope) { e.GetHold().What.End = int64(grid.MaxTime) + 1 }},
		{"Hold", "Hold.what.group ", func(e *Envelope) { e.GetHold().What.Group = "a\tb" }},
		{"Hold", "Hold.job ", func(e *Envelope) { e.GetHold().Job = long }},
		{"Hold", "Hold.user ", func(e *Envelope) { e.GetHold().User = "a\u0085b" }},
		{"Hold", "Hold.limit is -1", func(e *Envelope) { e.GetHold().Limit = -1 }},
		{"Hold", "Hold.for is -1", func(e *Envelope) { e.GetHold().For = -1 }},
		{"Hold", "Hold.run is ", func(e *Envelope) { e.GetHold().Run = int64(grid.MaxDuration) + 1 }},
		{"Held", "Held.fare.additive is -5", func(e *Envelope) { e.GetHeld().Fare.Additive = -5 }},
		{"Refused", "Refused.step ", func(e *Envelope) { e.GetRefused().Step = long }},
		{"Confirmed", "Confirmed.refund is -1", func(e *Envelope) { e.GetConfirmed().Refund = -1 }},
		{"Settled", "Settled.charged is -1", func(e *Envelope) { e.GetSettled().Charged = -1 }},
		{"Settled", "Settled.end is ", func(e *Envelope) { e.GetSettled().End = math.MaxInt64 }},
		{"Released", "Released.refund is -1", func(e *Envelope) { e.GetReleased().Refund = -1 }},
		{"Degraded", "Degraded.penalty is -1", func(e *Envelope) { e.GetDegraded().Penalty = -1 }},
		{"Answer", "Answer.verdict is 0", func(e *Envelope) { e.GetAnswer().Verdict = 0 }},
		{"Answer", "Answer.verdict is 5", func(e *Envelope) { e.GetAnswer().Verdict = 5 }},
		{"Answer", "Answer.verdict is -1", func(e *Envelope) { e.GetAnswer().Verdict = -1 }},
		{"List", "List.broker is missing", func(e *Envelope) { e.GetList().Broker = "" }},
		{"List", "List.known has 100001", func(e *Envelope) { e.GetList().Known = make([]*LegID, maxLegs+1) }},
		{"List", "List.known[1].leg.broker is missing", func(e *Envelope) { e.GetList().Known[1].Broker = "" }},
		{"Listing", "Listing.legs has 100001", func(e *Envelope) { e.GetListing().Legs = make([]*ListedLeg, maxLegs+1) }},
		{"Listing", "Listing.legs[0].state is 13", func(e *Envelope) { e.GetListing().Legs[0].State = 13 }},
		{"Listing", "Listing.legs[0].state is 0", func(e *Envelope) { e.GetListing().Legs[0].State = 0 }},
		{"Listing", "Listing.legs[0].left is -1", func(e *Envelope) { e.GetListing().Legs[0].Left = -1 }},
		{"Held", "Held.proof.mac has 15 bytes, must be 16", func(e *Envelope) { e.GetHeld().Proof = &Proof{State: 3, Mac: make([]byte, 15)} }},
		{"Confirmed", "Confirmed.replaced.state is 13", func(e *Envelope) { e.GetConfirmed().Replaced = &Proof{State: 13, Mac: make([]byte, 16)} }},
		{"Reassert", "Reassert.leg[0].proof.mac has 17 bytes", func(e *Envelope) { e.GetReassert().Leg.Proof = &Proof{State: 3, Mac: make([]byte, 17)} }},
		{"Reassert", "Reassert.leg[0].leg is missing", func(e *Envelope) { e.GetReassert().Leg = nil }},
	} {
		e := sent(t, c.kind)
		c.spoil(e)
		if _, err := Decode(e); err == nil || !strings.Contains(err.Error(), "wire: "+c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// A sender learns at once that no receiver would take it.
func TestEncode_RefusesListsThatNobodyWouldTake(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		m    agents.Message
		want string
	}{
		{agents.Offers{Groups: make([]agents.GroupOffer, maxGroups+1)}, "10001 groups"},
		{agents.Offers{Groups: []agents.GroupOffer{{Clear: make(grid.Profile, maxSteps+1)}}}, "1000001 steps"},
		{agents.QuoteRequest{Legs: make([]grid.Leg, maxLegs+1)}, "100001 legs"},
		{agents.QuoteRequest{Queued: make([]grid.Queueing, 33)}, "33 queued jobs"},
		{agents.Quotes{Quotes: make([]grid.Quote, maxLegs+1)}, "100001 quotes"},
		{agents.List{Known: make([]grid.LegID, maxLegs+1)}, "100001 known legs"},
		{agents.Listing{Legs: make([]agents.ListedLeg, maxLegs+1)}, "100001 legs"},
	} {
		if _, err := Encode("site:north", "broker:vo1", c.m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.m.Kind(), err, c.want)
		}
	}
}

// An envelope above 16 MiB is neither sent nor read.
func TestWire_MessagesAreBounded(t *testing.T) {
	t.Parallel()
	m := agents.Listing{Legs: make([]agents.ListedLeg, maxLegs)}
	for i := range m.Legs {
		m.Legs[i] = listed
		m.Legs[i].Job = strings.Repeat("j", maxName)
	}
	e, err := Encode("site:north", "broker:vo1", m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Marshal(e); err == nil || !strings.Contains(err.Error(), "Listing to broker:vo1 has ") {
		t.Errorf("sent: %v", err)
	}
	if _, err := Unmarshal(make([]byte, MaxMessage+1)); err == nil || !strings.Contains(err.Error(), "at most 16777216") {
		t.Errorf("read: %v", err)
	}
}
