package simulation

import (
	"math/rand/v2"
	"strconv"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
)

// coallocate makes shares of a workload's jobs need several sites at once, as its keys say.
// Each job takes one number of the stream, whatever the shares are, so a larger share of the
// first kind adds such jobs and leaves all others as they were. It comes after all else that
// a workload does with its jobs: their parts take over what they find.
func coallocate(w *configs.VOWorkload, jobs []grid.Job, seed uint64) {
	if len(w.Coallocated) == 0 {
		return
	}
	stream := rand.New(rand.NewPCG(seed, 0))
	for i := range jobs {
		at := configs.Thousandths(stream.Int64N(int64(configs.One)))
		for _, c := range w.Coallocated {
			if at < c.Share {
				divide(&jobs[i], c.Sites)
				break
			}
			at -= c.Share
		}
	}
}

// divide gives a job n parts, no two of them on one site: its nodes as even as it goes, the
// first ones larger, one at least. They start together and run as long as the job would. Its
// budget is that of its parts. It can no longer be flexible, which is for windows of a single
// leg.
func divide(j *grid.Job, n int) {
	parts := make([]grid.JobPart, n)
	for i := range parts {
		nodes := j.Nodes / n
		if i < j.Nodes%n {
			nodes++
		}
		parts[i] = grid.JobPart{Name: "part" + strconv.Itoa(i+1), Nodes: max(nodes, 1), Length: j.Length, Run: j.Run,
			MinPerformance: j.MinPerformance, MaxPrice: j.MaxPrice, Require: j.Require}
	}
	j.Run, j.Flexible, j.Fix, j.Phi, j.Apart = 0, 0, 0, 0, true
	j.Money(parts, false, nil)
}
