package slurm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bourse-grid/bourse/grid"
)

// Planned asks Slurm when it would start a job of that many nodes, or of a part of each, with a
// limit in whole minutes, if this user submitted it now. It uses sbatch --test-only, which submits
// nothing. With partition "" Slurm chooses. If Slurm refuses such a job, the error is a
// *Failed with its words.
func Planned(ctx context.Context, c Commands, partition string, nodes int, each *grid.Portion, limit grid.Duration) (grid.Time, error) {
	minutes := max(1, int64((limit+grid.Minute-1)/grid.Minute))
	args := []string{"--test-only", "--nodes=" + strconv.Itoa(nodes), "--time=" + strconv.FormatInt(minutes, 10), "--wrap=true"}
	if partition != "" {
		args = append(args, "--partition="+partition)
	}
	if !each.Whole() {
		args = append(args, takes(grid.LegPart{Slices: 1, Cores: int16(each.Cores), GPUs: int16(each.GPUs), Memory: each.Memory})...)
	}
	text, err := c.complain(ctx, "sbatch", args...)
	if err != nil {
		return 0, err
	}
	m := plannedStart().FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("sbatch --test-only: no start in %.200q", text)
	}
	seconds, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil || seconds > int64(grid.MaxTime/1000) {
		return 0, fmt.Errorf("sbatch --test-only: a start beyond all bounds in %.200q", text)
	}
	return grid.Time(seconds * 1000), nil
}

// plannedStart finds the start in the output of sbatch --test-only, which SLURM_TIME_FORMAT
// makes seconds.
var plannedStart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[Jj]ob \S+ to start at (\d+)\b`)
})

// complain runs a command that answers on stderr, and returns the answer.
func (c Commands) complain(ctx context.Context, name string, args ...string) (string, error) {
	limit := c.Limit
	if limit == 0 {
		limit = callLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	path := name
	if c.Folder != "" {
		path = filepath.Join(c.Folder, name)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = c.environment(), "/", time.Second
	said := &bounded{most: maxComplain}
	cmd.Stderr = said
	err := cmd.Run()
	failed := &Failed{Command: name + " " + args[0]}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return said.b.String(), nil
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		failed.Missing = true
	case ctx.Err() != nil:
		failed.Late = true
	case errors.As(err, &exit):
		failed.Text, failed.Exit = words(said.b.String()), exit.ExitCode()
	default:
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return "", failed
}

// Ended returns the jobs that ended between two instants by the accounting, in the order of
// their ends: user, limit, submit, start, end, nodes and partition of each. It returns the last most of them. If the
// cluster keeps no accounting, the error is a *Failed with Slurm's words.
func Ended(ctx context.Context, c Commands, from, to grid.Time, most int) ([]grid.ManagedJob, error) {
	second := func(t grid.Time) string {
		return time.UnixMilli(int64(t)).UTC().Format("2006-01-02T15:04:05") // TZ is UTC
	}
	text, err := c.Run(ctx, "sacct", "--allusers", "--allocations", "--parsable2", "--noheader",
		"--starttime="+second(from), "--endtime="+second(to), "--state=CD,F,TO,CA,OOM,DL,NF,PR",
		"--format=JobID,User,TimelimitRaw,Submit,Start,End,NNodes,Partition")
	if err != nil {
		return nil, err
	}
	return readEnded(text, most)
}

// readEnded reads what sacct prints: a line for each job, with fields separated by |. A job
// that never started, or has no limit of its own, is left out.
func readEnded(text []byte, most int) ([]grid.ManagedJob, error) {
	var out []grid.ManagedJob
	for line := range bytes.Lines(text) {
		f := strings.Split(strings.TrimRight(string(line), "\r\n"), "|")
		if len(f) == 1 && f[0] == "" {
			continue
		}
		if len(f) != 8 {
			return nil, fmt.Errorf("sacct: %d fields, not 8, in %.80q", len(f), line)
		}
		minutes, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil || minutes <= 0 || minutes > int64(grid.MaxDuration/grid.Minute) {
			continue // UNLIMITED, Partition_Limit
		}
		j := grid.ManagedJob{Number: f[0], User: f[1], State: grid.ManagedEnded, Limit: grid.Duration(minutes) * grid.Minute, Partition: f[7]}
		if nodes, err := strconv.Atoi(f[6]); err == nil && nodes > 0 {
			j.Count = nodes
		}
		for i, to := range []*grid.Time{&j.Submit, &j.Start, &j.End} {
			if seconds, err := strconv.ParseInt(f[3+i], 10, 64); err == nil && seconds > 0 && seconds <= int64(grid.MaxTime/1000) {
				*to = grid.Time(seconds * 1000)
			}
		}
		if j.Start > 0 && j.End > j.Start {
			out = append(out, j)
		}
	}
	slices.SortStableFunc(out, func(a, b grid.ManagedJob) int { return cmp.Compare(a.End, b.End) })
	return out[max(0, len(out)-most):], nil
}
