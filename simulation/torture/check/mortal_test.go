package check

import (
	"testing"

	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/simulation/torture/world"
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
		w := world.NewMortal(seed+1, append(world.Faults(seed+1), world.MachineFaults(seed+1)...), sim.Options{Snapshot: 40})
		w.Began(func(l *sim.Life) {
			if w.Mortal[l.ID] != nil {
				deaths++
			}
		})
		c := New(w)
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
func (c *Checker) mortal() error {
	end := world.Start.Add(world.Storm)
	if err := c.w.Run(end); err != nil {
		return err
	}
	c.w.Faulty.Heal()
	if err := c.w.Run(end.Add(world.Calm)); err != nil {
		return err
	}
	if err := c.atRest(end.Add(world.Calm - 2*settling)); err != nil {
		return err
	}
	if err := c.mortalAtRest(); err != nil {
		return err
	}
	return c.clustersAtRest(end.Add(world.Calm - 2*settling))
}
