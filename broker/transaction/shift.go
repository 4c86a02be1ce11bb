package transaction

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// What a site says of a leg that it may place within a window. Rows B70, B71.

// placed reports whether a site has placed a leg within its window and at the length
// asked for. Row B70.
func (t *Tx) placed(l *Leg, m agents.Held) bool {
	return m.Start == 0 && m.End == 0 || t.flex.Holds(m.Start, m.End) && m.End.Sub(m.Start) == l.what.Duration()
}

// shifted handles a site's report that it has moved or fixed a leg. A place outside the
// leg's window is not believed. Row B71.
func (co *Coordinator) shifted(now grid.Time, t *Tx, l *Leg, m agents.Shifted, out *agents.Outbox) {
	switch {
	case t.state != grid.TxCommitted || m.Shifts <= l.shifts:
	case !t.flex.Holds(m.Start, m.End) || m.End.Sub(m.Start) != l.what.Duration():
		co.stray++
	default:
		moves := m.Start != l.what.Start
		co.record(facts.LegShifted{Leg: m.Leg, Start: m.Start, End: m.End, Shifts: m.Shifts, Fixed: m.Fixed}, out)
		if moves && l.state == grid.Confirmed {
			co.watcher.watch(t, m.Leg.Leg, out)
		}
	}
}

// shifted is a listed leg's place, as the site's latest report. The site stops repeating
// a report once it is acknowledged, but a broker with an older journal has forgotten
// that. Row B58.
func (s *sighting) shifted() agents.Shifted {
	return agents.Shifted{Leg: s.Leg, Start: s.What.Start, End: s.What.End, Shifts: s.Shifts, Fixed: s.Flex.Due > 0 && !s.Flex.Movable(s.What)}
}

// applyShifted moves a leg to where its site has moved it.
func (s *State) applyShifted(f facts.LegShifted) {
	t, l := s.txs.Get(f.Leg.Tx), s.txs.Leg(f.Leg)
	l.what.Start, l.what.End = f.Start, f.End
	l.own().shifts = f.Shifts
	if f.Fixed {
		flex := &t.own().flex
		flex.Ready, flex.Due = f.Start, f.End
	}
}
