package check

import (
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
)

// set takes the nodes that a cluster now has.
func (c *Checker) set(s *sim.Step, f agents.Fact) {
	set, ok := f.(facts.NodesSet)
	if !ok {
		return
	}
	name := strings.TrimPrefix(string(s.ID), "cluster:")
	for _, g := range set.Groups {
		known := c.groups[name][g.Group]
		known.Nodes = g.Nodes
		c.groups[name][g.Group] = known
	}
}

// unasked checks that a reload takes nodes away from legs only with the operator's word.
func unasked(s *sim.Step, f facts.LockMoved) error {
	if m, is := s.Message.(agents.ClusterReload); is && f.State == facts.LockLost && (m.Dry || !m.Force) {
		return fmt.Errorf("leg %v loses its nodes to a reload without its operator's word", f.Leg)
	}
	return nil
}
