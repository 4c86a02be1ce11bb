package studies

import (
	"math/rand/v2"

	"bourse"
	"bourse/configs"
	"bourse/sites"
)

// deadlines gives the local jobs of a site that takes deadlines theirs, as in the
// paper on such sites (Yeo and Buyya, section 4): a share of them is urgent; the
// factor between runtime and deadline is normal, its deviation a quarter of its
// mean, and drawn again until it is above 1.
func deadlines(s *configs.Site, jobs []bourse.LocalJob, seed uint64) []sites.DeadlineJob {
	stream := rand.New(rand.NewPCG(derived(seed, "deadlines "+s.Name), 0))
	list := make([]sites.DeadlineJob, len(jobs))
	for i, j := range jobs {
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
		left := min(bourse.Duration(factor*float64(j.Run)), bourse.MaxDuration)
		list[i] = sites.DeadlineJob{LocalJob: j, Deadline: j.Submit.Add(max(left, 1))}
	}
	return list
}
