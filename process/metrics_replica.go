package process

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// replicaMetrics collects the state of one replica of a broker. Only the leader also
// reports what the others have.
type replicaMetrics struct{ r *replicaProcess }

// Describe leaves the collector unchecked: its metrics depend on who leads.
func (replicaMetrics) Describe(chan<- *prometheus.Desc) {}

// Collect looks at the replica once. It sends nothing if the replica does not answer.
func (m replicaMetrics) Collect(ch chan<- prometheus.Metric) {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	s, err := m.r.status(ctx)
	if err != nil {
		return
	}
	is := func(yes bool) float64 {
		if yes {
			return 1
		}
		return 0
	}
	of := []string{"agent", string(m.r.name)}
	gauge(ch, "bourse_replica_leads", "1 while this replica leads, else 0.", is(s.Leads), of...)
	gauge(ch, "bourse_replica_leader_known", "1 while this replica knows of a leader, itself included, else 0.", is(s.Leader != ""), of...)
	gauge(ch, "bourse_replica_lost", "1 if the group remembers more of this replica than its journal does: it must be replaced.", is(s.Lost), of...)
	gauge(ch, "bourse_replica_term", "The latest term that this replica knows of; it grows with each campaign.", float64(s.Term), of...)
	gauge(ch, "bourse_replica_applied", "The last entry of the log that this replica has applied.", float64(s.Applied), of...)
	gauge(ch, "bourse_replica_log_bytes", "Size of the log entries in memory.", float64(s.Bytes), of...)
	count(ch, "bourse_replica_elections_total", "Elections that this replica began, and those that it won.", s.Begun, append(of, "result", "begun")...)
	count(ch, "bourse_replica_elections_total", "Elections that this replica began, and those that it won.", s.Won, append(of, "result", "won")...)
	if !s.Leads {
		return
	}
	for _, p := range s.Members {
		gauge(ch, "bourse_replica_behind", "Entries that a member has not acknowledged to this leader.", float64(p.Behind), append(of, "member", p.Address)...)
		gauge(ch, "bourse_replica_reachable", "1 while this leader hears from a member, else 0.", is(p.Reachable), append(of, "member", p.Address)...)
	}
}
