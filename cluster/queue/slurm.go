package queue

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/slurm"
)

// Slurm has a queue served by Slurm's own rules instead of Options.Policy, which says how prices plan
// it. Queues, Extend, Estimates and Limits make no sense beside it.
type Slurm struct {
	Config *slurm.Config // of one partition, which has all nodes of the group

	// Assoc returns the place of a user's association, and QOS that of a queue's quality of service;
	// below 0: there is none.
	Assoc func(user int64) int
	QOS   func(queue int) int
}

// twin decides which jobs of a queue start, by Slurm's rules; its group counts nodes. The twin's nodes
// are those of the group: what runs or is reserved has nodes of its own, so as many are free.
type twin struct {
	*slurm.Twin
	opt    *Slurm
	cpus   int           // of each node, rounded down
	places map[int64]int // of jobs that wait or run, by id
	ids    []int64       // by place
	starts []backfill.Start
}

func newTwin(opt *Slurm, now grid.Time) *twin {
	cpus := 0
	for _, n := range opt.Config.CPUs {
		cpus += n
	}
	return &twin{Twin: slurm.Begin(opt.Config, now), opt: opt, cpus: max(cpus/len(opt.Config.CPUs), 1), places: map[int64]int{}}
}

// refuses says why the partition never takes a job.
func (t *twin) refuses(j *grid.LocalJob) (why grid.Reason) {
	if t == nil || t.Accepts(0, j.Nodes, j.Limit()) {
		return why
	}
	p := &t.opt.Config.Partitions[0]
	if most := min(p.MaxNodes, p.Nodes.Count()); j.Nodes > most {
		why = grid.Reason{Code: grid.TooLarge, Detail: fmt.Sprintf("job %d wants %s, partition %s takes %d at most", j.ID, grid.Count(j.Nodes, "node"), p.Name, most)}
	} else {
		why = grid.Reason{Code: grid.TooLong, Detail: fmt.Sprintf("job %d has a limit of %s, partition %s takes %s at most", j.ID, j.Limit().Words(), p.Name, p.MaxTime.Words())}
	}
	return why
}

// submit hands a job over that has arrived.
func (t *twin) submit(j *grid.LocalJob, now grid.Time) {
	limit := j.Limit()
	place := t.Submit(slurm.Job{ID: j.ID, Array: j.ID, Submit: now, User: int(j.User), QOS: t.opt.QOS(j.Queue), Assoc: t.opt.Assoc(j.User), Reservation: -1,
		Nodes: j.Nodes, CPUs: j.Nodes * t.cpus, Limit: limit, Run: min(max(j.Run, 0), limit), Started: grid.Never})
	if place == len(t.ids) {
		t.ids = append(t.ids, 0)
	}
	t.ids[place], t.places[j.ID] = j.ID, place
}

// pass goes on to an instant and returns the jobs that start at it.
func (t *twin) pass(g *backfill.Group, now grid.Time) []backfill.Start {
	t.Until(now)
	t.starts = t.starts[:0]
	for _, place := range t.Started() {
		class := backfill.Waited
		if t.Outcome(place).By == slurm.ByBackfill {
			class = backfill.Backfilled
		}
		s, ok := g.Begin(t.ids[place], class)
		if !ok {
			panic(fmt.Sprintf("cluster/queue: job %d starts at %v by Slurm's rules, but does not wait or its nodes are not free", t.ids[place], now))
		}
		t.starts = append(t.starts, s)
	}
	return t.starts
}

// reserve keeps the nodes of a reservation that the group has accepted.
func (t *twin) reserve(r backfill.Reserved) (why grid.Reason) {
	if !t.Hold(r.ID, 0, r.Start, r.End, r.Nodes) {
		why = grid.Reason{Code: grid.Busy, Detail: fmt.Sprintf("%s free at each instant, but no %d are on all of that time", grid.Count(r.Nodes, "node is", "nodes are"), r.Nodes)}
	}
	return why
}

// sort puts a state's queue into Slurm's order, first the jobs that are ready: the priorities of queues
// are nothing beside it.
func (t *twin) sort(s *backfill.State) {
	rank := make(map[int64]int, len(s.Queue))
	for i, place := range t.Queue() {
		rank[t.ids[place]] = i
	}
	s.Queue = slices.Clone(s.Queue)
	for i := range s.Queue {
		s.Queue[i].Priority = 0
	}
	slices.SortStableFunc(s.Queue, func(a, b backfill.Queued) int { return cmp.Compare(rank[a.ID], rank[b.ID]) })
}
