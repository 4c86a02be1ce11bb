package simulation

import (
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/cluster/share"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/sites"
)

// clusters lists the kinds of simulated clusters. A site has the first one that its file
// asks for.
var clusters = []struct {
	kind string
	is   func(*configs.Site) bool
	make func(*configs.Site, LocalWork, *sites.Config) cluster.Backend
}{
	{"share", func(s *configs.Site) bool { return s.Shared != nil }, sharing},
	{"queue", func(*configs.Site) bool { return true }, queueing},
}

// NewBackend returns the nodes of a site's simulated cluster with their local work. If it
// makes promises, agent receives the streams that these draw from.
func NewBackend(s *configs.Site, w LocalWork, agent *sites.Config) cluster.Backend {
	for _, c := range clusters {
		if c.is(s) {
			return c.make(s, w, agent)
		}
	}
	panic("simulation: no cluster for site " + s.Name)
}

func queueing(s *configs.Site, w LocalWork, agent *sites.Config) cluster.Backend {
	options := s.ClusterQueues()
	DrawPromises(s.Name, w.Seed, options, agent)
	work := w.Feed
	if w.Lists != nil {
		work = func(group int, _, _ grid.Time) func() (grid.LocalJob, bool) { return queue.Jobs(w.Lists[group]) }
	}
	return queue.NewBackend(s.Groups, options, work)
}

func sharing(s *configs.Site, w LocalWork, _ *sites.Config) cluster.Backend {
	work := EndlessDeadlines(s, w.Feed, w.Seed)
	if w.Lists != nil {
		lists := make([][]share.Job, len(w.Lists))
		for i, list := range w.Lists {
			lists[i] = deadlines(s, list, SeedOf(w.Seed, s.Groups[i].Name))
		}
		work = func(group int, _, _ grid.Time) func() (share.Job, bool) { return share.Jobs(lists[group]) }
	}
	return share.New(s.Groups, s.SharedCluster(), work)
}
