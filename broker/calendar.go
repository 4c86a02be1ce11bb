package broker

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// firstCycle is the first instant, now or later, at which a cycle fires.
func (c *Config) firstCycle(now bourse.Time) bourse.Time {
	since := now.Sub(bourse.Time(c.Phase)) % c.Cycle
	switch {
	case since == 0:
		return now
	case since < 0:
		return now.Add(-since)
	}
	return now.Add(c.Cycle - since)
}

// startCycles sets the alarm of a life's first cycle.
func (sch *scheduler) startCycles(now bourse.Time, out *agents.Outbox) {
	sch.next = sch.cfg.firstCycle(now)
	out.Alarm(sch.next, cycleDue{sch.next})
}

// cycleDue makes every waiting job due. Of users who still have jobs due from before, it
// calls only the fresh ones.
func (sch *scheduler) cycleDue(now bourse.Time, m cycleDue, out *agents.Outbox) {
	if m.At != sch.next {
		return
	}
	sch.next = m.At.Add(sch.cfg.Cycle)
	out.Alarm(sch.next, cycleDue{sch.next})
	sch.queue.call(true)
	if sch.cycle.phase == idle && sch.queue.idle() && sch.peers.unheard() {
		sch.askSilent(now, out)
	}
	sch.follow = max(sch.follow, sch.cfg.rounds())
}

// atLeast allows at least that many cycles to follow one another, if jobs are due.
func (sch *scheduler) atLeast(cycles int) { sch.follow = max(sch.follow, cycles) }

// wake opens cycles while jobs are due, more cycles may follow, and none is running. It
// ends every step.
func (sch *scheduler) wake(now bourse.Time, out *agents.Outbox) {
	for sch.cycle.phase == idle && !sch.queue.idle() && sch.follow > 0 && sch.co.mayBuy(now) {
		if !sch.asking.inTurn() && (sch.stale || sch.peers.listening()) {
			sch.listSites(sch.peers.usable(sch.sites[:0]))
		}
		sch.follow--
		sch.openCycle(now, out)
	}
}
