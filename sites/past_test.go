package sites

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// clusterDisk is the journal of a story's cluster, if it has one, and how much of it there was
// when it was copied.
type clusterDisk struct {
	nodes  func() cluster.Backend // nil: it has none
	facts  []recorded
	copied int
	nonce  uint64
}

// durableStory is a story whose cluster has a journal.
func durableStory(cfg Config, promises *queue.PromiseOptions) *tale {
	s := &tale{cfg: cfg, taken: map[agents.Row]bool{}}
	s.disk.nodes = func() cluster.Backend {
		options := make([]queue.Options, len(cfg.Groups))
		for i, g := range cfg.Groups {
			options[i] = queue.Options{Nodes: g.Nodes, Policy: backfill.EASY, Promises: promises}
		}
		return queue.NewBackend(cfg.Groups, options, nil)
	}
	s.clusterBorn()
	s.born()
	return s
}

// clusterBorn begins a life of the cluster.
func (s *tale) clusterBorn() {
	s.cluster = cluster.New(cluster.Config{Site: theSite, Groups: s.cfg.Groups}, s.disk.nodes())
	for _, f := range s.disk.facts {
		s.cluster.Replay(f.at, f.fact)
	}
	s.later = slices.DeleteFunc(s.later, func(d delivery) bool { return d.to == theCluster })
	s.disk.nonce += 1 << 32
	s.put(theCluster, theCluster, agents.Started{Nonce: s.disk.nonce})
}

// restored has the process of site and cluster begin again, the cluster with its copy.
func (s *tale) restored() {
	s.disk.facts = s.disk.facts[:s.disk.copied]
	s.clusterBorn()
}
