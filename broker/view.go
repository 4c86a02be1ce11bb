package broker

import (
	"iter"
	"slices"

	"github.com/bourse-grid/bourse/broker/accounts"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/broker/pilots"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// JobView is what a broker knows of one job. It shares its slices with the
// broker and must not be changed.
type JobView struct {
	grid.Job
	State  grid.JobState
	Since  grid.Time   // when it entered that state
	Reason grid.Reason // why it is not placed; None if it is
	Last   *TxView     // its latest transaction, nil if it never had one

	Offers []facts.JobOffer // from sites, to move it: the latest 16, in order of arrival

	Elements [grid.AllJobStates]int // of an array: how many are in each state
	Element  bool                   // it is an element of an array
}

// TxView is what a broker knows of one transaction.
type TxView struct {
	ID          grid.TxID
	Job         string
	Alternative int  // from 1, in the order found
	Decided     bool // COMMIT or ABORT
	Commit      bool
	Reason      grid.Reason // of an ABORT
	Legs        []LegView   // in the canonical order of sites, then group
	Repairs     grid.LegID  // the leg that it replaces; zero: none
	Moves       bool        // it is a move: its window replaces the job's previous one
	Others      int         // open legs of other transactions that make up its job's window
}

// LegView is one leg of a transaction.
type LegView struct {
	Site string
	Part string // of its job, that it carries; "" for a job of one piece, and if unknown
	grid.Leg
	Limit  grid.Credits // the most the broker would pay
	Fare   grid.Fare    // bound; zero until held
	State  grid.LegState
	Ended  grid.Time // when the work ended, once Settled
	Flex   grid.Flex // the window within which its site may move it
	Shifts uint32    // how often it has moved or fixed it

	Version uint32 // 1, and one more for each change by its user; 0 until it is held

	Result *grid.WorkResult // once Settled, of work that its site has started; it must not be changed
}

// Ledger returns the broker's ledger, which must not be changed.
func (b *Broker) Ledger() *grid.Ledger[accounts.Entry] { return b.mem.Accounts.Ledger() }

// Account is the name of the VO's account in the ledger.
func (b *Broker) Account() string { return b.mem.Accounts.VO() }

// Name is the broker's name.
func (b *Broker) Name() string { return b.mem.cfg.Name }

// Cycles is how many cycles have closed.
func (b *Broker) Cycles() uint64 { return b.mem.Cycles }

// Waiting is the number of jobs that are neither placed nor given up.
func (b *Broker) Waiting() int { return b.mem.Queue.Size() }

// Jobs yields the jobs in order of submission, and the elements of an array that are jobs
// after it.
func (b *Broker) Jobs() iter.Seq[JobView] {
	return func(yield func(JobView) bool) {
		for _, j := range b.mem.Jobs {
			if !yield(viewOfJob(j)) {
				return
			}
		}
	}
}

// Job returns the job of that name, or false if the broker does not know it. An element of
// an array that is no job has the state that its array knows of it.
func (b *Broker) Job(name string) (JobView, bool) {
	if j, ok := b.mem.Names[name]; ok {
		return viewOfJob(j), true
	}
	return b.element(name)
}

// Transactions yields all transactions in the order in which they became known.
func (b *Broker) Transactions() iter.Seq[TxView] {
	return func(yield func(TxView) bool) {
		open := map[*transaction.Job]int{}
		for _, t := range b.mem.Txs.All() {
			n, counted := open[t.Job()]
			if !counted {
				n = t.Job().OpenLegs()
				open[t.Job()] = n
			}
			if !yield(viewAmong(t, n)) {
				return
			}
		}
	}
}

// Transaction returns the transaction of that identity, or false if it is not on record.
func (b *Broker) Transaction(id grid.TxID) (TxView, bool) {
	t := b.mem.Txs.Get(id)
	if t == nil {
		return TxView{}, false
	}
	return viewOf(t), true
}

// AtRest reports whether every transaction is decided, every decision is acknowledged,
// and no cycle is running. It walks all transactions.
func (b *Broker) AtRest() bool {
	for _, t := range b.mem.Txs.All() {
		if !t.AtRest() {
			return false
		}
	}
	return b.scheduler.idle()
}

func viewOfJob(j *jobs.Job) JobView {
	v := JobView{Job: j.Whole(), Reason: j.Reason, Offers: slices.Clone(j.Offers())}
	v.State, v.Since = j.Standing()
	if v.Element = j.From.Array != nil; j.Array != nil {
		v.Elements = j.Array.Counts()
		if first := j.Array.Spoilt(); j.State.Open() && !v.Reason.Refused() && first.Refused() {
			v.Reason = grid.Because(first.Code, "first %v", first)
		}
	}
	if j.State == grid.JobWaiting && j.Reason.Code == grid.After && !j.Held {
		v.Reason = reason(grid.After, "what it comes after is placed now, and it waits for a cycle")
	}
	if v.State == grid.JobGathering {
		v.Reason = grid.Because(grid.Waits, "%s", pilots.Words(j))
	}
	if j.Last() != nil {
		t := viewOf(j.Last())
		v.Last = &t
	}
	return v
}

// viewOf is a transaction as it is shown.
func viewOf(t *transaction.Tx) TxView { return viewAmong(t, t.Job().OpenLegs()) }

// viewAmong is a transaction whose job's window has so many open legs. It costs what the
// transaction shows, however many others its job has.
func viewAmong(t *transaction.Tx, open int) TxView {
	v := TxView{ID: t.ID(), Job: t.Job().Name, Alternative: t.Number(), Decided: t.State().Decided(),
		Commit: t.State() == grid.TxCommitted, Reason: t.Reason(), Legs: make([]LegView, len(t.Legs())),
		Repairs: t.Repairs(), Moves: t.Request() != nil}
	for i := range t.Legs() {
		l := &t.Legs()[i]
		v.Legs[i] = LegView{Site: t.Sites()[i], Part: t.Part(i), Leg: l.What(), Limit: l.Limit(), Fare: l.Fare(), State: l.State(), Ended: l.End(), Shifts: l.Shifts(), Version: l.Version(), Result: l.Result()}
		v.Legs[i].Flex = t.Flex()
	}
	if v.Others = open; slices.Contains(t.Job().Window(), t) {
		v.Others -= t.OpenLegs()
	}
	return v
}
