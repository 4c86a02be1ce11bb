// Package managed is the cluster backend for nodes that a resource manager looks
// after, which answers later, forgets, and is changed by others: a reconciler. What
// should be there follows from the locks, which are journaled: what is there is known
// from the last look. A table (table.go) says of each leg which command removes the
// difference; a driver carries the commands out, one at a time.
//
// It does no I/O and has no clock. It follows no order of the manager's but what a
// look has shown, and touches nothing that does not bear its prefix.
package managed

import (
	"bourse"
	"bourse/agents"
	"bourse/cluster"
)

// Backend is a cluster whose nodes a resource manager looks after.
type Backend struct {
	cfg  Config
	host cluster.Host
}

// New returns the backend of such a cluster. A configuration that cannot be is a panic.
func New(cfg Config) *Backend {
	cfg.Limits = cfg.Limits.usual()
	if err := cfg.check(); err != nil {
		panic("cluster/managed: " + err.Error())
	}
	return &Backend{cfg: cfg}
}

// Counts is what the reconciler has done in this life.
type Counts struct {
	Looks, LooksFailed int
	Commands           map[agents.CommandVerb]map[agents.Outcome]int
	NotCreated         int // legs for which there was room by the last look, and whose reservation the manager has denied
	Orphans            int // what bore our prefix, had no lock, and was deleted
	Remade             int // reservations that had gone and were made again
	Submitted          int // work that had gone and was submitted again
	Lost               int // legs
}

func (b *Backend) Begin(h cluster.Host, l cluster.Life)                { b.host = h }
func (b *Backend) Replay(at bourse.Time, f agents.Fact) bourse.Time    { return at }
func (b *Backend) Save(*bourse.ClusterImage)                           {}
func (b *Backend) Next() bourse.Time                                   { return bourse.Never }
func (b *Backend) Reach(now bourse.Time, due bool)                     {}
func (b *Backend) Settle(now bourse.Time)                              {}
func (b *Backend) Suits(m agents.ClusterHold) bourse.Reason            { return bourse.Reason{} }
func (b *Backend) Place(bourse.Time, agents.ClusterHold) bourse.Reason { return cluster.Later }
func (b *Backend) Confirm(bourse.Time, bourse.LegID, *bourse.Handover) {}
func (b *Backend) Release(bourse.Time, bourse.LegID)                   {}
func (b *Backend) Show(uint64) agents.Snapshot                         { return agents.Snapshot{} }
func (b *Backend) Hear(bourse.Time, agents.ID, agents.Message) bool    { return true }
func (b *Backend) Audit() error                                        { return nil }
func (b *Backend) Counts() Counts                                      { return Counts{} }
func (b *Backend) Elsewhere(bourse.Time, agents.ClusterHold) ([]bourse.Time, []agents.LegShift) {
	return nil, nil
}

var _ cluster.Backend = (*Backend)(nil)
