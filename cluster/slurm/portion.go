package slurm

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Legs that take slices of their nodes have reservations of whole nodes, as others do, which
// overlap: that keeps the jobs of others out, and lets ours share a node by what they ask for.
// Slurm then refuses no overlap at all, nor with IGNORE_JOBS anybody's running job, so the
// reconciler looks again before it relies on one.

// overlaps are the flags of a reservation of such a leg, to add to the others.
func overlaps(m agents.Command) string {
	switch {
	case !m.Part.Some():
		return ""
	case m.Joins: // otherwise the work of ours that runs there would be in its way
		return ",OVERLAP,IGNORE_JOBS"
	}
	return ",OVERLAP"
}

// takes are the options of sbatch for what work takes of each of its nodes.
func takes(p grid.LegPart) []string {
	if !p.Some() {
		return []string{"--exclusive", "--mem=0"}
	}
	list := []string{"--ntasks-per-node=1", "--cpus-per-task=" + strconv.Itoa(max(int(p.Cores), 1))}
	if mebi := p.Memory >> 20; mebi > 0 {
		list = append(list, "--mem="+strconv.FormatInt(mebi, 10)+"M")
	}
	if p.GPUs > 0 {
		list = append(list, "--gres=gpu:"+strconv.Itoa(int(p.GPUs)))
	}
	return list
}

// Dividable says why nodes of some partitions cannot be shared by our jobs; nil: they can.
func Dividable(ctx context.Context, c Commands, partitions []string) error {
	out, err := c.Run(ctx, "scontrol", "show", "config")
	if err != nil {
		return err
	}
	kind := ""
	for line := range strings.Lines(string(out)) {
		if key, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(key) == "SelectType" {
			kind = strings.TrimSpace(value)
		}
	}
	if kind != "select/cons_tres" {
		return fmt.Errorf("nodes are divided only with SelectType=select/cons_tres, and this Slurm has %q", kind)
	}
	if out, err = c.Run(ctx, "scontrol", "show", "partition", "-o"); err != nil {
		return err
	}
	for line := range strings.Lines(string(out)) {
		rec := parseRecord(line)
		if name := rec["PartitionName"]; slices.Contains(partitions, name) && rec["OverSubscribe"] == "EXCLUSIVE" {
			return fmt.Errorf("partition %s has OverSubscribe=EXCLUSIVE: each job has its nodes alone", name)
		}
	}
	return nil
}
