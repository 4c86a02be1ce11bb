package workload

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
)

// Node is what a node has of what the jobs of a log are counted in.
type Node struct {
	Cores int // above 0: the log's processors are cores
	GPUs  int // 0: those of the log do not matter
}

// PartedJobs turns the records into jobs of a VO that take a part of each of their nodes: as many
// cores and GPUs as the log says, over the fewest nodes that have them, evenly and rounded up. A
// job is priced by the larger share of a node. most bounds the jobs; 0: all.
func (t *Trace) PartedJobs(terms Terms, opt JobOptions, most int, n Node) ([]grid.Job, error) {
	if n.Cores < 1 || n.Cores > grid.MaxPortion || n.GPUs < 0 || n.GPUs > grid.MaxPortion {
		return nil, fmt.Errorf("nodes of %d cores and %d GPUs: must be 1 to %d, and 0 to as many", n.Cores, n.GPUs, grid.MaxPortion)
	}
	local, gpus, zero := []grid.LocalJob{}, []int{}, t.Zero()
	var tally Tally
	end := grid.Never
	if opt.Span > 0 && len(t.Records) > 0 {
		end = zero.Add(opt.Span)
	}
	for i := range t.Records {
		if most > 0 && len(local) == most {
			break
		}
		if j, kept := opt.job(&t.Records[i], end, &tally); kept {
			j.Submit -= zero
			local, gpus = append(local, j), append(gpus, int(max(t.Records[i][GPUCount].Whole(), 0)))
		}
	}
	parts := make([]grid.Portion, len(local))
	for i := range local {
		local[i].Nodes, parts[i] = n.divide(local[i].Nodes, gpus[i])
	}
	jobs, err := terms.Jobs(local)
	for i := range jobs {
		n.price(&jobs[i], parts[i])
	}
	return jobs, err
}

// WithGPUs is how many records say that they had GPUs.
func (t *Trace) WithGPUs() (n int) {
	for i := range t.Records {
		if t.Records[i][GPUCount].Whole() > 0 {
			n++
		}
	}
	return n
}

// divide spreads cores and GPUs over nodes.
func (n Node) divide(cores, gpus int) (nodes int, part grid.Portion) {
	nodes = over(cores, n.Cores)
	if n.GPUs > 0 {
		nodes = max(nodes, over(gpus, n.GPUs))
		part.GPUs = over(gpus, nodes)
	}
	part.Cores = over(cores, nodes)
	return nodes, part
}

// over is a quotient, rounded up.
func over(n, by int) int { return (n + by - 1) / by }

// price gives a job its part, and its share of the price.
func (n Node) price(j *grid.Job, part grid.Portion) {
	share, of := int64(part.Cores), int64(n.Cores)
	if n.GPUs > 0 && int64(part.GPUs)*of > share*int64(n.GPUs) {
		share, of = int64(part.GPUs), int64(n.GPUs)
	}
	j.Portion = part
	j.MaxPrice = grid.Price(grid.MulDiv(int64(j.MaxPrice), share, of))
	j.Budget = j.DefaultBudget()
}
