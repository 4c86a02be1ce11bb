package balance

import (
	"slices"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// option is one way to run a job, by the plans.
type option struct {
	way   way
	at    int
	start grid.Time
	price float64 // credits
	harm  float64 // true cost of the delay to others, credits
	base  float64 // price without what is above base
}

// brings returns what an option is worth to the user. For the planner it counts the harm to
// others instead of the price above base.
func (m *market) brings(u *chooser, o option, planner bool) float64 {
	if o.way == leave {
		return 0
	}
	b := -m.waiting(u, o.start, o.at)
	if o.start.Add(u.Run) <= u.deadline {
		b += u.value
	}
	if planner {
		return b - o.base - o.harm
	}
	return b - o.price
}

// waiting is what a wait costs a user, in credits.
func (m *market) waiting(u *chooser, start grid.Time, at int) float64 {
	return float64(u.delay) / 1000 * m.price[at] * float64(u.Nodes) * start.Sub(u.Submit).Hours()
}

// serve lets a user choose and carries the choice out.
func (m *market) serve(u *chooser) {
	now := u.Submit
	if m.stay || u.stays {
		m.queues[u.home].Advance(now)
		m.take(u, option{way: bestEffort, at: u.home, price: m.price[u.home] * float64(u.Nodes) * u.Run.Hours()})
		return
	}
	best, right := option{way: leave}, option{way: leave}
	for at, q := range m.queues {
		q.Advance(now)
		if m.home && at != u.home || u.Nodes > m.nodes[at] {
			continue
		}
		m.options(u, at, func(o option) {
			if m.brings(u, o, false) > m.brings(u, best, false) {
				best = o
			}
			if m.brings(u, o, true) > m.brings(u, right, true) {
				right = o
			}
		})
	}
	m.choices++
	if best.way == right.way && best.at == right.at && best.start == right.start {
		m.right++
	}
	if m.planner {
		best = right
	}
	m.take(u, best)
}

// options lists every way to run a job on a site.
func (m *market) options(u *chooser, at int, tell func(option)) {
	state := m.queues[at].State().Clone()
	m.weigh(&state, func(v *chooser) int64 { return v.delay })
	m.true.Reset(&state)
	planned := slices.Clone(m.true.Starts())
	rate := m.price[at] * float64(u.Nodes) * u.Run.Hours()

	asked := state
	if m.additive {
		asked.Queue = slices.Clone(state.Queue)
		m.weigh(&asked, func(v *chooser) int64 {
			if m.declared {
				return v.declared
			}
			return 1000
		})
		m.asked.Price(pricing.Adaptive)
	} else {
		m.asked.Price(pricing.Fixed)
	}
	m.asked.Reset(&asked)
	harms := m.true.Offers(u.Nodes, u.Run, false)
	for i, o := range m.asked.Offers(u.Nodes, u.Run, false) {
		if o.Feasible {
			tell(option{way: reservation, at: at, start: o.Start, base: rate,
				price: rate + m.price[at]*o.Additive.Hours(), harm: m.price[at] * harms[i].Additive.Hours()})
		}
	}
	for _, w := range []way{bestEffort, priorityQueue} {
		o := option{way: w, at: at, base: rate, price: rate}
		if w == priorityQueue {
			o.price = 2 * rate
		}
		o.start, o.harm = m.join(&state, u, w, planned)
		o.harm *= m.price[at]
		tell(o)
	}
}

// weigh sets the weights of waiting jobs.
func (m *market) weigh(s *backfill.State, of func(*chooser) int64) {
	for i := range s.Queue {
		s.Queue[i].Weight = of(&m.users[s.Queue[i].ID-1])
	}
}

// join returns the planned start of a job that joins a queue, and what the other jobs
// waiting there lose by it, in node-hours times their delay costs.
func (m *market) join(s *backfill.State, u *chooser, w way, before []grid.Time) (start grid.Time, harm float64) {
	q := backfill.Queued{ID: u.ID, Nodes: u.Nodes, Estimate: u.Estimate, Submit: u.Submit, Weight: 1000, Guarantee: grid.Never}
	at := len(s.Queue)
	if w == priorityQueue {
		q.Priority = 1
		for at > 0 && s.Queue[at-1].Priority < 1 {
			at--
		}
	}
	with := *s
	with.Queue = slices.Insert(slices.Clone(s.Queue), at, q)
	m.asked.Reset(&with)
	starts := m.asked.Starts()
	for i := range s.Queue {
		after := starts[i]
		if i >= at {
			after = starts[i+1]
		}
		if late := after.Sub(before[i]); late > 0 {
			harm += float64(s.Queue[i].Weight) / 1000 * float64(s.Queue[i].Nodes) * late.Hours()
		}
	}
	return starts[at], harm
}

// take carries a choice out.
func (m *market) take(u *chooser, o option) {
	u.way, u.at, u.paid = o.way, o.at, o.price
	q := m.queues[o.at]
	switch o.way {
	case bestEffort, priorityQueue:
		j := u.LocalJob
		j.Queue = int(o.way - bestEffort)
		q.Feed(queue.Jobs([]grid.LocalJob{j}))
		q.Advance(u.Submit)
	case reservation:
		if m.additive {
			m.passOn(u, o)
		}
		u.start = o.start
		r := backfill.Reserved{ID: u.ID, Nodes: u.Nodes, Start: o.start, End: o.start.Add(u.Run)}
		if why := q.Reserve(u.Submit, r); why.Refused() {
			panic("studies: a feasible offer was refused: " + why.String())
		}
		q.Advance(u.Submit)
	}
}

// passOn notes what each delayed user would be refunded from the price, at the delay
// cost that the user has declared.
func (m *market) passOn(u *chooser, o option) {
	state := m.queues[o.at].State().Clone()
	m.asked.Price(pricing.Adaptive)
	m.asked.Reset(&state)
	m.delays = m.asked.Delays(m.delays[:0], o.start, u.Nodes, u.Run)
	for _, d := range m.delays {
		v, weight := &m.users[d.Job-1], int64(1000)
		if m.declared {
			weight = v.declared
		}
		v.refund += float64(weight) / 1000 * m.price[o.at] * float64(d.Nodes) * d.By.Hours()
	}
}
