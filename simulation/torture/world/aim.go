package world

import (
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/manager"
)

// CrashAimed is the end of a cluster's process at a moment that matters: even over time
// they are too rare to be struck.
const CrashAimed sim.Kind = "crash-aimed"

// moment reports whether the event has just happened at which an aimed crash strikes.
type moment func(m *manager.Manager, s *sim.Step) bool

// moments are those that crashes are aimed at.
var moments = [...]moment{
	func(_ *manager.Manager, s *sim.Step) bool { return lockMoves(s, facts.LockSubmitted) },
	func(m *manager.Manager, s *sim.Step) bool { // work of its has begun
		runs := m.Runs()
		return len(runs) > 0 && runs[len(runs)-1].Ours && runs[len(runs)-1].Begun == s.At
	},
	func(m *manager.Manager, s *sim.Step) bool { // work of its that is over soon is so
		return slices.ContainsFunc(m.Runs(), func(r *manager.Run) bool { return r.Ours && r.Over == s.At && r.Over.Sub(r.Begun) < grid.Minute })
	},
	func(_ *manager.Manager, s *sim.Step) bool { // a reservation is being created
		return slices.ContainsFunc(s.Sends, func(m agents.Send) bool {
			c, ok := m.Message.(agents.Command)
			return ok && c.Verb == agents.Reserve
		})
	},
}

// Moments is how many moments there are.
const Moments = len(moments)

// lockMoves reports whether a lock moves to a state in a step.
func lockMoves(s *sim.Step, to facts.LockState) bool {
	return slices.ContainsFunc(s.Facts, func(f agents.Fact) bool {
		m, ok := f.(facts.LockMoved)
		return ok && m.State == to
	})
}

// aimed triggers the crashes that were aimed at what has just happened: the process dies
// around its next sync, or at once.
func (w *World) aimed(s *sim.Step) {
	if len(w.aims) == 0 {
		return
	}
	_, name, _ := strings.Cut(string(s.ID), ":")
	m, id := w.Managers[DriverID(name)], ClusterID(name)
	if m == nil || s.ID != DriverID(name) && s.ID != id {
		return
	}
	w.aims = slices.DeleteFunc(w.aims, func(f sim.Fault) bool {
		if f.Host != id || !moments[f.Salt%uint64(len(moments))](m, s) {
			return false
		}
		f.Kind, f.At = sim.CrashSync, w.Now()
		w.Strike(f)
		w.struckAims++
		return true
	})
}
