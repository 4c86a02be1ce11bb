package examine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/cluster/slurm"
	"github.com/bourse-grid/bourse/grid"
)

// waits counts the jobs that cannot start now for one reason.
type waits struct {
	Why    string `json:"why"`    // the manager's word
	Words  string `json:"words"`  // what it means; "" if it is not known
	Held   int    `json:"held"`   // not while the reason lasts
	Later  int    `json:"later"`  // later on: at their time, after others, at their turn
	Counts int    `json:"counts"` // counted as ready, because the reason is not known
}

// count counts why the jobs of the partition wait that cannot start now. Those that are ready
// are left out, except for reasons that are not known.
func (q *liveQueue) count() {
	queued := make(map[*grid.ManagedJob]int, len(q.state.Queue))
	for i := range q.state.Queue {
		if j := q.job(q.state.Queue[i].ID); j != nil {
			queued[j] = i
		}
	}
	releases := q.state.Releases()
	q.waits = []waits{}
	for i := range q.look.Jobs {
		j := &q.look.Jobs[i]
		if j.State != grid.ManagedPending && j.State != grid.ManagedHeld || !slices.Contains(strings.Split(j.Partition, ","), q.partition) {
			continue
		}
		at, in := queued[j]
		one := waits{Why: q.why(j, in), Words: slurm.Why(j)}
		if one.Why != j.Why {
			one.Words = "" // it is left out for another reason than the manager's
		}
		switch {
		case !in:
			one.Held = 1
			q.held++
		case releases != nil && releases.From(at) > q.state.Now:
			one.Later = 1
		case !slurm.Known(j):
			one.Counts = 1
		default:
			continue
		}
		k := slices.IndexFunc(q.waits, func(w waits) bool { return w.Why == one.Why })
		if k < 0 {
			k, q.waits = len(q.waits), append(q.waits, waits{Why: one.Why, Words: one.Words})
		}
		q.waits[k].Held += one.Held
		q.waits[k].Later += one.Later
		q.waits[k].Counts += one.Counts
	}
	slices.SortStableFunc(q.waits, func(a, b waits) int { return cmp.Compare(a.Why, b.Why) })
}

// why is the word for why a job cannot start.
func (q *liveQueue) why(j *grid.ManagedJob, queued bool) string {
	switch {
	case j.State == grid.ManagedHeld || queued && j.Why != "":
	case j.Reservation != "":
		return "Reservation"
	case !queued:
		return "too large"
	}
	return cmp.Or(j.Why, "not said")
}

// later is how many jobs of the queue cannot start yet.
func (q *liveQueue) later() (n int) {
	for _, w := range q.waits {
		n += w.Later
	}
	return n
}

// notes says how many jobs cannot start, and why.
func (q *liveQueue) notes() (list []string) {
	of := func(n func(w *waits) int) string {
		var words []string
		for i := range q.waits {
			if k := n(&q.waits[i]); k > 0 {
				words = append(words, fmt.Sprintf("%s %d", q.waits[i].Why, k))
			}
		}
		return strings.Join(words, ", ")
	}
	if p := q.partitionOf(); p != nil && p.State != "up" {
		list = append(list, fmt.Sprintf("Partition %s is %s: no new job can start there until an administrator changes that.", p.Name, p.State))
	}
	if q.held > 0 {
		list = append(list, fmt.Sprintf("Left out because they cannot start while their reason lasts: %s (%s).", grid.Count(q.held, "job"), of(func(w *waits) int { return w.Held })))
	}
	if n := q.later(); n > 0 {
		list = append(list, fmt.Sprintf("In the queue, but not to start yet: %s (%s).", grid.Count(n, "job"), of(func(w *waits) int { return w.Later })))
	}
	if words := of(func(w *waits) int { return w.Counts }); words != "" {
		list = append(list, "Counted as ready because the reason is not known: "+words+".")
	}
	return list
}

// partitionOf is what the look says of the partition; nil: nothing.
func (q *liveQueue) partitionOf() *grid.ManagedPartition {
	i := slices.IndexFunc(q.look.Partitions, func(p grid.ManagedPartition) bool { return p.Name == q.partition })
	if i < 0 {
		return nil
	}
	return &q.look.Partitions[i]
}

// refuses returns an error if the partition starts no new job of that many nodes and that limit.
func (q *liveQueue) refuses(nodes int, limit grid.Duration) error {
	switch p := q.partitionOf(); {
	case p == nil:
	case p.State != "up":
		return fmt.Errorf("partition %s is %s: no new job can start there until an administrator changes that", p.Name, p.State)
	case p.Limit > 0 && limit > p.Limit:
		return fmt.Errorf("partition %s lets no job run for longer than %s; %s asked for", p.Name, p.Limit.Words(), limit.Words())
	case p.MaxNodes > 0 && nodes > p.MaxNodes:
		return fmt.Errorf("partition %s lets no job have more than %s; %d asked for", p.Name, grid.Count(p.MaxNodes, "node"), nodes)
	}
	return nil
}

// unknownReasons says which reasons of waiting jobs are not known, "" if all are.
func unknownReasons(look *grid.Look) string {
	counts := map[string]int{}
	for i := range look.Jobs {
		if j := &look.Jobs[i]; j.State == grid.ManagedPending && !slurm.Known(j) {
			counts[j.Why]++
		}
	}
	var words []string
	for why, n := range counts {
		words = append(words, fmt.Sprintf("%s (%s)", why, grid.Count(n, "job")))
	}
	if slices.Sort(words); len(words) == 0 {
		return ""
	}
	return "not known why these wait, so that they count as ready: " + strings.Join(words, ", ")
}
