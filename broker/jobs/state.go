// Package jobs is what a broker has on record: its jobs in their states, the queue of those that
// wait, the arrays that they are elements of and the jobs that they come after, and, from the
// packages beside it, its lives, money, terms, trust and transactions.
//
// State changes only when a fact is applied, which this package does for every fact of a broker:
// see facts.go, and outcome.go for what the facts of a transaction mean for its job. It sends
// nothing, and decides nothing: that is the broker's.
package jobs

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/accounts"
	"github.com/bourse-grid/bourse/broker/lives"
	"github.com/bourse-grid/bourse/broker/tenancy"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/broker/trust"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// State is what a broker knows from the facts on record. Except for the fields of
// this life, it changes only when a fact is applied, so replaying the facts, or
// loading an image, gives the same state again.
type State struct {
	cfg      Config
	Lives    *lives.Lives
	Trust    *trust.Trust // which sites are left out for which users, or come last
	Accounts *accounts.Accounts
	Tx       *transaction.State // transactions, and the sites as they depend on them
	Txs      *transaction.List  // of Tx
	Peers    *transaction.Sites // of Tx
	Jobs     []*Job             // in order of submission
	Arrays   []*Job             // of them, the arrays that are open
	Names    map[string]*Job
	Queue    Queue
	Tenancy  tenancy.Tenancy
	Cycles   uint64 // closed so far
	Works    int    // bytes taken by the work that jobs bring

	texts texts

	// This life only.
	Now     grid.Time        // of the current step, or of the fact being replayed
	Touched []*Job           // jobs of workflows that this step has changed
	Stirred bool             // an array may have elements to begin, or be over
	Fallen  []*Job           // jobs that lost their window in this step though nobody gave it up, and every stub that did
	lasts   []grid.TxID      // while an image is read: the latest try of each job
	lines   []facts.UserLine // while an image is read: the order in which users are served
	// uncounted says, while an image is read, that it is of an earlier version, which
	// does not say what its transactions take.
	uncounted bool
	PartSize  int // jobs and transactions in one part of an image: MaxPart, less in tests
}

// Config is what the state depends on.
type Config struct {
	Name         string       // of the broker
	Sites        []agents.ID  // that it begins with
	Nonce        uint64       // of a life whose runtime draws none
	Budget       grid.Credits // of the VO
	Holders      []grid.Holder
	Transactions transaction.Config
}

// New is the state of a broker that has done nothing yet.
func New(cfg Config) *State {
	books := accounts.New(cfg.Name, cfg.Budget, nil)
	rec := &State{cfg: cfg, PartSize: MaxPart, Lives: new(lives.Lives), Trust: new(trust.Trust), Accounts: &books}
	rec.Tx = transaction.NewState(cfg.Transactions, rooms{rec}, rec.Lives, rec.Accounts, rec.Trust)
	rec.Txs, rec.Peers = rec.Tx.List(), rec.Tx.Sites()
	rec.reset()
	for _, id := range cfg.Sites {
		rec.Peers.ApplyJoined(0, facts.SiteJoined{Site: transaction.SiteName(id)})
	}
	return rec
}

// reset forgets everything that follows from facts.
func (rec *State) reset() {
	rec.Names = map[string]*Job{}
	rec.Tx.Reset()
	*rec.Lives, *rec.Trust = lives.New(rec.cfg.Nonce), trust.New()
	rec.Jobs, rec.Arrays, rec.lasts = nil, nil, nil
	rec.texts = newTexts()
	rec.Queue, rec.Touched, rec.lines, rec.Works = Queue{}, nil, nil, 0
	rec.Tenancy = tenancy.New(rec.cfg.Holders, rec.Txs)
	rec.termsChanged()
}

// termsChanged tells the accounts the users' quotas after terms have changed.
func (rec *State) termsChanged() { rec.Accounts.Bound(rec.Tenancy.Quotas()) }

// settle checks whether a job's window is over. If all of it was carried to its end
// the job is done, or failed if any of its work did; otherwise it waits again; a stub is
// abandoned.
func (rec *State) settle(j *Job) {
	if j.State != grid.JobPlaced {
		return
	}
	over, whole := j.Carried()
	if !over {
		return
	}
	if whole {
		why := j.failure()
		j.because(why)
		j.Ended = j.lastEnd()
		rec.become(j, ending(why))
		return
	}
	if kept := j.Part(); kept || j.Stub {
		rec.Fallen = append(rec.Fallen, j)
	}
	if j.Stub {
		rec.become(j, grid.JobAbandoned)
		return
	}
	if !j.Reason.Refused() {
		j.because(grid.Because(grid.Busy, "its window was lost"))
	}
	rec.become(j, grid.JobWaiting)
}

// become moves a job to a state, and into or out of the queue.
func (rec *State) become(j *Job, s grid.JobState) {
	was, will := j.State.Queued(), s.Queued()
	if j.Array != nil { // its elements wait in its place
		was, will = false, false
	}
	rec.elementBecomes(j, s)
	j.State, j.Since = s, rec.Now
	switch {
	case was && !will:
		rec.Queue.leave(j)
	case !was && will:
		rec.Queue.insert(j)
	}
	rec.Touch(j)
	if s == grid.JobWaiting && len(j.Needs()) > 0 {
		rec.holdBack(j)
	}
}

// rooms is the memory as the transactions know it.
type rooms struct{ *State }

// JobNamed is a job on record, or nil.
func (r rooms) JobNamed(name string) *transaction.Job {
	if j := r.Names[name]; j != nil {
		return j.Itself()
	}
	return nil
}

// StateOf is a job's state.
func (r rooms) StateOf(j *transaction.Job) grid.JobState { return r.Names[j.Name].State }

// WorkOf is what a part of a job runs, nil if that is nothing.
func (r rooms) WorkOf(t *transaction.Job, part string) *grid.Work {
	return r.Names[t.Name].WorkOf(part)
}

// Runs says whether any part of a job runs anything, and whether its legs are to meet.
func (r rooms) Runs(t *transaction.Job) (works, meets bool) {
	j := r.Names[t.Name]
	works, meets = j.Work != nil, j.Work != nil && j.Work.Rendezvous
	for i := range j.Parts {
		w := j.Parts[i].Work
		works, meets = works || w != nil, meets || w != nil && w.Rendezvous
	}
	return works, meets
}

// Shared is the one copy of a string that many jobs and legs have.
func (r rooms) Shared(s string) string { return r.texts.one(s) }
