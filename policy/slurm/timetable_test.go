package slurm

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// planned is a plan as the naive twin keeps it: a list.
type planned struct {
	from, to grid.Time
	nodes    Set
}

// naiveFind is timetable.find as the rule is written: each edge in turn, each node alone.
func naiveFind(t *Twin, p *timetable, plans []planned, j *Job) (grid.Time, Set) {
	last := t.now.Add(t.conf.Scheduler.Window)
	edges := []grid.Time{t.now}
	for _, x := range plans {
		edges = append(edges, x.from, x.to)
	}
	for _, r := range t.conf.Reservations {
		edges = append(edges, r.Start, r.End)
	}
	slices.Sort(edges)
	edges = slices.Compact(slices.DeleteFunc(edges, func(e grid.Time) bool { return e < t.now }))
	usable := func(at grid.Time) []int {
		var list []int
		for n := range t.conf.CPUs {
			free := t.conf.Partitions[j.Partition].Nodes.Has(n)
			for _, x := range plans {
				free = free && (!x.nodes.Has(n) || x.from >= at.Add(j.Limit) || x.to <= at)
			}
			for _, r := range t.conf.Reservations {
				free = free && (!r.Nodes.Has(n) || r.Start >= at.Add(j.Limit) || r.End <= at)
			}
			if free {
				list = append(list, n)
			}
		}
		return list
	}
	for at := t.now; at <= last; {
		next := grid.Never
		if k := slices.IndexFunc(edges, func(e grid.Time) bool { return e > at }); k >= 0 {
			next = edges[k]
		}
		avail := usable(at)
		start, free := naiveSoonest(t, avail, j.Nodes)
		if start = max(start, at); len(avail) < j.Nodes || start > next || start >= grid.Never {
			if at = next; next >= grid.Never {
				break
			}
			continue
		}
		if start > last {
			break
		}
		on := naivePick(free, j.Nodes)
		if start > at && slices.ContainsFunc(on, func(n int) bool { return !slices.Contains(usable(start), n) }) {
			at = start
			continue
		}
		return start, setOf(len(t.conf.CPUs), on...)
	}
	return grid.Never, nil
}

// naiveSoonest removes running jobs group by group.
func naiveSoonest(t *Twin, avail []int, n int) (grid.Time, []int) {
	var free []int
	ends := map[int]grid.Time{}
	for _, node := range avail {
		if t.idle.Has(node) {
			free = append(free, node)
		} else {
			ends[node] = t.plannedEnd(t.holder[node])
		}
	}
	if len(free) >= n {
		return t.now, free
	}
	var order []grid.Time
	for _, e := range ends {
		order = append(order, e)
	}
	slices.Sort(order)
	order = slices.Compact(order)
	var base grid.Time
	window := 30 * grid.Second
	for k := 0; k < len(order); {
		if k == 0 {
			base = order[0] - order[0]%30_000 + 30_000
		}
		for order[k] > base.Add(window) {
			if l := t.conf.Scheduler.WindowLinear; l > 0 {
				window += l
			} else {
				window *= 2
			}
		}
		for ; k < len(order) && order[k] <= base.Add(window); k++ {
			for _, node := range avail {
				if ends[node] == order[k] {
					free = append(free, node)
				}
			}
		}
		if slices.Sort(free); len(free) >= n {
			return order[k-1], free
		}
	}
	return grid.Never, nil
}

func TestFind_Naive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		nodes := rapid.IntRange(1, 12).Draw(rt, "nodes")
		seconds := func(low, high int, name string) grid.Duration {
			return grid.Duration(rapid.IntRange(low, high).Draw(rt, name)) * grid.Second
		}
		some := func(name string) Set {
			return setOf(nodes, rapid.SliceOfNDistinct(rapid.IntRange(0, nodes-1), 1, nodes, rapid.ID).Draw(rt, name)...)
		}
		c := Defaults()
		c.CPUs = make([]int, nodes)
		c.Scheduler.Resolution = seconds(1, 60, "resolution")
		c.Scheduler.Window = seconds(60, 2000, "window")
		c.Scheduler.WindowLinear = seconds(0, 40, "linear")
		all := NewSet(nodes)
		all.addRange(0, nodes)
		c.Partitions = []Partition{{Nodes: all}, {Nodes: some("partition")}}
		if rapid.Bool().Draw(rt, "reserved") {
			from := grid.Time(seconds(0, 500, "from"))
			c.Reservations = []Reservation{{Start: from, End: from.Add(seconds(1, 300, "for")), Nodes: some("reservation")}}
		}
		tw := New(&c, nil, Options{})
		tw.now = grid.Time(seconds(100, 200, "now"))
		tw.conf.KillWait = 3 * grid.Second
		for range rapid.IntRange(0, 6).Draw(rt, "running") {
			on := some("on")
			on.and(tw.idle)
			if on.Count() == 0 {
				continue
			}
			i := len(tw.jobs)
			tw.jobs = append(tw.jobs, Job{Limit: seconds(1, 600, "its limit")})
			tw.state = append(tw.state, state{phase: running, start: tw.now - grid.Time(seconds(0, 90, "ago")), on: on})
			tw.running = append(tw.running, i)
			tw.idle.without(on)
			on.Each(func(n int) { tw.holder[n] = i })
		}
		p := &tw.plan
		p.begin(tw)
		var plans []planned
		for range rapid.IntRange(1, 8).Draw(rt, "jobs") {
			part := rapid.IntRange(0, 1).Draw(rt, "in")
			j := Job{Reservation: -1, Partition: part, Limit: seconds(1, 600, "limit"), Nodes: rapid.IntRange(1, c.Partitions[part].Nodes.Count()).Draw(rt, "wide")}
			at, on := p.find(&j)
			wantAt, want := naiveFind(tw, p, plans, &j)
			if at != wantAt || !slices.Equal(nodesIn(on), nodesIn(want)) {
				rt.Fatalf("job of %d nodes for %v in %d: %v on %v, want %v on %v", j.Nodes, j.Limit, part, at, nodesIn(on), wantAt, nodesIn(want))
			}
			if at >= grid.Never || at == tw.now {
				continue
			}
			step := grid.Time(c.Scheduler.Resolution)
			from, to := at-at%step, at.Add(j.Limit)-at.Add(j.Limit)%step
			if to <= from {
				to = from + step
			}
			plans = append(plans, planned{from, to, on})
			p.keep(on, at, at.Add(j.Limit))
		}
	})
}
