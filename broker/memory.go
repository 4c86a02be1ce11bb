package broker

import (
	"github.com/bourse-grid/bourse/broker/accounts"
	"github.com/bourse-grid/bourse/broker/tenancy"
	"github.com/bourse-grid/bourse/broker/trust"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// memory is what a broker knows from the facts on record. Except for the fields of
// this life, it changes only when a fact is applied, so replaying the facts, or
// loading an image, gives the same memory again.
type memory struct {
	cfg      Config
	lives    lives
	peers    directory   // of sites
	trust    trust.Trust // which sites are left out for which users, or come last
	accounts accounts.Accounts
	txs      *transactions
	jobs     []*job // in order of submission
	names    map[string]*job
	queue    queue
	tenancy  tenancy.Tenancy
	cycles   uint64 // closed so far
	works    int    // bytes taken by the work that jobs bring

	texts texts

	// This life only.
	now     grid.Time        // of the current step, or of the fact being replayed
	began   grid.Time        // when this life began
	stray   uint64           // messages that made no sense
	early   uint64           // reports from sites about work before its window
	stale   bool             // a site has joined or left since a cycle last listed them
	touched []*job           // jobs of workflows that this step has changed
	fallen  []*job           // jobs that lost their window in this step though nobody gave it up, and every stub that did
	lasts   []grid.TxID      // while an image is read: the latest try of each job
	lines   []facts.UserLine // while an image is read: the order in which users are served
	// uncounted says, while an image is read, that it is of an earlier version, which
	// does not say what its transactions take.
	uncounted bool
	part      int // maxPart, less in tests
}

// newMemory is the memory of a broker that has done nothing yet.
func newMemory(cfg Config) memory {
	mem := memory{cfg: cfg, part: maxPart, accounts: accounts.New(cfg.Name, cfg.Budget, nil)}
	mem.reset()
	for _, id := range cfg.Sites {
		mem.peers.ensure(0, id).member = true
	}
	return mem
}

// reset forgets everything that follows from facts.
func (mem *memory) reset() {
	mem.names, mem.txs, mem.lives = map[string]*job{}, &transactions{}, lives{nonce: mem.cfg.Nonce}
	mem.trust = trust.New()
	mem.peers = directory{}
	mem.jobs, mem.lasts = nil, nil
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
	whole := len(j.txs) > 0
	for _, t := range j.txs {
		if t.givenUp != grid.Kept {
			whole = false
		}
		for i := range t.legs {
			switch l := &t.legs[i]; {
			case !l.state.Terminal():
				return
			case l.gone(), l.state == grid.Cancelled:
				whole = false
			}
		}
	}
	if whole {
		why := j.failure()
		j.because(why)
		j.ended = j.lastEnd()
		mem.become(j, ending(why))
		return
	}
	kept := len(j.txs) > 0 // whether nobody gave it up
	for _, t := range j.txs {
		kept = kept && t.givenUp == grid.Kept
		t.apart = true
	}
	j.txs = nil
	if kept || j.stub {
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
