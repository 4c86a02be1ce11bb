package flags

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/names"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/workload"
)

// AddFrom adds --from, for commands that read traces.
func AddFrom(cmd *cobra.Command, to *string, of string) {
	formats := workload.Formats()
	AddFlag(cmd, to, OneOf("format", formats...), "from", "", "format of "+of+": "+names.Or(formats)+" (default: by its name, else by what it holds)")
}

// AddZone adds --zone, for commands that read traces.
func AddZone(cmd *cobra.Command, to **time.Location) {
	AddFlag(cmd, to, asZone, "zone", time.UTC, "for sacct, csv and parquet: zone of times that name none, such as Europe/Berlin")
}

// Replayed is how a replay serves the queue: by a policy of a site's queue, or by the rules
// of Slurm.
type Replayed struct {
	backfill.Policy
	Slurm bool
}

// String is its name.
func (r Replayed) String() string {
	if r.Slurm {
		return slurmPolicy
	}
	return r.Policy.String()
}

const slurmPolicy = "slurm"

// ReplayedPolicies are the words of Replayed.
func ReplayedPolicies() []string { return append(names.Of(backfill.Policies()), slurmPolicy) }

func parseReplayed(s string) (Replayed, error) {
	if s == slurmPolicy {
		return Replayed{Slurm: true}, nil
	}
	p, err := backfill.ParsePolicy(s)
	if err != nil {
		err = fmt.Errorf("%w; or %s, for Slurm's own rules", err, slurmPolicy)
	}
	return Replayed{Policy: p}, err
}

// parseWeights reads time=1,cost=0.3,finish=0; each may be left out.
func parseWeights(s string) (w search.Weights, err error) {
	for part := range strings.SplitSeq(s, ",") {
		name, figure, _ := strings.Cut(part, "=")
		at := map[string]*int64{"time": &w.Time, "cost": &w.Cost, "finish": &w.Finish}[name]
		if at == nil {
			return w, fmt.Errorf("%q is unknown; must be time, cost or finish, such as time=1,cost=0.3", name)
		}
		v, err := strconv.ParseFloat(figure, 64)
		if err != nil || !(v >= 0 && v <= 1e6) {
			return w, fmt.Errorf("%s must be a number from 0 to 1000000, such as %s=0.3", name, name)
		}
		*at = int64(math.Round(v * 1000))
	}
	return w, nil
}

// PlaceIn returns how many jobs of a queue are ahead of a new one: last, first, or by its
// priority, behind jobs of the same priority.
func PlaceIn(priority string, queue []*grid.ManagedJob) (int, error) {
	switch priority {
	case "last":
		return len(queue), nil
	case "first":
		return 0, nil
	}
	n, err := strconv.ParseInt(priority, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("priority %q: must be last, first, or a whole number of 0 or more", priority)
	}
	i := slices.IndexFunc(queue, func(j *grid.ManagedJob) bool { return j != nil && j.Priority < n })
	if i < 0 {
		i = len(queue)
	}
	return i, nil
}
