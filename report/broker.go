package report

import (
	"cmp"
	"maps"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
	"github.com/bourse-grid/bourse/report/weeks"
)

// vo sums up one VO: its jobs, its transactions and its cycles. Package history folds the
// transactions. Jobs, reasons and money are counted here from single facts, because making
// turns for them would only cost time.
type vo struct {
	name   string
	budget grid.Credits
	keep   bool

	urgency grid.Urgency // of jobs without their own

	jobs      map[string]*voJob // unless all are kept, those of which more may come
	arrays    map[string]grid.Job
	order     []*voJob // as submitted, kept only
	over      voJobs   // without keep, those of which nothing more can come
	submitted int
	notTaken  int
	open      map[grid.TxID]*transaction // begun and not aborted nor, unless all are kept, over
	placed    []*transaction             // committed, kept only
	counts    struct{ committed, moved, aborted int }

	aborts        map[grid.Code]int
	postponements map[grid.Code]int
	fare          grid.Fare // of all committed legs
	spent         grid.Credits
	refunded      grid.Credits

	cycles, timed, capped int // all, and those with a T*, with a B*
	looked, alternatives  int
	timeLimits            grid.Duration
	budgetLimits          grid.Credits
	regret                grid.Credits

	detail detail         // kept only
	tried  []*transaction // held and released, the first mostBars of them, kept only
}

// voJob is a job of a VO with its state.
type voJob struct {
	grid.Job
	window window        // the last one, as it has become by repairs; empty if never placed
	reason grid.Reason   // why it was last put off
	state  grid.JobState // JobAbandoned or JobWithdrawn if it is; of one without a window else JobWaiting
	gone   grid.Time     // when it was withdrawn or abandoned
	// cancelled: by its user or, if it is abandoned, because of a job that it comes after.
	cancelled bool
	paid      grid.Credits
	story     *story // nil where it is not kept
	open      int    // transactions of vo.open
	broken    bool   // a leg of its last window was lost or abandoned: it may wait again
}

// served reports whether the job has a window, or had one and did not give it up before its
// start.
func (j *voJob) served() bool {
	if len(j.window) == 0 {
		return false
	}
	start, _ := j.window.span()
	return !j.cancelled || start < j.gone
}

// transaction is an attempt to commit a window of a job.
type transaction struct {
	history.Transaction
	job *voJob
}

func newBroker(b Broker, keep bool) *vo {
	one := &vo{name: b.Name, budget: b.Budget, urgency: b.Urgency, keep: keep, jobs: map[string]*voJob{},
		open: map[grid.TxID]*transaction{}, aborts: map[grid.Code]int{}, postponements: map[grid.Code]int{}}
	if b.ByWeek {
		one.over.weeks = weeks.NewFigures(weekUnits)
	}
	one.detail.turns.Find = func(id grid.TxID) (history.Transaction, bool) {
		tx := one.open[id]
		if tx == nil {
			return history.Transaction{}, false
		}
		return tx.Transaction, true
	}
	return one
}

// fact counts a fact of the broker.
func (b *vo) fact(now grid.Time, f agents.Fact) {
	switch f := f.(type) {
	case facts.JobSubmitted:
		if f.Job.Array.Some() {
			b.array(f.Job)
			return
		}
		b.takes(now, f.Job)
	case facts.ElementsBegun:
		for i := range f.Elements.All() {
			if whole, known := b.arrays[f.Job]; known {
				b.takes(now, whole.Element(i))
			}
		}
	case facts.SubmissionRefused:
		b.notTaken++
	case facts.JobPostponed:
		if j := b.jobs[f.Job]; j != nil { // else its broker knows no more of it than a site has listed
			b.postponements[f.Reason.Code]++
			if j.reason = f.Reason; f.Final {
				j.state, j.gone = grid.JobAbandoned, now
			}
		}
	case facts.JobCancelled:
		if j := b.jobs[f.Job]; j != nil {
			j.state, j.gone, j.cancelled = grid.JobWithdrawn.Shown(f.Reason.Code), now, true
			if f.Reason.Refused() {
				j.reason = f.Reason
			}
		}
	case facts.BudgetOpened:
		if f.Period > 0 { // the first is there from the start
			b.budget += f.Credits
		}
	case facts.Deposited:
		b.budget += f.Credits
	case facts.CycleClosed:
		b.cycle(f)
	case facts.JobBroken:
		if j := b.jobs[f.Job]; j != nil {
			j.broken = true
		}
	case facts.TxBegun:
		b.begin(f)
	case facts.LegPriced:
		b.follow(now, f.Leg.Tx, f)
	case facts.LegShifted:
		b.follow(now, f.Leg.Tx, f)
	case facts.TxDecided:
		b.follow(now, f.Tx, f)
		b.decide(f)
	case facts.Gathered:
		for i := range f.Idled {
			b.spent += f.Idled[i].Posted
		}
	case facts.LegClosed:
		b.spent += f.Posted
		if tx := b.follow(now, f.Leg.Tx, f); tx != nil && tx.Leg(f.Leg.Leg) != nil {
			tx.pays(f.Posted)
		}
	case facts.LegDone:
		back := f.Refund.Plus(f.Penalty)
		b.spent -= back
		b.refunded = b.refunded.Plus(back)
		if tx := b.follow(now, f.Leg.Tx, f); tx != nil && tx.Leg(f.Leg.Leg) != nil {
			tx.pays(-back)
		}
	}
}

// begin takes a transaction.
func (b *vo) begin(f facts.TxBegun) {
	tx := &transaction{Transaction: history.Begin(f), job: b.jobs[f.Job]}
	if b.open[f.Tx] = tx; tx.job != nil {
		tx.job.open++
	}
}

// array takes an array, each of whose elements counts as a job once it is one.
func (b *vo) array(j grid.Job) {
	if b.arrays == nil {
		b.arrays = map[string]grid.Job{}
	}
	b.arrays[j.Name] = j
}

// takes counts a job that the broker has taken.
func (b *vo) takes(now grid.Time, job grid.Job) {
	j := &voJob{Job: job}
	if b.keep && len(b.order) < mostStories {
		j.story = &story{}
	}
	if b.submitted++; b.keep {
		b.order = append(b.order, j)
	} else if old := b.jobs[j.Name]; old != nil { // its broker has forgotten it
		b.over.add(old, b.urgency, now)
	}
	b.jobs[job.Name] = j
}

// follow passes a fact to its transaction. It returns nil if the transaction is unknown or
// was aborted.
func (b *vo) follow(now grid.Time, id grid.TxID, f agents.Fact) *transaction {
	tx := b.open[id]
	if tx != nil {
		tx.Take(now, f)
	}
	return tx
}

// drop forgets transactions that are no longer counted or drawn and, unless they are kept,
// such jobs.
func (b *vo) drop(now grid.Time, f agents.Fact) {
	switch f := f.(type) {
	case facts.JobPostponed:
		b.fold(now, b.jobs[f.Job])
	case facts.JobCancelled:
		b.fold(now, b.jobs[f.Job])
	case facts.TxDecided:
		if !f.Commit {
			b.close(now, f.Tx)
		}
	case facts.LegClosed:
		b.ends(now, f.Leg, f.Reason.Refused())
	case facts.LegDone:
		b.ends(now, f.Leg, f.State != grid.Settled && f.State != grid.Released)
	}
}

// ends notes that a leg has come to its end, perhaps by being lost.
func (b *vo) ends(now grid.Time, id grid.LegID, lost bool) {
	tx := b.open[id.Tx]
	if tx == nil {
		return
	}
	if tx.job != nil {
		tx.job.broken = tx.job.broken || lost && tx.job.window.has(id) // of a window before it no more matters
	}
	if tx.Commit && tx.Open <= 0 && !b.keep {
		b.close(now, id.Tx)
	}
}

// close forgets a transaction.
func (b *vo) close(now grid.Time, id grid.TxID) {
	if tx := b.open[id]; tx != nil && tx.job != nil {
		tx.job.open--
		b.fold(now, tx.job)
	}
	delete(b.open, id)
}

// fold adds a job to the sums and forgets it once nothing more can happen to it. A job whose
// window was repaired stays until the end, because its window has several transactions.
func (b *vo) fold(now grid.Time, j *voJob) {
	if b.keep || j == nil || j.open > 0 {
		return
	}
	over := j.state.GivenUp()
	if len(j.window) > 0 && !over && !j.broken {
		_, over = j.window.finished()
	}
	if over {
		b.over.add(j, b.urgency, now)
		delete(b.jobs, j.Name)
	}
}

// left returns the jobs that are not in the sums, in any order.
func (b *vo) left() []*voJob {
	if b.keep {
		return b.order
	}
	return slices.Collect(maps.Values(b.jobs))
}

func (b *vo) cycle(f facts.CycleClosed) {
	b.cycles++
	b.looked += f.Batch
	b.alternatives += f.Alternatives
	b.regret = b.regret.Plus(f.Regret)
	if f.TimeLimit > 0 && f.TimeLimit < grid.MaxDuration {
		b.timed++
		b.timeLimits += f.TimeLimit
	}
	if f.BudgetLimit > 0 && f.BudgetLimit < grid.MaxCredits {
		b.capped++
		b.budgetLimits = b.budgetLimits.Plus(f.BudgetLimit)
	}
}

func (b *vo) decide(f facts.TxDecided) {
	tx := b.open[f.Tx]
	if !f.Commit {
		b.counts.aborted++
		b.aborts[f.Reason.Code]++
		if b.keep && tx != nil && len(b.tried) < mostBars && tx.held() {
			b.tried = append(b.tried, tx)
		}
		return
	}
	b.counts.committed++
	if tx == nil {
		return
	}
	if tx.Becomes == history.Moved {
		b.counts.moved++
	}
	for i := range tx.Legs {
		fare := &tx.Legs[i].Fare
		b.fare.Base = b.fare.Base.Plus(fare.Base)
		b.fare.Additive = b.fare.Additive.Plus(fare.Additive)
	}
	if tx.job != nil {
		tx.job.window = tx.job.window.after(tx)
		if tx.Becomes == history.Placed { // a window of its own, whatever became of those before
			tx.job.broken = false
		}
	}
	if b.keep {
		b.placed = append(b.placed, tx)
	}
}

// pays records what the transaction's job has paid, or was refunded.
func (t *transaction) pays(c grid.Credits) {
	if t.job != nil {
		t.job.paid += c
	}
}

// held reports whether a site has held any of the legs.
func (t *transaction) held() bool {
	return slices.ContainsFunc(t.Legs, func(l history.Leg) bool { return l.State == grid.Held || l.State == grid.Prepared })
}

// undecidedTxs returns the undecided transactions, in order.
func (b *vo) undecidedTxs() []*transaction {
	var ids []grid.TxID
	for id, tx := range b.open {
		if !tx.Commit {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(x, y grid.TxID) int {
		return cmp.Or(cmp.Compare(x.Incarnation, y.Incarnation), cmp.Compare(x.Nonce, y.Nonce), cmp.Compare(x.Seq, y.Seq))
	})
	list := make([]*transaction, len(ids))
	for i, id := range ids {
		list[i] = b.open[id]
	}
	return list
}

// undecided is the number of undecided transactions.
func (b *vo) undecided() int {
	n := 0
	for _, tx := range b.open { // a sum: the order does not show
		if !tx.Commit {
			n++
		}
	}
	return n
}
