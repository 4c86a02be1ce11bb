package torture

import (
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/history/invariant"
)

// verified holds a fact to what its agent's journal has said before, as "bourse journal
// verify" would. The journal of an agent that has had a disk of the past is two in one.
func (c *checker) verified(s *sim.Step, m *mirror, f agents.Fact) error {
	if c.past[s.ID] {
		return nil
	}
	c.journals.Trail(s.ID).Take(invariant.Place{Number: uint64(len(m.facts))}, s.Now, f)
	for _, x := range c.journals.Found()[c.read:] {
		if c.read++; !x.Note {
			return fmt.Errorf("%s: by the journal of %s, %s", x.Invariant, x.Agent, x.What)
		}
	}
	return nil
}

// verifiedTogether holds the journals against each other of all agents whose own is
// one.
func (c *checker) verifiedTogether() error {
	for id := range c.past {
		c.journals.LeaveOut(id)
	}
	for id := range c.exempt {
		c.journals.Exempt(id)
	}
	c.journals.Settle()
	found, _, _ := c.journals.Finish()
	for _, x := range found {
		if !x.Note {
			return fmt.Errorf("%s: by the journals of both sides, %s", x.Invariant, x.What)
		}
	}
	return nil
}
