package planning

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Bounds on what one job may ask for and what one site may offer.
const (
	MaxNodes  = 1_000_000
	maxPhi    = 100_000 // how far outside its window an alternative may lie, in thousandths
	maxGroups = 1024    // groups of one site
	maxSteps  = 1 << 17 // steps of one group's profile
)

// Unsound says why a job can never be served by anyone; no reason: it makes sense.
func Unsound(j *grid.Job) grid.Reason {
	if len(j.Sizes) > 0 {
		if err := grid.CheckSizes(j.Sizes, MaxNodes); err != nil {
			return reason(grid.Invalid, "sizes: %v", err)
		}
	}
	if j.Work != nil {
		if wrong := j.Work.Check(); wrong != nil {
			return reason(grid.Invalid, "%s %v", wrong.Key, wrong.Err)
		}
	}
	if wrong := grid.CheckParts(&j.Request, MaxNodes); wrong != nil {
		return reason(grid.Invalid, "%v", wrong)
	}
	if wrong := j.Portion.Check(); wrong != "" {
		return reason(grid.Invalid, "%v", grid.Phrase(wrong))
	}
	if j.Composed() && !j.Portion.Whole() {
		return reason(grid.Invalid, "what a job of parts takes of its nodes its parts say; leave its own gpus_per_node, cores_per_node and memory_per_node out")
	}
	for i := range j.Parts {
		if w := j.Parts[i].Work; w != nil {
			if wrong := w.Check(); wrong != nil {
				return reason(grid.Invalid, "part[%d].%s: %v", i, wrong.Key, wrong.Err)
			}
		}
	}
	switch {
	case !j.Whole():
		return reason(grid.Invalid, "nodes %d, length %v and min_performance %v are not those of its %s", j.Nodes, j.Length, j.MinPerformance, grid.Count(len(j.Parts), "part"))
	case j.Name == "":
		return reason(grid.Invalid, "the job has no name")
	case j.Nodes < 1 || j.Nodes > MaxNodes:
		return reason(grid.Invalid, "nodes %d is outside 1..%d", j.Nodes, MaxNodes)
	case j.Length <= 0 || j.Length > grid.MaxDuration:
		return reason(grid.Invalid, "length %v is outside 0.001..%v seconds", j.Length, grid.MaxDuration)
	case j.Run < 0 || j.Run > grid.MaxDuration:
		return reason(grid.Invalid, "run %v is outside 0..%v seconds", j.Run, grid.MaxDuration)
	case j.MinPerformance <= 0 || j.MinPerformance > grid.MaxPerformance:
		return reason(grid.Invalid, "min_performance %v is outside 0.001..%v", j.MinPerformance, grid.MaxPerformance)
	case j.MaxPrice < 0 || j.MaxPrice > grid.MaxPrice:
		return reason(grid.Invalid, "max_price %v is outside 0..%v credits per node-hour", j.MaxPrice, grid.MaxPrice)
	case j.Budget < 0 || j.Budget > grid.MaxBudget:
		return reason(grid.Invalid, "budget %v is outside 0..%v credits", j.Budget, grid.MaxBudget)
	case !j.Urgency.Sound():
		return reason(grid.Invalid, "urgency %v is outside 0..%v credits an hour, or 0..1000 %% of the budget", int64(j.Urgency), grid.MaxUrgency)
	case j.Flexible < 0 || j.Flexible > grid.MaxDuration:
		return reason(grid.Invalid, "flexible %v is outside 0..%v seconds", j.Flexible, grid.MaxDuration)
	case j.Fix < 0 || j.Fix > 1000 || j.Phi < 0 || j.Phi > maxPhi:
		return reason(grid.Invalid, "fix %v is outside 0..1, or alternatives %v outside 0..%v", grid.Performance(j.Fix), grid.Performance(j.Phi), grid.Performance(maxPhi))
	case !j.Molded():
		return reason(grid.Invalid, "nodes %d and length %v are not those of the size that takes least of its %d", j.Nodes, j.Length, len(j.Sizes))
	case j.Ready > grid.MaxTime:
		return reason(grid.Invalid, "ready %v is after %v", j.Ready, grid.MaxTime)
	}
	return grid.Reason{}
}

// SoundGroups reports whether a site's offers make sense. It looks at every step of every
// profile.
func SoundGroups(list []agents.GroupOffer) bool {
	if len(list) > maxGroups {
		return false
	}
	for i := range list {
		if !sound(&list[i]) {
			return false
		}
	}
	return true
}

func sound(o *agents.GroupOffer) bool {
	g := &o.Group
	return g.Nodes >= 0 && g.Nodes <= MaxNodes &&
		g.Padding >= 0 && g.Padding <= grid.MaxPadding && g.Longest >= 0 && g.Longest <= grid.MaxDuration &&
		g.Performance > 0 && g.Performance <= grid.MaxPerformance &&
		g.Price >= 0 && g.Dearest(-grid.MaxTime, grid.MaxTime) <= grid.MaxPrice && o.Queued >= 0 && o.Queued <= grid.MaxDuration &&
		soundProfile(o.Admissible, g.Nodes) && soundProfile(o.Clear, g.Nodes) && g.Slices >= 0 && g.Slices <= grid.MaxSlices && g.Cores >= 0 && soundOpened(o.Opened, g)
}

// soundOpened reports whether opened nodes lie within their intervals and slices.
func soundOpened(list []grid.Opened, g *grid.Group) bool {
	if len(list) > grid.MaxOpened {
		return false
	}
	for i := range list {
		o := &list[i]
		if o.Start >= o.End || !soundProfile(o.Free, g.Divided()-1) || o.Free[0].At != o.Start || o.Free[len(o.Free)-1].At > o.End || o.Free[len(o.Free)-1].Free != 0 {
			return false
		}
		for _, s := range o.Free {
			if s.Free < 0 {
				return false
			}
		}
	}
	return true
}

func soundProfile(p grid.Profile, nodes int) bool {
	for i := range p {
		if p[i].Free > nodes || i > 0 && p[i].At <= p[i-1].At || p[i].At > grid.Never {
			return false
		}
	}
	return len(p) > 0 && len(p) <= maxSteps
}
