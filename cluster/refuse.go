package cluster

import (
	"bourse"
	"bourse/agents"
)

// Refuse answers what the runtime does not hand to the cluster.
func (c *Cluster) Refuse(_ bourse.Time, from agents.ID, m agents.Message, why bourse.Reason, out *agents.Outbox) {
	refuseHold(from, m, why, out)
}

// Refuse answers what the runtime does not hand to the cluster.
func (c *SharedCluster) Refuse(_ bourse.Time, from agents.ID, m agents.Message, why bourse.Reason, out *agents.Outbox) {
	refuseHold(from, m, why, out)
}

func refuseHold(from agents.ID, m agents.Message, why bourse.Reason, out *agents.Outbox) {
	if m, ok := m.(agents.ClusterHold); ok {
		out.Send(from, agents.ClusterHeld{Leg: m.Leg, Refusal: why})
	}
}
