package broker

import (
	"bourse"
	"bourse/broker/accounts"
)

// memory is what a broker knows: all that follows from the facts on record. It
// changes by applying a fact and in no other way, but for what is marked as of this
// life. A replay of the facts, or an image of it, makes the same again.
type memory struct {
	cfg      Config
	lives    lives
	peers    directory // of sites
	bars     bars      // what sites have refused for whose sake
	accounts accounts.Accounts
	txs      transactions
	jobs     []*job // in order of submission
	names    map[string]*job
	queue    queue
	cycles   uint64 // closed so far

	// Of this life.
	now     bourse.Time       // of the step under way, or of the fact that is replayed
	stale   bool              // a site has joined or left since a cycle has listed them
	touched []*job            // in this step, of those that come after others or others after them
	lasts   []bourse.TxID     // of each job its latest try, while an image is read
	turns   []bourse.UserTurn // the order of the users' turns, likewise
	part    int               // maxPart, less in tests
}

// newMemory is that of a broker that has done nothing yet.
func newMemory(cfg Config) memory {
	mem := memory{cfg: cfg, part: maxPart, bars: bars{most: maxBars}, accounts: accounts.New(cfg.Name, cfg.Budget, cfg.Quotas)}
	mem.reset()
	for _, id := range cfg.Sites {
		mem.peers.meet(0, id).member = true
	}
	return mem
}

// reset forgets all that follows from facts.
func (mem *memory) reset() {
	mem.names, mem.txs, mem.lives = map[string]*job{}, transactions{}, lives{nonce: mem.cfg.Nonce}
	mem.bars.load(nil)
	mem.peers = directory{}
	mem.jobs, mem.lasts = nil, nil
	mem.queue, mem.touched, mem.turns = queue{}, nil, nil
}
