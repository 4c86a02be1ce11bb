package torture

import (
	"math/rand/v2"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Clusters of the past: where clusters have journals, some begin again with an older one, and
// then locks, reservations and the local queue are those of an earlier instant.

// pastFaults draws which clusters of a world that has journals there begin with an older one,
// from a stream of its own. Half of them do so together with their sites, as if the disk of
// the machine that both run on had been restored.
func pastFaults(seed uint64) (list []sim.Fault) {
	r := rand.New(rand.NewPCG(seed, streamPast))
	for range 1 + r.IntN(3) {
		name := siteNames[r.IntN(len(siteNames))]
		f := sim.Fault{Kind: sim.OldJournal, Host: clusterID(name), Salt: 1 + r.Uint64N(1<<32),
			At:  start.Add(5*grid.Minute + grid.Duration(r.Int64N(int64(storm-30*grid.Minute)))),
			For: 10*grid.Second + grid.Duration(r.Int64N(int64(15*grid.Minute)))}
		list = append(list, f)
		if r.IntN(2) == 0 {
			f.Host = siteID(name)
			list = append(list, f)
		}
	}
	return list
}

// clusterForgets takes note of what a cluster loses with its journal: nodes that it no longer
// keeps, though its site may not have heard, and work that it no longer knows to have begun.
func (c *checker) clusterForgets(id agents.ID, m *mirror, lost []agents.Fact) {
	if d := c.divided[id]; d != nil {
		d.cut(len(m.facts))
	}
	for _, f := range lost {
		switch f := f.(type) {
		case facts.NodesLocked:
			c.vacated[lockKey{id, f.Leg}] = true
		case facts.TasksPlaced:
			c.vacated[lockKey{id, f.Leg}] = true
		case facts.LockMoved:
			c.behind.begins[c.behind.name(f.Leg)] = false
		}
	}
	for _, f := range m.facts {
		if f, ok := f.(facts.LockMoved); ok {
			c.behind.begins[c.behind.name(f.Leg)] = f.State == facts.LockRunning
		}
	}
}
