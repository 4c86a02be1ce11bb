package torture

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"bourse"
	"bourse/agents/sim"
)

// deadly draws deaths of clusters beside the faults of a seed.
func deadly(seed uint64) []sim.Fault {
	r := rand.New(rand.NewPCG(seed, 9))
	list := Faults(seed)
	kinds := []sim.Kind{sim.CrashSync, sim.CrashSend, sim.TornJournal, sim.SyncFailed, sim.DiskFull}
	for range 12 {
		list = append(list, sim.Fault{Kind: kinds[r.IntN(len(kinds))], Host: clusterID(siteNames[r.IntN(len(siteNames))]), Salt: 1 + r.Uint64N(1<<32),
			At: start.Add(bourse.Duration(r.Int64N(int64(storm)))), For: bourse.Duration(100 + r.Int64N(int64(2*bourse.Minute)))})
	}
	slices.SortStableFunc(list, func(a, b sim.Fault) int { return int(a.At - b.At) })
	return list
}

// Clusters that die like everybody else, at any moment, keep what they have
// locked: every invariant holds.
func TestTorture_ClustersThatDieToo(t *testing.T) {
	t.Parallel()
	seeds := 12
	if testing.Short() {
		seeds = 3
	}
	deaths := 0
	for seed := range uint64(seeds) {
		w := newMortalWorld(seed+1, deadly(seed+1), sim.Options{Snapshot: 40})
		w.Began(func(l *sim.Life) {
			if w.mortal[l.ID] != nil {
				deaths++
			}
		})
		c := newChecker(w)
		if err := c.mortal(); err != nil {
			t.Errorf("seed %d: %v", seed+1, err)
		}
		if c.commits < 20 {
			t.Errorf("seed %d: %d transactions committed", seed+1, c.commits)
		}
	}
	if deaths < 5*seeds {
		t.Errorf("clusters died %d times in %d seeds", deaths, seeds)
	}
}

// mortal lives through a run and looks at what the clusters keep at its end.
func (c *checker) mortal() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v (at %v)\n%s", p, c.w.Now(), stack())
		}
	}()
	end := start.Add(storm)
	if err := c.w.Run(end); err != nil {
		return err
	}
	c.w.Heal()
	if err := c.w.Run(end.Add(calm)); err != nil {
		return err
	}
	if err := c.atRest(end.Add(calm - 2*settling)); err != nil {
		return err
	}
	clear(c.locks)
	for id, d := range c.w.mortal {
		if err := d.Audit(c.w.Now()); err != nil {
			return fmt.Errorf("I1: %w", err)
		}
		for _, l := range d.Image().(bourse.ClusterImage).Locks {
			c.locks[lockKey{id, l.Leg}] = l.State != bourse.LockEnded && l.State != bourse.LockLost
		}
	}
	return c.clustersAtRest(end.Add(calm - 2*settling))
}
