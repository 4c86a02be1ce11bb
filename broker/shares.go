package broker

import (
	"slices"

	"bourse"
	"bourse/agents"
	"bourse/policy/pricing"
)

// addShares makes alternatives of time-shared nodes: one for each group of them
// that could serve the job by itself. Such work starts at once, and should have
// ended by the deadline, or the horizon if that comes first; whether there is room
// for it, and for how much, its site says in a quote. Its base price is a bound
// from below until then. Where capped, no node may be dearer than the job allows.
// A moldable job has one for each of its sizes, at most so many of a group.
func (p *plan) addShares(m *market, from, horizon bourse.Time, capped bool, most int) {
	r := &p.request
	end := min(r.Deadline, horizon)
	if r.Deadline == bourse.Never || r.Ready > from || end <= from {
		return
	}
	sizes := r.Dealt(most)
	for i := range m.groups {
		g := &m.groups[i]
		if !m.shared[i] || p.shut != nil && p.shut[m.siteOf[i]] || g.Performance < r.MinPerformance || !r.Require.MetBy(g.Machine) || capped && g.Price > r.MaxPrice {
			continue
		}
		left := most
		for _, z := range sizes {
			if g.Nodes < z.Nodes || left == 0 {
				continue
			}
			l := planLeg{group: int32(i), site: m.siteOf[i], contended: true,
				what: bourse.Leg{Group: g.Name, Nodes: z.Nodes, Start: from, End: end, Work: z.Length}}
			l.quote.Fare = pricing.Share(g.Price, z.Nodes, g.Performance.Runtime(z.Length), end.Sub(from), 0)
			p.found++
			left--
			p.alternatives = append(p.alternatives, alternative{number: p.found, size: z, time: l.what.Duration(), end: end,
				cost: l.quote.Fare.Total(), legs: []planLeg{l}})
		}
	}
}

// grace is how long after its planned end the work of time-shared nodes counts as
// under way still, for those who come after it; lateAfter is when it counts as late
// if its end has not been heard of. Then nobody knows when it ends.
const (
	grace     = bourse.Second
	lateAfter = grace / 2
)

// lateDue looks whether work on time-shared nodes has ended in time.
type lateDue struct{ Leg bourse.LegID }

// Kind names the alarm.
func (lateDue) Kind() string { return "LateDue" }

// expectEnd sets the alarm for a leg that somebody may come after.
func (b *Broker) expectEnd(t *transaction, i int, out *agents.Outbox) {
	if l := &t.legs[i]; l.what.Work > 0 && !l.state.Terminal() {
		out.Alarm(l.what.End.Add(lateAfter), lateDue{t.leg(i)})
	}
}

// lateDue has those who come after work that is late wait until it has ended. Row
// B86.
func (b *Broker) lateDue(m lateDue) {
	if l := b.lookup(m.Leg); l != nil && !l.state.Terminal() {
		l.late = true
		b.touch(b.txs[m.Leg.Tx].job)
	}
}

// overdue reports whether nobody knows when a job's window ends.
func (j *job) overdue() bool {
	return slices.ContainsFunc(j.txs, func(t *transaction) bool {
		return slices.ContainsFunc(t.legs, func(l txLeg) bool { return l.late && !l.state.Terminal() })
	})
}
