package slurmdump

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/cluster/slurm"
	"github.com/bourse-grid/bourse/grid"
	twin "github.com/bourse-grid/bourse/policy/slurm"
)

// Queue is the queue of a live cluster as a snapshot shows it, for the twin.
type Queue struct {
	*Cluster
	Now  grid.Time
	Jobs []twin.Job         // those that run and that wait
	Of   []*grid.ManagedJob // by place in Jobs
}

// OpenLook makes the queue of a snapshot that keeps what Slurm goes by (grid.ManagerRules).
// Nodes that are not up are in no partition; a node that is busy with something that the
// snapshot does not show is reserved for a while. A job that cannot start while its reason
// lasts is held, except for limits of QOS, users and accounts where the snapshot has them: the
// twin knows when these are free.
func OpenLook(look *grid.Look) (*Queue, error) {
	const name = "snapshot"
	if look.Rules == nil {
		return nil, fmt.Errorf("%s: does not say what Slurm goes by; take it again: bourse snapshot --slurm", name)
	}
	r := reader{read: func(file string) (string, error) { return "", fmt.Errorf("%s: is not in the snapshot", file) }}
	var nodes strings.Builder
	for i := range look.Nodes {
		fmt.Fprintf(&nodes, "NodeName=%s CPUs=%d\n", look.Nodes[i].Name, max(look.Nodes[i].CPUs, 1))
	}
	for _, text := range []string{look.Rules.Config, nodes.String(), look.Rules.Partitions} {
		if err := r.take(name, text, 0); err != nil {
			return nil, err
		}
	}
	c, err := configured(r.lines, name)
	if err != nil {
		return nil, err
	}
	if look.Rules.QOS == "" {
		c.QOSLimits = false
	} else if err := c.readQOS(name+", QOS", look.Rules.QOS); err != nil {
		return nil, err
	}
	if look.Rules.Assocs != "" {
		if err := c.readAssoc(name+", associations", look.Rules.Assocs); err != nil {
			return nil, err
		}
	}
	q := &Queue{Cluster: c, Now: look.At}
	q.takeLook(look)
	q.takeJobs(look)
	return q, nil
}

// unseen is how long a node is taken to be busy with what a snapshot does not show.
const unseen = 10 * grid.Minute

// takeLook takes the state of nodes, and reservations.
func (q *Queue) takeLook(look *grid.Look) {
	down, hidden := twin.NewSet(len(q.Nodes)), twin.NewSet(len(q.Nodes))
	busy := map[string]bool{}
	for i := range look.Jobs {
		if j := &look.Jobs[i]; j.State == grid.ManagedRunning {
			for _, n := range j.Nodes {
				busy[n] = true
			}
		}
	}
	for i := range look.Nodes {
		switch n := &look.Nodes[i]; {
		case n.State != grid.NodeUp:
			down.Add(q.node[n.Name])
		case n.Busy > 0 && !busy[n.Name]:
			hidden.Add(q.node[n.Name])
		}
	}
	q.Partitions = slices.Clone(q.Partitions)
	for i := range q.Partitions {
		up := twin.NewSet(len(q.Nodes))
		q.Partitions[i].Nodes.Each(func(n int) {
			if !down.Has(n) {
				up.Add(n)
			}
		})
		q.Partitions[i].Nodes = up
	}
	if hidden.Count() > 0 {
		q.Reservations = append(q.Reservations, twin.Reservation{Start: q.Now, End: q.Now.Add(unseen), Nodes: hidden})
	}
	for i := range look.Reservations {
		r := &look.Reservations[i]
		if r.End <= q.Now || r.End <= r.Start || len(q.Reservations) >= maxReservations {
			continue
		}
		q.reservation[r.Name] = len(q.Reservations)
		q.Reservations = append(q.Reservations, twin.Reservation{Name: r.Name, Start: r.Start, End: r.End, Nodes: q.named(r.Nodes)})
	}
}

// named is the set of nodes with these names, as far as the cluster has them.
func (q *Queue) named(names []string) twin.Set {
	set := twin.NewSet(len(q.Nodes))
	for _, n := range names {
		if i, ok := q.node[n]; ok {
			set.Add(i)
		}
	}
	return set
}

// takeJobs takes the jobs that run and that wait.
func (q *Queue) takeJobs(look *grid.Look) {
	places, users := map[string][]int{}, map[string]int{}
	stopped := map[string]bool{}
	for i := range look.Partitions {
		stopped[look.Partitions[i].Name] = !look.Partitions[i].Starts()
	}
	for i := range look.Jobs {
		m := &look.Jobs[i]
		j, ok := q.job(m, users, stopped)
		if !ok {
			continue
		}
		if len(q.Jobs) >= maxJobs {
			break
		}
		places[m.Number] = append(places[m.Number], len(q.Jobs))
		if array, _, task := strings.Cut(m.Number, "_"); task {
			places[array+"_*"] = append(places[array+"_*"], len(q.Jobs))
		}
		q.Jobs, q.Of = append(q.Jobs, j), append(q.Of, m)
	}
	for i := range q.Jobs {
		j, m := &q.Jobs[i], q.Of[i]
		if j.Started < grid.Never {
			continue
		}
		missing := 0
		for _, number := range m.After {
			if len(places[number]) == 0 {
				missing++
			}
			for _, k := range places[number] {
				if k != i {
					j.After = append(j.After, k)
				}
			}
		}
		j.Any = m.Any
		j.Held = j.Held || missing > 0 && (!m.Any || missing == len(m.After)) // nobody knows when those end
	}
}

// job is one job of the snapshot; false: it neither runs nor waits, or its partition is not known.
func (q *Queue) job(m *grid.ManagedJob, users map[string]int, stopped map[string]bool) (twin.Job, bool) {
	runs := m.State == grid.ManagedRunning || m.State == grid.ManagedUnknown && len(m.Nodes) > 0
	if !runs && m.State != grid.ManagedPending && m.State != grid.ManagedHeld {
		return twin.Job{}, false
	}
	of, _, _ := strings.Cut(cmp.Or(m.Partition, q.defaultPartition), ",")
	p, known := q.partition[of]
	number, array, task, _ := jobNumber(m.Number)
	if !known || number < 0 {
		return twin.Job{}, false
	}
	part := &q.Partitions[p]
	j := twin.Job{
		ID: number, Array: array, Task: task, Throttle: m.Throttle, Submit: min(m.Submit, q.Now), Begin: m.Begin, Eligible: m.Eligible,
		Partition: p, QOS: -1, Assoc: -1, Reservation: -1, User: place(users, m.User), Nodes: max(m.Count, 1), Limit: m.Limit, Priority: m.Priority, Started: grid.Never,
	}
	if j.Limit <= 0 {
		j.Limit = part.Limit()
	}
	j.Run = j.Limit
	if j.CPUs = m.CPUs; j.CPUs <= 0 {
		j.CPUs = j.Nodes
	}
	if i, ok := q.qos[strings.ToLower(m.QOS)]; ok {
		j.QOS = i
	}
	for _, p := range [...]string{of, ""} {
		if i, ok := q.assoc[member{m.Account, m.User, p}]; ok {
			j.Assoc = i
			break
		}
	}
	if i, ok := q.reservation[m.Reservation]; ok {
		j.Reservation = i
	}
	if runs {
		j.Started, j.On = min(m.Start, q.Now), q.named(m.Nodes)
		return j, true
	}
	if slurm.Elsewhere(m) { // any other nodes will do, and the twin knows when
		j.Begin, j.Held = 0, stopped[of] || m.Reservation != "" && j.Reservation < 0
		return j, true
	}
	limits := q.Limits && (len(q.Assocs) > 0 || q.QOSLimits)
	j.Held = m.State == grid.ManagedHeld && !(limits && slurm.AtLimit(m)) || stopped[of] || m.Reservation != "" && j.Reservation < 0
	return j, true
}

// Partition is the place of a partition in the configuration.
func (q *Queue) Partition(name string) (int, error) {
	p, ok := q.partition[name]
	if !ok {
		return 0, fmt.Errorf("the configuration has no partition %s", name)
	}
	return p, nil
}

// Newcomer returns the queue's jobs and, at the end, one that is submitted now to a partition,
// with a priority, and without a QOS or an account: their limits do not count for it.
func (q *Queue) Newcomer(partition string, nodes int, limit grid.Duration, priority int64) ([]twin.Job, error) {
	p, err := q.Partition(partition)
	if err != nil {
		return nil, err
	}
	number := int64(math.MaxInt32) // behind all others that are alike
	j := twin.Job{ID: number, Array: number, Submit: q.Now, Eligible: q.Now, Started: grid.Never, Partition: p, QOS: -1, Assoc: -1, Reservation: -1, User: -1,
		Nodes: nodes, CPUs: nodes, Limit: limit, Run: limit, Priority: priority}
	return append(q.Jobs[:len(q.Jobs):len(q.Jobs)], j), nil
}
