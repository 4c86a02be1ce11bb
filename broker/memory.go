package broker

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

// memory is what a broker knows from the facts on record. Except for the fields of
// this life, it changes only when a fact is applied, so replaying the facts, or
// loading an image, gives the same memory again.
type memory struct {
	cfg      Config
	lives    *lives.Lives
	trust    *trust.Trust // which sites are left out for which users, or come last
	accounts *accounts.Accounts
	tx       *transaction.State // transactions, and the sites as they depend on them
	txs      *transaction.List  // of tx
	peers    *transaction.Sites // of tx
	jobs     []*job             // in order of submission
	arrays   []*job             // of them, the arrays that are open
	names    map[string]*job
	queue    queue
	tenancy  tenancy.Tenancy
	cycles   uint64 // closed so far
	works    int    // bytes taken by the work that jobs bring

	texts texts

	// This life only.
	now     grid.Time        // of the current step, or of the fact being replayed
	stray   uint64           // messages that made no sense
	touched []*job           // jobs of workflows that this step has changed
	stirred bool             // an array may have elements to begin, or be over
	fallen  []*job           // jobs that lost their window in this step though nobody gave it up, and every stub that did
	lasts   []grid.TxID      // while an image is read: the latest try of each job
	lines   []facts.UserLine // while an image is read: the order in which users are served
	// uncounted says, while an image is read, that it is of an earlier version, which
	// does not say what its transactions take.
	uncounted bool
	part      int // maxPart, less in tests
}

// newMemory is the memory of a broker that has done nothing yet.
func newMemory(cfg Config) *memory {
	books := accounts.New(cfg.Name, cfg.Budget, nil)
	mem := &memory{cfg: cfg, part: maxPart, lives: new(lives.Lives), trust: new(trust.Trust), accounts: &books}
	mem.tx = transaction.NewState(cfg.transactions(), rooms{mem}, mem.lives, mem.accounts, mem.trust)
	mem.txs, mem.peers = mem.tx.List(), mem.tx.Sites()
	mem.reset()
	for _, id := range cfg.Sites {
		mem.peers.ApplyJoined(0, facts.SiteJoined{Site: transaction.SiteName(id)})
	}
	return mem
}

// reset forgets everything that follows from facts.
func (mem *memory) reset() {
	mem.names = map[string]*job{}
	mem.tx.Reset()
	*mem.lives, *mem.trust = lives.New(mem.cfg.Nonce), trust.New()
	mem.jobs, mem.arrays, mem.lasts = nil, nil, nil
	mem.texts = newTexts()
	mem.queue, mem.touched, mem.lines, mem.works = queue{}, nil, nil, 0
	mem.tenancy = tenancy.New(mem.cfg.holders(), mem.txs)
	mem.termsChanged()
}

// termsChanged tells the accounts the users' quotas after terms have changed.
func (mem *memory) termsChanged() { mem.accounts.Bound(mem.tenancy.Quotas()) }

// settle checks whether a job's window is over. If all of it was carried to its end
// the job is done, or failed if any of its work did; otherwise it waits again; a stub is
// abandoned.
func (mem *memory) settle(j *job) {
	if j.state != grid.JobPlaced {
		return
	}
	over, whole := j.Carried()
	if !over {
		return
	}
	if whole {
		why := j.failure()
		j.because(why)
		j.ended = j.lastEnd()
		mem.become(j, ending(why))
		return
	}
	if kept := j.Part(); kept || j.stub {
		mem.fallen = append(mem.fallen, j)
	}
	if j.stub {
		mem.become(j, grid.JobAbandoned)
		return
	}
	if !j.reason.Refused() {
		j.because(reason(grid.Busy, "its window was lost"))
	}
	mem.become(j, grid.JobWaiting)
}

// become moves a job to a state, and into or out of the queue.
func (mem *memory) become(j *job, s grid.JobState) {
	was, will := j.state.Queued(), s.Queued()
	if j.array != nil { // its elements wait in its place
		was, will = false, false
	}
	mem.elementBecomes(j, s)
	j.state, j.since = s, mem.now
	switch {
	case was && !will:
		mem.queue.leave(j)
	case !was && will:
		mem.queue.insert(j)
	}
	mem.touch(j)
	if s == grid.JobWaiting && len(j.needs()) > 0 {
		mem.holdBack(j)
	}
}

// rooms is the memory as the transactions know it.
type rooms struct{ *memory }

// JobNamed is a job on record, or nil.
func (r rooms) JobNamed(name string) *transaction.Job {
	if j := r.names[name]; j != nil {
		return j.Itself()
	}
	return nil
}

// StateOf is a job's state.
func (r rooms) StateOf(j *transaction.Job) grid.JobState { return r.names[j.Name].state }

// WorkOf is what a part of a job runs, nil if that is nothing.
func (r rooms) WorkOf(t *transaction.Job, part string) *grid.Work {
	return r.names[t.Name].workOf(part)
}

// Runs says whether any part of a job runs anything, and whether its legs are to meet.
func (r rooms) Runs(t *transaction.Job) (works, meets bool) {
	j := r.names[t.Name]
	works, meets = j.Work != nil, j.Work != nil && j.Work.Rendezvous
	for i := range j.Parts {
		w := j.Parts[i].Work
		works, meets = works || w != nil, meets || w != nil && w.Rendezvous
	}
	return works, meets
}

// Shared is the one copy of a string that many jobs and legs have.
func (r rooms) Shared(s string) string { return r.texts.one(s) }

// Record records a fact and has each part of the memory apply it.
func (r rooms) Record(f agents.Fact, out *agents.Outbox) { r.record(f, out) }
