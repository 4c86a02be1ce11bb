package check

import (
	"fmt"
	"maps"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// Run lives through the storm and the calm after it, and if again is set once more, which must
// come to the same (I14).
func (c *Checker) Run(again bool) error {
	end := world.Start.Add(world.Storm)
	if err := c.w.Run(end); err != nil {
		return err
	}
	c.w.Heal()
	settled := end.Add(settling)
	if c.w.Replicated() {
		settled = settled.Add(world.Electing)
	}
	if err := c.runQuiet(settled); err != nil {
		return err
	}
	if err := c.decidedEverywhere(end); err != nil {
		return err
	}
	if err := c.runQuiet(end.Add(world.Calm)); err != nil {
		return err
	}
	wide := maps.Clone(c.exempt)
	c.narrow()
	if err := c.atRest(end.Add(world.Calm - 2*settling)); err != nil {
		return err
	}
	if err := c.mortalAtRest(); err != nil {
		return err
	}
	if err := c.clustersAtRest(end.Add(world.Calm - 2*settling)); err != nil {
		return err
	}
	if err := c.offersAtRest(end.Add(world.Calm - 2*settling)); err != nil {
		return err
	}
	if err := c.verifiedTogether(); err != nil {
		return err
	}
	if err := c.history.Check(func(id grid.LegID) bool { return wide[id] || c.forgotten(id.Tx) }); err != nil {
		return err
	}
	if err := c.replicasAtRest(); err != nil {
		return err
	}
	if len(c.w.Managers) > 0 {
		if err := c.w.Run(end.Add(world.Calm + leisure)); err != nil {
			return err
		}
	}
	if err := c.behind.pilots.atRest(); err != nil {
		return err
	}
	if c.w.Narrow() && len(c.w.Managers) == 0 {
		if err := c.w.Run(end.Add(world.Calm + world.ADayAndAHalf)); err != nil {
			return err
		}
		if err := c.forgottenAtLast(); err != nil {
			return err
		}
	}
	if again {
		if err := c.w.Rerun(); err != nil {
			return fmt.Errorf("I14: %w", err)
		}
	}
	return nil
}

// mortalAtRest holds what the clusters that die keep at the end against I1, and
// notes it for clustersAtRest.
func (c *Checker) mortalAtRest() error {
	if c.w.Mortal == nil {
		return nil
	}
	clear(c.locks)
	for id, d := range c.w.Mortal {
		if err := d.Audit(c.w.Now()); err != nil {
			return fmt.Errorf("I1: %w", err)
		}
		for _, l := range d.Image().(facts.ClusterImage).Locks {
			c.locks[lockKey{id, l.Leg}] = l.State != facts.LockEnded && l.State != facts.LockLost
		}
	}
	return nil
}

// settling is how long after the last fault every decision must be acknowledged everywhere:
// 60 s, plus the 25 s in which what is down restarts.
const settling = 85 * grid.Second
