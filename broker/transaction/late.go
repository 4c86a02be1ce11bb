package transaction

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Grace is how long after its planned end work on time-shared nodes is assumed to end,
// for the jobs that come after it. lateAfter is how long after its planned end it counts
// as late if no end has been reported: then nobody knows when it will end.
const (
	Grace     = grid.Second
	lateAfter = Grace / 2
)

// lateDue is the alarm to check whether work on time-shared nodes has ended in time.
type lateDue struct{ Leg grid.LegID }

// Kind names the alarm.
func (lateDue) Kind() string { return "LateDue" }

// expectEnd sets that alarm for a leg on time-shared nodes.
func (wat *watcher) expectEnd(t *Tx, i int, out *agents.Outbox) {
	if l := &t.legs[i]; l.what.Work > 0 && !l.state.Terminal() {
		out.Alarm(l.what.End.Add(lateAfter), lateDue{t.LegID(i)})
	}
}

// lateDue makes jobs that come after late work wait until it has ended. Row B86.
func (wat *watcher) lateDue(m lateDue, out *agents.Outbox) {
	if l := wat.txs.Lookup(m.Leg); l != nil && !l.state.Terminal() {
		out.Row("B86")
		l.late = true
		wat.co.listener.Changed(wat.txs.Get(m.Leg.Tx).job)
	}
}
