package transaction

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Tx is a transaction: one try to commit a window, all legs or none:
//
//	state      event                                   becomes       sent to the sites
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
// The transaction is recorded before its first Hold, and the decision before anyone is
// told. There is no Cancel after COMMIT. A job's first try holds all its legs at once;
// later tries hold them one by one in the canonical order of sites, so that two brokers
// cannot block each other for ever. Within a cycle jobs are tried one by one in serving
// order. Each binds its price before the next one's limits are computed, so the job
// served first has first call on what B* and the accounts leave. Rows B1 to B66 of
// docs/TRANSACTION.md have the details.
type Tx struct {
	id      grid.TxID
	job     *Job
	state   grid.TxState
	givenUp grid.GivenUp
	apart   bool // its job waits again, or has moved on to other windows

	// This life only.
	serial   bool      // legs are held one by one
	resolved bool      // this life may send messages about it; see recovery.go
	sent     int       // legs asked for so far
	until    grid.Time // from here on it must not be committed
	since    grid.Time // when it was committed; 0: before this life's image

	number int      // of the alternative
	sites  []string // leg by leg
	legs   []Leg

	*few // read it directly, write only through own
}

// few holds what few transactions have: a failure, something they replace, spare legs,
// or a window that they leave to their site. All others share none, which saves memory:
// a broker keeps 100,000 transactions.
type few struct {
	reason  grid.Reason     // of an ABORT
	repairs grid.LegID      // the leg that this transaction repairs; zero: none
	request *grid.Request   // of a move: the job's new request; once the move has taken effect, the previous one
	spare   []facts.SiteLeg // for repairs
	flex    grid.Flex       // the window of its only leg; once that is fixed, where it lies
	offer   uint32          // of a move: the site's offer that it accepts; 0: none
	parts   []string        // of a job of several parts: the part that each leg carries; nil: not known, or it has none
	pilots  []grid.LegID    // whose nodes each leg has; nil: none's
	asker   agents.ID       // of a move: who is told the result; this life only

	run []grid.Duration // how long the work really takes, leg by leg; this life only
}

// none is shared and must never be written.
var none few

// own returns the transaction's own few, to write to, and makes one if needed.
func (t *Tx) own() *few {
	if t.few == &none {
		t.few = &few{}
	}
	return t.few
}

// Leg is one leg as the broker knows it: Asked, Held, Prepared, Confirmed,
// Running, Settled, or one of the exits.
type Leg struct {
	what    grid.Leg
	limit   grid.Credits
	fare    grid.Fare
	end     grid.Time  // of the work, once it is over
	proof   grid.Proof // its site's, from the last answer with a matching one
	version uint32

	state   grid.LegState
	priced  bool // fare is bound
	charged bool // its price was posted
	closed  bool // its site has acknowledged the decision, or no longer has the leg
	late    bool // this life only: a share that should have ended but has not
	vouched bool // this life only: its site has sent Confirmed again
	claim   bool // given up with its site, which has not reported on it since
	given   bool // given up with its site, which may have reported on it since
	returns bool // this life only: a claim for which its site holds nodes
	mended  bool // gone, and repaired by another leg
	moved   bool // about to be replaced by another window; kept until that is confirmed

	*oddities // read them directly, write only through own
}

// oddities are what few legs have; all others share noOddities.
type oddities struct {
	back   grid.Credits // refund and penalty
	borne  grid.Credits // by the VO, where its site's books differ from ours
	shifts uint32       // how often its site has moved or fixed it
	inFull bool         // given up for its whole price, because the leg that was to replace it is lost
	undone bool         // it ended after its job was given up
	old    *grid.LegID  // in a move: the leg that this one replaces; nil: none
	real   *realLeg     // nil: its job has no work, or its nodes are simulated
}

// noOddities is shared and must never be written.
var noOddities oddities

// own returns the leg's own oddities, to write to, and makes them if needed.
func (l *Leg) own() *oddities {
	if l.oddities == &noOddities {
		l.oddities = &oddities{}
	}
	return l.oddities
}

// AskedBy notes who is told the result of a move.
func (t *Tx) AskedBy(id agents.ID) { t.own().asker = id }

// Answered returns who is to be told the result of a move, once.
func (t *Tx) Answered() (asker agents.ID) {
	if asker = t.asker; asker != "" {
		t.own().asker = ""
	}
	return asker
}

// because sets the reason why the transaction was aborted.
func (t *Tx) because(r grid.Reason) {
	if t.reason != r {
		t.own().reason = r
	}
}

// Replaces is, in a move, the leg that this one replaces; zero: none.
func (l *Leg) Replaces() grid.LegID {
	if l.old == nil {
		return grid.LegID{}
	}
	return *l.old
}

// realLeg is what a broker knows of a leg on real nodes whose job has work.
type realLeg struct {
	names          []string         // of its nodes, until it is over
	meeting, token string           // of its site's rendezvous, if its job asks for one
	result         *grid.WorkResult // once settled, if its site has started the work
}

// onNodes is what is known of the leg on real nodes, or the zero value.
func (l *Leg) onNodes() realLeg {
	if l.real == nil {
		return realLeg{}
	}
	return *l.real
}

// Result is the result of work that its site has started, once settled; it must not be changed.
func (l *Leg) Result() *grid.WorkResult { return l.onNodes().result }

// know sets what is known of the leg on real nodes.
func (l *Leg) know(x realLeg) {
	switch {
	case x.names != nil || x.meeting != "" || x.result != nil:
		l.own().real = &x
	case l.real != nil:
		l.own().real = nil
	}
}

// Gone reports whether a committed leg is lost to its window.
func (l *Leg) Gone() bool { return l.state == grid.Lost && !l.mended }

// LegID is the identity of leg i.
func (t *Tx) LegID(i int) grid.LegID { return grid.LegID{Tx: t.id, Leg: i} }

// Open reports whether the transaction is undecided.
func (t *Tx) Open() bool { return !t.state.Decided() }

// all reports whether every leg is in state s.
func (t *Tx) all(s grid.LegState) bool {
	for i := range t.legs {
		if t.legs[i].state != s {
			return false
		}
	}
	return true
}

// AtRest reports whether every site has acknowledged the decision, and no release is
// waiting for an answer.
func (t *Tx) AtRest() bool {
	if t.Open() {
		return false
	}
	for i := range t.legs {
		if l := &t.legs[i]; l.state <= grid.Prepared || t.releases(l) || l.returns {
			return false
		}
	}
	return true
}

// releases reports whether a confirmed leg must be given back.
func (t *Tx) releases(l *Leg) bool {
	return t.givenUp != grid.Kept && !l.moved && (l.state == grid.Confirmed || l.state == grid.Running)
}

// Over reports whether the transaction is decided and all its legs have ended.
func (t *Tx) Over() bool {
	for i := range t.legs {
		if !t.legs[i].state.Terminal() {
			return false
		}
	}
	return t.state.Decided()
}

// charged reports whether any leg was ever paid for.
func (t *Tx) charged() bool {
	return slices.ContainsFunc(t.legs, func(l Leg) bool { return l.charged })
}

// Start is when the first leg starts. One part of a job starts with the job, so that this is
// the start of the whole window, however late other parts are. The broker's own limits (to be
// held, to be decided) run to it, those of a site to the start of its own leg.
func (t *Tx) Start() grid.Time {
	start := grid.Never
	for i := range t.legs {
		start = min(start, t.legs[i].what.Start)
	}
	return start
}

// Part is the name of the part of its job that leg i carries; "" for a job of one piece, and
// for a leg that is known only from its site's list.
func (t *Tx) Part(i int) string {
	if i >= len(t.parts) {
		return ""
	}
	return t.parts[i]
}

// LastEnd is when the last leg ends.
func (t *Tx) LastEnd() grid.Time {
	var end grid.Time
	for i := range t.legs {
		end = max(end, t.legs[i].what.End)
	}
	return end
}

// Price is the sum of the bound prices.
func (t *Tx) Price() grid.Credits {
	var sum grid.Credits
	for i := range t.legs {
		sum = sum.Plus(t.legs[i].fare.Total())
	}
	return sum
}

// Time is the time from the first leg's start to the last leg's end.
func (t *Tx) Time() grid.Duration { return t.LastEnd().Sub(t.Start()) }

// Site is the address of the site that carries leg i.
func (t *Tx) Site(i int) agents.ID { return SiteID(t.sites[i]) }

// touches reports whether any leg is at a site.
func (t *Tx) touches(p *Site) bool {
	for i := range t.sites {
		if t.sites[i] == p.name {
			return true
		}
	}
	return false
}
