package broker

import (
	"bourse"
	"bourse/agents"
	"bourse/policy/search"
	"bourse/policy/selection"
)

// A cycle places a batch of jobs. Its phases, each a function below:
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
//  7. transactions: job by job in serving order, see transaction.go
//  8. close
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
type cycle struct {
	phase   phase
	number  uint64
	opened  bourse.Time // when the offers were asked for
	from    bourse.Time // no window starts before
	horizon bourse.Time // no window ends after
	batch   []*job
	market  market
	plans   []plan // one for each job that has not been given up in phase 1
	asked   [][]*planLeg
	users   [][]string // of the jobs whose legs were asked for, by site
	missing int        // sites whose answer to the present request is out

	requested  []agents.QuoteRequest // by site: what those were asked for with
	try        *transaction          // under way
	turn       int                   // the plan whose turn it is in phase 7
	costLimit  bourse.Credits        // B* where it binds, else MaxCredits
	timeLimit  bourse.Duration       // T* where it binds, else MaxDuration
	cost       bourse.Credits        // bound by committed windows
	time       bourse.Duration       // of committed windows
	summary    bourse.CycleClosed
	requests   []bourse.Request // scratch of search
	candidates []*plan          // scratch
	selector   selection.Selector
	options    [][]selection.Alternative // by candidate
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
		if b.stale || b.listening() {
			b.muster()
		}
		b.follow--
		b.openCycle(now, out)
	}
}

// openCycle is phases 1 and 2.
func (b *Broker) openCycle(now bourse.Time, out *agents.Outbox) {
	c := &b.cycle
	c.number, c.opened = b.cycles+1, now
	c.summary = bourse.CycleClosed{Cycle: c.number}
	c.from, c.horizon = now.Add(b.cfg.Lead), now.Add(b.cfg.Horizon)
	b.queue.call(false) // of those that follow one another too: what came meanwhile waits for none of them
	c.batch, c.summary.Turns = b.queue.take(c.batch[:0], b.cfg.batch(), b.cfg.terms)
	c.summary.Batch = len(c.batch)
	c.plans = c.plans[:0]
	for _, j := range c.batch {
		if j.Deadline <= c.from {
			b.postpone(j, reason(bourse.Expired, "the deadline %v passed while it waited", j.Deadline), true, out)
			continue
		}
		c.plans = append(c.plans, plan{job: j, request: j.Request, choice: -1})
	}
	if len(c.plans) == 0 {
		b.closeCycle(out)
		return
	}
	c.phase = gathering
	c.market.reset()
	c.missing = b.await(now, c.number, &c.market)
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
	if m.Refusal.Code == bourse.Fenced && b.peers[from] != nil { // row B110
		if m.Nonce == b.life().Nonce {
			b.fence(from, m.Refusal, m.Latest, out)
		}
		return
	}
	if m.Cycle >= probeRef {
		b.probed(now, from, m, out)
		return
	}
	if p := b.peers[from]; p != nil && p.listed {
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
	waited := c.market.take(c.opened, now, site, m)
	if a := c.market.answers[site]; a >= skewed {
		b.peers[from].clock = a
	}
	if !waited {
		return
	}
	if c.missing--; c.missing == 0 {
		b.search(now, out)
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
		b.notHeard(&c.market)
		b.search(now, out)
	case quoting:
		b.reckon(now, out)
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
		if !c.market.leave(site) {
			return
		}
		if c.missing--; c.missing == 0 {
			b.search(now, out)
		}
	case quoting:
		if len(c.asked[site]) == 0 {
			return
		}
		c.asked[site] = c.asked[site][:0]
		if c.missing--; c.missing == 0 {
			b.reckon(now, out)
		}
	}
}

// search is phases 3 and 4.
func (b *Broker) search(now bourse.Time, out *agents.Outbox) {
	c := &b.cycle
	c.from = now.Add(b.cfg.Lead) // the wait may have lasted
	memo := map[*job]bourse.Time{}
	for i := range c.plans {
		c.plans[i].request = b.bounded(c.plans[i].job, memo)
		c.plans[i].shut = b.shutSites(now, c.plans[i].job.User, b.sites)
	}
	b.recordSeen(now, out)
	if !b.look(out) {
		b.closeCycle(out)
		return
	}
	c.phase = quoting
	if b.askQuotes(out); c.missing == 0 {
		b.reckon(now, out)
		return
	}
	out.Alarm(now.Add(b.cfg.OfferWait), answersDue{c.number, quoting})
	b.askAgainLater(now, c.number, quoting, firstRepeat, out)
}

// look is phase 3. It reports false if no site has offered anything.
func (b *Broker) look(out *agents.Outbox) bool {
	c := &b.cycle
	c.market.open(c.from, c.horizon)
	c.summary.Skewed = c.market.skewed()
	c.summary.Sites, c.summary.Slots = c.market.answered, c.market.list.Len()
	if len(c.market.groups) == 0 {
		for i := range c.plans {
			if c.plans[i].over {
				continue
			}
			b.giveUp(&c.plans[i], c.market.silence(b.cfg.OfferWait), out)
		}
		return false
	}
	if b.cfg.oneByOne() {
		b.lookEach(out)
		return true
	}
	c.requests = c.requests[:0]
	o := b.searchOptions()
	for i := range c.plans {
		c.requests = append(c.requests, c.plans[i].request)
		o.Barred = append(o.Barred, c.market.shutGroups(c.plans[i].shut))
	}
	r := c.market.finder.Batch(c.requests, o)
	for i := range c.plans {
		p := &c.plans[i]
		if p.over {
			continue
		}
		p.add(&c.market, r.Alternatives[i])
		p.addShares(&c.market, c.from, c.horizon, b.cfg.Algorithm == search.ALP, b.cfg.MaxAlternatives)
		if len(p.alternatives) == 0 {
			b.giveUp(p, r.Reasons[i], out)
		}
	}
	return true
}

// searchOptions are those of a search in this cycle.
func (b *Broker) searchOptions() search.Options {
	return search.Options{Algorithm: b.cfg.Algorithm, MaxAlternatives: b.cfg.MaxAlternatives,
		Notice: b.cycle.from, Weights: b.cfg.Weights}
}

// reckon is phases 5 and 6; then the transactions begin.
func (b *Broker) reckon(now bourse.Time, out *agents.Outbox) {
	if b.cfg.Explain > 0 {
		f := b.planned(now)
		b.choose(out)
		f.Chosen = b.chosen()
		out.Record(f)
	} else {
		b.choose(out)
	}
	c := &b.cycle
	c.phase, c.turn, c.cost, c.time = committing, 0, 0, 0
	b.proceed(now, out)
}

// choose is phases 5 and 6.
func (b *Broker) choose(out *agents.Outbox) {
	c := &b.cycle
	lost := 0
	for i := range c.plans {
		if p := &c.plans[i]; !p.over && !p.price() {
			lost++
		}
	}
	switch {
	case lost > 0 && b.cfg.oneByOne():
		b.dropLost(out)
	case lost > 0:
		b.searchClear(out)
	}
	for i := range c.plans {
		c.summary.Alternatives += len(c.plans[i].alternatives)
	}
	b.selectAll(out)
}

// proceed is phase 7: it begins the next transaction, or closes the cycle.
func (b *Broker) proceed(now bourse.Time, out *agents.Outbox) {
	c := &b.cycle
	for ; c.turn < len(c.plans); c.turn++ {
		if p := &c.plans[c.turn]; !p.over && b.try(now, p, out) {
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

// giveUp ends a job's part in this cycle without a window. Where every site has
// answered, none is away that may come back, none is closed to its user, and none of
// them could ever serve the job, it is final.
func (b *Broker) giveUp(p *plan, r bourse.Reason, out *agents.Outbox) {
	p.over = true
	final := false
	if p.shut != nil && r.Code != bourse.After {
		r = b.leftOut(p, r)
	} else if b.cycle.market.complete() && !b.someAway() {
		switch r.Code {
		case bourse.TooLarge, bourse.NoNode:
			final = true
		case bourse.NoWindow:
			if end := b.cycle.market.soonest(&p.request, b.cycle.from); end > p.request.Deadline {
				r = reason(bourse.Expired, "it would end at %v at the soonest, after its deadline %v", end, p.request.Deadline)
				if p.request.Deadline < p.job.Deadline {
					r = reason(bourse.Expired, "it would end at %v at the soonest, and what comes after it needs it to end by %v", end, p.request.Deadline)
				}
				final = p.job.needsOver()
			}
		}
	}
	b.postpone(p.job, r, final, out)
}

// postpone leaves a job to a later cycle, or to none if final.
func (b *Broker) postpone(j *job, r bourse.Reason, final bool, out *agents.Outbox) {
	b.cycle.summary.Postponed++
	b.record(bourse.JobPostponed{Job: j.Name, Reason: r, Final: final}, out)
}
