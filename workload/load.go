package workload

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/bourse-grid/bourse/grid"
)

func checkLoad(load float64) error {
	if !(load > 0) || math.IsInf(load, 0) {
		return fmt.Errorf("load %v: must be a number above 0, 1 for as much work as the nodes can do", load)
	}
	return nil
}

// Draw chooses round(share x n) of the indices 0..n-1 at random, in ascending
// order, every such set as likely as any other. share is from 0 to 1. It takes
// one draw for each index.
func Draw(n int, share float64, r *rand.Rand) []int {
	want := int(math.Round(share * float64(n)))
	if want < 0 || want > n {
		panic(fmt.Sprintf("workload: a share of %v is outside 0..1", share))
	}
	chosen := make([]int, 0, want)
	for i := range n {
		if r.IntN(n-i) < want-len(chosen) {
			chosen = append(chosen, i)
		}
	}
	return chosen
}

// Copy raises the load by copying a share of the jobs, drawn at random (Singh, Kesselman
// and Deelman, section 6). A copy has its original's submission time and comes directly
// after it; its ID is one above all existing ones. A share above 1 first copies every job
// that many whole times.
func Copy(jobs []grid.LocalJob, share float64, r *rand.Rand) ([]grid.LocalJob, error) {
	const most = 100
	if !(share >= 0 && share <= most) {
		return nil, fmt.Errorf("a share of %v of the jobs cannot be copied; must be 0 to %d", share, most)
	}
	whole := math.Floor(share)
	chosen := Draw(len(jobs), share-whole, r)
	var id int64
	for i := range jobs {
		id = max(id, jobs[i].ID)
	}
	all := make([]grid.LocalJob, 0, len(jobs)*(1+int(whole))+len(chosen))
	for i, j := range jobs {
		copies := int(whole)
		if len(chosen) > 0 && chosen[0] == i {
			chosen = chosen[1:]
			copies++
		}
		all = append(all, j)
		for range copies {
			id++
			j.ID = id
			all = append(all, j)
		}
	}
	return all, nil
}
