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
//
// Its components begin in these files:
//
//	memory       memory.go       all that follows from facts: jobs, transactions, sites, lives, accounts
//	tenancy      tenancy.go      the terms of users and tenants; usage.go counts, bounds.go holds windows against them
//	budget       budget.go       the VO's money for a time, deposits; pacing.go says what a credit weighs
//	scheduler    cycle.go        the cycles; queue.go says who is served next
//	intake       batch.go        jobs taken, cancelled, forgotten
//	errands      errand.go       repairs (repair.go) and moves (move.go)
//	shifts       negotiate.go    answers to what sites wish
//	readings     work.go         what jobs have printed
//	coordinator  coordinator.go  transactions: hold.go, decision.go, replies.go, ends.go; and of it
//	  recovery   life.go         a life that is not the first: list, decide afresh, adopt
//	  amnesia    amnesia.go      sites whose memory is of the past
//	  losses     lost.go         sites that are lost, and what they claim when they are back
//	  watcher    watch.go        what should have been heard of a leg
package broker

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// Broker is the agent of one VO. It is not safe for concurrent use.
//
// It is what it remembers, and components that act on that: the scheduler has
// cycles, errands are repairs and moves, shifts are answers to the wishes of sites, and
// the intake takes jobs and lets them go, readings pass on what jobs have printed. Their transactions are the coordinator's.
type Broker struct {
	memory
	co        *coordinator
	scheduler *scheduler
	errands   *errands
	shifts    *shifts
	intake    *intake
	operator  *operator
	readings  readings
}

// New returns a broker. The configuration must be valid: an error of
// cfg.Validate is a broken invariant here.
func New(cfg Config) *Broker {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	b := &Broker{memory: newMemory(cfg)}
	mem := &b.memory
	b.co = newCoordinator(mem, b)
	lim := limits{mem}
	b.operator = &operator{memory: mem}
	b.scheduler = &scheduler{memory: mem, co: b.co, limits: lim, asking: &asking{memory: mem}, index: map[agents.ID]int32{}}
	b.errands = &errands{memory: mem, co: b.co, limits: lim, asking: b.scheduler.asking, scheduler: b.scheduler}
	b.shifts = &shifts{memory: mem, co: b.co, limits: lim, errands: b.errands}
	b.intake = &intake{memory: mem, co: b.co, scheduler: b.scheduler, errands: b.errands}
	b.readings = readings{memory: mem}
	b.scheduler.errands = b.errands
	b.scheduler.listSites(b.peers.usable(nil))
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
		b.co.hear(now, p, out)
	}
	switch m := m.(type) {
	case agents.Started:
		b.start(now, m, out)
		b.shifts.offersAgain(out)
	case agents.Submit:
		b.intake.submit(now, from, m, out)
	case agents.JobCancel:
		b.intake.jobCancel(now, from, m, out)
	case agents.JobOutput:
		b.readings.asked(now, from, m, out)
	case agents.LegOutput:
		b.readings.answered(from, m, out)
	case readingDue:
		b.readings.due(m, out)
	case agents.JobModify:
		b.errands.jobModify(now, from, m, out)
	case agents.OfferAnswer:
		b.shifts.offerAnswer(now, from, m, out)
	case agents.Deposit:
		b.operator.deposit(from, m, out)
	case agents.GrantTerms:
		b.operator.grantTerms(from, m, out)
	case agents.ReadTerms:
		b.operator.readTerms(from, m, out)
	case agents.SiteJoined:
		b.join(now, m.Site, out)
	case agents.SiteLeft:
		b.leave(now, m.Site, out)
	case agents.Offers:
		b.scheduler.offered(now, from, m, out)
	case agents.Quotes:
		b.scheduler.quoted(now, from, m, out)
	default:
		if !b.co.step(now, from, m, out) && !b.alarm(now, m, out) {
			b.stray++
		}
	}
	if !b.lives.ended() {
		b.intake.tellFallen(out)
		b.intake.reviewTouched(now, out)
		b.scheduler.wake(now, out)
	}
}

// Early is how often a site has said that a leg's work runs, or is over, before
// its window began.
func (b *Broker) Early() uint64 { return b.early }

// Stray is how many messages have come that made no sense.
func (b *Broker) Stray() uint64 { return b.stray }

// alarm takes an alarm that is not the coordinator's.
func (b *Broker) alarm(now bourse.Time, m agents.Message, out *agents.Outbox) bool {
	switch m := m.(type) {
	case cycleDue:
		b.scheduler.cycleDue(now, m, out)
	case answersDue:
		b.scheduler.answersDue(now, m, out)
	case capDue:
		b.scheduler.capDue(now, m, out)
	case errandDue:
		b.errands.errandDue(now, m, out)
	case askAgainDue:
		b.scheduler.askAgainDue(now, m, out)
	case offerDue:
		b.shifts.offerDue(now, m, out)
	case budgetDue:
		b.budgetDue(now, m, out)
	case forgetDue:
		b.intake.forget(now, out)
	default:
		return false
	}
	return true
}

// The alarms other than those of retries. Each carries what it is for, and is
// ignored once that has passed.
type (
	// cycleDue fires the cycle of an instant.
	cycleDue struct{ At bourse.Time }
	// answersDue ends the wait for offers or quotes.
	answersDue struct {
		Cycle uint64
		Phase phase
	}
	// tryDue gives up a transaction that is still in that state.
	tryDue struct {
		Tx    bourse.TxID
		State bourse.TxState
	}
	// capDue tries the same alternative again.
	capDue struct {
		Cycle uint64
		Entry int
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
