package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// firstCycle is the first instant, now or later, at which a cycle fires.
func (c *Config) firstCycle(now grid.Time) grid.Time {
	n := c.spanOf(now)
	if at := c.cycleIn(n); at >= now {
		return at
	}
	return c.cycleIn(n + 1)
}

// spanOf numbers the span of the length of a cycle that holds an instant. The first after
// the time's zero is 0.
func (c *Config) spanOf(at grid.Time) int64 {
	n := int64(at) / int64(c.Cycle)
	if grid.Time(n)*grid.Time(c.Cycle) > at {
		n--
	}
	return n
}

// cycleIn is when the cycle of a span fires.
func (c *Config) cycleIn(n int64) grid.Time {
	phase := c.Phase
	if c.Phases != 0 {
		x := c.Phases + uint64(n)*0x9e3779b97f4a7c15 // splitmix64
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		phase = grid.Duration((x ^ x>>31) % uint64(c.Cycle))
	}
	return (grid.Time(n) * grid.Time(c.Cycle)).Add(phase)
}

// startCycles sets the alarm of a life's first cycle.
func (sch *scheduler) startCycles(now grid.Time, out *agents.Outbox) {
	sch.next = sch.cfg.firstCycle(now)
	out.Alarm(sch.next, cycleDue{sch.next})
}

// cycleDue makes every waiting job due. Of users who still have jobs due from before, it
// calls only the fresh ones.
func (sch *scheduler) cycleDue(now grid.Time, m cycleDue, out *agents.Outbox) {
	if m.At != sch.next {
		return
	}
	sch.next = sch.cfg.cycleIn(sch.cfg.spanOf(m.At) + 1)
	out.Alarm(sch.next, cycleDue{sch.next})
	sch.Queue.Call(true)
	sch.Queue.Serve(true)
	sch.Stirred = sch.Stirred || len(sch.Arrays) > 0 // whoever had too many jobs waiting may have fewer
	if sch.cycle.phase == idle && sch.Queue.Idle() && sch.asking.unheard() {
		sch.asking.askSilent(now, out)
	}
	sch.follow = max(sch.follow, sch.cfg.rounds())
}

// atLeast allows at least that many cycles to follow one another, if jobs are due.
func (sch *scheduler) atLeast(cycles int) { sch.follow = max(sch.follow, cycles) }

// wake opens cycles while jobs are due, more cycles may follow, and none is running. It
// ends every step.
func (sch *scheduler) wake(now grid.Time, out *agents.Outbox) {
	for sch.cycle.phase == idle && !sch.Queue.Idle() && sch.follow > 0 && sch.co.MayBuy(now) {
		if !sch.asking.inTurn() && (sch.Peers.Changed() || sch.Peers.Listening()) {
			sch.listSites(sch.Peers.Usable(sch.sites[:0]))
		}
		sch.follow--
		sch.openCycle(now, out)
	}
	if sch.idle() && sch.Queue.Idle() {
		sch.Queue.Serve(false)
	}
}
