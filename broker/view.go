package broker

import (
	"iter"
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/broker/accounts"
)

// JobView is what a broker knows of one job. It shares its slices with the
// broker and must not be changed.
type JobView struct {
	bourse.Job
	State  bourse.JobState
	Since  bourse.Time   // when it came to that state
	Reason bourse.Reason // why it is not placed; None if it is
	Last   *TxView       // its latest transaction, nil if it never had one

	Offers []bourse.JobOffer // of shifts, in the order in which they came, the latest 16
}

// TxView is what a broker knows of one transaction.
type TxView struct {
	ID          bourse.TxID
	Job         string
	Alternative int  // from 1, in the order found
	Decided     bool // COMMIT or ABORT
	Commit      bool
	Reason      bourse.Reason // of an ABORT
	Legs        []LegView     // in the canonical order of sites, then group
	Repairs     bourse.LegID  // the leg that it stands in for; zero: none
	Moves       bool          // its window takes the place of the one that the job has
	Others      int           // legs that are not over of what else makes up its job's window
}

// LegView is one leg of a transaction.
type LegView struct {
	Site string
	bourse.Leg
	Limit  bourse.Credits // the most the broker would pay
	Fare   bourse.Fare    // bound; zero until held
	State  bourse.LegState
	Ended  bourse.Time // when the work ended, once Settled
	Flex   bourse.Flex // the window within which its site may move it
	Shifts uint32      // how often it has moved or fixed it

	Version uint32 // 1, and one more each time its user has had it otherwise; 0 until it is held

	Result *bourse.WorkResult // once Settled, of work that its site has started; it must not be changed
}

// Ledger shows the accounts. It must not be changed.
func (b *Broker) Ledger() *bourse.Ledger[accounts.Entry] { return b.accounts.Ledger() }

// Account is the name of the VO's account in the ledger.
func (b *Broker) Account() string { return b.accounts.VO() }

// Name is the broker's name.
func (b *Broker) Name() string { return b.cfg.Name }

// Cycles is how many cycles have closed.
func (b *Broker) Cycles() uint64 { return b.cycles }

// Waiting is how many jobs are neither placed nor given up.
func (b *Broker) Waiting() int { return b.queue.size() }

// Jobs yields the jobs in order of submission.
func (b *Broker) Jobs() iter.Seq[JobView] {
	return func(yield func(JobView) bool) {
		for _, j := range b.jobs {
			if !yield(j.view()) {
				return
			}
		}
	}
}

// Job returns the job of that name.
func (b *Broker) Job(name string) (JobView, bool) {
	j, ok := b.names[name]
	if !ok {
		return JobView{}, false
	}
	return j.view(), true
}

// Transactions yields all transactions in the order in which they began.
func (b *Broker) Transactions() iter.Seq[TxView] {
	return func(yield func(TxView) bool) {
		for _, t := range b.txs.all() {
			if !yield(t.view()) {
				return
			}
		}
	}
}

// Transaction returns the transaction of that identity.
func (b *Broker) Transaction(id bourse.TxID) (TxView, bool) {
	t := b.txs.get(id)
	if t == nil {
		return TxView{}, false
	}
	return t.view(), true
}

// AtRest reports whether every transaction is decided and every decision
// acknowledged, and no cycle is under way. It looks at all transactions.
func (b *Broker) AtRest() bool {
	for _, t := range b.txs.all() {
		if !t.atRest() {
			return false
		}
	}
	return b.scheduler.idle()
}

// standing is the state of a job as it is shown, and since when: a placed one runs from
// the start of the first leg that has begun, which is not kept but follows from its legs.
func (j *job) standing() (bourse.JobState, bourse.Time) {
	if j.state != bourse.JobPlaced {
		return j.state, j.since
	}
	first := bourse.Never
	for _, t := range j.txs {
		for i := range t.legs {
			if l := &t.legs[i]; l.state == bourse.Running || l.state == bourse.Settled {
				first = min(first, l.what.Start)
			}
		}
	}
	if first == bourse.Never {
		return j.state, j.since
	}
	return bourse.JobRunning, max(first, j.since)
}

func (j *job) view() JobView {
	v := JobView{Job: j.whole(), Reason: j.reason, Offers: slices.Clone(j.asks())}
	v.State, v.Since = j.standing()
	if j.state == bourse.JobWaiting && j.reason.Code == bourse.After && !j.held {
		v.Reason = reason(bourse.After, "what it comes after is placed now, and it waits for a cycle")
	}
	if j.last != nil {
		t := j.last.view()
		v.Last = &t
	}
	return v
}

func (t *transaction) view() TxView {
	v := TxView{ID: t.id, Job: t.job.Name, Alternative: t.number, Decided: t.state.Decided(),
		Commit: t.state == bourse.TxCommitted, Reason: t.reason, Legs: make([]LegView, len(t.legs)),
		Repairs: t.repairs, Moves: t.request != nil}
	for i := range t.legs {
		l := &t.legs[i]
		v.Legs[i] = LegView{Site: t.sites[i], Leg: l.what, Limit: l.limit, Fare: l.fare, State: l.state, Ended: l.end, Shifts: l.shifts, Version: l.version, Result: l.onNodes().result}
		v.Legs[i].Flex = t.flex
	}
	for _, o := range t.job.txs {
		for i := range o.legs {
			if o != t && !o.legs[i].state.Terminal() {
				v.Others++
			}
		}
	}
	return v
}
