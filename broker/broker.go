// Package broker is the agent that serves a virtual organisation (VO). It collects
// the sites' offers, searches for alternative windows for each job of a batch,
// picks the combination that is best under the VO's limits (Toporkov et al.,
// sections 2 and 3), and commits each window across its sites, all or nothing.
// The co-allocation protocol's steps are Hold, Prepare, the decision, then Confirm
// or Cancel.
//
// A Broker is a deterministic state machine. It never writes a site's timeline
// or ledger, reads a clock, draws a random number or does I/O. Its lasting state
// changes only when it applies the facts it records. A restart loses what a cycle
// has gathered but not yet recorded; the next cycle gathers it again.
//
// Each component starts in one of these files:
//
//	jobs         jobs/           everything that follows from facts: the jobs and their queue, and what the packages below own; memory.go
//	lives        lives/          which processes have acted for this broker; start.go
//	tenancy      tenancy/        the terms of users and tenants, what they use, and whether a window is within their bounds; usage.go
//	accounts     accounts/       the VO's money: what is spent and promised, its periods and deposits, what a credit weighs; budget.go
//	trust        trust/          which sites are left out for a user, and which come last; trust.go
//	scheduler    cycle.go        the cycles; queue.go says who is served next
//	intake       batch.go        accepts, cancels and forgets jobs; array_feed.go feeds the elements of arrays into the queue
//	errands      errand.go       repairs (repair.go) and moves (move.go)
//	shifts       negotiate.go    answers to sites that ask to move a leg
//	readings     work.go         what jobs have printed
//	glances      glance.go       asks sites for those who look at them
//	gathers      pilots/         brings the parts of jobs together at sites without reservations, by pilots
//	appraisals   appraisal.go    asks sites for prices for dry runs
//	transaction  transaction/    the transactions and what they depend on at sites, and the coordinator that carries them out; listener.go
package broker

import (
	"cmp"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/broker/pilots"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
)

// Broker is the agent of one VO. It is not safe for concurrent use.
//
// It consists of its memory and of the components that act on it; the package
// documentation lists them. All transactions go through the coordinator.
type Broker struct {
	onRecord
	co         *transaction.Coordinator
	asking     *asking
	scheduler  *scheduler
	errands    *errands
	shifts     *shifts
	intake     *intake
	operator   *operator
	readings   readings
	glances    *glances
	appraisals *appraisals
	gathers    *pilots.Gathers
}

// New returns a broker. The configuration must be valid: New panics if
// cfg.Validate returns an error.
func New(cfg Config) *Broker {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	b := &Broker{onRecord: onRecord{newMemory(cfg)}}
	mem := b.mem
	b.co = transaction.NewCoordinator(mem.Tx, outcomes{b})
	b.operator = &operator{memory: mem}
	b.asking = &asking{memory: mem}
	b.scheduler = &scheduler{memory: mem, co: b.co, asking: b.asking, index: map[agents.ID]int32{}}
	b.errands = &errands{memory: mem, co: b.co, asking: b.asking, scheduler: b.scheduler, of: map[*jobs.Job]*errand{}}
	b.shifts = &shifts{memory: mem, co: b.co, errands: b.errands}
	b.intake = &intake{memory: mem, co: b.co, asking: b.asking, scheduler: b.scheduler, errands: b.errands, askers: map[*jobs.Job][]agents.ID{}, groups: map[*jobs.Job]*cancelling{}}
	b.readings = readings{memory: mem}
	b.glances = &glances{memory: mem, asking: b.asking, scheduler: b.scheduler}
	b.scheduler.glances = b.glances
	b.appraisals = &appraisals{memory: mem}
	b.gathers = pilots.New(cfg.Name, cmp.Or(cfg.RoundWait, cfg.OfferWait), mem.State, b.co)
	b.intake.gathers = b.gathers
	b.scheduler.errands = b.errands
	b.scheduler.listSites(b.mem.Peers.Usable(nil))
	return b
}

// Step hands the broker one message. An answer that comes late, twice, or from a
// sender that was not asked changes nothing. A message that makes no sense is
// counted; see Stray.
func (b *Broker) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	b.mem.Now = now
	if b.mem.Lives.Ended() {
		if _, ok := m.(agents.Started); !ok {
			return
		}
	}
	if p := b.mem.Peers.Get(from); p != nil {
		b.co.Hear(now, p, out)
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
	case agents.SitesLook:
		b.glances.look(now, from, out)
	case glanceDue:
		b.glances.due(m, out)
	case agents.PricesLook:
		b.appraisals.look(now, from, m, out)
	case appraisalDue:
		b.appraisals.end(m.Ref, out)
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
	case agents.Pilots:
		b.gathers.Answered(now, from, m, out)
	case agents.Quotes:
		b.scheduler.quoted(now, from, m, out)
		b.appraisals.quoted(from, m, out)
	default:
		if !b.co.Step(now, from, m, out) && !b.alarm(now, m, out) {
			b.mem.stray++
		}
	}
	if !b.mem.Lives.Ended() {
		b.intake.tellFallen(out)
		b.intake.reviewTouched(now, out)
		b.intake.feed(now, out)
		b.scheduler.wake(now, out)
		for len(b.mem.Touched) > 0 || b.mem.Stirred && b.scheduler.idle() { // a cycle that asks no site gives jobs up at once
			b.intake.reviewTouched(now, out)
			b.intake.feed(now, out)
			b.scheduler.wake(now, out)
		}
	}
}

// Early counts the reports from sites that a leg's work was running, or over,
// before its window began: a sign that two clocks disagree.
func (b *Broker) Early() uint64 { return b.mem.Tx.Early() }

// Stray counts the messages that made no sense.
func (b *Broker) Stray() uint64 { return b.mem.stray + b.mem.Tx.Stray() }

// alarm handles an alarm that is not the coordinator's, and reports false if m is
// no such alarm.
func (b *Broker) alarm(now grid.Time, m agents.Message, out *agents.Outbox) bool {
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
		return b.gathers.Alarm(now, m, out)
	}
	return true
}

// The alarms other than those of retries. Each says what it was set for, and is
// ignored once the broker has moved on from that.
type (
	// cycleDue opens the cycle due at an instant.
	cycleDue struct{ At grid.Time }
	// answersDue ends the wait for offers or quotes.
	answersDue struct {
		Cycle uint64
		Phase phase
	}
	// capDue tries an entry's alternative again.
	capDue struct {
		Cycle uint64
		Entry int
		Tries int
	}
	// forgetDue drops jobs and transactions that ended long ago.
	forgetDue struct{}
)

// Kind names the alarm.
func (cycleDue) Kind() string   { return "CycleDue" }
func (answersDue) Kind() string { return "AnswersDue" }
func (capDue) Kind() string     { return "CapDue" }
func (forgetDue) Kind() string  { return "ForgetDue" }
