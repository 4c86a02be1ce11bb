package sites

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// pilots passes what brokers want of pilots on to the cluster, and what it says back. The
// cluster keeps what lasts of them; the site keeps nothing.
type pilots struct {
	*memory
}

// Bounds of a request.
const maxPilotLimit = 365 * grid.Day

// requested passes a broker's request on.
func (p pilots) requested(t step, m agents.PilotsRequest) {
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

// answered passes the cluster's answer back.
func (p pilots) answered(t step, m agents.ClusterPilots) {
	if _, broker := brokerOf(m.For); broker {
		t.out.Send(m.For, m.Pilots)
	}
}
