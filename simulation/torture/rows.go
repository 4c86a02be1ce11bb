package torture

import (
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// rows counts how often each row of docs/TRANSACTION.md is taken. It sees every step before
// the checker processes its facts, and recognises a row by the input of the step, what was
// on record, and the result. Like the mirror it is independent: the code that it watches
// contains no marks.
type rows struct {
	taken  map[string]int
	asked  map[limitKey]bool          // Holds that a process has not decided yet
	waits  map[heardFrom]uint64       // requests for offers that a site has not answered, by cycle
	lists  map[int]map[agents.ID]bool // who has listed its legs to this life of a broker; none: it is the first
	heard  map[heardFrom]agents.Stamp // the latest of a site that a broker has seen
	forced map[string]bool            // maintenance by name
	called map[limitKey]grid.Time     // when a broker last called other sites for a leg
}

func newRows() *rows {
	return &rows{map[string]int{}, map[limitKey]bool{}, map[heardFrom]uint64{}, map[int]map[agents.ID]bool{}, map[heardFrom]agents.Stamp{}, map[string]bool{}, map[limitKey]grid.Time{}}
}

// taking is a step that takes rows.
type taking struct {
	*rows
	c     *checker
	m     *mirror // before the step
	step  *sim.Step
	alarm bool // of the agent's own
}

func (x *taking) take(names ...string) {
	for _, row := range names {
		if row != "" {
			x.taken[row]++
		}
	}
}

func (x *taking) takeIf(so bool, names ...string) {
	if so {
		x.take(names...)
	}
}

// was is the state of a leg before the step; Asked: it is not on record.
func (x *taking) was(id grid.LegID) grid.LegState {
	if l := x.m.legs[id]; l != nil {
		return l.State
	}
	return grid.Asked
}

// follow counts the rows of a step.
func (r *rows) follow(c *checker, m *mirror, s *sim.Step) {
	_, message := agents.Lookup(s.Message.Kind())
	x := taking{r, c, m, s, !message}
	switch {
	case strings.HasPrefix(string(s.ID), "site:"):
		x.site()
	case strings.HasPrefix(string(s.ID), "broker:"):
		x.broker()
	}
}

// begin counts the rows of a restart.
func (r *rows) begin(m *mirror, l *sim.Life) {
	for at := range r.asked {
		if at.process == l.Process {
			r.taken["S19"]++
			delete(r.asked, at)
		}
	}
	if strings.HasPrefix(string(l.ID), "broker:") {
		r.lists[l.Process] = map[agents.ID]bool{}
		for _, j := range m.jobs {
			if len(j.After) > 0 {
				r.taken["B85"]++
				break
			}
		}
		if m.barred {
			r.taken["B129"]++
		}
		for site := range m.lost {
			if m.lost[site] || len(m.settled) > 0 {
				r.taken["B108"]++
				break
			}
		}
		return
	}
	maintained := map[string]bool{}
	for _, f := range m.facts {
		switch f := f.(type) {
		case facts.MaintenanceSet:
			maintained[f.Name] = true
		case facts.MaintenanceOver:
			delete(maintained, f.Name)
		}
	}
	if len(maintained) > 0 {
		r.taken["S68"]++
	}
	for _, x := range m.legs {
		r.taken[map[grid.LegState]string{grid.Held: "S25", grid.Prepared: "S37", grid.Confirmed: "S47", grid.Running: "S47"}[x.State]]++
	}
	delete(r.taken, "")
}
