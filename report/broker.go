package report

import (
	"cmp"
	"slices"

	"bourse"
)

// vo sums up one VO: its jobs, its transactions and its cycles.
type vo struct {
	name   string
	budget bourse.Credits
	keep   bool

	urgency bourse.Urgency // of jobs that have none of their own

	jobs     map[string]*voJob
	order    []*voJob // as submitted
	notTaken int
	open     map[bourse.TxID]*transaction // begun and not aborted
	placed   []*transaction               // committed, kept only
	counts   struct{ committed, aborted int }

	aborts        map[bourse.Code]int
	postponements map[bourse.Code]int
	fare          bourse.Fare // of all committed legs
	spent         bourse.Credits

	cycles, timed, capped int // all, and those with a T*, with a B*
	looked, alternatives  int
	timeLimits            bourse.Duration
	budgetLimits          bourse.Credits

	detail detail         // kept only
	tried  []*transaction // held and given up, the first mostBars of them, kept only
}

// voJob is a job of a VO and where it stands.
type voJob struct {
	bourse.Job
	tx     *transaction    // the last one committed, nil if never placed
	reason bourse.Reason   // why it was last put off
	state  bourse.JobState // of one without a window: JobWaiting, JobAbandoned or JobWithdrawn
	paid   bourse.Credits
	story  *story // nil where it is not kept
}

// transaction is a try to commit a window of a job.
type transaction struct {
	job       *voJob
	legs      []voLeg
	done      int // legs whose work has ended
	committed bool
}

// voLeg is a leg of a transaction as the broker and the site know it.
type voLeg struct {
	site   string
	what   bourse.Leg
	fare   bourse.Fare
	posted bourse.Credits // net of what was given back
	state  bourse.LegState
	took   bourse.Duration // of each node that it shared, when it is over
	end    bourse.Time     // when its nodes were let go; Never while they are not
	reason bourse.Code

	// Of a leg with a window: as it stands, how often its site has moved or fixed
	// it, and how often its user has had it otherwise.
	flex    bourse.Flex
	version uint32
	shifts  int
}

func newBroker(b Broker, keep bool) *vo {
	return &vo{name: b.Name, budget: b.Budget, urgency: b.Urgency, keep: keep, jobs: map[string]*voJob{},
		open: map[bourse.TxID]*transaction{}, aborts: map[bourse.Code]int{}, postponements: map[bourse.Code]int{}}
}

// fact counts a fact of the broker.
func (b *vo) fact(f any) {
	switch f := f.(type) {
	case bourse.JobSubmitted:
		j := &voJob{Job: f.Job}
		if b.keep && len(b.order) < mostStories {
			j.story = &story{}
		}
		b.jobs[f.Job.Name] = j
		b.order = append(b.order, j)
	case bourse.SubmissionRefused:
		b.notTaken++
	case bourse.JobPostponed:
		b.postponements[f.Reason.Code]++
		if j := b.jobs[f.Job]; j != nil {
			if j.reason = f.Reason; f.Final {
				j.state = bourse.JobAbandoned
			}
		}
	case bourse.JobCancelled:
		if j := b.jobs[f.Job]; j != nil {
			j.state = bourse.JobWithdrawn
			if f.Reason.Refused() {
				j.reason = f.Reason
			}
		}
	case bourse.CycleClosed:
		b.cycle(f)
	case bourse.TxBegun:
		b.begin(f)
	case bourse.LegPriced:
		if l := b.leg(f.Leg); l != nil {
			l.priced(f)
		}
	case bourse.LegShifted:
		if l := b.leg(f.Leg); l != nil {
			l.shifted(f)
		}
	case bourse.TxDecided:
		b.decide(f)
	case bourse.LegClosed:
		b.spent += f.Posted
		if l := b.leg(f.Leg); l != nil {
			l.closed(f)
			b.open[f.Leg.Tx].pays(f.Posted)
		}
	case bourse.LegDone:
		b.done(f)
	}
}

func (b *vo) cycle(f bourse.CycleClosed) {
	b.cycles++
	b.looked += f.Batch
	b.alternatives += f.Alternatives
	if f.TimeLimit > 0 && f.TimeLimit < bourse.MaxDuration {
		b.timed++
		b.timeLimits += f.TimeLimit
	}
	if f.BudgetLimit > 0 && f.BudgetLimit < bourse.MaxCredits {
		b.capped++
		b.budgetLimits = b.budgetLimits.Plus(f.BudgetLimit)
	}
}

func (b *vo) begin(f bourse.TxBegun) {
	tx := &transaction{job: b.jobs[f.Job], legs: make([]voLeg, len(f.Legs))}
	for i, what := range f.Legs {
		tx.legs[i] = voLeg{site: f.Sites[i], what: what, end: bourse.Never}
	}
	if len(tx.legs) == 1 {
		tx.legs[0].flex = f.Flex
	}
	b.open[f.Tx] = tx
}

func (b *vo) decide(f bourse.TxDecided) {
	tx := b.open[f.Tx]
	if !f.Commit {
		b.counts.aborted++
		b.aborts[f.Reason.Code]++
		delete(b.open, f.Tx)
		if b.keep && tx != nil && len(b.tried) < mostBars && tx.held() {
			b.tried = append(b.tried, tx)
		}
		return
	}
	b.counts.committed++
	if tx == nil {
		return
	}
	tx.committed = true
	for _, l := range tx.legs {
		b.fare.Base = b.fare.Base.Plus(l.fare.Base)
		b.fare.Additive = b.fare.Additive.Plus(l.fare.Additive)
	}
	if tx.job != nil {
		tx.job.tx = tx
	}
	if b.keep {
		b.placed = append(b.placed, tx)
	}
}

// closed takes note of how a site has acknowledged the decision. A committed
// leg that its site does not have any more is lost, and has never run.
func (l *voLeg) closed(f bourse.LegClosed) {
	l.posted += f.Posted
	switch {
	case f.Commit && l.state < bourse.Confirmed:
		l.state = bourse.Confirmed
	case !f.Commit && !l.state.Terminal():
		l.state, l.end = bourse.Lost, l.what.Start
	}
}

// done takes note of the end of a leg's work, unless its site told a sadder
// end, and of what was given back.
func (b *vo) done(f bourse.LegDone) {
	b.spent -= f.Refund
	l := b.leg(f.Leg)
	if l == nil {
		return
	}
	l.posted -= f.Refund
	if !l.state.Terminal() {
		l.state, l.end = bourse.Settled, f.End
	}
	tx := b.open[f.Leg.Tx]
	tx.pays(-f.Refund)
	if tx.done++; tx.done == len(tx.legs) && !b.keep {
		delete(b.open, f.Leg.Tx)
	}
}

// pays takes note of what the transaction's job has paid, or got back.
func (t *transaction) pays(c bourse.Credits) {
	if t.job != nil {
		t.job.paid += c
	}
}

// leg finds a leg of a transaction that was not aborted, nil if there is none.
func (b *vo) leg(id bourse.LegID) *voLeg {
	tx := b.open[id.Tx]
	if tx == nil || id.Leg < 0 || id.Leg >= len(tx.legs) {
		return nil
	}
	return &tx.legs[id.Leg]
}

// legMoved hears from a site how a leg of this broker stands.
func (b *vo) legMoved(now bourse.Time, m bourse.LegMoved) {
	l := b.leg(m.Leg)
	if l == nil {
		return
	}
	l.state = m.State
	if m.What.Nodes > 0 {
		l.what = m.What
	}
	if m.State.Terminal() {
		l.end, l.reason = legEnd(now, m), m.Reason.Code
	}
}

// ran reports whether the leg's work has run at all, and over which interval
// its nodes were taken, up to the instant until.
func (l *voLeg) ran(until bourse.Time) (start, end bourse.Time, ok bool) {
	switch l.state {
	case bourse.Confirmed, bourse.Running:
		end = min(l.what.End, until)
	case bourse.Settled, bourse.Released, bourse.Lost:
		end = min(l.end, until)
	default:
		return 0, 0, false
	}
	return l.what.Start, end, end > l.what.Start
}

// held reports whether a site has held any of the legs.
func (t *transaction) held() bool {
	return slices.ContainsFunc(t.legs, func(l voLeg) bool { return l.state == bourse.Held || l.state == bourse.Prepared })
}

// sites is the number of different sites among the legs.
func (t *transaction) sites() int {
	var names []string
	for i := range t.legs {
		if !slices.Contains(names, t.legs[i].site) {
			names = append(names, t.legs[i].site)
		}
	}
	return len(names)
}

// window is the common start of the legs and their last planned end.
func (t *transaction) window() (start, end bourse.Time) {
	start = bourse.Never
	for i := range t.legs {
		start = min(start, t.legs[i].what.Start)
		end = max(end, t.legs[i].what.End)
	}
	return start, end
}

// nodeTime is what its windows take of nodes, in node-milliseconds.
func (t *transaction) nodeTime() int64 {
	sum := int64(0)
	for i := range t.legs {
		sum += int64(t.legs[i].what.Nodes) * int64(t.legs[i].what.Duration())
	}
	return sum
}

// undecidedTxs are the transactions that were begun and not decided, in order.
func (b *vo) undecidedTxs() []*transaction {
	var ids []bourse.TxID
	for id, tx := range b.open {
		if !tx.committed {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(x, y bourse.TxID) int {
		return cmp.Or(cmp.Compare(x.Incarnation, y.Incarnation), cmp.Compare(x.Nonce, y.Nonce), cmp.Compare(x.Seq, y.Seq))
	})
	list := make([]*transaction, len(ids))
	for i, id := range ids {
		list[i] = b.open[id]
	}
	return list
}

// undecided is the number of transactions that were begun and not decided.
func (b *vo) undecided() int {
	n := 0
	for _, tx := range b.open { // a sum: the order does not show
		if !tx.committed {
			n++
		}
	}
	return n
}

// finished is when the last leg's work ended; ok is false unless all have.
func (t *transaction) finished() (end bourse.Time, ok bool) {
	for i := range t.legs {
		if t.legs[i].state != bourse.Settled {
			return 0, false
		}
		end = max(end, t.legs[i].end)
	}
	return end, true
}
