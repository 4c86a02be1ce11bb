// Package share is the simulated cluster of a site that takes work with deadlines instead
// of reservations. Its nodes are time-shared (Libra, LibraRisk), or serve the work that
// must end first (EDF), by policy/admission. It knows no slots. A leg gets a share at once
// or not at all, and works from then on until it is done, released or, under EDF, dropped.
package share

import (
	"fmt"
	"math"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/admission"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/estimates"
)

// Backend is a simulated cluster of time-shared nodes. Each group admits work by itself.
//
// Within one instant ends come first, then the arrivals of local jobs, then the messages of
// its site. Under EDF, whatever can start does so after each of these.
type Backend struct {
	groups  []grid.Group
	options Options
	work    Work

	host       cluster.Host
	durable    bool               // a restart must recognise local jobs by their names
	servers    []admission.Server // by group
	feeds      []feed             // of local jobs still to come, by group
	jobs       map[int64]*job
	legs       map[grid.LegID]*leg
	order      []*leg                 // by number; ended ones stay until they are half of the list
	number     int64                  // of the last job or leg
	version    uint64                 // raised by every change
	fed        []cluster.Mark         // by group
	kept       []deadlines            // by group
	predictors []*estimates.Predictor // by group
	now        grid.Time              // of the present message; before the first one, the instant up to which the nodes have run
	unrecorded []overdue              // work that has ended, as computed, and is not yet on record
	gone       []int64                // work whose nodes no longer exist
}

// Options say how a group serves.
type Options struct {
	Control        admission.Control
	RefuseLoneLate bool // see admission.Options
	OverrunBare    bool // see admission.Options
	Limit          int  // EDF: jobs that wait in a group; more are refused
	Estimates      estimates.Rule
}

// Job is a local job that should end by a deadline. Its run time and its estimate are those
// on a node of performance 1 of its own.
type Job struct {
	grid.LocalJob
	Deadline grid.Time
}

// planned is the run time that the admission uses: the estimate, or a prediction.
func (j *Job) planned() grid.Duration {
	if j.Predicted > 0 {
		return j.Planned()
	}
	return j.Estimate
}

// Work returns the local jobs of a group in order of submission, those submitted at after
// or later. The work's own clock begins at begun. The same arguments give the same jobs in
// every life.
type Work func(group int, begun, after grid.Time) func() (Job, bool)

// Jobs is a feed of a list.
func Jobs(list []Job) func() (Job, bool) {
	return func() (j Job, ok bool) {
		if len(list) == 0 {
			return j, false
		}
		j, list = list[0], list[1:]
		return j, true
	}
}

// feed hands out local jobs in order of submission.
type feed struct {
	head Job  // the next one, if more
	more bool // there is a next one
	next func() (Job, bool)
}

func (f *feed) pull() { f.head, f.more = f.next() }

// deadlines counts what became of the deadlines of admitted work, legs and local jobs
// together.
type deadlines struct{ kept, missed int }

// job is a local job that waits or runs.
type job struct {
	Job
	group int
	start grid.Time // 0: it waits
}

// leg is the work of a leg.
type leg struct {
	id     grid.LegID
	number int64
	group  int
	what   grid.Leg
	run    grid.Duration // what it really takes
	began  bool          // it has begun to work
	over   bool          // it no longer works, or never will
}

// New returns the backend of groups. admission.New must accept the options. Without work
// there are no local jobs.
func New(groups []grid.Group, options Options, work Work) *Backend {
	b := &Backend{groups: groups, options: options, work: work, version: 1}
	b.clear()
	return b
}

// clear forgets all work, waiting, running or over.
func (b *Backend) clear() {
	b.servers, b.order, b.number, b.unrecorded, b.gone, b.predictors = nil, nil, 0, nil, nil, nil
	b.jobs, b.legs = map[int64]*job{}, map[grid.LegID]*leg{}
	b.fed, b.kept = make([]cluster.Mark, len(b.groups)), make([]deadlines, len(b.groups))
	for _, g := range b.groups {
		s, err := admission.New(admission.Options{Control: b.options.Control, RefuseLoneLate: b.options.RefuseLoneLate,
			OverrunBare: b.options.OverrunBare, Queue: b.options.Limit,
			Nodes: slices.Repeat([]grid.Performance{g.Performance}, g.Nodes)}, 0)
		if err != nil {
			panic(fmt.Sprintf("cluster/share: group %s of %s: %v", g.Name, g.Site, err))
		}
		b.servers = append(b.servers, s)
		b.predictors = append(b.predictors, estimates.New(b.options.Estimates))
	}
}

// Reach does, in order, what is due without a message up to now.
func (b *Backend) Reach(now grid.Time, _ bool) {
	b.now = now
	for t := b.Next(); t <= now; t = b.Next() {
		b.instant(t)
	}
	for _, s := range b.servers {
		s.Advance(now)
	}
}

// Next is the next instant at which something is due without a message, or Never.
func (b *Backend) Next() grid.Time {
	next := b.due()
	for i := range b.feeds {
		if b.feeds[i].more {
			next = min(next, b.feeds[i].head.Submit)
		}
	}
	return next
}

// due is when the next work ends.
func (b *Backend) due() grid.Time {
	next := grid.Never
	for _, s := range b.servers {
		next = min(next, s.Next())
	}
	return next
}

// instant does what is due at an instant: ends, arrivals, starts.
func (b *Backend) instant(now grid.Time) {
	b.version++
	for i, s := range b.servers {
		for _, e := range slices.Clone(s.Advance(now)) {
			b.happened(now, e)
		}
		for f := &b.feeds[i]; f.more && f.head.Submit <= now; {
			j := f.head
			f.pull()
			b.arrive(now, i, j)
		}
	}
	b.Settle(now)
}

// Settle starts or drops the jobs that wait, as EDF does.
func (b *Backend) Settle(now grid.Time) {
	for i, s := range b.servers {
		for _, e := range slices.Clone(s.Pass()) {
			b.version++
			if e.Kind == admission.Started {
				b.started(now, i, e.Job)
				continue
			}
			b.happened(now, e)
		}
	}
}

// Elsewhere returns nothing: there are no other starts.
func (b *Backend) Elsewhere(grid.Time, agents.ClusterHold) ([]grid.Time, []agents.LegShift) {
	return nil, nil
}

// Hear knows no messages but the site's.
func (b *Backend) Hear(grid.Time, agents.ID, agents.Message) bool { return false }

// Show shows how much room each node has for one more task.
func (b *Backend) Show(have uint64) agents.Snapshot {
	a := agents.Snapshot{Version: b.version}
	if have != b.version {
		a.States, a.Room = make([]backfill.State, len(b.groups)), make([][]float64, len(b.groups))
		for i, g := range b.groups {
			a.States[i] = backfill.State{Now: b.now, Nodes: g.Nodes, Free: grid.NewProfile(b.now, 0)}
			a.Room[i] = room(b.servers[i], g.Nodes)
		}
	}
	return a
}

// room is the largest share that one more task may need, node by node. Under EDF there is no
// bound, because jobs wait.
func room(s admission.Server, nodes int) []float64 {
	list := make([]float64, nodes)
	shares, ok := s.(*admission.Shares)
	for i := range list {
		if list[i] = math.Inf(1); ok {
			list[i] = shares.Room(i)
		}
	}
	return list
}

// Audit checks that no node works beyond its capacity, and under Libra that the deadlines
// need no more of it than it has.
func (b *Backend) Audit() error {
	for i, s := range b.servers {
		if err := s.Audit(); err != nil {
			return fmt.Errorf("group %s: %w", b.groups[i].Name, err)
		}
	}
	return nil
}

// group is the number of a group, below 0 if there is no longer one of that name.
func (b *Backend) group(name string) int {
	return slices.IndexFunc(b.groups, func(g grid.Group) bool { return g.Name == name })
}
