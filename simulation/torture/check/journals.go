package check

import (
	"bytes"
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/history/invariant"
)

// asRecorded checks that a life begins with the facts that were recorded, and no others in
// their place.
func (c *Checker) asRecorded(l *sim.Life, m *mirror) error {
	first := l.Facts - len(l.Last)
	for n := first; n < min(l.Facts, len(m.facts)); n++ {
		has, err := c.w.Codec.Append(nil, 0, l.Last[n-first])
		if err != nil {
			return err
		}
		had, err := c.w.Codec.Append(nil, 0, m.facts[n])
		if err != nil {
			return err
		}
		if !bytes.Equal(has, had) {
			return fmt.Errorf("I11: fact %d was recorded as\n%sand a life begins with\n%s", n+1, had, has)
		}
	}
	return nil
}

// verified holds a fact to what its agent's journal has said before, as "bourse journal
// verify" would. The journal of an agent that has had a disk of the past is two in one.
func (c *Checker) verified(s *sim.Step, m *mirror, f agents.Fact) error {
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
func (c *Checker) verifiedTogether() error {
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
