package broker

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/broker/accounts"
)

// memory is what a broker knows: all that follows from the facts on record. It
// changes by applying a fact and in no other way, but for what is marked as of this
// life. A replay of the facts, or an image of it, makes the same again.
type memory struct {
	cfg      Config
	lives    lives
	peers    directory // of sites
	bars     bars      // which sites are left out for which users
	accounts accounts.Accounts
	budget   budget
	txs      transactions
	jobs     []*job // in order of submission
	names    map[string]*job
	queue    queue
	tenancy  tenancy
	usage    usage
	pacing   pacing
	cycles   uint64 // closed so far
	works    int    // bytes that the work of the jobs takes

	texts texts

	// Of this life.
	now     bourse.Time       // of the step under way, or of the fact that is replayed
	began   bourse.Time       // this life
	stray   uint64            // messages that made no sense
	early   uint64            // words of sites about work whose time has not come
	stale   bool              // a site has joined or left since a cycle has listed them
	touched []*job            // in this step, of those that come after others or others after them
	fallen  []*job            // in this step, that have lost their windows though nobody has given them up; stubs anyhow
	lasts   []bourse.TxID     // of each job its latest try, while an image is read
	lines   []bourse.UserLine // the order in which users are served, likewise
	// of an image of an earlier version, while it is read: what its transactions take is not in it
	uncounted bool
	part      int // maxPart, less in tests
}

// newMemory is that of a broker that has done nothing yet.
func newMemory(cfg Config) memory {
	mem := memory{cfg: cfg, part: maxPart, bars: bars{most: maxBars}, accounts: accounts.New(cfg.Name, cfg.Budget, nil)}
	mem.reset()
	for _, id := range cfg.Sites {
		mem.peers.ensure(0, id).member = true
	}
	return mem
}

// reset forgets all that follows from facts.
func (mem *memory) reset() {
	mem.names, mem.txs, mem.lives = map[string]*job{}, transactions{}, lives{nonce: mem.cfg.Nonce}
	mem.bars.load(nil)
	mem.pacing, mem.budget = pacing{}, budget{}
	mem.peers = directory{}
	mem.jobs, mem.lasts = nil, nil
	mem.texts = newTexts()
	mem.queue, mem.touched, mem.lines, mem.works = queue{}, nil, nil, 0
	mem.tenancy, mem.usage = tenancy{file: mem.cfg.holders()}, usage{}
	mem.termsChanged()
}

// termsChanged has what follows from the terms follow from those that are there now.
func (mem *memory) termsChanged() {
	mem.tenancy.changed()
	mem.usage.stale = true
	mem.accounts.Bound(mem.tenancy.quotas())
}

// termsOf are those of a user.
func (mem *memory) termsOf(user string) *userTerms { return mem.tenancy.user(user) }

// settle checks whether a job's window is over. If it was carried to its end the
// job is done, else it waits again.
func (mem *memory) settle(j *job) {
	if j.state != bourse.JobPlaced {
		return
	}
	whole := len(j.txs) > 0
	for _, t := range j.txs {
		if t.givenUp != bourse.Kept {
			whole = false
		}
		for i := range t.legs {
			switch l := &t.legs[i]; {
			case !l.state.Terminal():
				return
			case l.gone(), l.state == bourse.Cancelled:
				whole = false
			}
		}
	}
	if whole {
		j.because(bourse.Reason{})
		j.ended = j.lastEnd()
		mem.become(j, bourse.JobDone)
		return
	}
	kept := len(j.txs) > 0 // nobody has given it up
	for _, t := range j.txs {
		kept = kept && t.givenUp == bourse.Kept
		t.apart = true
	}
	j.txs = nil
	if kept || j.stub {
		mem.fallen = append(mem.fallen, j)
	}
	if j.stub {
		mem.become(j, bourse.JobAbandoned)
		return
	}
	if !j.reason.Refused() {
		j.because(reason(bourse.Busy, "its window was lost"))
	}
	mem.become(j, bourse.JobWaiting)
}

// become moves a job to a state, and into the queue or out of it.
func (mem *memory) become(j *job, s bourse.JobState) {
	was, will := j.state.Queued(), s.Queued()
	j.state, j.since = s, mem.now
	switch {
	case was && !will:
		mem.queue.leave(j)
	case !was && will:
		mem.queue.insert(j)
	}
	mem.touch(j)
	if s == bourse.JobWaiting && len(j.needs()) > 0 {
		mem.holdBack(j)
	}
}
