package broker

import (
	"bourse"
	"bourse/agents"
	"bourse/broker/planning"
)

// A cycle places a batch of jobs. Its phases stand below in their order:
//
//  1. batch: the due jobs, at most BatchSize, in serving order: the users take
//     turns, each with its own jobs by priority, see queue.take
//  2. offers: one request to each site; an alarm ends the wait, which is not for
//     those that were silent the last time
//  3. search: alternatives for each job on what can be reserved at all
//  4. quotes: one request to each site for all legs that are not clear; an
//     alarm ends the wait
//  5. prices: drop what costs too much; who lost all, searches once more on
//     what is clear
//  6. selection: one alternative a job, under B*, T* and the accounts
//  7. transactions: job by job in serving order, see placing.go and transaction.go
//  8. close
//
// Phase 3 is planning.Plan, phases 5 and 6 are planning.Choose: functions of what the
// cycle has before it, which Config.Explain puts on record.
//
// Cycles fire at every multiple of Config.Cycle plus Config.Phase, and then every
// job that waits is due; and at once when BatchSize jobs have come that no cycle
// has looked at, and then those are due: one cycle after the other for as many
// batches as they fill. A batch beyond BatchSize is cut, and what
// is left follows in the next cycle, of the same instant where there is no
// latency, up to MaxCycles. What is still due then stays so, and until all of a
// user's has been looked at only fresh jobs of that user join: under a load that the
// sites cannot carry a cycle's work is bounded, and nobody waits behind jobs that
// never fit. There is one cycle at a time. With nothing due, none is opened and nothing is sent,
// unless no site at all answers: see silent.go.
//
// A broker whose strategy is not a batch takes jobs one by one: each opens a cycle
// of its own as it arrives. What finds no place waits for the next multiple of
// Config.Cycle, and is then tried again by itself.
type cycle struct {
	phase   phase
	number  uint64
	opened  bourse.Time // when the offers were asked for
	from    bourse.Time // no window starts before
	horizon bourse.Time // no window ends after
	batch   []*job
	entries []entry // one for each job that has not been given up in phase 1
	poll    poll
	waits   []bool // by site: its quotes are waited for
	missing int    // sites whose answer to the present request is out

	input   planning.Input // its jobs are the entries
	draft   *planning.Draft
	quotes  planning.Quotes
	outcome *planning.Outcome

	try     *transaction    // under way
	turn    int             // the entry whose turn it is in phase 7
	cost    bourse.Credits  // bound by committed windows
	time    bourse.Duration // of committed windows
	summary bourse.CycleClosed
}

// phase is what a cycle waits for.
type phase uint8

const (
	idle       phase = iota
	gathering        // offers
	quoting          // quotes
	committing       // the answers of a transaction
)

// firstCycle is the first instant from now on at which a cycle fires.
func (b *Broker) firstCycle(now bourse.Time) bourse.Time {
	since := now.Sub(bourse.Time(b.cfg.Phase)) % b.cfg.Cycle
	switch {
	case since == 0:
		return now
	case since < 0:
		return now.Add(-since)
	}
	return now.Add(b.cfg.Cycle - since)
}

// cycleDue calls every job that waits or, of users who have some that are due from
// before, the fresh ones.
func (b *Broker) cycleDue(now bourse.Time, m cycleDue, out *agents.Outbox) {
	if m.At != b.next {
		return
	}
	b.next = m.At.Add(b.cfg.Cycle)
	out.Alarm(b.next, cycleDue{b.next})
	b.queue.call(true)
	if b.cycle.phase == idle && b.queue.due == 0 && b.Unheard() {
		b.askSilent(now, out)
	}
	b.follow = max(b.follow, b.cfg.rounds())
}

// wake opens cycles as long as jobs are due, MaxCycles are not reached and none
// is under way. It is the last thing of every step.
func (b *Broker) wake(now bourse.Time, out *agents.Outbox) {
	for b.cycle.phase == idle && b.queue.due > 0 && b.follow > 0 && !b.deaf(now) {
		if b.stale || b.peers.listening() {
			b.muster()
		}
		b.follow--
		b.openCycle(now, out)
	}
}

// openCycle is phase 1: the batch.
func (b *Broker) openCycle(now bourse.Time, out *agents.Outbox) {
	c := &b.cycle
	c.number, c.opened = b.cycles+1, now
	c.summary = bourse.CycleClosed{Cycle: c.number}
	c.from, c.horizon = now.Add(b.cfg.Lead), now.Add(b.cfg.Horizon)
	b.queue.call(false) // of those that follow one another too: what came meanwhile waits for none of them
	c.batch, c.summary.Turns = b.queue.take(c.batch[:0], b.cfg.batch(), b.cfg.terms)
	c.summary.Batch = len(c.batch)
	c.entries = c.entries[:0]
	for _, j := range c.batch {
		if j.Deadline <= c.from {
			b.postpone(j, reason(bourse.Expired, "the deadline %v passed while it waited", j.Deadline), true, out)
			continue
		}
		c.entries = append(c.entries, entry{job: j})
	}
	if len(c.entries) == 0 {
		b.closeCycle(out)
		return
	}
	b.askAllOffers(now, out)
}

// askAllOffers is phase 2: the offers.
func (b *Broker) askAllOffers(now bourse.Time, out *agents.Outbox) {
	c := &b.cycle
	c.phase = gathering
	c.poll.reset()
	c.missing = b.await(now, c.number, &c.poll)
	for _, id := range b.sites {
		b.askOffers(id, c.number, c.horizon, out)
	}
	if c.missing == 0 {
		b.search(now, out)
		return
	}
	out.Alarm(now.Add(b.cfg.OfferWait), answersDue{c.number, gathering})
	b.askAgainLater(now, c.number, gathering, firstRepeat, out)
}

// offered takes one site's offers; the last one ends the wait.
func (b *Broker) offered(now bourse.Time, from agents.ID, m agents.Offers, out *agents.Outbox) {
	if m.Refusal.Code == bourse.Fenced && b.peers.get(from) != nil { // row B110
		if m.Nonce == b.lives.current().Nonce {
			b.fence(from, m.Refusal, m.Latest, out)
		}
		return
	}
	if m.Cycle >= probeRef {
		b.probed(now, from, m, out)
		return
	}
	if p := b.peers.get(from); p != nil && p.listed {
		b.stamped(now, p, m.Stamp, out) // of no matter for the offer, which is of the moment
	}
	if m.Cycle >= errandRef {
		b.errandOffered(now, from, m, out)
		return
	}
	b.spoke(now, from, m.Cycle)
	c := &b.cycle
	site, known := b.index[from]
	if c.phase != gathering || m.Cycle != c.number || !known {
		return
	}
	waited := c.poll.take(c.opened, now, site, m)
	if a := c.poll.sites[site].Answer; a >= planning.Skewed {
		b.peers.get(from).clock = a
	}
	if waited {
		b.oneLess(now, out)
	}
}

// search is phase 3: alternatives for each job on what can be reserved at all.
func (b *Broker) search(now bourse.Time, out *agents.Outbox) {
	c := &b.cycle
	c.from = now.Add(b.cfg.Lead) // the wait may have lasted
	c.input = b.input(now)
	b.recordSeen(now, out)
	c.draft = b.planner.Plan(&c.input)
	c.summary.Skewed, c.summary.Sites, c.summary.Slots = c.input.Skewed(), c.input.Answered(), c.draft.Slots
	b.postponed(c.draft.Postponed, out)
	if len(c.draft.Groups) == 0 { // no site has offered anything
		b.closeCycle(out)
		return
	}
	b.askQuotes(now, out)
}

// askQuotes is phase 4: one request to each site for all its contended legs.
func (b *Broker) askQuotes(now bourse.Time, out *agents.Outbox) {
	c := &b.cycle
	c.phase, c.missing = quoting, 0
	c.quotes = planning.Quotes{Sites: make([][]bourse.Quote, len(b.sites))}
	c.waits = make([]bool, len(b.sites))
	for site := range c.draft.Wanted {
		if n := len(c.draft.Wanted[site].Legs); n > 0 {
			c.waits[site] = true
			c.missing++
			c.summary.Quoted += n
			b.askQuote(site, out)
		}
	}
	if c.missing == 0 {
		b.choose(now, out)
		return
	}
	out.Alarm(now.Add(b.cfg.OfferWait), answersDue{c.number, quoting})
	b.askAgainLater(now, c.number, quoting, firstRepeat, out)
}

// quoted takes one site's quotes; the last one ends the wait.
func (b *Broker) quoted(now bourse.Time, from agents.ID, m agents.Quotes, out *agents.Outbox) {
	if p := b.peers.get(from); p != nil && p.listed {
		b.stamped(now, p, m.Stamp, out)
	}
	c := &b.cycle
	site, known := b.index[from]
	if c.phase != quoting || m.Ref != c.number || !known || !c.waits[site] || len(m.Quotes) != len(c.draft.Wanted[site].Legs) {
		return
	}
	c.quotes.Sites[site], c.waits[site] = m.Quotes, false
	for i, user := range c.draft.Wanted[site].Users {
		b.bar(now, siteName(from), user, m.Quotes[i].Refusal, out)
	}
	b.oneLess(now, out)
}

// oneLess ends a wait for answers with the last one.
func (b *Broker) oneLess(now bourse.Time, out *agents.Outbox) {
	c := &b.cycle
	if c.missing--; c.missing > 0 {
		return
	}
	if c.phase == gathering {
		b.search(now, out)
	} else {
		b.choose(now, out)
	}
}

// answersDue ends a wait with those who answered.
func (b *Broker) answersDue(now bourse.Time, m answersDue, out *agents.Outbox) {
	c := &b.cycle
	if m.Cycle != c.number || m.Phase != c.phase {
		return
	}
	switch c.phase {
	case gathering:
		b.notHeard(&c.poll)
		b.search(now, out)
	case quoting:
		b.choose(now, out)
	}
}

// goOnWithout ends the wait for one site, which has left: for this cycle, even if
// it comes back before the others have answered.
func (b *Broker) goOnWithout(now bourse.Time, id agents.ID, out *agents.Outbox) {
	c := &b.cycle
	site, asked := b.index[id]
	if !asked {
		return
	}
	switch c.phase {
	case gathering:
		if c.poll.leave(site) {
			b.oneLess(now, out)
		}
	case quoting:
		if c.waits[site] {
			c.waits[site] = false
			b.oneLess(now, out)
		}
	}
}

// choose is phases 5 and 6: one alternative a job.
func (b *Broker) choose(now bourse.Time, out *agents.Outbox) {
	c := &b.cycle
	gone := b.whatIsKnownNow()
	c.outcome = b.planner.Choose(c.draft, &c.quotes)
	o := c.outcome
	c.summary.Alternatives, c.summary.Time, c.summary.Cost, c.summary.Fallback = o.Alternatives, o.Time, o.Cost, o.Bounded
	c.summary.TimeLimit, c.summary.BudgetLimit = o.Formula.Time, o.Formula.Budget
	for i := range c.entries {
		c.entries[i].plan, c.entries[i].why = &o.Jobs[i], o.Jobs[i].Why
	}
	b.postponed(o.Postponed, out)
	b.recordPlanned(now, gone, out)
	c.phase, c.turn, c.cost, c.time = committing, 0, 0, 0
	b.proceed(now, out)
}

// proceed is phase 7: it begins the next transaction, or closes the cycle.
func (b *Broker) proceed(now bourse.Time, out *agents.Outbox) {
	c := &b.cycle
	for ; c.turn < len(c.entries); c.turn++ {
		if e := &c.entries[c.turn]; !e.over && b.try(now, e, out) {
			return
		}
	}
	b.closeCycle(out)
}

// closeCycle is phase 8.
func (b *Broker) closeCycle(out *agents.Outbox) {
	c := &b.cycle
	for _, j := range c.batch {
		if j.taken = false; j.again {
			b.touch(j)
		}
	}
	c.phase, c.try = idle, nil
	b.record(c.summary, out)
}

// postponed leaves jobs that a plan has no window for to a later cycle.
func (b *Broker) postponed(list []planning.Postponed, out *agents.Outbox) {
	for i := range list {
		e := &b.cycle.entries[list[i].Job]
		e.over = true
		b.postpone(e.job, list[i].Reason, list[i].Final, out)
	}
}

// postpone leaves a job to a later cycle, or to none if final.
func (b *Broker) postpone(j *job, r bourse.Reason, final bool, out *agents.Outbox) {
	b.cycle.summary.Postponed++
	b.record(bourse.JobPostponed{Job: j.Name, Reason: r, Final: final}, out)
}
