package sites

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// pilots passes what brokers want of pilots on to the cluster, and what it says back. The
// cluster keeps what lasts of them. The site charges once for the idling of one that is over, and
// keeps that.
type pilots struct {
	*memory
}

// Bounds of a request.
const maxPilotLimit = 365 * grid.Day

// requested passes a broker's request on.
func (p pilots) requested(t step, m agents.PilotsRequest) {
	// Orders of a life that is over may be out of date, and none of them is followed. Brokers of before lives
	// were part of the number say 0 there.
	if f, life := p.life(m.Broker), uint32(m.Ref>>32); 0 < life && life < f.highest {
		t.reply(agents.Pilots{Ref: m.Ref, Refusal: fenced("incarnation %d of %s has spoken to %s, %d is over", f.highest, m.Broker, p.cfg.Name, life)})
		return
	}
	why := p.senselessPilots(m)
	if !why.Refused() {
		why = p.barred(t.now, m.Broker, m.User)
	}
	if why.Refused() && !leavesOnly(m) {
		t.reply(agents.Pilots{Ref: m.Ref, Refusal: why})
		return
	}
	t.out.Send(p.cfg.Cluster, agents.ClusterPilotsRequest{For: t.from, Ask: m})
}

// leavesOnly reports whether a request makes sense and only has pilots leave: that is nobody
// refused.
func leavesOnly(m agents.PilotsRequest) bool {
	for _, o := range m.Orders {
		if !o.Leave || o.Pilot.Tx.Broker != m.Broker {
			return false
		}
	}
	return len(m.Orders) > 0 && len(m.Orders) <= agents.MaxPilots
}

func (p pilots) senselessPilots(m agents.PilotsRequest) grid.Reason {
	switch {
	case m.Nodes < 1 || m.Nodes > maxNodes || m.Limit < grid.Minute || m.Limit > maxPilotLimit:
		return refused(grid.Invalid, "pilots of %s for %s: must be 1 to %d, for a minute to a year", grid.Count(m.Nodes, "node"), m.Limit.Words(), maxNodes).Refusal
	case len(m.Orders) > agents.MaxPilots:
		return refused(grid.Invalid, "%s; a request has at most %d", grid.Count(len(m.Orders), "pilot"), agents.MaxPilots).Refusal
	case len(m.Job) > maxName || len(m.User) > maxName || len(m.Group) > maxName:
		return tooLong("job, user or group", m.Job+m.User+m.Group, maxName)
	}
	for _, o := range m.Orders {
		if o.Pilot.Tx.Broker != m.Broker || o.Pilot.Leg < 0 || o.Granted < grid.Second || o.Granted > maxPilotLimit {
			return refused(grid.Invalid, "pilot %v with a grant of %s makes no sense", o.Pilot, o.Granted.Words()).Refusal
		}
	}
	return grid.Reason{}
}

// answered passes the cluster's answer back, with what the pilots that are over cost.
func (p pilots) answered(t step, m agents.ClusterPilots) {
	name, broker := brokerOf(m.For)
	if !broker {
		return
	}
	m.Pilots.Pilots = slices.Clone(m.Pilots.Pilots)
	for i := range m.Pilots.Pilots {
		if x := &m.Pilots.Pilots[i]; x.Pilot.Tx.Broker == name {
			p.charge(t, x)
		}
	}
	t.out.Send(m.For, m.Pilots)
}

// charge charges for the idling of a pilot that is over, unless that was done before. What would
// be more than its broker's account can ever take is not charged.
func (p pilots) charge(t step, x *agents.PilotIs) {
	if x.State != grid.PilotOver || x.Idled == 0 {
		return
	}
	cost, done := p.charged.of(x.Pilot)
	if !done {
		cost = min(grid.Cost(x.Price, x.Idled), p.accounts.toPay(x.Pilot.Tx.Broker))
		p.record(t, facts.PilotCharged{Pilot: x.Pilot, Idled: x.Idled, Cost: cost})
	}
	x.Cost, x.Price = cost, 0
}

// charged is what a site has charged for pilots, in the order in which it did.
type charged struct {
	list []facts.PilotCharge
	cost map[grid.LegID]grid.Credits
}

// What is charged is remembered for a day longer, and of more pilots, than a cluster remembers
// pilots that are over: nothing of one that is forgotten is ever charged again.
const (
	keepCharged = 8 * grid.Day
	mostCharged = 20_000
)

// of is what was charged for a pilot, and whether it was.
func (c *charged) of(id grid.LegID) (grid.Credits, bool) {
	cost, done := c.cost[id]
	return cost, done
}

// add remembers a charge, and forgets old ones.
func (c *charged) add(at grid.Time, f facts.PilotCharged) {
	if c.cost == nil {
		c.cost = map[grid.LegID]grid.Credits{}
	}
	old := max(0, len(c.list)+1-mostCharged)
	for old < len(c.list) && c.list[old].At.Add(keepCharged) <= at {
		old++
	}
	for _, x := range c.list[:old] {
		delete(c.cost, x.Pilot)
	}
	c.list = append(c.list[old:], facts.PilotCharge{PilotCharged: f, At: at})
	c.cost[f.Pilot] = f.Cost
}
