package local

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/cluster/local/supervisor"
	"github.com/bourse-grid/bourse/grid"
)

// look shows the nodes and, as jobs, the work that runs, has ended, or was lost because its
// supervisor was killed or the machine restarted.
func (d *Driver) look(at grid.Time) (*grid.Look, error) {
	if _, err := os.Stat(d.cfg.Folder); err != nil {
		return nil, err
	}
	l := &grid.Look{At: at, Source: "processes of this machine"}
	busy := map[string]int{}
	fights := map[string]time.Time{}
	known := d.known
	d.known = make(map[string]*shown, len(known))
	alive := lives{}
	for _, name := range d.names() {
		job, left, err := d.recall(known, name).job(d.work(name), d.cfg.Site, alive)
		if err != nil {
			return nil, err
		}
		if job == nil {
			continue
		}
		l.Jobs = append(l.Jobs, *job)
		if left {
			fights[name] = d.warn(name, job)
		}
		if job.State == grid.ManagedRunning {
			for _, n := range job.Nodes {
				busy[n] = 1
			}
		}
	}
	for _, name := range d.aside.list(time.Now()) {
		if job, _, err := d.recall(known, name).job(work(d.ended(name)), d.cfg.Site, alive); err == nil && job != nil {
			l.Jobs = append(l.Jobs, *job)
		}
	}
	d.warned = fights
	d.fights.Store(int64(len(fights)))
	slices.SortStableFunc(l.Jobs, func(a, b grid.ManagedJob) int { return ranks[a.State] - ranks[b.State] })
	for _, n := range slices.Sorted(slices.Values(*d.nodes.Load())) {
		l.Nodes = append(l.Nodes, grid.ManagedNode{Name: n, State: grid.NodeUp, CPUs: 1, Busy: busy[n]})
	}
	return l, nil
}

// warnEvery is how often an operator is told of the same work that cannot be killed.
const warnEvery = 10 * time.Minute

// warn tells the operator of work that cannot be killed, and returns when that was said.
func (d *Driver) warn(name string, j *grid.ManagedJob) time.Time {
	if at, ok := d.warned[name]; ok && time.Since(at) < warnEvery {
		return at
	}
	if d.cfg.Warn != nil {
		d.cfg.Warn(fmt.Sprintf("work %s of account %s on %s is not over: %s. Its nodes are not free until it is. See bourse supervise, process %s, and what it has started; "+
			"a process that no signal ends hangs in the kernel, as a rule on a file system", name, j.User, strings.Join(j.Nodes, ", "), j.Why, j.Number))
	}
	return time.Now()
}

// Unkillable is how many pieces of work the last look has shown that run on though they
// are killed again and again.
func (d *Driver) Unkillable() int { return int(d.fights.Load()) }

// ranks puts running work first.
var ranks = map[grid.ManagedState]int{grid.ManagedRunning: 0, grid.ManagedEnded: 1, grid.ManagedLost: 1}

// shown is what earlier looks have read of a piece of work and can never change: its claim, its
// order and, once it is over, all of it. Without that a look would read the files of all work of
// the last ten minutes, and there is a look whenever work begins or ends.
type shown struct {
	claim *supervisor.Claim
	order *order
	over  *grid.ManagedJob
}

// recall is what is known of a piece of work before a look. What no look shows any more is
// forgotten.
func (d *Driver) recall(before map[string]*shown, name string) *shown {
	x := before[name]
	if x == nil {
		x = &shown{}
	}
	d.known[name] = x
	return x
}

// job is how a look of a site shows a piece of work; nil if it does not. left: it runs on though
// it is killed again and again.
func (x *shown) job(w work, site string, alive lives) (j *grid.ManagedJob, left bool, err error) {
	if x.over != nil {
		again := *x.over
		return &again, false, nil
	}
	s := w.stateOf(x.claim, alive)
	if s.err != nil {
		return nil, false, s.err
	}
	x.claim = s.claim
	if s.claim == nil || !s.runs && s.result == nil || s.result != nil && s.result.Failed.Code != "" {
		return nil, false, nil // it has not begun
	}
	if x.order == nil {
		if x.order, err = supervisor.Read[order](w.folder(), supervisor.OrderFile); x.order == nil {
			return nil, false, err // it was just put aside
		}
		x.order.Work, x.order.Run = grid.Handover{}, nil // which no look shows
	}
	o := x.order
	if site != "" && o.Site != site {
		return nil, false, nil
	}
	j = &grid.ManagedJob{Number: strconv.Itoa(s.claim.Process.PID), Name: o.Name, User: o.Account.Name, State: grid.ManagedRunning,
		Count: len(o.Nodes), Nodes: o.Nodes, Exclusive: true, Limit: grid.Time(o.End).Sub(o.Start), Submit: o.At, Start: grid.Time(s.claim.At), End: grid.Time(o.End)}
	if r := s.result; r != nil {
		j.State, j.Why, j.Start, j.End, j.Exit, j.Signal = grid.ManagedEnded, r.Why, grid.Time(r.Begin), grid.Time(r.End), r.Exit, r.Signal
		if r.Lost != "" {
			j.State, j.Why = grid.ManagedLost, r.Lost
		}
		over := *j
		x.over = &over
	}
	if s.left != nil {
		j.Why = fmt.Sprintf("it is killed again and again since %v, and %d of its processes are there", grid.Time(s.left.Since), s.left.Processes)
	}
	return j, s.left != nil, nil
}
