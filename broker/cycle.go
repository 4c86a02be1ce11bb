package broker

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// scheduler places jobs, in one cycle after another.
type scheduler struct {
	*memory
	co      *transaction.Coordinator
	errands *errands
	asking  *asking
	glances *glances
	sites   []agents.ID         // asked by the current cycle, in order of name, the canonical order
	index   map[agents.ID]int32 // into sites
	cycle   cycle
	planner planning.Planner
	next    grid.Time // when the next cycle fires
	follow  int       // how many more cycles may open before next
	detail  detail    // what was recorded about recent cycles
}

// A cycle places a batch of jobs, in these phases:
//
//  1. batch: take the due jobs, at most BatchSize, in serving order: users round
//     robin, each user's jobs by priority, see queue.take
//  2. offers: send one request to each site, or to MaxAsked of them. An alarm ends
//     the wait; sites that were silent the last time are not waited for
//  3. search: find alternatives for each job in what could be reserved
//  4. quotes: send each site one request for all legs whose price is not clear. An
//     alarm ends the wait
//  5. prices: drop what costs too much; a job that lost every alternative is
//     searched for once more among those with a clear price
//  6. selection: choose one alternative a job, under B*, T* and the accounts
//  7. sets, by value only: send each site one request for its chosen legs whose
//     prices depend on each other, in the order of phase 8. An alarm ends the wait.
//     Then repeat phases 5 and 6 with those quotes
//  8. transactions: job by job in serving order, or by start where nodes are pinned
//     (planning.Draft.Held); then a job that is refused comes again after the others.
//     See placing.go and transaction.go
//  9. close
//
// Phase 3 is planning.Plan; phases 5 and 6 are planning.Choose. They are functions of
// the cycle's input, which Config.Explain records. The second choice sees the same
// accounts and jobs as the first; phase 8 skips jobs withdrawn since, and windows that
// the accounts no longer cover.
//
// A cycle fires at every multiple of Config.Cycle plus Config.Phase or, with Config.Phases,
// a phase drawn for this one; every waiting job is then due. One also fires at once when BatchSize jobs have arrived that no cycle
// has looked at. Only those are then due, in as many cycles as they fill batches.
//
// A batch is cut at BatchSize. The rest follows in the next cycle, at the same instant
// where there is no latency, up to MaxCycles. Jobs left over after that stay due, and
// until a cycle has looked at all of a user's due jobs, only that user's fresh jobs
// join them. So a cycle's work is bounded even when the sites are overloaded, and
// nobody waits behind jobs that never fit.
//
// Only one cycle runs at a time. With nothing due, none is opened and nothing is sent,
// unless no site at all answers: see silent.go.
//
// A broker whose strategy is not a batch takes jobs one by one: each arrival opens a
// cycle of its own. A job that finds no place waits for the next instant at which cycles
// fire, and is then tried again alone.
type cycle struct {
	phase   phase
	number  uint64
	opened  grid.Time // when it asked for offers
	from    grid.Time // no window starts earlier
	horizon grid.Time // no window ends later
	batch   []*jobs.Job
	entries []entry // one for each job that phase 1 has not given up
	poll    poll
	waits   []bool            // by site: its quotes are still awaited
	missing int               // sites that have yet to answer the current request
	wanted  []planning.Wanted // by site: what the current request for quotes asks for
	named   [][]grid.Quote    // by site: its answer

	input   planning.Input // its jobs are the entries
	draft   *planning.Draft
	quotes  planning.Quotes
	gone    []string // jobs withdrawn before the choice
	outcome *planning.Outcome

	try     *transaction.Tx // the current one
	order   []int           // of the entries in phase 8; one that was refused may come again
	turn    int             // how many of these are over
	pinned  bool            // some windows of the plan are on pinned nodes
	current int             // the entry that phase 8 is trying
	cost    grid.Credits    // of the windows committed so far
	time    grid.Duration   // likewise
	summary facts.CycleClosed
}

// phase is what a cycle is waiting for.
type phase uint8

const (
	idle        phase = iota
	gathering         // offers
	quoting           // quotes
	quotingSets       // quotes for sets
	committing        // the answers of a transaction
)

// idle reports whether no cycle is running.
func (sch *scheduler) idle() bool { return sch.cycle.phase == idle }

// opened is when the last cycle was opened, and its number, or 0 if there was none.
func (sch *scheduler) opened() (grid.Time, uint64) { return sch.cycle.opened, sch.cycle.number }

// answer is a site's answer to the last request for offers, or nil if it was not
// asked.
func (sch *scheduler) answer(id agents.ID) *planning.Site {
	i := slices.Index(sch.cycle.poll.ids, id)
	if i < 0 || sch.cycle.opened <= 0 {
		return nil
	}
	return &sch.cycle.poll.sites[i]
}

// openCycle is phase 1: the batch.
func (sch *scheduler) openCycle(now grid.Time, out *agents.Outbox) {
	c := &sch.cycle
	c.number, c.opened = sch.Cycles+1, now
	c.summary = facts.CycleClosed{Cycle: c.number}
	c.from, c.horizon = now.Add(sch.cfg.Lead), now.Add(sch.cfg.Horizon)
	sch.Queue.Call(false) // before every cycle, even of a series: new arrivals do not wait for the series to end
	c.batch, c.summary.Served, c.summary.Tenants = sch.Queue.Take(c.batch[:0], sch.cfg.batch(), sch.Tenancy.User)
	if c.summary.Served != nil {
		out.Row("B126")
	}
	c.summary.Batch = len(c.batch)
	c.entries = c.entries[:0]
	for _, j := range c.batch {
		if j.Deadline <= c.from {
			sch.postpone(j, reason(grid.Expired, "the deadline %v passed while it waited", j.Deadline), true, out)
			continue
		}
		ready, bound := c.from, grid.Reason{}
		if sch.Tenancy.Bound(j.User) {
			ready, bound = sch.Tenancy.Chance(j.Need(), c.from, c.horizon)
		}
		if ready == grid.Never {
			sch.postpone(j, bound, false, out)
			continue
		}
		c.entries = append(c.entries, entry{job: j, ready: ready, bound: bound})
	}
	if len(c.entries) == 0 {
		sch.closeCycle(out)
		return
	}
	if sch.asking.inTurn() {
		sch.listSites(sch.asking.sites(c.number, c.requests(sch.terms())))
	}
	sch.askAllOffers(now, out)
}

// askAllOffers is phase 2: the offers.
func (sch *scheduler) askAllOffers(now grid.Time, out *agents.Outbox) {
	c := &sch.cycle
	c.phase = gathering
	c.poll.reset()
	c.missing = sch.asking.await(now, c.number, &c.poll)
	for _, id := range sch.sites {
		sch.Tx.AskOffers(id, c.number, c.horizon, out)
	}
	if c.missing == 0 {
		sch.search(now, out)
		return
	}
	out.Alarm(now.Add(sch.cfg.OfferWait), answersDue{c.number, gathering})
	sch.askAgainLater(now, c.number, gathering, transaction.FirstRepeat, out)
}

// offered takes one site's offers. The last awaited answer ends the wait.
func (sch *scheduler) offered(now grid.Time, from agents.ID, m agents.Offers, out *agents.Outbox) {
	if m.Refusal.Code == grid.Fenced && sch.Peers.Get(from) != nil { // row B110
		out.Row("B110")
		if m.Nonce == sch.Lives.Current().Nonce {
			sch.Tx.Fence(from, m.Refusal, m.Latest, out)
		}
		return
	}
	if sch.Peers.Get(from) != nil {
		sch.glances.stands(from, m.Refusal)
	}
	if m.Cycle >= transaction.ProbeRef {
		sch.co.Probed(now, from, m, out)
		return
	}
	if p := sch.Peers.Get(from); p != nil && p.Listed() {
		sch.co.Stamped(now, p, m.Stamp, out) // the result does not matter: an offer describes this moment anyway
	}
	if m.Cycle >= transaction.ErrandRef {
		sch.errands.errandOffered(now, from, m, out)
		return
	}
	sch.asking.spoke(now, from, m.Cycle)
	if m.Cycle == 0 {
		out.Row("B130")
		sch.glances.offered(now, sch.Peers.Get(from), m, out)
	}
	c := &sch.cycle
	site, known := sch.index[from]
	if c.phase != gathering || m.Cycle != c.number || !known {
		return
	}
	waited := c.poll.take(c.opened, now, site, m)
	sch.asking.remember(from, &c.poll.sites[site])
	sch.asking.noteGroups(from, &c.poll.sites[site])
	if a := c.poll.sites[site].Answer; a >= planning.Skewed {
		sch.Peers.Get(from).KeepsTime(a)
	}
	if waited {
		c.missing--
		sch.goOn(now, out)
	}
}

// search is phase 3: it finds alternatives for each job in what could be reserved.
func (sch *scheduler) search(now grid.Time, out *agents.Outbox) {
	c := &sch.cycle
	c.from = now.Add(sch.cfg.Lead) // waiting for offers may have taken time
	c.input = sch.makeInput(now, out)
	last := sch.Trust.AllLast(now, namesOf(sch.sites))
	if len(last) > 0 {
		out.Row("B145")
	}
	c.draft = planWithoutLast(&sch.planner, &c.input, last)
	sch.recordSeen(now, out)
	c.summary.Skewed, c.summary.Sites, c.summary.Slots = c.input.Skewed(), c.input.Answered(), c.draft.Slots
	sch.postponed(c.draft.Postponed, out)
	if len(c.draft.Groups) == 0 { // no site has offered anything
		sch.closeCycle(out)
		return
	}
	for i := range c.draft.Wanted {
		c.summary.Quoted += len(c.draft.Wanted[i].Legs)
	}
	if !sch.askQuotes(now, quoting, c.draft.Wanted, out) {
		sch.choose(now, out)
	}
}

// askQuotes is phases 4 and 7: it asks each site with wanted legs for quotes. It
// reports whether it has asked any site.
func (sch *scheduler) askQuotes(now grid.Time, p phase, wanted []planning.Wanted, out *agents.Outbox) bool {
	c := &sch.cycle
	c.phase, c.missing, c.wanted = p, 0, wanted
	c.named, c.waits = make([][]grid.Quote, len(sch.sites)), make([]bool, len(sch.sites))
	for site := range wanted {
		if len(wanted[site].Legs) > 0 {
			c.waits[site] = true
			c.missing++
			out.Send(sch.sites[site], c.quoteRequest(site))
		}
	}
	if c.missing > 0 {
		out.Alarm(now.Add(sch.cfg.OfferWait), answersDue{c.number, p})
		sch.askAgainLater(now, c.number, p, transaction.FirstRepeat, out)
	}
	return c.missing > 0
}

// quoted takes one site's quotes. The last awaited answer ends the wait.
func (sch *scheduler) quoted(now grid.Time, from agents.ID, m agents.Quotes, out *agents.Outbox) {
	if p := sch.Peers.Get(from); p != nil && p.Listed() {
		sch.co.Stamped(now, p, m.Stamp, out)
	}
	c := &sch.cycle
	site, known := sch.index[from]
	if c.phase != quoting && c.phase != quotingSets || m.Ref != c.quoteRef() || !known || !c.waits[site] || len(m.Quotes) != len(c.wanted[site].Legs) {
		return
	}
	c.named[site], c.waits[site] = m.Quotes, false
	for i, user := range c.wanted[site].Users {
		sch.Tx.Bar(now, transaction.SiteName(from), user, m.Quotes[i].Refusal, out)
	}
	c.missing--
	sch.goOn(now, out)
}

// goOn starts the next phase once no answer is missing.
func (sch *scheduler) goOn(now grid.Time, out *agents.Outbox) {
	c := &sch.cycle
	if c.missing > 0 {
		return
	}
	switch c.phase {
	case gathering:
		sch.search(now, out)
	case quoting, quotingSets:
		sch.choose(now, out)
	}
}

// answersDue stops waiting and goes on with the sites that have answered.
func (sch *scheduler) answersDue(now grid.Time, m answersDue, out *agents.Outbox) {
	c := &sch.cycle
	if m.Cycle != c.number || m.Phase != c.phase {
		return
	}
	if c.phase == gathering {
		out.Row("B67")
		sch.asking.notHeard(&c.poll)
	}
	c.missing = 0
	sch.goOn(now, out)
}

// goOnWithout stops waiting for a site that has left. This cycle goes on without it
// even if it comes back before the others have answered.
func (sch *scheduler) goOnWithout(now grid.Time, id agents.ID, out *agents.Outbox) {
	sch.asking.excuse(id)
	c := &sch.cycle
	site, asked := sch.index[id]
	if !asked {
		return
	}
	switch c.phase {
	case gathering:
		if c.poll.leave(site) {
			c.missing--
			sch.goOn(now, out)
		}
	case quoting, quotingSets:
		if c.waits[site] {
			c.waits[site] = false
			c.missing--
			sch.goOn(now, out)
		}
	}
}

// choose is phases 5 and 6: it chooses one alternative a job. Where prices depend on
// each other it asks for quotes again (phase 7) and is then called a second time.
func (sch *scheduler) choose(now grid.Time, out *agents.Outbox) {
	c := &sch.cycle
	again := c.phase == quotingSets
	if again {
		c.quotes.Sets = c.named
	} else {
		c.quotes = planning.Quotes{Sites: c.named}
		c.gone = sch.whatIsKnownNow()
	}
	if sch.cfg.Chooser != nil {
		sch.planner.Outside = func(q *planning.Question) []int { q.Now = now; return sch.cfg.Chooser(q) }
	}
	c.outcome = sch.planner.Choose(c.draft, &c.quotes)
	if !again && sch.askQuotes(now, quotingSets, c.draft.Together(c.outcome), out) {
		out.Row("B114")
		return
	}
	sch.carryOut(now, out)
}

// carryOut begins phase 8 with the chosen alternatives.
func (sch *scheduler) carryOut(now grid.Time, out *agents.Outbox) {
	c := &sch.cycle
	o := c.outcome
	c.summary.Alternatives, c.summary.Time, c.summary.Cost, c.summary.Fallback = o.Alternatives, o.Time, o.Cost, o.Bounded
	c.summary.TimeLimit, c.summary.BudgetLimit, c.summary.Regret, c.summary.Behind = o.Formula.Time, o.Formula.Budget, o.Regret, o.Behind
	for i := range c.entries {
		c.entries[i].plan, c.entries[i].why = &o.Jobs[i], o.Jobs[i].Why
	}
	sch.postponed(o.Postponed, out)
	sch.recordPlanned(now, c.gone, out)
	c.order, c.pinned = c.draft.Held(o)
	c.phase, c.turn, c.cost, c.time = committing, 0, 0, 0
	sch.proceed(now, out)
}

// proceed is phase 8: it begins the next transaction, or closes the cycle if there
// is none.
func (sch *scheduler) proceed(now grid.Time, out *agents.Outbox) {
	c := &sch.cycle
	for ; c.turn < len(c.order); c.turn++ {
		c.current = c.order[c.turn]
		if e := &c.entries[c.current]; !e.over && sch.try(now, e, out) {
			return
		}
	}
	sch.closeCycle(out)
}

// closeCycle is phase 9.
func (sch *scheduler) closeCycle(out *agents.Outbox) {
	c := &sch.cycle
	for _, j := range c.batch {
		if j.Taken = false; j.Again {
			sch.Touch(j)
		}
	}
	c.phase, c.try = idle, nil
	clear(c.entries) // free the plans
	c.input, c.draft, c.quotes, c.outcome = planning.Input{}, nil, planning.Quotes{}, nil
	c.wanted, c.named, c.gone, c.order = nil, nil, nil, nil
	if sch.cfg.byValue() {
		c.summary.Weight = sch.Accounts.Weigh(sch.Now)
	}
	sch.Record(c.summary, out)
}
