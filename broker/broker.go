// Package broker is the agent that serves a virtual organisation. It gathers
// what the sites offer, looks for alternative windows for each job of a batch,
// picks the combination that is best under the VO's limits (Toporkov et al.,
// sections 2 and 3), and commits it across the sites, window by window, all or
// nothing, by the steps of the co-allocation protocol: Hold, Prepare, decide,
// Confirm or Cancel.
//
// A Broker is a deterministic state machine. It never writes a site's timeline
// or ledger, never reads a clock, draws a random number or does I/O, and its
// lasting state changes only by applying the facts it records. What a cycle has
// gathered but not yet recorded is lost with a restart, and gathered again.
package broker

import (
	"bourse"
	"bourse/agents"
	"bourse/broker/planning"
)

// Broker is the agent of one VO. It is not safe for concurrent use.
type Broker struct {
	memory
	sites []agents.ID         // that the cycle under way asks, in order of name, the canonical order
	index map[agents.ID]int32 // into sites

	// What a restart begins anew.
	began     bourse.Time // this life
	cycle     cycle
	planner   planning.Planner
	next      bourse.Time // when the next cycle fires
	follow    int         // cycles that may still be opened before
	errands   []*errand
	errandSeq uint64
	probeSeq  uint64
	stray     uint64      // messages that made no sense
	early     uint64      // words of sites about work whose time has not come
	detail    detail      // what was recorded of cycles lately
	called    bourse.Time // the instant of the last call out of turn, and how many there were in it
	calls     int
	refusals  refusals
	asserts   int // maxAsserts, less in tests
}

// New returns a broker. The configuration must be valid: an error of
// cfg.Validate is a broken invariant here.
func New(cfg Config) *Broker {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	b := &Broker{memory: newMemory(cfg), index: map[agents.ID]int32{}, asserts: maxAsserts}
	b.muster()
	return b
}

// Step hands the broker one message. Answers that come too late, twice, or from
// somebody who was not asked change nothing; what makes no sense is counted.
func (b *Broker) Step(now bourse.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	b.now = now
	if b.lives.ended() {
		if _, ok := m.(agents.Started); !ok {
			return
		}
	}
	if p := b.peers.get(from); p != nil {
		b.hear(now, p, out)
	}
	switch m := m.(type) {
	case agents.Started:
		b.start(now, m, out)
		b.offersAgain(out)
	case agents.Submit:
		b.submit(now, from, m, out)
	case agents.JobCancel:
		b.jobCancel(now, from, m, out)
	case agents.JobModify:
		b.jobModify(now, from, m, out)
	case agents.OfferAnswer:
		b.offerAnswer(now, from, m, out)
	case agents.SiteJoined:
		b.join(now, m.Site, out)
	case agents.SiteLeft:
		b.leave(now, m.Site, out)
	case agents.SiteLost:
		b.siteLost(now, from, m, out)
	case agents.SiteFound:
		b.siteFound(from, m, out)
	case agents.Offers:
		b.offered(now, from, m, out)
	case agents.Quotes:
		b.quoted(now, from, m, out)
	case agents.Listing:
		b.listing(now, from, m, out)
	default:
		if !b.reply(now, from, m, out) && !b.alarm(now, m, out) {
			b.stray++
		}
	}
	if !b.lives.ended() {
		b.reviewTouched(now, out)
		b.wake(now, out)
	}
}

// Early is how often a site has said that a leg's work runs, or is over, before
// its window began.
func (b *Broker) Early() uint64 { return b.early }

// Stray is how many messages have come that made no sense.
func (b *Broker) Stray() uint64 { return b.stray }

// alarm takes one of the broker's own alarms.
func (b *Broker) alarm(now bourse.Time, m agents.Message, out *agents.Outbox) bool {
	switch m := m.(type) {
	case cycleDue:
		b.cycleDue(now, m, out)
	case answersDue:
		b.answersDue(now, m, out)
	case tryDue:
		b.tryDue(now, m, out)
	case repeatDue:
		b.repeatDue(now, m, out)
	case capDue:
		b.capDue(now, m, out)
	case listDue:
		b.listDue(now, m, out)
	case assertDue:
		b.assertDue(now, m, out)
	case probeDue:
		b.probeDue(now, m, out)
	case errandDue:
		b.errandDue(now, m, out)
	case askAgainDue:
		b.askAgainDue(now, m, out)
	case offerDue:
		b.offerDue(now, m, out)
	case presenceDue:
		b.presenceDue(now, m, out)
	case watchDue:
		b.watchDue(now, m, out)
	case listenDue:
		b.listenDue(now, out)
	case forgetDue:
		b.forget(now, out)
	case lateDue:
		b.lateDue(m)
	default:
		return false
	}
	return true
}

// The alarms. Each carries what it is for, and is ignored once that has passed.
type (
	// cycleDue fires the cycle of an instant.
	cycleDue struct{ At bourse.Time }
	// answersDue ends the wait for offers or quotes.
	answersDue struct {
		Cycle uint64
		Phase phase
	}
	// tryDue gives a transaction up that is still in that state.
	tryDue struct {
		Tx    bourse.TxID
		State bourse.TxState
	}
	// repeatDue says again what a transaction's sites have not answered.
	repeatDue struct {
		Tx    bourse.TxID
		Wait  bourse.Duration
		Chain uint64
	}
	// capDue tries the same alternative again.
	capDue struct {
		Cycle uint64
		Turn  int
		Tries int
	}
	// listDue asks a site again for its legs.
	listDue struct {
		Site agents.ID
		Wait bourse.Duration
	}
	// assertDue tells a site again what it has forgotten.
	assertDue struct {
		Site  agents.ID
		Wait  bourse.Duration
		Chain uint64
	}
	// probeDue asks a site again for its present stamp.
	probeDue struct {
		Site agents.ID
		Wait bourse.Duration
		Ref  uint64
	}
	// forgetDue drops what is long over.
	forgetDue struct{}
)

// Kind names the alarm.
func (cycleDue) Kind() string   { return "CycleDue" }
func (answersDue) Kind() string { return "AnswersDue" }
func (tryDue) Kind() string     { return "TryDue" }
func (repeatDue) Kind() string  { return "RepeatDue" }
func (capDue) Kind() string     { return "CapDue" }
func (listDue) Kind() string    { return "ListDue" }
func (assertDue) Kind() string  { return "AssertDue" }
func (probeDue) Kind() string   { return "ProbeDue" }
func (forgetDue) Kind() string  { return "ForgetDue" }
