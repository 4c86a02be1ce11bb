package transaction

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// How legs end, as their sites report it. A leg's price is posted once, when Confirm is
// acknowledged; its refund is posted once, with its end.

// closed notes that a site has acknowledged the decision, and reports whether that is news.
// Rows B20, B30.
func (co *Coordinator) closed(now grid.Time, t *Tx, l *Leg, id grid.LegID, commit bool, out *agents.Outbox) bool {
	if t.state != decided(commit) || l.closed || l.state > grid.Prepared {
		l.vouched = commit
		return false
	}
	f := facts.LegClosed{Leg: id, Commit: commit}
	if commit {
		f.Posted = l.fare.Total()
	}
	co.record(f, out)
	if commit {
		co.watcher.watch(t, id.Leg, out)
		co.watcher.expectEnd(t, id.Leg, out)
	}
	if t.state == grid.TxCommitted && t.releases(l) {
		co.Tell(now, t, FirstRepeat, out)
	}
	return true
}

func decided(commit bool) grid.TxState {
	if commit {
		return grid.TxCommitted
	}
	return grid.TxAborted
}

// confirmed takes the acknowledgement of a Confirm, and the site's refund for the leg
// that this one replaces. Rows B20, B28.
func (co *Coordinator) confirmed(now grid.Time, t *Tx, l *Leg, m agents.Confirmed, out *agents.Outbox) {
	if co.closed(now, t, l, m.Leg, true, out) {
		out.Row("B20")
	}
	co.listener.Effective(t, grid.Reason{}, out)
	if t.request == nil || t.state != grid.TxCommitted {
		return
	}
	if old := co.txs.Get(l.Replaces().Tx); old != nil && m.Refund > 0 {
		co.end(now, old, l.Replaces().Leg, grid.Released, m.Refund, 0, grid.Reason{}, out)
	}
	co.tellReplaced(now, t, out) // what was not given back by that is released
}

// started notes that a leg's work is running. No decision depends on it that a restart
// would not reach again, so it is recorded only for readers of the facts. Row B24.
//
// A report that work is running before its window begins is not believed. Row B100.
func (co *Coordinator) started(now grid.Time, t *Tx, i int, out *agents.Outbox) {
	switch l := &t.legs[i]; {
	case t.state != grid.TxCommitted || l.state != grid.Confirmed:
	case t.flex.Early(l.what, now):
		out.Row("B100")
		co.early++
	case co.cfg.Starts:
		out.Row("B24")
		co.record(facts.LegStarted{Leg: t.LegID(i)}, out)
	default:
		out.Row("B24")
		l.state = grid.Running
	}
}

// settled notes that a leg's work has ended. It never pays more than the bound price. Row
// B25. Work that is over before its window began cannot have run together with the other
// legs, and its nodes are gone: the leg is lost to its window and nothing is paid for
// it. Row B101.
func (co *Coordinator) settled(now grid.Time, t *Tx, l *Leg, m agents.Settled, out *agents.Outbox) {
	if t.state != grid.TxCommitted || l.state.Terminal() {
		return
	}
	co.closed(now, t, l, m.Leg, true, out) // what has run was confirmed
	total := l.fare.Total()
	if t.flex.Early(l.what, now) {
		out.Row("B101")
		out.Row("B144")
		co.early++
		co.record(brokenWord(t.sites[m.Leg.Leg], m.Leg, reason(grid.Early, "it says that a leg ended %s before its start", l.what.Start.Sub(now).Words())), out)
		co.end(now, t, m.Leg.Leg, grid.Lost, total, 0, reason(grid.Early, "%s says that it ended %s before its start: its clock is wrong, and its nodes are given back",
			t.sites[m.Leg.Leg], l.what.Start.Sub(now).Words()), out)
		return
	}
	out.Row("B25")
	l.end = m.End
	if m.Result == nil {
		m.Result = co.host.Simulated(t.job, t.Part(m.Leg.Leg), &l.what, m.End)
	}
	if m.Result != nil {
		x := l.onNodes()
		x.result = m.Result
		l.know(x)
	}
	co.end(now, t, m.Leg.Leg, grid.Settled, total-min(max(m.Charged, 0), total), 0, grid.Reason{}, out)
}

// doubted reports whether a site's report that a leg is over must stay unanswered, so
// that the site repeats it: by this broker's clock the window has not begun, but most
// sites' clocks suggest that it is this clock that is wrong. Row B102.
func (co *Coordinator) doubted(now grid.Time, t *Tx, l *Leg, m agents.Message) bool {
	if _, ok := m.(agents.Settled); !ok || t.state != grid.TxCommitted || l.state.Terminal() || !t.flex.Early(l.what, now) {
		return false
	}
	with, against := 0, 0
	for p := range co.peers.All() {
		switch p.clock {
		case planning.Usable:
			with++
		case planning.Skewed:
			against++
		}
	}
	if against <= with {
		return false
	}
	co.early++
	return true
}

// degraded handles a leg that its site cannot serve any more. Rows B8, B23, B33.
func (co *Coordinator) degraded(now grid.Time, t *Tx, l *Leg, m agents.Degraded, out *agents.Outbox) {
	why := m.Reason
	if !why.Refused() {
		why = reason(grid.Busy, "%s has no nodes for it any more", t.sites[m.Leg.Leg])
	}
	if t.state == grid.TxCommitted && !l.state.Terminal() && t.since > 0 && now < min(t.since.Add(justNow), l.what.Start) {
		out.Row("B144")
		co.record(brokenWord(t.sites[m.Leg.Leg], m.Leg, reason(grid.Busy, "it has lost a leg that it had just sold: %v", why)), out)
	}
	out.Row(t.rowOfGone(l, "B23"))
	co.gone(now, t, l, m.Leg.Leg, m.Refund, m.Penalty, why, out)
}

// heuristic handles a leg that its site released in doubt. Rows B8, B22, B33.
func (co *Coordinator) heuristic(now grid.Time, t *Tx, l *Leg, m agents.Heuristic, out *agents.Outbox) {
	out.Row(t.rowOfGone(l, "B22"))
	co.gone(now, t, l, m.Leg.Leg, 0, 0, reason(grid.Expired, "%s released it in doubt", t.sites[m.Leg.Leg]), out)
}

// rowOfGone is the row of a leg that its site no longer has: sold, if it was sold.
func (t *Tx) rowOfGone(l *Leg, sold agents.Row) agents.Row {
	switch {
	case t.Open():
		return "B8"
	case t.state == grid.TxCommitted && !l.state.Terminal():
		return sold
	case t.state == grid.TxAborted && !l.closed && l.state <= grid.Prepared:
		return "B33"
	}
	return ""
}

// gone handles a leg that its site no longer has. If the transaction is undecided, that
// decides ABORT (I15).
func (co *Coordinator) gone(now grid.Time, t *Tx, l *Leg, i int, refund, penalty grid.Credits, why grid.Reason, out *agents.Outbox) {
	if t.Open() {
		co.Abort(now, t, why, out)
	}
	switch {
	case t.state == grid.TxCommitted:
		co.lose(now, t, i, refund, penalty, why, out)
	case t.state == grid.TxAborted && !l.closed && l.state <= grid.Prepared:
		co.record(facts.LegClosed{Leg: t.LegID(i), Reason: why}, out)
	}
}

// lose books a committed leg that is gone, and deals with the rest of its window. Rows
// B22, B23.
func (co *Coordinator) lose(now grid.Time, t *Tx, i int, refund, penalty grid.Credits, why grid.Reason, out *agents.Outbox) {
	l := &t.legs[i]
	if l.state.Terminal() {
		return
	}
	if !l.charged && refund == 0 {
		co.record(facts.LegClosed{Leg: t.LegID(i), Reason: why}, out)
		if t.apart || t.Over() {
			co.listener.Effective(t, why, out)
		}
		if t.request != nil || t.apart || t.Over() {
			co.tellReplaced(now, t, out)
		}
		co.listener.Ended(t.job, out)
		co.listener.Lost(now, t.job, out)
		return
	}
	co.closed(now, t, l, t.LegID(i), true, out) // it was confirmed, though the broker had not heard
	co.end(now, t, i, grid.Lost, refund, penalty, why, out)
}

// end books, once, the end of a leg that was paid for, with a refund of at most its price
// and a penalty.
func (co *Coordinator) end(now grid.Time, t *Tx, i int, state grid.LegState, refund, penalty grid.Credits, why grid.Reason, out *agents.Outbox) {
	l := &t.legs[i]
	if !l.charged || l.state.Terminal() {
		return
	}
	total := l.fare.Total()
	f := facts.LegDone{Leg: t.LegID(i), State: state, End: now, Reason: why,
		Refund: min(max(refund, 0), total), Penalty: min(max(penalty, 0), total.Times(maxPenalty), co.accounts.RoomForPenalty(t.job.User, t.sites[i]))}
	if state == grid.Settled {
		f.End, f.Result = l.end, l.onNodes().result
	}
	co.record(f, out)
	co.listener.Ended(t.job, out)
	if state == grid.Lost {
		co.listener.Lost(now, t.job, out)
	}
}

// maxPenalty bounds what a site may add to a refund, as a multiple of the leg's price.
const maxPenalty = 10

// released takes the acknowledgement of a Release. Row B26.
func (co *Coordinator) released(now grid.Time, t *Tx, l *Leg, m agents.Released, out *agents.Outbox) {
	if t.state == grid.TxCommitted && t.givenUp != grid.Kept {
		out.Row("B26")
		co.end(now, t, m.Leg.Leg, grid.Released, m.Refund, 0, grid.Reason{}, out)
	}
}
