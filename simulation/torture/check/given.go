package check

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// given is what a broker's record says about the windows that it has given back: at their
// full price if a window is broken, or a part of its replacement lost, and by the schedules
// if its user wants another one or none.
type given struct {
	windows map[string][]grid.TxID    // by job: what it has
	moved   map[grid.TxID][]grid.TxID // by move: the window that it took the place of
	full    map[grid.TxID]bool
	parts   map[grid.LegID]bool // given up for a move: whether what was to take its place is lost
}

func newGiven() given {
	return given{map[string][]grid.TxID{}, map[grid.TxID][]grid.TxID{}, map[grid.TxID]bool{}, map[grid.LegID]bool{}}
}

// gives takes what becomes of the windows of jobs.
func (m *mirror) gives(f agents.Fact) {
	g := &m.given
	switch f := f.(type) {
	case facts.TxDecided:
		t := m.txs[f.Tx]
		if !f.Commit || t == nil {
			return
		}
		if t.begun.Request.Nodes > 0 {
			g.moved[f.Tx], g.windows[f.Job] = g.windows[f.Job], nil
		}
		g.windows[f.Job] = append(slices.Clone(g.windows[f.Job]), f.Tx)
	case facts.LegClosed:
		if t := m.txs[f.Leg.Tx]; !f.Commit && t != nil && t.commit && len(t.begun.Legs) == 1 && slices.Contains(g.windows[t.begun.Job], f.Leg.Tx) {
			g.restore(t.begun.Job, f.Leg.Tx)
		}
		m.replaced(f.Leg.Tx)
	case facts.TxReversed:
		g.restore(f.Job, f.Tx)
		g.windows[f.Job] = slices.DeleteFunc(slices.Clone(g.windows[f.Job]), func(id grid.TxID) bool { return id == f.Tx })
		gone := []grid.TxID{f.Tx}
		for _, id := range g.windows[f.Job] { // what repairs it is of no use alone
			if slices.Contains(gone, m.txs[id].begun.Repairs.Tx) {
				gone, g.full[id] = append(gone, id), true
			}
		}
	case facts.JobBroken:
		for _, id := range g.windows[f.Job] {
			g.full[id] = g.full[id] || !f.Wish
		}
	}
}

// replaced records which parts of a window are given up once a part of the replacing move
// is confirmed, or all of them are lost. If the replacement of a part is lost, its user
// keeps the part, unless the job was given up.
func (m *mirror) replaced(move grid.TxID) {
	by := map[grid.LegID]grid.LegID{}
	confirmed, open := false, false
	for i := range m.given.moved[move] {
		old := m.txs[m.given.moved[move][i]]
		for k := range old.begun.Legs {
			by[grid.LegID{Tx: old.begun.Tx, Leg: k}] = grid.LegID{}
		}
	}
	if len(by) == 0 {
		return
	}
	t := m.txs[move]
	for i := range t.begun.Legs {
		leg := grid.LegID{Tx: move, Leg: i}
		if i < len(t.begun.Replaces) {
			by[t.begun.Replaces[i]] = leg
		}
		f, closed := m.closed[leg]
		confirmed, open = confirmed || f.Commit, open || !closed
	}
	if !confirmed && open {
		return
	}
	for old, leg := range by {
		f, closed := m.closed[leg]
		taken := leg != (grid.LegID{})
		if _, known := m.given.parts[old]; !known && (closed || !taken) {
			m.given.parts[old] = !m.withdrawn[t.begun.Job] && (!confirmed || taken && !f.Commit)
		}
	}
}

// restore puts back the window that a move was to take the place of.
func (g *given) restore(job string, move grid.TxID) {
	if old, ok := g.moved[move]; ok {
		g.windows[job] = append(slices.DeleteFunc(slices.Clone(g.windows[job]), func(id grid.TxID) bool { return id == move }), old...)
		delete(g.moved, move)
	}
}

// inFull checks that a broker asks for all of a leg's price back where its window is
// broken, and nowhere else (I29). A leg that it had given up with its site brings all back.
func (t *talk) inFull(s *sim.Step, m *mirror, r agents.Release) error {
	_, claimed := t.claimed[r.Leg]
	if full := m.given.full[r.Leg.Tx] || m.given.parts[r.Leg]; full == r.Full || claimed || t.exempt[r.Leg] || t.forgotten(r.Leg.Tx) {
		return nil
	}
	if r.Full {
		return fmt.Errorf("I29: %s releases leg %v and wants all of its price back, and neither its window is broken nor what was to take its place lost", s.ID, r.Leg)
	}
	return fmt.Errorf("I29: %s releases leg %v by the schedule, and its window is broken, or what was to take its place lost", s.ID, r.Leg)
}
