package admission

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Shares is a Server of time-shared nodes under Libra or LibraRisk. A decision costs at
// most a sum over the tasks of each node. An instant costs the nodes at which something
// happens, and a look at when each of the others divides next.
type Shares struct {
	opt   Options
	now   grid.Time
	nodes []node
	due   []grid.Time          // by node: its next division
	next  grid.Time            // the earliest of due
	jobs  map[int64]*placement // running jobs
	fits  []fit                // of the last decision
	picks []int                // of the last decision
	ended []Event              // of the last Advance
	room  []outlook            // of the last prediction
	spare []*placement         // for reuse
}

// placement is where a job runs.
type placement struct {
	nodes []int
	left  int // number of tasks that have not ended
}

// fit is a node that suits a job, and how full it is.
type fit struct {
	node  int
	total float64
}

func newShares(opt Options, now grid.Time) *Shares {
	s := &Shares{opt: opt, now: now, next: grid.Never, jobs: make(map[int64]*placement)}
	s.nodes = make([]node, len(opt.Nodes))
	s.due = make([]grid.Time, len(opt.Nodes))
	for i, p := range opt.Nodes {
		s.nodes[i] = node{performance: p, bare: opt.OverrunBare, at: now}
		s.due[i] = grid.Never
	}
	return s
}

// Now returns the instant of the last Advance.
func (s *Shares) Now() grid.Time { return s.now }

// Next returns the next instant at which a task ends.
func (s *Shares) Next() grid.Time { return s.next }

// Pass does nothing, as jobs start on arrival.
func (s *Shares) Pass() []Event { return nil }

// Try says which nodes would serve the job, or how many are missing.
func (s *Shares) Try(j Job) Decision {
	if d := impossible(&j, s.now, len(s.nodes)); d.Reason.Refused() {
		return d
	}
	s.picks = s.picks[:0]
	if s.opt.Control == Libra {
		s.bestFit(&j)
	} else {
		s.firstFit(&j)
	}
	if short := j.Nodes - len(s.picks); short > 0 {
		return Decision{Short: short, Reason: grid.Reason{Code: grid.NoShare, Detail: fmt.Sprintf(
			"%d of %s can serve an estimate of %v s within %v s; %d are short",
			len(s.picks), grid.Count(j.Nodes, "node"), j.Estimate, j.Deadline.Sub(s.now), short)}}
	}
	return Decision{Nodes: s.picks}
}

// bestFit picks the nodes of Libra: among those whose shares, including the new one, sum to
// at most 1, the fullest first, ties by number. Sums are compared as computed. For equally
// full nodes that were divided at different instants, the last digit may decide, in the
// same way on every machine.
func (s *Shares) bestFit(j *Job) {
	s.fits = s.fits[:0]
	remaining := float64(j.Deadline - s.now)
	for i := range s.nodes {
		n := &s.nodes[i]
		if len(n.tasks) >= s.opt.Tasks {
			continue
		}
		total := n.shares(s.now)
		if total+share(float64(n.performance.Runtime(j.Estimate)), remaining) <= 1+tolerance {
			s.fits = append(s.fits, fit{i, total})
		}
	}
	if len(s.fits) > j.Nodes {
		slices.SortFunc(s.fits, func(a, b fit) int {
			return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.node, b.node))
		})
		s.fits = s.fits[:j.Nodes]
	}
	for _, f := range s.fits {
		s.picks = append(s.picks, f.node)
	}
}

// firstFit picks the nodes of LibraRisk: the first ones without risk.
func (s *Shares) firstFit(j *Job) {
	remaining := float64(j.Deadline - s.now)
	for i := range s.nodes {
		if len(s.picks) == j.Nodes {
			return
		}
		n := &s.nodes[i]
		if len(n.tasks) < s.opt.Tasks && s.safe(n, float64(n.performance.Runtime(j.Estimate)), remaining) {
			s.picks = append(s.picks, i)
		}
	}
}

// safe reports whether a node is without risk with one more task. While the shares of a
// node sum to at most 1, each task gets at least its share, so shares only fall until the
// next division. If the sum at the last division leaves room, there is room now.
func (s *Shares) safe(n *node, estimate, remaining float64) bool {
	late := !s.opt.RefuseLoneLate
	switch {
	case s.opt.Control == LibraRiskSigma:
		return !n.risky(estimate, remaining, s.now, late, &s.room)
	case len(n.tasks) == 0 && late:
		return true
	}
	need := estimate / remaining
	return n.total+need <= 1+tolerance || n.shares(s.now)+need <= 1+tolerance
}

// Arrive accepts the job, which starts at once, or refuses it.
func (s *Shares) Arrive(j Job, run grid.Duration) Decision {
	checkArrival(s.jobs[j.ID] != nil, j.ID, run)
	d := s.Try(j)
	if d.Reason.Refused() {
		return d
	}
	s.put(j, run, d.Nodes)
	return d
}

// put starts a job on nodes.
func (s *Shares) put(j Job, run grid.Duration, nodes []int) {
	p := s.placement()
	p.nodes, p.left = append(p.nodes[:0], nodes...), len(nodes)
	s.jobs[j.ID] = p
	for _, i := range nodes {
		n := &s.nodes[i]
		n.settle(s.now)
		n.add(task{job: j.ID, deadline: j.Deadline,
			estimate: float64(n.performance.Runtime(j.Estimate)), work: float64(n.performance.Runtime(run))})
		s.due[i] = n.divide()
		s.next = min(s.next, s.due[i])
	}
}

// checkArrival panics if an id is already there, or a job takes no time.
func checkArrival(there bool, id int64, run grid.Duration) {
	if there {
		panic(fmt.Sprintf("admission: job %d is there already", id))
	}
	if run < 1 || run > grid.MaxDuration {
		panic(fmt.Sprintf("admission: job %d runs for %v s", id, run))
	}
}

// placement returns a new placement, or one that is no longer used.
func (s *Shares) placement() *placement {
	if last := len(s.spare) - 1; last >= 0 {
		p := s.spare[last]
		s.spare = s.spare[:last]
		return p
	}
	return &placement{}
}

// forget drops a job that has no tasks left.
func (s *Shares) forget(id int64) {
	s.spare = append(s.spare, s.jobs[id])
	delete(s.jobs, id)
}

// End removes the tasks of a job from their nodes.
func (s *Shares) End(id int64) bool {
	p := s.jobs[id]
	if p == nil {
		return false
	}
	for _, i := range p.nodes {
		n := &s.nodes[i]
		k := slices.IndexFunc(n.tasks, func(t task) bool { return t.job == id })
		if k < 0 {
			continue // its task there has ended
		}
		n.settle(s.now)
		n.tasks = slices.Delete(n.tasks, k, k+1)
		s.due[i] = n.divide()
	}
	s.forget(id)
	s.next = slices.Min(s.due)
	return true
}

// Advance moves the time to now, at most Next, and returns the jobs whose last task ends
// then, by id.
func (s *Shares) Advance(now grid.Time) []Event {
	checkAdvance(s.now, now, s.next)
	s.now, s.ended = now, s.ended[:0]
	if now < s.next {
		return nil
	}
	s.next = grid.Never
	for i, at := range s.due {
		if at == now {
			at = s.step(i)
			s.due[i] = at
		}
		s.next = min(s.next, at)
	}
	slices.SortFunc(s.ended, func(a, b Event) int { return cmp.Compare(a.Job, b.Job) })
	return s.ended
}

// step removes from a node what ends now, and divides the node among the rest.
func (s *Shares) step(i int) grid.Time {
	n := &s.nodes[i]
	kept := n.tasks[:0]
	n.settle(s.now)
	for _, t := range n.tasks {
		if t.end > s.now {
			kept = append(kept, t)
			continue
		}
		if p := s.jobs[t.job]; p.left > 1 {
			p.left--
		} else {
			s.forget(t.job)
			s.ended = append(s.ended, Event{Job: t.job, Kind: Ended})
		}
	}
	n.tasks = kept
	return n.divide()
}

// Room returns the largest share of a node that one more task may need now: below 0 if the
// node is full, infinite if even a task that will be late is accepted.
func (s *Shares) Room(node int) float64 {
	n := &s.nodes[node]
	switch {
	case len(n.tasks) >= s.opt.Tasks:
		return -1
	case len(n.tasks) == 0 && s.opt.Control != Libra && !s.opt.RefuseLoneLate:
		return math.Inf(1)
	}
	return 1 + tolerance - n.shares(s.now)
}

// Audit checks that tasks and jobs agree, that every node with work is busy and none beyond
// its capacity, and that nothing is overdue.
func (s *Shares) Audit() error {
	counts := make(map[int64]int)
	for i := range s.nodes {
		n := &s.nodes[i]
		sum := 0.0
		for _, t := range n.tasks {
			counts[t.job]++
			sum += t.rate
			if t.end <= s.now {
				return fmt.Errorf("a task of job %d should have left node %d at %v, now is %v", t.job, i, t.end, s.now)
			}
		}
		if len(n.tasks) > 0 && (sum < 1-tolerance || sum > 1+tolerance) {
			return fmt.Errorf("node %d works at a rate of %v", i, sum)
		}
		if s.opt.Control == Libra && n.shares(s.now) > 1+float64(10*tolerance) {
			return fmt.Errorf("node %d has shares of %v in sum", i, n.shares(s.now))
		}
	}
	if len(counts) != len(s.jobs) {
		return fmt.Errorf("nodes have tasks of %s, %d run", grid.Count(len(counts), "job"), len(s.jobs))
	}
	for id, p := range s.jobs {
		if counts[id] != p.left {
			return fmt.Errorf("job %d has %d tasks, %d are left", id, counts[id], p.left)
		}
	}
	return nil
}
