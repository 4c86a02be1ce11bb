package use

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// partOfNode says what a job asks of each of its nodes, "" if all of it.
func partOfNode(p *api.PortionRequest) string {
	each := grid.Portion{GPUs: p.GPUsPerNode, Cores: p.CoresPerNode, Memory: p.MemoryPerNode}
	if each.Whole() {
		return ""
	}
	return " (" + each.Words() + " of each)"
}

// gpuLine says what a GPU-hour of a job's legs costs, if it asks for GPUs of each node.
func gpuLine(line func(name, format string, args ...any), j *api.Job) {
	hours, cost := 0.0, grid.Credits(0)
	for i := range j.Legs {
		l := &j.Legs[i]
		if l.State == grid.Settled.String() {
			return // its end may be an early one, and its cost is of all that was bought
		}
		hours += float64(l.Nodes*gpusOf(j, l)) * grid.Time(l.End).Sub(grid.Time(l.Start)).Hours()
		cost += l.Cost.Credits
	}
	if hours > 0 {
		line("GPU-hours", "%.2f, %.2f credits each", hours, cost.Float()/hours)
	}
}

// gpusOf is how many GPUs a leg asks for of each of its nodes.
func gpusOf(j *api.Job, l *api.Leg) int {
	for i := range j.Parts {
		if j.Parts[i].Name == l.Part {
			return j.Parts[i].GPUsPerNode
		}
	}
	return j.GPUsPerNode
}

// sharePer is what a leg takes of each of its nodes.
func sharePer(l *api.Leg) string {
	if l.Slices == 0 {
		return "all"
	}
	return fmt.Sprintf("%d of %d", l.Slices, l.Of)
}
