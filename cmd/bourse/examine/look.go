package examine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/cluster/slurm"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/process/failure"
)

// lookFlags say which cluster to look at, and which of its nodes.
type lookFlags struct {
	slurm                  bool
	conf, partition, group string
	folder                 string       // folder of Slurm's commands; "": on the PATH
	each                   grid.Portion // only nodes that have so much
}

// addSource adds the flags that say which cluster to look at.
func (l *lookFlags) addSource(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&l.slurm, "slurm", false, "look at this machine's Slurm cluster with Slurm's commands; needs no rights")
	flags.AddFlag(cmd, &l.conf, flags.AsFile, "conf", "", "its slurm.conf, with --slurm (default: the one that Slurm's commands find)")
}

// add adds all flags: which cluster, and which of its nodes.
func (l *lookFlags) add(cmd *cobra.Command) {
	l.addSource(cmd)
	flags.AddFlag(cmd, &l.partition, flags.AsName, "partition", "", "the partition (default: the only one)")
}

// check returns an error if the flags contradict each other.
func (l *lookFlags) check(files int) error {
	switch {
	case l.conf != "" && !l.slurm:
		return errors.New("--conf needs --slurm")
	case l.slurm && files > 0:
		return errors.New("--slurm looks at a live cluster and takes no file; leave one of them out")
	}
	return nil
}

// commands returns the Slurm commands to use.
func (l *lookFlags) commands() slurm.Commands { return slurm.Commands{Conf: l.conf, Folder: l.folder} }

// look looks at the cluster.
func (l *lookFlags) look(ctx context.Context) (*grid.Look, error) {
	if l.conf != "" {
		if _, err := os.Stat(l.conf); err != nil {
			return nil, fmt.Errorf("--conf: %w", err)
		}
	}
	look, err := slurm.Look(ctx, l.commands())
	if err != nil {
		return nil, failure.Of(fmt.Errorf("the cluster cannot be looked at: %w", err))
	}
	return look, nil
}

// liveQueue is the queue of the nodes in question.
type liveQueue struct {
	look      *grid.Look
	partition string
	group     grid.Group
	up        int // of its nodes
	state     backfill.State
	job       func(id int64) *grid.ManagedJob // by an id of the state
	held      int                             // jobs of the partition that are not in the queue
	waits     []waits                         // why jobs of the partition cannot start now
	twin      *twinQueue                      // of Slurm's own rules; nil: by the policy of the state
}

// queue makes the queue of a look. Without a group it is that of all nodes of the
// partition, because a job that asks for no features can have any of them.
func (l *lookFlags) queue(look *grid.Look, policy backfill.Policy) (*liveQueue, error) {
	slurm.Settle(look) // a saved one may be older than this
	q := &liveQueue{look: look, partition: l.partition, job: managed.JobsOf(look)}
	known := slurm.Partitions(look)
	switch {
	case q.partition == "" && len(known) == 1:
		q.partition = known[0]
	case q.partition == "" && len(known) == 0:
		return nil, errors.New("no node of the snapshot is in a partition")
	case q.partition == "":
		return nil, fmt.Errorf("the cluster has several partitions; choose one with --partition: %s", strings.Join(known, ", "))
	case !slices.Contains(known, q.partition):
		return nil, fmt.Errorf("--partition %s: no such partition in the snapshot; it has %s", q.partition, strings.Join(known, ", "))
	}
	groups, nodes, err := slurm.Kinds(look, q.partition)
	if err != nil {
		return nil, err
	}
	k := 0
	if l.group == "" {
		all := slices.Concat(nodes...)
		groups, nodes = []grid.Group{{Name: q.partition, Nodes: len(all), Performance: grid.Unit}}, [][]string{all}
	} else if k = slices.IndexFunc(groups, func(g grid.Group) bool { return g.Name == l.group }); k < 0 {
		return nil, fmt.Errorf("--group %s: no such group of nodes in the partition; it has %s", l.group, kindsOf(groups))
	}
	if !l.each.Whole() {
		if groups, nodes, err = having(look, &l.each, groups[k], nodes[k]); err != nil {
			return nil, failure.Of(err)
		}
		k = 0
	}
	// Others that wait may have any node: they count for the rest first, where that is large enough.
	own, names := groups[k], nodes[k]
	groups, nodes = append(slices.Delete(groups, k, k+1), own), append(slices.Delete(nodes, k, k+1), names)
	k = len(groups) - 1
	q.group = groups[k]
	up := make(map[string]bool)
	for i := range look.Nodes {
		up[look.Nodes[i].Name] = look.Nodes[i].State == grid.NodeUp
	}
	for _, n := range nodes[k] {
		if up[n] {
			q.up++
		}
	}
	q.state = managed.StateOf(look, managed.View{Now: look.At, Groups: groups, Nodes: nodes, Policy: policy})[k]
	for i := range q.state.Running {
		r := &q.state.Running[i] // it began at the time in the look, not now
		if j := q.job(r.ID); j != nil && j.Start > 0 {
			r.Start = min(r.Start, j.Start)
		}
	}
	q.count()
	return q, nil
}

// kindsOf lists the groups of nodes with their sizes.
func kindsOf(groups []grid.Group) string {
	list := make([]string, len(groups))
	for i, g := range groups {
		list[i] = fmt.Sprintf("%s (%s)", g.Name, grid.Count(g.Nodes, "node"))
	}
	return strings.Join(list, ", ")
}

// taken describes a reservation of the state by its end, because the state keeps no
// names.
func (q *liveQueue) taken(r *backfill.Reserved) string {
	if r.End >= grid.MaxTime {
		return "of nodes that are not up"
	}
	for i := range q.look.Reservations {
		if x := &q.look.Reservations[i]; x.End == r.End && x.Start <= r.Start {
			return x.Name
		}
	}
	return "of what the snapshot does not show"
}

// called is the name of a job of the state: its number.
func (q *liveQueue) called(id int64) string {
	if j := q.job(id); j != nil {
		return j.Number
	}
	return fmt.Sprint(id)
}

// dateTime shows an instant of a live cluster, in UTC.
func dateTime(t grid.Time) string {
	if t >= grid.MaxTime {
		return "never"
	}
	return time.UnixMilli(int64(t)).UTC().Format("2006-01-02 15:04:05Z")
}
