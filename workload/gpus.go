package workload

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/bourse-grid/bourse/grid"
)

// GPUs is the workload of a VO on GPU clusters, where most jobs take a part of a node. Sizes
// are in GPUs; a job of at least a node's takes whole nodes. Submit times are uniform over the
// span, lengths log-uniform, both in whole seconds.
type GPUs struct {
	Terms                // price caps are of a whole node; a job of a part has its share of one
	Count                int
	Until                grid.Duration // all jobs are submitted before
	PerNode              int           // GPUs of a node; 0: 8
	Cores                int           // of a node, for uneven jobs; 0: there are none
	Uneven               float64       // share of the jobs of a part that ask for twice their share of the cores, 0 to 1
	MinLength, MaxLength grid.Duration // at performance 1; 0: 10 min and 4 h
}

// gpuSizes are how many GPUs jobs ask for, and how many of 98 do so: the shares of the study of
// shared nodes, in which what is left of 100 is rounding. Those above a node are our own.
var gpuSizes = []struct{ gpus, of int }{{1, 56}, {2, 13}, {4, 12}, {8, 11}, {16, 3}, {32, 2}, {64, 1}}

// Jobs draws the workload in order of submit.
func (g GPUs) Jobs() ([]grid.Job, error) {
	g.PerNode = cmp.Or(g.PerNode, 8)
	if g.PerNode < 1 || g.PerNode > grid.MaxPortion || g.Cores < 0 || g.Cores > grid.MaxPortion {
		return nil, fmt.Errorf("nodes of %d GPUs and %d cores: must be 1 to %d, and 0 to as many", g.PerNode, g.Cores, grid.MaxPortion)
	}
	if !(g.Uneven >= 0 && g.Uneven <= 1) {
		return nil, fmt.Errorf("a share of %v uneven jobs: must be 0 to 1", g.Uneven)
	}
	jobs, err := VO{Terms: g.Terms, Count: g.Count, Until: g.Until, MinNodes: 1, MaxNodes: 1, MinLength: g.MinLength, MaxLength: g.MaxLength}.Jobs()
	if err != nil {
		return nil, err
	}
	sizes, uneven := rand.New(stream(g.Seed, "gpus sizes")), rand.New(stream(g.Seed, "gpus uneven"))
	all := 0
	for _, x := range gpuSizes {
		all += x.of
	}
	for i := range jobs {
		j, size, at := &jobs[i], 0, sizes.IntN(all)
		for _, x := range gpuSizes {
			if size = x.gpus; at < x.of {
				break
			}
			at -= x.of
		}
		g.size(j, size, uneven.Float64() < g.Uneven)
	}
	return jobs, nil
}

// size gives a job its GPUs, and its share of the price.
func (g *GPUs) size(j *grid.Job, gpus int, uneven bool) {
	if gpus >= g.PerNode {
		j.Nodes, j.Portion.GPUs = (gpus+g.PerNode-1)/g.PerNode, g.PerNode
		j.Budget = j.DefaultBudget()
		return
	}
	j.Portion.GPUs = gpus
	share, of := int64(gpus), int64(g.PerNode)
	if cores := 2 * gpus * g.Cores / g.PerNode; uneven && cores > 0 {
		j.Portion.Cores = min(cores, g.Cores)
		share = min(2*share, of)
	}
	j.MaxPrice = grid.Price(grid.MulDiv(int64(j.MaxPrice), share, of))
	j.Budget = j.DefaultBudget()
}
