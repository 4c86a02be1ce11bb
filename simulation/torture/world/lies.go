package world

import (
	"math/rand/v2"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
)

// LyingSite is a site that makes false statements about legs: prices above the limit,
// places that were not asked for, refunds above the price, and lists of legs that were
// never sold. What it has lied about is exempt from what both sides must agree on. What its
// broker makes of the lies is not exempt: by the broker's own record no leg costs more than
// its limit, lies outside its window, or brings back more than it has cost.
const LyingSite sim.Kind = "lying-site"

// What a site lies about, as the Size of the fault.
const (
	ofAll    = iota
	ofHolds  // prices and places of what it holds
	ofEnds   // what comes of legs, and where they lie
	ofLists  // what it carries
	LieKinds // how many of those there are
)

// lyingFaults draws when which sites lie, from a stream of its own.
func lyingFaults(seed uint64) (list []sim.Fault) {
	r := rand.New(rand.NewPCG(seed, streamLies))
	for range 8 {
		list = append(list, sim.Fault{Kind: LyingSite, Host: SiteID(SiteNames[r.IntN(len(SiteNames))]), Share: 100 + r.IntN(900), Size: r.Int64N(LieKinds), Salt: 1 + r.Uint64N(1<<32),
			At: Start.Add(5*grid.Minute + grid.Duration(r.Int64N(int64(Storm-20*grid.Minute)))), For: grid.Minute + grid.Duration(r.Int64N(int64(12*grid.Minute)))})
	}
	for range 2 { // a broker begins anew, and sites list to it what they never sold (B99)
		f := sim.Fault{Kind: sim.OldJournal, Host: BrokerID(BrokerNames[r.IntN(len(BrokerNames))]), Salt: 1 + r.Uint64N(1<<32),
			At: Start.Add(20*grid.Minute + grid.Duration(r.Int64N(int64(Storm-40*grid.Minute)))), For: 5 * grid.Minute}
		list = append(list, f)
		for range 2 {
			list = append(list, sim.Fault{Kind: LyingSite, Host: SiteID(SiteNames[r.IntN(len(SiteNames))]), Share: 1000, Size: ofLists, Salt: 1 + r.Uint64N(1<<32),
				At: f.At.Add(f.For - grid.Second), For: 3 * grid.Minute})
		}
	}
	for range 3 { // a broker begins again with all that it knew, and sites list to it what they never sold (B142, B143)
		f := sim.Fault{Kind: sim.CrashSync, Host: BrokerID(BrokerNames[r.IntN(len(BrokerNames))]), Salt: 1 + r.Uint64N(1<<32),
			At: Start.Add(20*grid.Minute + grid.Duration(r.Int64N(int64(Storm-40*grid.Minute)))), For: grid.Minute}
		list = append(list, f, sim.Fault{Kind: LyingSite, Host: SiteID(SiteNames[r.IntN(len(SiteNames))]), Share: 1000, Size: ofLists, Salt: 1 + r.Uint64N(1<<32), At: f.At, For: 4 * grid.Minute})
	}
	return list
}

// lie has a site's word to a broker be another.
func (w *World) lie(site agents.ID, about int64, draw uint64, m agents.Message) (agents.Message, bool) {
	much := grid.Credits(1+draw>>32%1_000_000) * grid.Credit
	id, _, ofLeg := agents.SaidOfLeg(m)
	var changed bool
	switch x := m.(type) {
	case agents.Listing:
		if about == ofAll || about == ofLists {
			return w.falseListing(site, draw, x, much), true
		}
	case agents.Held:
		if changed = about == ofAll || about == ofHolds; changed {
			m = falseHeld(x, draw, much)
		}
	default:
		if ofLeg && (about == ofAll || about == ofEnds) {
			m, changed = falseEnd(m, draw, much)
		}
	}
	if changed {
		w.lied(site, id)
	}
	return m, changed
}

// falseEnd replaces a price, refund, penalty or place by a false one.
func falseEnd(m agents.Message, draw uint64, much grid.Credits) (agents.Message, bool) {
	switch x := m.(type) {
	case agents.Confirmed:
		x.Refund = much
		m = x
	case agents.Released:
		x.Refund = []grid.Credits{much, -much}[draw>>20%2]
		m = x
	case agents.Degraded:
		x.Refund, x.Penalty = []grid.Credits{x.Refund, much, -much}[draw>>20%3], []grid.Credits{x.Penalty, much, -much}[draw>>24%3]
		m = x
	case agents.Settled:
		x.Charged = []grid.Credits{much, -much}[draw>>20%2]
		m = x
	case agents.Shifted:
		by := []grid.Duration{grid.Minute, -10 * grid.Hour, grid.Day}[draw>>20%3]
		x.Start, x.End, x.Shifts = x.Start.Add(by), x.End.Add(by), x.Shifts+uint32(draw>>24%3)
		m = x
	default:
		return m, false
	}
	return m, true
}

// falseHeld is a leg held at another price or place.
func falseHeld(m agents.Held, draw uint64, much grid.Credits) agents.Held {
	switch draw >> 20 % 4 {
	case 0:
		m.Fare.Base += much
	case 1:
		m.Fare.Base = -much
	case 2:
		m.Start, m.End = m.Start.Add(grid.Day), m.End.Add(grid.Day)
	default:
		m.End++
	}
	return m
}

// falseListing is a list with a leg twice, at another price, with more to give back, or of a
// transaction that there never was: of another broker, of another process of it, of a life
// of which a journal might have lost the end; one or, of one job, three hundred.
func (w *World) falseListing(site agents.ID, draw uint64, m agents.Listing, much grid.Credits) agents.Listing {
	invent := agents.ListedLeg{Leg: grid.LegID{Tx: grid.TxID{Broker: BrokerNames[draw>>4%3], Incarnation: max(m.Incarnation, 2) - 1, Nonce: draw, Seq: 1 + draw>>8%1000}, Leg: int(draw >> 16 % 4)},
		What: grid.Leg{Group: "g1", Nodes: 1, Start: Start.Add(Storm), End: Start.Add(Storm + grid.Hour)}, Job: "mine", User: "ana", Version: 1,
		State: []grid.LegState{grid.Held, grid.Prepared, grid.Confirmed, grid.Settled}[draw>>20%4], Fare: grid.Fare{Base: much >> (draw >> 24 % 24)}, Limit: much, Left: grid.Hour}
	switch n := len(m.Legs); {
	case n > 0 && draw>>36%2 == 0:
		invent.Leg.Tx = m.Legs[n-1].Leg.Tx
		invent.Leg.Tx.Seq += 1000
	case draw>>37%2 == 0: // of a life that nobody has heard of
		invent.Leg.Tx.Incarnation = m.Incarnation + 1
	}
	list := []agents.ListedLeg{invent}
	if draw>>40%4 == 0 {
		invent.Leg.Leg, invent.State, invent.Fare = 0, grid.Confirmed, grid.Fare{Base: 1}
		for range 300 {
			invent.Leg.Tx.Seq++
			list = append(list, invent)
		}
	}
	for i := range list {
		w.lied(site, list[i].Leg)
	}
	for i, l := range m.Legs {
		switch (draw>>28 + uint64(i)) % 5 {
		case 0: // at another price
			l.Fare.Base += much
			w.lied(site, l.Leg)
		case 1: // twice, and the second time another one
			w.lied(site, l.Leg)
			list = append(list, l)
			l.State = grid.Cancelled
		case 2:
			l.Refund, l.Penalty = much, much
			w.lied(site, l.Leg)
		}
		list = append(list, l)
	}
	m.Legs = list
	return m
}
