package simulation

import (
	"math/rand/v2"
	"strconv"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
)

// compose gives a share of a workload's jobs unlike parts, as its keys say. Each job has a
// stream of its own, so a larger share adds such jobs and leaves all others as they were.
func compose(w *configs.VOWorkload, jobs []grid.Job, seed uint64) {
	c := &w.Composed
	if c.Share == 0 {
		return
	}
	for i := range jobs {
		if len(jobs[i].Parts) > 0 { // it runs on several sites already
			continue
		}
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		between := func(x configs.Range[configs.Thousandths]) int64 {
			return int64(x.Lo) + r.Int64N(int64(x.Hi-x.Lo)+1)
		}
		if at := configs.Thousandths(r.Int64N(int64(configs.One))); at >= c.Share {
			continue
		}
		j := &jobs[i]
		parts := make([]grid.JobPart, c.Parts.Lo+r.IntN(c.Parts.Hi-c.Parts.Lo+1))
		for k := range parts {
			p := &parts[k]
			*p = grid.JobPart{Name: "part" + strconv.Itoa(k+1), Nodes: j.Nodes, Length: j.Length, Run: j.Run, MinPerformance: j.MinPerformance, MaxPrice: j.MaxPrice, Require: j.Require}
			if k == 0 {
				continue
			}
			p.Nodes = max(1, int(grid.MulDiv(int64(j.Nodes), between(c.Nodes), int64(configs.One))))
			length := max(1, grid.MulDiv(int64(j.Length), between(c.Length), int64(configs.One)))
			if p.Run > 0 { // it overestimates as much as the job
				p.Run = grid.Duration(max(1, grid.MulDiv(length, int64(j.Run), int64(j.Length))))
			}
			p.Length = grid.Duration(length)
			p.Offset = grid.Duration(min(grid.MulDiv(int64(j.Length), between(c.Offset), int64(configs.One)), int64(grid.MaxOffset)))
		}
		j.Apart = configs.Thousandths(r.Int64N(int64(configs.One))) < c.Apart
		j.Run, j.Flexible, j.Fix, j.Phi = 0, 0, 0, 0
		j.Money(parts, false, nil)
	}
}
