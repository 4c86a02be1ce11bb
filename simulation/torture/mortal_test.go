package torture

import (
	"fmt"
	"testing"

	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// Clusters that die like everybody else, at any moment, keep what they have
// locked: every invariant holds.
func TestTorture_ClustersThatDieToo(t *testing.T) {
	t.Parallel()
	seeds := thorough.Count(12, 3)
	if testing.Short() {
		seeds = 3
	}
	deaths := 0
	for seed := range uint64(seeds) {
		w := newMortalWorld(seed+1, append(Faults(seed+1), machineFaults(seed+1)...), sim.Options{Snapshot: 40})
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
	c.w.Faulty.Heal()
	if err := c.w.Run(end.Add(calm)); err != nil {
		return err
	}
	if err := c.atRest(end.Add(calm - 2*settling)); err != nil {
		return err
	}
	if err := c.mortalAtRest(); err != nil {
		return err
	}
	return c.clustersAtRest(end.Add(calm - 2*settling))
}
