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
	"fmt"
	"slices"

	"bourse"
	"bourse/agents"
)

// Broker is the agent of one VO. It is not safe for concurrent use.
type Broker struct {
	cfg   Config
	sites []agents.ID         // in order of name, the canonical order
	index map[agents.ID]int32 // into sites

	// What follows from the facts.
	jobs     []*job // in order of submission
	names    map[string]*job
	queue    queue
	txs      []*transaction // by sequence, from 1
	ledger   bourse.Ledger[Entry]
	returned map[string]bourse.Credits // by user: what sites gave back
	cycles   uint64                    // closed so far

	// What a restart begins anew.
	cycle  cycle
	next   bourse.Time // when the next cycle fires
	follow int         // cycles that may still be opened before
}

// New returns a broker. The configuration must be valid: an error of
// cfg.Validate is a broken invariant here.
func New(cfg Config) *Broker {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	b := &Broker{cfg: cfg, sites: slices.Clone(cfg.Sites), index: map[agents.ID]int32{},
		names: map[string]*job{}, returned: map[string]bourse.Credits{}}
	slices.Sort(b.sites)
	for i, id := range b.sites {
		b.index[id] = int32(i)
	}
	b.cycle.market.init(b.sites)
	b.endow()
	return b
}

// Step hands the broker one message. Answers that come too late, twice, or from
// somebody who was not asked change nothing.
func (b *Broker) Step(now bourse.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	switch m := m.(type) {
	case agents.Started:
		b.next = b.firstCycle(now)
		out.Alarm(b.next, cycleDue{b.next})
	case agents.Submit:
		b.submit(now, from, m, out)
	case cycleDue:
		b.cycleDue(now, m, out)
	case agents.Offers:
		b.offered(now, from, m, out)
	case agents.Quotes:
		b.quoted(now, from, m, out)
	case answersDue:
		b.answersDue(now, m, out)
	case agents.HeldReply:
		b.held(now, from, m, out)
	case agents.PreparedReply:
		b.prepared(now, from, m, out)
	case agents.RefusedReply:
		b.refused(now, from, m, out)
	case agents.ConfirmedReply:
		b.closed(from, m.Leg, true, out)
	case agents.CancelledReply:
		b.closed(from, m.Leg, false, out)
	case agents.SettledNotice:
		b.settled(from, m, out)
	case agents.StartedNotice: // a report's concern: it changes nothing here
	case tryDue:
		b.tryDue(now, m, out)
	case repeatDue:
		b.repeatDue(now, m, out)
	default:
		panic(fmt.Sprintf("broker: %s got %s from %s", b.cfg.Name, m.Kind(), from))
	}
	b.wake(now, out)
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
		Seq   uint64
		State txState
	}
	// repeatDue sends a decision again to those who have not acknowledged it.
	repeatDue struct {
		Seq  uint64
		Wait bourse.Duration
	}
)

// Kind names the alarm.
func (cycleDue) Kind() string   { return "CycleDue" }
func (answersDue) Kind() string { return "AnswersDue" }
func (tryDue) Kind() string     { return "TryDue" }
func (repeatDue) Kind() string  { return "RepeatDue" }

// record records a fact and applies it: the only way the lasting state changes.
func (b *Broker) record(f agents.Fact, out *agents.Outbox) {
	out.Record(f)
	b.apply(f)
}

// apply brings the lasting state up to a fact. It sends nothing and depends on
// nothing but the state, so that facts can be replayed.
func (b *Broker) apply(f agents.Fact) {
	switch f := f.(type) {
	case bourse.JobSubmitted:
		j := &job{Job: f.Job}
		b.jobs = append(b.jobs, j)
		b.names[j.Name] = j
		b.queue.insert(j)
	case bourse.SubmissionRefused:
	case bourse.JobPostponed:
		j := b.names[f.Job]
		j.reason = f.Reason
		b.queue.look(j)
		if f.Final {
			j.state = Abandoned
			b.queue.waiting--
		}
	case bourse.CycleClosed:
		b.cycles = f.Cycle
		b.queue.sweep()
	case bourse.TxBegun:
		b.applyBegun(f)
	case bourse.LegPriced:
		b.applyPriced(f)
	case bourse.TxDecided:
		b.applyDecided(f)
	case bourse.LegClosed:
		b.applyClosed(f)
	case bourse.LegDone:
		b.applyDone(f)
	default:
		panic(fmt.Sprintf("broker: %s cannot apply %s", b.cfg.Name, f.Kind()))
	}
}
