package managed

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// View is what StateOf must know in addition to a look.
type View struct {
	Now    grid.Time
	Groups []grid.Group
	Nodes  [][]string      // the names of each group's nodes
	Policy backfill.Policy // that the manager is assumed to follow
	// Skew is added at both ends to the time that others' work takes, because the
	// manager's clock is not ours.
	Skew grid.Duration
	// Padding is how long one of our windows keeps its nodes after its end. What takes a
	// node later is shown to begin that much earlier, so that all that is shown as free
	// can be reserved.
	Padding grid.Duration
	Claims  []Claim // nodes that are ours, even if the look does not show it
	// Gone are our reservations that take no nodes although the look shows them: they
	// were deleted since, or are being deleted.
	Gone map[string]bool
	// Pilots has, where nodes are had by pilots alone, until when each node of one that runs
	// may be had; nil: nodes are had as they are free. Their jobs, and the work in them, do not
	// count as taken. Others' waiting jobs do not matter: they cannot have these nodes before.
	Pilots map[string]grid.Time
}

// Claim is nodes that are taken for a while.
type Claim struct {
	Name       string // of its reservation, if any: the look may show that too
	Nodes      []string
	Start, End grid.Time
}

const (
	// overrun is how much longer a job is assumed to run that should have ended.
	overrun = grid.Minute
	// unexplained is how long a busy node without a job is assumed to be busy.
	unexplained = 10 * grid.Minute
	// unlimited is how long a waiting job without a limit is assumed to run.
	unlimited = 365 * grid.Day
)

// StateOf turns a look into a state for each group, from which offers and prices are made.
//
//   - Running jobs end by their limits.
//   - Waiting jobs are in the manager's order of priority, each in the first group of its
//     partition that is large enough. Jobs that are held, or wait for a reservation, are
//     left out. What else a job waits for is beside its queue; see queue.
//   - Foreign reservations are in the way as our own are. A node that is not up is taken
//     for ever.
//   - A node is taken by whatever is on it, even if that is only a share of it.
//   - What the look does not show is not free. With a nil look nothing is free.
func StateOf(look *grid.Look, v View) []backfill.State {
	taken := v.occupancy(look)
	states := make([]backfill.State, len(v.Groups))
	for i := range states {
		s := &states[i]
		*s = backfill.State{Now: v.Now, Nodes: v.Groups[i].Nodes, Policy: v.Policy, Free: grid.NewProfile(v.Now, v.Groups[i].Nodes)}
		v.pad(taken[i])
		fill(s, taken[i])
	}
	if look != nil && v.Pilots == nil {
		v.enqueue(states, look)
	}
	return states
}

// span is an interval in which a node is taken, and by what.
type span struct {
	start, end grid.Time
	by         owner
	id         int64 // of a job
}

// owner is what takes a node. Of several at the same time the first counts.
type owner uint8

const (
	outage owner = iota
	ours
	running
	foreign
)

// occupancy returns for each node of each group when it is taken from now on: disjoint
// spans in order of time.
func (v *View) occupancy(look *grid.Look) [][][]span {
	taken := make([][][]span, len(v.Groups))
	place := map[string][2]int{}
	for i, names := range v.Nodes {
		taken[i] = make([][]span, len(names))
		for k, n := range names {
			place[n] = [2]int{i, k}
		}
	}
	add := func(node string, x span) {
		x.start = max(x.start, v.Now)
		if at, known := place[node]; known && x.start < x.end {
			taken[at[0]][at[1]] = append(taken[at[0]][at[1]], x)
		}
	}
	for _, c := range v.Claims {
		for _, n := range c.Nodes {
			add(n, span{c.Start, c.End, ours, 0})
		}
	}
	if look != nil {
		v.seen(look, add)
	}
	up := map[string]bool{}
	if look != nil {
		for i := range look.Nodes {
			up[look.Nodes[i].Name] = look.Nodes[i].State == grid.NodeUp
		}
	}
	for i, names := range v.Nodes {
		for k, n := range names {
			if !up[n] {
				taken[i][k] = []span{{v.Now, grid.MaxTime, outage, 0}}
				continue
			}
			if v.Pilots != nil {
				taken[i][k] = append(taken[i][k], span{max(v.Pilots[n], v.Now), grid.MaxTime, outage, 0})
			}
			taken[i][k] = disjoint(taken[i][k])
		}
	}
	return taken
}

// seen adds what a look shows: running jobs, reservations, and nodes that are busy with
// something that it does not show.
func (v *View) seen(look *grid.Look, add func(string, span)) {
	busy := map[string]bool{}
	ids := map[int64]bool{}
	for i := range look.Jobs {
		j := &look.Jobs[i]
		if j.State != grid.ManagedRunning && (j.State != grid.ManagedUnknown || len(j.Nodes) == 0) {
			continue
		}
		id := jobID(j, i, ids)
		for _, n := range j.Nodes {
			busy[n] = true
			if v.Pilots[n] > v.Now {
				continue // it is the pilot, or the work in it
			}
			add(n, span{v.Now, v.endOf(j), running, id})
		}
	}
	claimed := map[string]bool{}
	for _, c := range v.Claims {
		claimed[c.Name] = true
	}
	for i := range look.Reservations {
		r := &look.Reservations[i]
		if v.Gone[r.Name] {
			continue
		}
		x := span{r.Start.Add(-v.Skew), r.End.Add(v.Skew), foreign, 0}
		if claimed[r.Name] {
			x = span{r.Start, r.End, ours, 0}
		}
		for _, n := range r.Nodes {
			add(n, x)
		}
	}
	for i := range look.Nodes {
		if n := &look.Nodes[i]; n.Busy > 0 && !busy[n.Name] {
			add(n.Name, span{v.Now, v.Now.Add(unexplained), foreign, 0})
		}
	}
}

// endOf is when a running job ends at the latest, by its limit.
func (v *View) endOf(j *grid.ManagedJob) grid.Time {
	end := j.End
	switch {
	case end > 0:
	case j.Limit > 0 && j.Start > 0:
		end = j.Start.Add(j.Limit)
	default:
		return grid.MaxTime
	}
	if end = end.Add(v.Skew); end <= v.Now {
		end = v.Now.Add(overrun)
	}
	return min(end, grid.MaxTime)
}

// jobID is the number of a job, by which people know it, or one of our own if it has no
// number or one that occurs twice.
func jobID(j *grid.ManagedJob, i int, had map[int64]bool) int64 {
	id, err := strconv.ParseInt(j.Number, 10, 64)
	if err != nil || id <= 0 || id >= 1<<40 || had[id] {
		id = 1<<40 + int64(i)
	}
	had[id] = true
	return id
}

// disjoint cuts overlapping spans so that the first owner has the time that several claim,
// and sorts them by time.
func disjoint(list []span) []span {
	if len(list) < 2 {
		return list
	}
	slices.SortFunc(list, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.by, b.by), cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(a.id, b.id))
	})
	var out []span // in order of time
	for _, x := range list {
		for k := 0; x.start < x.end; k++ {
			if k == len(out) {
				out = append(out, x)
				break
			}
			o := out[k]
			if o.end <= x.start {
				continue
			}
			if x.start < o.start {
				piece := x
				piece.end = min(x.end, o.start)
				out = slices.Insert(out, k, piece)
				k++
			}
			x.start = max(x.start, o.end)
		}
	}
	return out
}

// pad lets each span begin earlier by the padding, but not before the end of the span
// before it.
func (v *View) pad(nodes [][]span) {
	for _, list := range nodes {
		last := v.Now
		for i := range list {
			list[i].start, last = max(list[i].start.Add(-v.Padding), last), list[i].end
		}
	}
}

// fill marks a group's nodes as taken by what is on them. Equal spans of several nodes are
// one job or one reservation.
func fill(s *backfill.State, nodes [][]span) {
	var all []span
	for _, list := range nodes {
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(a.by, b.by), cmp.Compare(a.id, b.id))
	})
	for i := 0; i < len(all); {
		x, n := all[i], 0
		for ; i < len(all) && all[i] == x; i++ {
			n++
		}
		if x.by == running && x.start == s.Now {
			s.Running = append(s.Running, backfill.Running{ID: x.id, Nodes: n, Start: x.start, End: x.end})
		} else {
			s.Reserved = append(s.Reserved, backfill.Reserved{ID: int64(len(s.Reserved) + 1), Nodes: n, Start: x.start, End: x.end})
		}
		s.Free.Add(x.start, x.end, -n)
	}
	slices.SortFunc(s.Running, func(a, b backfill.Running) int {
		return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.ID, b.ID))
	})
}

// partitions lists the partitions of each group's nodes.
func (v *View) partitions(look *grid.Look) []map[string]bool {
	group := map[string]int{}
	for i, names := range v.Nodes {
		for _, n := range names {
			group[n] = i
		}
	}
	serves := make([]map[string]bool, len(v.Groups))
	for i := range serves {
		serves[i] = map[string]bool{}
	}
	for i := range look.Nodes {
		g, ok := group[look.Nodes[i].Name]
		if !ok {
			continue
		}
		for _, p := range look.Nodes[i].Partitions {
			serves[g][p] = true
		}
	}
	return serves
}

// servedBy reports whether a job may run in one of some partitions. A job names several with
// commas; one that names none may run anywhere.
func servedBy(names string, partitions map[string]bool) bool {
	if names == "" {
		return true
	}
	for p := range strings.SplitSeq(names, ",") {
		if partitions[p] {
			return true
		}
	}
	return false
}
