package process

import (
	"context"
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster/local"
	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/grid"
)

// clusterMetrics collects what the reconciler of a cluster of real nodes has done.
type clusterMetrics struct {
	p       *process
	cluster agents.ID
	counts  func() managed.Counts
}

// Describe leaves the collector unchecked: its labels depend on the commands given so
// far.
func (clusterMetrics) Describe(chan<- *prometheus.Desc) {}

// Collect reads the counts between two steps. It sends none if the cluster does not
// answer within two seconds.
func (m clusterMetrics) Collect(ch chan<- prometheus.Metric) {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Second)
	defer stop()
	var c managed.Counts
	err := m.p.host.View(ctx, m.cluster, func(grid.Time, agents.Agent) {
		c = m.counts()
		given := map[agents.CommandVerb]map[agents.Outcome]int{} // a copy: the maps belong to the agent
		for verb, outcomes := range c.Commands {
			given[verb] = maps.Clone(outcomes)
		}
		c.Commands = given
	})
	if err != nil {
		return
	}
	count(ch, "bourse_cluster_looks_total", "Looks at the resource manager, by whether they failed.", uint64(c.Looks), "failed", "no")
	count(ch, "bourse_cluster_looks_total", "Looks at the resource manager, by whether they failed.", uint64(c.LooksFailed), "failed", "yes")
	for verb, outcomes := range c.Commands {
		for outcome, n := range outcomes {
			count(ch, "bourse_cluster_commands_total", "Commands to the resource manager, by outcome.", uint64(n), "command", string(verb), "outcome", string(outcome))
		}
	}
	count(ch, "bourse_cluster_not_created_total", "Legs whose reservation the resource manager denied although the last look showed room.", uint64(c.NotCreated))
	count(ch, "bourse_cluster_orphans_total", "Reservations and jobs with a name of Bourse's that belonged to no leg and were deleted.", uint64(c.Orphans))
	count(ch, "bourse_cluster_remade_total", "Reservations that disappeared from the resource manager and were made again.", uint64(c.Remade))
	count(ch, "bourse_cluster_submitted_again_total", "Work that disappeared from the resource manager before it began and was submitted again.", uint64(c.Submitted))
	count(ch, "bourse_cluster_withheld_total", "Times that something was not offered for a while, because the resource manager had denied it twice.", uint64(c.Withheld))
	count(ch, "bourse_cluster_lost_total", "Legs that were lost.", uint64(c.Lost))
}

// workMetrics collects what concerns work on the site's own machine.
type workMetrics struct{ d *local.Driver }

// Describe leaves the collector unchecked, as its siblings are.
func (workMetrics) Describe(chan<- *prometheus.Desc) {}

// Collect reads the last look.
func (m workMetrics) Collect(ch chan<- prometheus.Metric) {
	gauge(ch, "bourse_work_unkillable", "Pieces of work that are not over although they are killed again and again.", float64(m.d.Unkillable()))
}
