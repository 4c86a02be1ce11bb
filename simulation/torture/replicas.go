package torture

import (
	"fmt"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/replica"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/broker"
)

// replicaID is the address of the k-th replica of a broker, from 1 on.
func replicaID(broker string, k int) agents.ID {
	return agents.ID(fmt.Sprintf("replica:%s/%d", broker, k))
}

// replicaCodec reads the journals of a world with replicas.
var replicaCodec = journal.NewCodec()

// addReplicas adds the processes that hold a broker. To sites and users they are one
// name.
func (w *world) addReplicas(v *vo) {
	var founders []agents.ID
	for k := range w.replicas {
		founders = append(founders, replicaID(v.config.Name, k+1))
	}
	for _, id := range founders {
		w.Add(sim.Host{ID: id, As: brokerID(v.config.Name), New: func() agents.Agent {
			return replica.New(replica.Config{
				Group: brokerID(v.config.Name), Self: id, Founders: founders, Codec: replicaCodec,
				New:       func() agents.Durable { return broker.New(v.config) },
				Heartbeat: bourse.Second, Silence: 8 * bourse.Second, Stagger: bourse.Second, CompactEntries: 200,
			})
		}})
	}
}
