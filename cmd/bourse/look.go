package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/cluster/slurm"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// lookFlags say which cluster to look at, and which of its nodes.
type lookFlags struct {
	slurm                  bool
	conf, partition, group string
	folder                 string // folder of Slurm's commands; "": on the PATH
}

// addSource adds the flags that say which cluster to look at.
func (l *lookFlags) addSource(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&l.slurm, "slurm", false, "look at this machine's Slurm cluster with Slurm's commands; needs no rights")
	addFlag(cmd, &l.conf, asFile, "conf", "", "its slurm.conf, with --slurm (default: the one that Slurm's commands find)")
}

// add adds all flags: which cluster, and which of its nodes.
func (l *lookFlags) add(cmd *cobra.Command) {
	l.addSource(cmd)
	addFlag(cmd, &l.partition, asName, "partition", "", "the partition (default: the only one)")
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
func (l *lookFlags) look(ctx context.Context) (*bourse.Look, error) {
	if l.conf != "" {
		if _, err := os.Stat(l.conf); err != nil {
			return nil, fmt.Errorf("--conf: %w", err)
		}
	}
	look, err := slurm.Look(ctx, l.commands())
	if err != nil {
		return nil, failed(fmt.Errorf("the cluster cannot be looked at: %w", err))
	}
	return look, nil
}

// Bounds of a saved look.
const (
	maxLook     = 512 << 20 // bytes
	maxLookJobs = 1_000_000
	maxLookName = 4096 // bytes
)

// readLook reads a saved look, "-" from standard input.
func readLook(name string, in io.Reader) (*bourse.Look, error) {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxLook+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxLook:
		return nil, fmt.Errorf("%s: too large for a look; must be at most %d MiB", name, maxLook>>20)
	}
	look, err := parseLook(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return look, nil
}

// lookLike shows the shape of a look in errors.
const lookLike = `{"at": 1760000000, "nodes": [...], "jobs": [...], "reservations": [...]}, as bourse snapshot writes it`

// parseLook reads a look. An error names the place, such as jobs[2], the problem and the
// remedy.
func parseLook(text []byte) (*bourse.Look, error) {
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, jsonError(text, err, lookLike)
	}
	top, err := readObject("", whole, "at", "source", "nodes", "jobs", "reservations")
	if err != nil {
		return nil, err
	}
	look := &bourse.Look{}
	top.value("at", "when it was taken, in seconds since 1970", func(v string) (err error) { look.At, err = bourse.ParseTime(v); return })
	look.Source = top.text("source")
	if top.err != nil {
		return nil, top.err
	}
	if err := instants(look.At); err != nil {
		return nil, fmt.Errorf("at: %w", err)
	}
	if look.Nodes, err = members(top, "nodes", maxNodes, checkNode); err == nil {
		if look.Jobs, err = members(top, "jobs", maxLookJobs, checkJob); err == nil {
			look.Reservations, err = members(top, "reservations", maxLookJobs, checkReservation)
		}
	}
	if err != nil {
		return nil, err
	}
	names := make(map[string]int, len(look.Nodes))
	for i := range look.Nodes {
		if first, twice := names[look.Nodes[i].Name]; twice {
			return nil, fmt.Errorf("nodes[%d]: %q is nodes[%d] too; node names must differ", i, look.Nodes[i].Name, first)
		}
		names[look.Nodes[i].Name] = i
	}
	return look, nil
}

// members reads an array of a look. Its members may have known keys only.
func members[T any](o *object, key string, most int, check func(*T) error) ([]T, error) {
	raw, ok := o.fields[key]
	if !ok {
		return nil, fmt.Errorf("%q is missing; write \"%s\": [...]", key, key)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || list == nil {
		return nil, fmt.Errorf("%s: %s is not an array; write [...]", key, shown(raw))
	}
	if len(list) > most {
		return nil, fmt.Errorf("%s: has %d members; must be at most %d", key, len(list), most)
	}
	out := make([]T, len(list))
	for i, one := range list {
		if len(one) == 0 || one[0] != '{' {
			return nil, fmt.Errorf("%s[%d]: %s is not an object; write {...}", key, i, shown(one))
		}
		dec := json.NewDecoder(bytes.NewReader(one))
		dec.DisallowUnknownFields()
		err := dec.Decode(&out[i])
		if err == nil {
			err = check(&out[i])
		}
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %s", key, i, strings.TrimPrefix(err.Error(), "json: "))
		}
	}
	return out, nil
}

func checkNode(n *bourse.ManagedNode) error {
	states := []bourse.NodeState{bourse.NodeUp, bourse.NodeDrained, bourse.NodeDown, bourse.NodeUnknown}
	switch {
	case !slices.Contains(states, n.State):
		return fmt.Errorf("state %q is unknown; must be up, drained, down or unknown", n.State)
	case n.CPUs < 0 || n.Busy < 0 || n.Memory < 0:
		return errors.New("cpus, busy and memory must be 0 or more")
	}
	return namesFit(append(slices.Concat(n.Features, n.Partitions), n.Name), n.Name)
}

func checkJob(j *bourse.ManagedJob) error {
	states := []bourse.ManagedState{bourse.ManagedPending, bourse.ManagedHeld, bourse.ManagedRunning, bourse.ManagedEnded, bourse.ManagedLost, bourse.ManagedUnknown}
	switch {
	case !slices.Contains(states, j.State):
		return fmt.Errorf("state %q is unknown; must be pending, held, running, ended, lost or unknown", j.State)
	case j.Count < 0 || j.Count > maxNodes:
		return fmt.Errorf("count %d: must be 0 to %d nodes", j.Count, maxNodes)
	case j.Limit < 0:
		return fmt.Errorf("limit %v: must be 0 seconds or more", j.Limit)
	case j.State == bourse.ManagedPending && j.Count < 1:
		return errors.New("count 0: must be 1 or more for a waiting job")
	}
	if err := instants(j.Submit, j.Start, j.End); err != nil {
		return err
	}
	return namesFit(slices.Concat(j.Nodes, []string{j.Number, j.Name, j.User, j.Why, j.Partition, j.Reservation}), j.Number)
}

func checkReservation(r *bourse.ManagedReservation) error {
	if err := instants(r.Start, r.End); err != nil {
		return err
	}
	if r.End <= r.Start {
		return fmt.Errorf("end %v is not after start %v", r.End, r.Start)
	}
	return namesFit(append(slices.Concat(r.Nodes, r.Users), r.Name), r.Name)
}

// instants checks that times are within bounds; 0 means no time.
func instants(list ...bourse.Time) error {
	for _, t := range list {
		if t < 0 || t > bourse.MaxTime {
			return fmt.Errorf("time %v: must be seconds since 1970, 0 to %v", t, bourse.MaxTime)
		}
	}
	return nil
}

// namesFit checks the lengths of names, and that the one required is not empty.
func namesFit(names []string, must string) error {
	if must == "" {
		return errors.New("the name is missing; write \"name\", or \"number\" for a job")
	}
	for _, n := range names {
		if len(n) > maxLookName {
			return fmt.Errorf("%.20q... has %d bytes; names must have at most %d", n, len(n), maxLookName)
		}
	}
	return nil
}

// liveQueue is the queue of the nodes in question.
type liveQueue struct {
	look      *bourse.Look
	partition string
	group     bourse.Group
	up        int // of its nodes
	state     backfill.State
	job       func(id int64) *bourse.ManagedJob // by an id of the state
}

// queue makes the queue of a look. Without a group it is that of all nodes of the
// partition, because a job that asks for no features can have any of them.
func (l *lookFlags) queue(look *bourse.Look, policy backfill.Policy) (*liveQueue, error) {
	q := &liveQueue{look: look, partition: l.partition, job: managed.JobsOf(look)}
	known := slurm.Partitions(look)
	switch {
	case q.partition == "" && len(known) == 1:
		q.partition = known[0]
	case q.partition == "" && len(known) == 0:
		return nil, errors.New("no node of the look is in a partition")
	case q.partition == "":
		return nil, fmt.Errorf("the cluster has several partitions; choose one with --partition: %s", strings.Join(known, ", "))
	case !slices.Contains(known, q.partition):
		return nil, fmt.Errorf("--partition %s: no such partition in the look; it has %s", q.partition, strings.Join(known, ", "))
	}
	groups, nodes, err := slurm.Kinds(look, q.partition)
	if err != nil {
		return nil, err
	}
	k := 0
	if l.group == "" {
		all := slices.Concat(nodes...)
		groups, nodes = []bourse.Group{{Name: q.partition, Nodes: len(all), Performance: bourse.Unit}}, [][]string{all}
	} else if k = slices.IndexFunc(groups, func(g bourse.Group) bool { return g.Name == l.group }); k < 0 {
		return nil, fmt.Errorf("--group %s: no such group of nodes in the partition; it has %s", l.group, kindsOf(groups))
	}
	q.group = groups[k]
	up := make(map[string]bool)
	for i := range look.Nodes {
		up[look.Nodes[i].Name] = look.Nodes[i].State == bourse.NodeUp
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
	return q, nil
}

// kindsOf lists the groups of nodes with their sizes.
func kindsOf(groups []bourse.Group) string {
	list := make([]string, len(groups))
	for i, g := range groups {
		list[i] = fmt.Sprintf("%s (%s)", g.Name, nodeCount(g.Nodes))
	}
	return strings.Join(list, ", ")
}

// taken describes a reservation of the state by its end, because the state keeps no
// names.
func (q *liveQueue) taken(r *backfill.Reserved) string {
	if r.End >= bourse.MaxTime {
		return "of nodes that are not up"
	}
	for i := range q.look.Reservations {
		if x := &q.look.Reservations[i]; x.End == r.End && x.Start <= r.Start {
			return x.Name
		}
	}
	return "of what the look does not show"
}

// called is the name of a job of the state: its number.
func (q *liveQueue) called(id int64) string {
	if j := q.job(id); j != nil {
		return j.Number
	}
	return fmt.Sprint(id)
}

// dateTime shows an instant of a live cluster, in UTC.
func dateTime(t bourse.Time) string {
	if t >= bourse.MaxTime {
		return "never"
	}
	return time.UnixMilli(int64(t)).UTC().Format("2006-01-02 15:04:05Z")
}

// roughly shows a span in its two largest units, "2d 3h", "1h 5m", "42s".
func roughly(d bourse.Duration) string {
	units := []struct {
		span bourse.Duration
		name string
	}{{bourse.Day, "d"}, {bourse.Hour, "h"}, {bourse.Minute, "m"}, {bourse.Second, "s"}}
	for i, u := range units {
		if d < u.span && u.span > bourse.Second {
			continue
		}
		words := fmt.Sprintf("%d%s", d/u.span, u.name)
		if i+1 < len(units) && d%u.span >= units[i+1].span {
			words += fmt.Sprintf(" %d%s", d%u.span/units[i+1].span, units[i+1].name)
		}
		return words
	}
	panic("unreachable: the last unit fits")
}
