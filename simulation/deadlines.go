package simulation

import (
	"math/rand/v2"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/cluster/share"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
)

// deadlines gives deadlines to the local jobs of a site that takes them, as in the paper on
// such sites (Yeo and Buyya, section 4). A share of the jobs is urgent. The factor between
// runtime and deadline is normal, with a deviation of a quarter of its mean, and redrawn
// until it is above 1.
func deadlines(s *configs.Site, jobs []grid.LocalJob, seed uint64) []share.Job {
	stream := rand.New(rand.NewPCG(SeedOf(seed, "deadlines "+s.Name), 0))
	list := make([]share.Job, len(jobs))
	for i, j := range jobs {
		list[i] = withDeadline(s, j, stream)
	}
	return list
}

// withDeadline draws the deadline of a job.
func withDeadline(s *configs.Site, j grid.LocalJob, stream *rand.Rand) share.Job {
	mean := s.Shared.Factor.Float()
	if stream.Float64() >= s.Shared.Urgent.Float() {
		mean *= s.Shared.Ratio.Float()
	}
	j.Run = max(j.Run, 1)
	factor := 0.0
	for draws := 0; factor <= 1; draws++ {
		if factor = mean + mean/4*stream.NormFloat64(); draws == 100 {
			factor = mean
			break
		}
	}
	left := min(grid.Duration(factor*float64(j.Run)), grid.MaxDuration)
	return share.Job{LocalJob: j, Deadline: j.Submit.Add(max(left, 1))}
}

// EndlessDeadlines gives deadlines to the local work, such as Endless returns, of a site
// that takes deadlines and runs in real time. They have a stream of their own, so that a
// job has the same deadline in every life.
func EndlessDeadlines(s *configs.Site, work queue.Work, seed uint64) share.Work {
	if work == nil {
		return nil
	}
	seed = SeedOf(seed, "deadlines "+s.Name)
	return func(group int, begun, after grid.Time) func() (share.Job, bool) {
		next := work(group, begun, after)
		return func() (share.Job, bool) {
			j, ok := next()
			if !ok {
				return share.Job{}, false
			}
			return withDeadline(s, j, rand.New(rand.NewPCG(seed, uint64(j.Submit.Sub(begun))^uint64(j.ID)<<44))), true
		}
	}
}
