package examine

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/cluster/slurm"
	"github.com/bourse-grid/bourse/cmd/bourse/input"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/forecast"
	"github.com/bourse-grid/bourse/workload"
)

// past is the history that a forecast learns from.
type past struct {
	forecast.Forecaster
	from   []string         // where it comes from, in words
	record *forecast.Record // what bands are calibrated on; nil: nothing tells who waited
	own    bool             // the record is the cluster's, and not of a log
}

// Bounds of the input. The history itself keeps only the latest jobs of each user, of
// each class and of all.
const (
	maxHistoryFiles = 10_000
	maxEnded        = 1_000_000
)

// learn reads the history: logs first, because they have clocks of their own; then the
// ended jobs of saved looks, of accounting and of the look itself, by end, each job once.
func (f *forecasting) learn(ctx context.Context, q *liveQueue, messages io.Writer) (*past, error) {
	look := q.look
	p := &past{}
	files, err := historyFiles(f.history)
	if err != nil {
		return nil, err
	}
	var ended []grid.ManagedJob
	var looks []grid.Time
	for _, name := range files {
		isLook, err := looksLikeJSON(name)
		switch {
		case err != nil:
			return nil, err
		case !isLook:
			if err := p.log(name, q.state.Policy, messages); err != nil {
				return nil, err
			}
			continue
		}
		kept, err := input.ReadLook(name, nil)
		if err != nil {
			return nil, err
		}
		looks = append(looks, kept.At)
		ended = append(ended, endedOf(kept)...)
	}
	if len(looks) > 0 {
		p.from = append(p.from, grid.Count(len(looks), "saved snapshot"))
	}
	if f.slurm && f.days > 0 {
		list, err := slurm.Ended(ctx, f.commands(), look.At.Add(-grid.Duration(f.days)*grid.Day), look.At, maxEnded)
		if err != nil {
			fmt.Fprintf(messages, "no history from accounting: %v\n", err)
		} else if len(list) > 0 {
			p.from = append(p.from, "accounting")
			ended = append(ended, list...)
			looks = nil // it saw what they did not
		}
	}
	p.between(append(looks, look.At))
	if own := endedOf(look); len(own) > 0 {
		p.from = append(p.from, "the snapshot itself")
		ended = append(ended, own...)
	}
	slices.SortStableFunc(ended, func(a, b grid.ManagedJob) int {
		return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.Number, b.Number))
	})
	p.recorded(q, ended)
	return p, nil
}

// mostApart is how far saved looks may be apart for what came in between to be known: an hour, and
// by how much a line of cron may be late.
const mostApart = grid.Hour + grid.Minute

// between tells in which times there was no look: what came and ended then is in none.
func (p *past) between(looks []grid.Time) {
	slices.Sort(looks)
	for i := 1; i < len(looks); i++ {
		if looks[i].Sub(looks[i-1]) > mostApart {
			p.Submissions.Unseen(looks[i-1], looks[i])
		}
	}
}

// endedOf lists the jobs of a look that ran and have ended.
func endedOf(look *grid.Look) []grid.ManagedJob {
	var list []grid.ManagedJob
	for _, j := range look.Jobs {
		if j.State == grid.ManagedEnded && j.Start > 0 && j.End > j.Start && j.Limit > 0 {
			list = append(list, j)
		}
	}
	return list
}

// log learns from a log in the Standard Workload Format. Its users are numbers that have
// nothing to do with the cluster's users, so only its classes of limits and its total count.
func (p *past) log(name string, policy backfill.Policy, messages io.Writer) error {
	trace, err := workload.Open(name, workload.Options{})
	if err != nil {
		return err
	}
	for _, remark := range trace.Remarks() {
		fmt.Fprintln(messages, remark)
	}
	if why := trace.Useless(); why != "" {
		return fmt.Errorf("%s: %s", name, why)
	}
	jobs, tally := trace.Jobs(workload.JobOptions{})
	for _, j := range jobs {
		p.Runs.Add("", j.Nodes, j.Estimate, j.Run)
	}
	if p.record == nil {
		p.record = recordOf(trace, policy)
	}
	if tally.NoEstimate > 0 {
		fmt.Fprintf(messages, "%s: %s no limit; they count as run to the limit\n", name, grid.Count(tally.NoEstimate, "job has", "jobs have"))
	}
	p.from = append(p.from, filepath.Base(name))
	return nil
}

// historyFiles lists the named files and, in order of name, the files with a known ending
// in the named folders.
func historyFiles(names []string) ([]string, error) {
	var files []string
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, fmt.Errorf("--history: %w", err)
		}
		if !info.IsDir() {
			files = append(files, name)
			continue
		}
		entries, err := os.ReadDir(name)
		if err != nil {
			return nil, fmt.Errorf("--history: %w", err)
		}
		before := len(files)
		for _, e := range entries {
			for _, ending := range []string{".json", ".swf", ".swf.gz"} {
				if strings.HasSuffix(e.Name(), ending) && !e.IsDir() {
					files = append(files, filepath.Join(name, e.Name()))
				}
			}
		}
		if len(files) == before {
			return nil, fmt.Errorf("--history %s: it has no file whose name ends in .json, .swf or .swf.gz", name)
		}
	}
	if len(files) > maxHistoryFiles {
		return nil, fmt.Errorf("--history: %s; must be at most %d", grid.Count(len(files), "file"), maxHistoryFiles)
	}
	return files, nil
}

// looksLikeJSON reports whether a file begins like a JSON object. No log does.
func looksLikeJSON(name string) (bool, error) {
	file, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	begin := make([]byte, 512)
	n, err := io.ReadFull(file, begin)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false, err
	}
	return jsonBegins(begin[:n]), nil
}

// jsonBegins reports whether a text begins like a JSON object.
func jsonBegins(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{"))
}
