package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// divided follows the tasks on time-shared nodes by the facts of their cluster alone, and
// checks I1 there: what the deadlines of a node's tasks need of it, by the estimates, never
// adds up to more than the node. It is a part of the mirror and shares no code with package
// admission. A node divides itself among its tasks in proportion to what each needs, whenever
// one comes or goes. In these worlds nothing takes longer than its estimate.
type divided struct {
	cluster agents.ID
	speed   map[string]grid.Performance // by group
	nodes   map[nodeOf]*dividedNode
	on      map[int64][]nodeOf // by number of the work
	jobs    map[jobOf]int64    // the numbers of local jobs
	legs    map[grid.LegID]int64
	log     []dated
	blind   bool // the instants of some facts are not known
}

type (
	// nodeOf is a node of a group.
	nodeOf struct {
		group string
		node  int
	}
	// jobOf is a local job of a group.
	jobOf struct {
		group string
		job   int64
	}
	// dated is a fact and its instant.
	dated struct {
		at   grid.Time
		fact agents.Fact
	}
)

// dividedNode is a node and its tasks, as of an instant.
type dividedNode struct {
	at    grid.Time
	tasks []dividedTask
}

// dividedTask is a task: what is left of its estimate and of its true work, in milliseconds of
// the whole node, and the part of the node that it has.
type dividedTask struct {
	number         int64
	deadline       grid.Time
	estimate, work float64
	rate           float64
}

func newDivided(cluster agents.ID, groups []grid.Group) *divided {
	d := &divided{cluster: cluster, speed: map[string]grid.Performance{}}
	for _, g := range groups {
		d.speed[g.Name] = g.Performance
	}
	d.clear()
	return d
}

func (d *divided) clear() {
	d.nodes, d.on, d.jobs, d.legs = map[nodeOf]*dividedNode{}, map[int64][]nodeOf{}, map[jobOf]int64{}, map[grid.LegID]int64{}
}

// cut forgets all but the first n facts.
func (d *divided) cut(n int) {
	d.clear()
	d.log = d.log[:n]
	for _, x := range d.log {
		_ = d.apply(x.at, x.fact) // it was checked when it came
	}
}

// take takes in a fact that was recorded at an instant.
func (d *divided) take(at grid.Time, f agents.Fact) error {
	d.log = append(d.log, dated{at, f})
	if err := d.apply(at, f); err != nil && !d.blind {
		return err
	}
	return nil
}

func (d *divided) apply(at grid.Time, f agents.Fact) error {
	switch f := f.(type) {
	case facts.TasksPlaced:
		return d.place(cmp.Or(f.When, at), &f)
	case facts.JobEnded:
		d.remove(cmp.Or(f.Ended, at), d.jobs[jobOf{f.Group, f.Job}])
	case facts.LockMoved:
		if f.State == facts.LockReleased || f.State == facts.LockEnded || f.State == facts.LockLost {
			d.remove(cmp.Or(f.When, at), d.legs[f.Leg])
		}
	}
	return nil
}

// place puts tasks on nodes, and checks those.
func (d *divided) place(at grid.Time, f *facts.TasksPlaced) error {
	estimate := f.Job.Estimate
	if f.Leg == (grid.LegID{}) {
		d.jobs[jobOf{f.Group, f.Job.ID}] = f.Number
	} else {
		d.legs[f.Leg], estimate = f.Number, f.What.Work
	}
	speed := d.speed[f.Group]
	for _, i := range f.Nodes {
		k := nodeOf{f.Group, i}
		n := d.nodes[k]
		if n == nil {
			n = &dividedNode{}
			d.nodes[k] = n
		}
		n.reach(at)
		n.tasks = append(n.tasks, dividedTask{number: f.Number, deadline: f.Deadline,
			estimate: float64(speed.Runtime(estimate)), work: float64(speed.Runtime(f.Run))})
		d.on[f.Number] = append(d.on[f.Number], k)
		if needs := n.divide(); needs > 1+hair {
			return fmt.Errorf("I1: at %v the deadlines of node %d of group %s of %s need %.9f of it", at, i, f.Group, d.cluster, needs)
		}
	}
	return nil
}

// remove takes tasks off their nodes.
func (d *divided) remove(at grid.Time, number int64) {
	for _, k := range d.on[number] {
		n := d.nodes[k]
		n.reach(at)
		there := len(n.tasks)
		n.tasks = slices.DeleteFunc(n.tasks, func(t dividedTask) bool { return t.number == number })
		if len(n.tasks) < there { // otherwise it had ended here before it did elsewhere
			n.divide()
		}
	}
	delete(d.on, number)
}

// hair is by how much sums may exceed one, for they are rounded.
const hair = 1e-6

// reach lets a node work up to an instant, and tasks end on the way.
func (n *dividedNode) reach(to grid.Time) {
	for {
		next := to
		for _, t := range n.tasks {
			if t.rate > 0 {
				next = min(next, n.at+max(1, grid.Time(math.Ceil(t.work/t.rate-hair))))
			}
		}
		for i := range n.tasks {
			t := &n.tasks[i]
			done := t.rate * float64(max(next, n.at)-n.at)
			t.estimate, t.work = max(t.estimate-done, 0), max(t.work-done, 0)
		}
		n.at = max(next, n.at)
		ended := len(n.tasks)
		n.tasks = slices.DeleteFunc(n.tasks, func(t dividedTask) bool { return t.work <= hair })
		if len(n.tasks) < ended {
			n.divide()
		}
		if next >= to {
			return
		}
	}
}

// divide divides a node among its tasks, and returns what their deadlines need of it.
func (n *dividedNode) divide() (needs float64) {
	for i := range n.tasks {
		t := &n.tasks[i]
		if t.rate = 0; t.estimate > hair {
			t.rate = t.estimate / float64(t.deadline-n.at)
		}
		needs += t.rate
	}
	for i := range n.tasks {
		if needs > 0 {
			n.tasks[i].rate /= needs
		}
	}
	return needs
}
