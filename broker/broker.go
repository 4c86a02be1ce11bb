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
	"bourse/agents/retry"
)

// Broker is the agent of one VO. It is not safe for concurrent use.
type Broker struct {
	cfg   Config
	sites []agents.ID         // that the cycle under way asks, in order of name, the canonical order
	index map[agents.ID]int32 // into sites

	// What follows from the facts.
	lives    []bourse.BrokerLife // the last is this one
	fenced   bool
	fencedBy uint32 // the life that has fenced this one
	seq      uint64 // of the last transaction begun
	jobs     []*job // in order of submission
	names    map[string]*job
	queue    queue
	txs      map[bourse.TxID]*transaction
	order    []*transaction // in which they became known
	ledger   bourse.Ledger[Entry]
	returned map[string]bourse.Credits  // by user: what sites gave back
	cycles   uint64                     // closed so far
	bars     map[pair]bourse.UserBarred // what sites have refused for whose sake
	peers    map[agents.ID]*peer
	known    []agents.ID       // the peers, in order of name
	lasts    []bourse.TxID     // of each job its latest try, while an image is read
	turns    []bourse.UserTurn // the order of the users' turns, likewise

	// What a restart begins anew.
	now       bourse.Time // of the step under way, or of the fact that is replayed
	began     bourse.Time // this life
	cycle     cycle
	next      bourse.Time // when the next cycle fires
	follow    int         // cycles that may still be opened before
	errands   []*errand
	errandSeq uint64
	probeSeq  uint64
	retries   retry.List[owed]
	stale     bool        // a site has joined or left since b.sites was made
	stray     uint64      // messages that made no sense
	early     uint64      // words of sites about work whose time has not come
	detail    detail      // what was recorded of cycles lately
	called    bourse.Time // the instant of the last call out of turn, and how many there were in it
	calls     int
	refusals  refusals
	touched   []*job // in this step, of those that come after others or others after them
	asserts   int    // maxAsserts, less in tests
	part      int    // maxPart, less in tests
	most      int    // maxBars, less in tests
}

// New returns a broker. The configuration must be valid: an error of
// cfg.Validate is a broken invariant here.
func New(cfg Config) *Broker {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	b := &Broker{cfg: cfg, index: map[agents.ID]int32{}, asserts: maxAsserts, part: maxPart, most: maxBars}
	b.reset()
	for _, id := range cfg.Sites {
		b.meet(id).member = true
	}
	b.muster()
	b.endow()
	return b
}

// reset forgets all that follows from facts.
func (b *Broker) reset() {
	b.names, b.txs = map[string]*job{}, map[bourse.TxID]*transaction{}
	b.bars = map[pair]bourse.UserBarred{}
	b.returned, b.peers = map[string]bourse.Credits{}, map[agents.ID]*peer{}
	b.lives, b.jobs, b.order, b.known, b.lasts = nil, nil, nil, nil, nil
	b.queue, b.ledger, b.touched, b.turns = queue{}, bourse.Ledger[Entry]{}, nil, nil
}

// Step hands the broker one message. Answers that come too late, twice, or from
// somebody who was not asked change nothing; what makes no sense is counted.
func (b *Broker) Step(now bourse.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	b.now = now
	if b.fenced {
		if _, ok := m.(agents.Started); !ok {
			return
		}
	}
	if p := b.peers[from]; p != nil {
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
	if !b.fenced {
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
	case capDue:
		b.capDue(now, m, out)
	case listDue:
		b.listDue(now, m, out)
	case retry.Due[owed]:
		b.again(now, m, out)
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

// The alarms beside those of what is said again. Each carries what it is for, and
// is ignored once that has passed.
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
	// forgetDue drops what is long over.
	forgetDue struct{}
)

// Kind names the alarm.
func (cycleDue) Kind() string   { return "CycleDue" }
func (answersDue) Kind() string { return "AnswersDue" }
func (tryDue) Kind() string     { return "TryDue" }
func (capDue) Kind() string     { return "CapDue" }
func (listDue) Kind() string    { return "ListDue" }
func (forgetDue) Kind() string  { return "ForgetDue" }
