package broker

import (
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// A transaction is one try to commit a window, all legs or none:
//
//	state      event                                   then          told to the sites
//	holding    every leg Held, within what is left
//	             one leg                               committed     Confirm
//	             several                               preparing     Prepare to all
//	           a leg Refused, or Held above its limit  aborted       Cancel
//	           the sum passes the job's budget         aborted       Cancel
//	           no answer in time, a leg gone           aborted       Cancel
//	preparing  every leg Prepared, in time             committed     Confirm to all
//	           a leg Refused or gone, no answer        aborted       Cancel
//	committed  Confirmed of a leg                      its price is posted
//	           a leg gone                              it is repaired, or the rest released
//	           not acknowledged                        Confirm again
//	aborted    Cancelled of a leg                      noted
//	           not acknowledged                        Cancel again
//
// The transaction is recorded before its first Hold and the decision before
// anyone is told of it. There is no Cancel after COMMIT. The first try of a job
// asks all its legs at once; later ones go leg by leg in the canonical order of
// sites, so that two brokers cannot hold crosswise for ever. Within a cycle jobs
// come one after the other, in serving order: each binds its price before the
// next one's limits are computed, so the job that is served first takes first of
// what B* and the accounts leave. The rows B1 to B66 of docs/TRANSACTION.md say
// all of it.
type transaction struct {
	id      bourse.TxID
	job     *job
	state   bourse.TxState
	givenUp bourse.GivenUp
	apart   bool // its job waits again, or has moved on to other windows

	// For this life only.
	serial   bool        // one leg after the other
	resolved bool        // this life may speak of it; see life.go
	sent     int         // legs asked so far
	until    bourse.Time // nothing is committed from here on

	number int      // of the alternative
	sites  []string // leg by leg
	legs   []txLeg

	*few // read as it is, written by own alone
}

// few is what few transactions have: those that have failed, take the place of something,
// have spare places, or leave their site a window. The others share none, for a broker
// keeps 100,000.
type few struct {
	reason  bourse.Reason   // of an ABORT
	repairs bourse.LegID    // the leg that this stands in for; zero: none
	request *bourse.Request // a move: what the job asks for then, and once it has taken effect, what it did before
	spare   []bourse.SiteLeg
	flex    bourse.Flex // the window of its only leg; once that is fixed, where it lies
	offer   uint32      // a move: the offer for the leg replaced that it accepts; 0: none
	asker   agents.ID   // a move: who is to hear what came of it; for this life only

	run []bourse.Duration // what the work really takes, leg by leg; for this life only
}

// none is never written.
var none few

// own is what the transaction has of its own, to be written.
func (t *transaction) own() *few {
	if t.few == &none {
		t.few = &few{}
	}
	return t.few
}

// txLeg is one leg as the broker knows it: Asked, Held, Prepared, Confirmed,
// Running, Settled, or one of the exits.
type txLeg struct {
	what    bourse.Leg
	limit   bourse.Credits
	fare    bourse.Fare
	end     bourse.Time  // of the work, once it is over
	proof   bourse.Proof // its site's, of the last answer that carried one that fits
	version uint32

	state   bourse.LegState
	priced  bool // fare is bound
	charged bool // its price was posted
	closed  bool // its site has acknowledged the decision, or has it no more
	late    bool // of this life: a share that should have ended, and has not
	vouched bool // of this life: its site has said Confirmed again
	claim   bool // given up with its site, which has not been heard of it
	given   bool // it was, and the site may have been heard of it
	returns bool // of this life: a claim that its site holds nodes for
	mended  bool // gone, and another one stands in for it
	moved   bool // another window is to take its place; kept until that is confirmed
	inFull  bool // given up for all of its price, as the leg that was to take its place is lost
	undone  bool // it ended after its job was given up

	*oddities // read as they are, written by own alone
}

// oddities are what few legs have; the others share noOddities.
type oddities struct {
	back   bourse.Credits // refund and penalty
	borne  bourse.Credits // by the VO, where its site's books differ from ours
	shifts uint32         // how often its site has moved or fixed it
	old    *bourse.LegID  // a move: the leg that this one takes the place of; nil: none
	real   *realLeg       // nil: its job has no work, or its nodes are simulated
}

// noOddities are never written.
var noOddities oddities

// own is what the leg has of its own, to be written.
func (l *txLeg) own() *oddities {
	if l.oddities == &noOddities {
		l.oddities = &oddities{}
	}
	return l.oddities
}

// because says why the transaction was aborted; no reason: it was not.
func (t *transaction) because(r bourse.Reason) {
	if t.reason != r {
		t.own().reason = r
	}
}

// replaces is the leg whose place this one takes, in a move; zero: none.
func (l *txLeg) replaces() bourse.LegID {
	if l.old == nil {
		return bourse.LegID{}
	}
	return *l.old
}

// realLeg is what a broker knows of a leg on real nodes whose job has work.
type realLeg struct {
	names          []string           // of its nodes, until it is over
	meeting, token string             // of its site's rendezvous, where its job asks for one
	result         *bourse.WorkResult // settled: of work that its site has started
}

// onNodes is that, empty if nothing is known.
func (l *txLeg) onNodes() realLeg {
	if l.real == nil {
		return realLeg{}
	}
	return *l.real
}

// know takes what is known from now on.
func (l *txLeg) know(x realLeg) {
	switch {
	case x.names != nil || x.meeting != "" || x.result != nil:
		l.own().real = &x
	case l.real != nil:
		l.own().real = nil
	}
}

// gone reports whether a committed leg is lost to its window.
func (l *txLeg) gone() bool { return l.state == bourse.Lost && !l.mended }

func (t *transaction) leg(i int) bourse.LegID { return bourse.LegID{Tx: t.id, Leg: i} }

// open reports whether the question is not decided.
func (t *transaction) open() bool { return !t.state.Decided() }

// all reports whether every leg is in state s.
func (t *transaction) all(s bourse.LegState) bool {
	for i := range t.legs {
		if t.legs[i].state != s {
			return false
		}
	}
	return true
}

// atRest reports whether the decision is acknowledged for every leg that has
// heard of the transaction, and nothing is asked for that is not answered.
func (t *transaction) atRest() bool {
	if t.open() {
		return false
	}
	for i := range t.legs {
		if l := &t.legs[i]; l.state <= bourse.Prepared || t.releases(l) || l.returns {
			return false
		}
	}
	return true
}

// releases reports whether a confirmed leg is to be given back.
func (t *transaction) releases(l *txLeg) bool {
	return t.givenUp != bourse.Kept && !l.moved && (l.state == bourse.Confirmed || l.state == bourse.Running)
}

// over reports whether no leg holds anything any more.
func (t *transaction) over() bool {
	for i := range t.legs {
		if !t.legs[i].state.Terminal() {
			return false
		}
	}
	return t.state.Decided()
}

// charged reports whether a leg was ever paid for.
func (t *transaction) charged() bool {
	return slices.ContainsFunc(t.legs, func(l txLeg) bool { return l.charged })
}

// lastEnd is when the last leg ends.
func (t *transaction) lastEnd() bourse.Time {
	var end bourse.Time
	for i := range t.legs {
		end = max(end, t.legs[i].what.End)
	}
	return end
}

// price is the sum of the bound prices.
func (t *transaction) price() bourse.Credits {
	var sum bourse.Credits
	for i := range t.legs {
		sum = sum.Plus(t.legs[i].fare.Total())
	}
	return sum
}

// time is the length of the longest leg.
func (t *transaction) time() bourse.Duration {
	var d bourse.Duration
	for i := range t.legs {
		d = max(d, t.legs[i].what.Duration())
	}
	return d
}

// site is the address of the site that carries leg i.
func (t *transaction) site(i int) agents.ID { return siteID(t.sites[i]) }

// touches reports whether a leg is at a site.
func (t *transaction) touches(p *peer) bool {
	for i := range t.sites {
		if t.sites[i] == p.name {
			return true
		}
	}
	return false
}

func siteID(name string) agents.ID { return agents.ID(sitePrefix + name) }
