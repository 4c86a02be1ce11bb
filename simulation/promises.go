package simulation

import (
	"math/rand/v2"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/sites"
)

// DrawPromises seeds the streams of a site of service level agreements: which local jobs are
// flexible, and the keys of order shuffle. The cluster's decisions and the site's quotes
// have separate streams for those keys.
func DrawPromises(name string, seed uint64, queues []queue.Options, site *sites.Config) {
	keys := func(owner string) func() int64 {
		return rand.New(rand.NewPCG(SeedOf(seed, owner+name), 0)).Int64
	}
	for i := range queues {
		if p := queues[i].Promises; p != nil {
			group := site.Groups[i].Name + " "
			p.Seed = SeedOf(seed, "flexible "+group+name)
			p.Schedule.Keys = keys("keys " + group)
		}
	}
	if site.Promises != nil {
		site.Promises.Schedule.Keys = keys("quotes ")
	}
}

// loosen gives the jobs of a workload the flexibility that its keys ask for.
func loosen(w *configs.VOWorkload, jobs []grid.Job, seed uint64) {
	if w.Flexible.Hi == 0 && w.Alternatives == 0 {
		return
	}
	stream := rand.New(rand.NewPCG(seed, 0))
	for i := range jobs {
		later := w.Flexible.Lo + grid.Duration(stream.Int64N(int64(w.Flexible.Hi-w.Flexible.Lo)+1))
		j := &jobs[i]
		j.Flexible, j.Fix, j.Phi = w.Freedom(later)
	}
}
