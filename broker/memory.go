package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/grid"
)

// memory is what the components of a broker share: what follows from the facts on record,
// and its configuration.
type memory struct {
	*jobs.State
	cfg   Config
	stray uint64 // messages of this life that made no sense
}

// newMemory is the memory of a broker that has done nothing yet.
func newMemory(cfg Config) *memory {
	return &memory{cfg: cfg, State: jobs.New(jobs.Config{Name: cfg.Name, Sites: cfg.Sites, Nonce: cfg.Nonce, Budget: cfg.Budget,
		Holders: cfg.holders(), Transactions: cfg.transactions()})}
}

// onRecord is what a runtime asks of a broker to keep it: the facts of earlier lives in, the
// image out.
type onRecord struct{ mem *memory }

// Replay applies a fact of an earlier life.
func (r onRecord) Replay(at grid.Time, f agents.Fact) { r.mem.Replay(at, f) }

// Image returns everything the broker keeps as one fact. Its size grows with the number
// of jobs and transactions; Parts and Part return it in pieces.
func (r onRecord) Image() agents.Fact { return r.mem.Image() }

// Parts is how many facts the image takes, with a thousand jobs and transactions in
// each; at least 1.
func (r onRecord) Parts() int { return r.mem.Parts() }

// Part returns the i-th part of the image, from 0 to Parts()-1.
func (r onRecord) Part(i int) agents.Fact { return r.mem.Part(i) }
