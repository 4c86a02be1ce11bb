package transaction

import (
	"container/heap"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// overdue is how long a site may be silent about a confirmed leg after the leg's start or
// end before it is asked: a site that has lost its memory does not know that it owes a
// report. Row B63.
const overdue = grid.Minute

// watchDue is the alarm to check whether a leg has started, or ended, as it should have.
type watchDue struct {
	Leg  grid.LegID
	End  bool // it should have ended
	Wait grid.Duration
}

// Kind names the alarm.
func (watchDue) Kind() string { return "WatchDue" }

// watchesDue is the single alarm for all legs of which nothing is overdue yet.
type watchesDue struct{ At grid.Time }

// Kind names the alarm.
func (watchesDue) Kind() string { return "WatchesDue" }

// watches is a heap of the times at which legs must be checked: the earliest first, and
// those of one instant in the order added. Each leg has its start, then its end, and the
// next time at which its site is asked about it. They share one alarm, because a broker
// may keep 100,000 legs.
type watches struct {
	list []watched
	seq  uint32    // of the last one added
	set  grid.Time // when the alarm fires; 0: none is pending
}

// watched is a time at which a leg must be checked.
type watched struct {
	at     grid.Time
	number uint64    // of its transaction, which may be forgotten by then
	since  grid.Time // of presenceDue
	seq    uint32
	leg    uint16
	what   watch
}

// watch is what must be checked.
type watch uint8

const (
	itsStart watch = iota
	itsEnd
	itsSite // plus a look of presenceDue
)

// Len, Less, Swap, Push and Pop are for container/heap.
func (x *watches) Len() int { return len(x.list) }
func (x *watches) Less(i, j int) bool {
	a, b := &x.list[i], &x.list[j]
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}
func (x *watches) Swap(i, j int) { x.list[i], x.list[j] = x.list[j], x.list[i] }
func (x *watches) Push(v any)    { x.list = append(x.list, v.(watched)) }
func (x *watches) Pop() any {
	last := len(x.list) - 1
	v := x.list[last]
	x.list[last] = watched{}
	x.list = x.list[:last]
	return v
}

// add adds a check.
func (x *watches) add(w watched) {
	x.seq++
	w.seq = x.seq
	heap.Push(x, w)
}

// arm sets the alarm for the earliest check, unless one fires by then. It is called at
// the end of a step, which may have added many.
func (x *watches) arm(out *agents.Outbox) {
	if len(x.list) > 0 && (x.set == 0 || x.list[0].at < x.set) {
		x.set = x.list[0].at
		out.Alarm(x.set, watchesDue{x.set})
	}
}

// later adds a check of a leg whose transaction is known by its number alone.
func (wat *watcher) later(at grid.Time, t *Tx, i int, what watch, since grid.Time) {
	wat.watches.add(watched{at: at, number: t.id.Seq, leg: uint16(i), what: what, since: since})
}

// begin forgets the checks of an earlier life, whose alarm no longer fires.
func (wat *watcher) begin() { wat.watches = watches{} }

// arm sets the alarm for the checks that a step has added.
func (wat *watcher) arm(out *agents.Outbox) { wat.watches.arm(out) }

// watch schedules the checks of a confirmed leg. Where messages take no time nothing gets
// lost, so there are none.
func (wat *watcher) watch(t *Tx, i int, out *agents.Outbox) {
	if wat.cfg.Lead == 0 {
		return
	}
	l := &t.legs[i]
	if !wat.txs.known(t) {
		out.Alarm(l.due(false), watchDue{t.LegID(i), false, overdue})
		out.Alarm(l.due(true), watchDue{t.LegID(i), true, overdue})
		return
	}
	wat.later(l.due(false), t, i, itsStart, 0)
}

// watchesDue makes all checks whose time has come. A leg that has been moved since has
// another check for its new start.
func (wat *watcher) watchesDue(now grid.Time, m watchesDue, out *agents.Outbox) {
	x := &wat.watches
	if m.At != x.set {
		return
	}
	x.set = 0
	for len(x.list) > 0 && x.list[0].at <= now {
		w := heap.Pop(x).(watched)
		t, i := wat.txs.at(w.number), int(w.leg)
		if t == nil || i >= len(t.legs) {
			continue
		}
		if w.what >= itsSite {
			wat.presenceDue(now, presenceDue{Leg: t.LegID(i), Look: look(w.what - itsSite), Since: w.since}, out)
			continue
		}
		wat.watchDue(now, watchDue{t.LegID(i), w.what == itsEnd, overdue}, out)
		if l := &t.legs[i]; w.what == itsStart && l.due(false) <= now {
			wat.later(l.due(true), t, i, itsEnd, 0)
		}
	}
}

// due is when a leg's start or, if end is set, its end is overdue.
func (l *Leg) due(end bool) grid.Time {
	if end {
		return l.what.End.Add(overdue)
	}
	return l.what.Start.Add(overdue)
}

// watchDue repeats Confirm for a leg that is overdue until its site answers that it knows
// the leg or, after an amnesia, that it does not.
func (wat *watcher) watchDue(now grid.Time, m watchDue, out *agents.Outbox) {
	t, l := wat.txs.Get(m.Leg.Tx), wat.txs.Lookup(m.Leg)
	if l == nil || t.state != grid.TxCommitted || !t.resolved {
		return
	}
	p := wat.peers.Get(t.Site(m.Leg.Leg))
	if due := l.due(m.End); due > now && m.Wait == overdue { // its site has moved it since
		return
	}
	if p == nil || l.state != grid.Confirmed && !(m.End && l.state == grid.Running) {
		return
	}
	if m.Wait == overdue {
		l.vouched = false
	}
	if l.vouched {
		return
	}
	if p.listed && !p.asserts(m.Leg) {
		out.Row("B63")
		out.Send(p.id, wat.co.confirmation(t, m.Leg.Leg))
	}
	m.Wait = min(2*m.Wait, grid.Hour)
	out.Alarm(now.Add(m.Wait/2), m)
}
