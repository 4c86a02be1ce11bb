package planning

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// Bounds on what one job may ask for and what one site may offer.
const (
	MaxNodes  = 1_000_000
	maxPhi    = 100_000 // how far outside its window an alternative may lie, in thousandths
	maxGroups = 1024    // groups of one site
	maxSteps  = 1 << 17 // steps of one group's profile
)

// Unsound says why a job can never be served by anyone; no reason: it makes sense.
func Unsound(j *bourse.Job) bourse.Reason {
	if len(j.Sizes) > 0 {
		if err := bourse.CheckSizes(j.Sizes, MaxNodes); err != nil {
			return reason(bourse.Invalid, "sizes: %v", err)
		}
	}
	if j.Work != nil {
		if wrong := j.Work.Check(); wrong != nil {
			return reason(bourse.Invalid, "%s %v", wrong.Key, wrong.Err)
		}
	}
	switch {
	case j.Name == "":
		return reason(bourse.Invalid, "the job has no name")
	case j.Nodes < 1 || j.Nodes > MaxNodes:
		return reason(bourse.Invalid, "nodes %d is outside 1..%d", j.Nodes, MaxNodes)
	case j.Length <= 0 || j.Length > bourse.MaxDuration:
		return reason(bourse.Invalid, "length %v is outside 0.001..%v seconds", j.Length, bourse.MaxDuration)
	case j.Run < 0 || j.Run > bourse.MaxDuration:
		return reason(bourse.Invalid, "run %v is outside 0..%v seconds", j.Run, bourse.MaxDuration)
	case j.MinPerformance <= 0 || j.MinPerformance > bourse.MaxPerformance:
		return reason(bourse.Invalid, "min_performance %v is outside 0.001..%v", j.MinPerformance, bourse.MaxPerformance)
	case j.MaxPrice < 0 || j.MaxPrice > bourse.MaxPrice:
		return reason(bourse.Invalid, "max_price %v is outside 0..%v credits per node-hour", j.MaxPrice, bourse.MaxPrice)
	case j.Budget < 0 || j.Budget > bourse.MaxBudget:
		return reason(bourse.Invalid, "budget %v is outside 0..%v credits", j.Budget, bourse.MaxBudget)
	case !j.Urgency.Sound():
		return reason(bourse.Invalid, "urgency %v is outside 0..%v credits an hour, or 0..1000 %% of the budget", int64(j.Urgency), bourse.MaxUrgency)
	case j.Flexible < 0 || j.Flexible > bourse.MaxDuration:
		return reason(bourse.Invalid, "flexible %v is outside 0..%v seconds", j.Flexible, bourse.MaxDuration)
	case j.Fix < 0 || j.Fix > 1000 || j.Phi < 0 || j.Phi > maxPhi:
		return reason(bourse.Invalid, "fix %v is outside 0..1, or alternatives %v outside 0..%v", bourse.Performance(j.Fix), bourse.Performance(j.Phi), bourse.Performance(maxPhi))
	case !j.Molded():
		return reason(bourse.Invalid, "nodes %d and length %v are not those of the size that takes least of its %d", j.Nodes, j.Length, len(j.Sizes))
	case j.Ready > bourse.MaxTime:
		return reason(bourse.Invalid, "ready %v is after %v", j.Ready, bourse.MaxTime)
	}
	return bourse.Reason{}
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
		g.Padding >= 0 && g.Padding <= bourse.MaxPadding && g.Longest >= 0 && g.Longest <= bourse.MaxDuration &&
		g.Performance > 0 && g.Performance <= bourse.MaxPerformance &&
		g.Price >= 0 && g.Dearest(-bourse.MaxTime, bourse.MaxTime) <= bourse.MaxPrice && o.Queued >= 0 && o.Queued <= bourse.MaxDuration &&
		soundProfile(o.Admissible, g.Nodes) && soundProfile(o.Clear, g.Nodes)
}

func soundProfile(p bourse.Profile, nodes int) bool {
	for i := range p {
		if p[i].Free > nodes || i > 0 && p[i].At <= p[i-1].At || p[i].At > bourse.Never {
			return false
		}
	}
	return len(p) > 0 && len(p) <= maxSteps
}
