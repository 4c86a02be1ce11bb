package check

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
)

// rows counts how often each row of docs/TRANSACTION.md is taken, by the word of the agents
// that take them. No check trusts that word: it only shows that the faults strike where
// something is at stake.
//
// Nobody takes S19: a site that begins anew does not know what it had been asked.
type rows struct {
	taken map[string]int
	asked map[limitKey]bool // Holds that a process has not decided yet
}

func newRows() *rows { return &rows{map[string]int{}, map[limitKey]bool{}} }

// step counts the rows of a step.
func (r *rows) step(s *sim.Step) {
	for _, row := range s.Rows {
		r.taken[string(row)]++
	}
	if h, ok := s.Message.(agents.Hold); ok && !s.Died && slices.Contains(s.Rows, "S13") {
		r.asked[limitKey{s.Process, h.Leg}] = true
	}
	for _, f := range s.Facts {
		if f, ok := f.(facts.LegMoved); ok {
			delete(r.asked, limitKey{s.Process, f.Leg})
		}
	}
}

// begin counts the Holds that a restart has forgotten.
func (r *rows) begin(process int) {
	for at := range r.asked {
		if at.process == process {
			r.taken["S19"]++
			delete(r.asked, at)
		}
	}
}
