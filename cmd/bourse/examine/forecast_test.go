package examine

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
)

// The forecast asks a live cluster by its commands and shows the cluster's own answer too.
// If the cluster keeps no accounting, it says so.
func TestForecast_OfALiveClusterHasItsOwnAnswerBeside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	recorded, err := filepath.Abs(filepath.Join("..", "..", "..", "cluster", "slurm", "testdata", "22.05"))
	if err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"squeue":   "cat " + recorded + "/squeue.json",
		"sinfo":    "cat " + recorded + "/sinfo.json",
		"scontrol": "cat " + recorded + "/reservations.txt",
		"sbatch":   `echo "sbatch: Job 12 to start at 1795364741 using 1 processors on nodes site1n1 in partition batch" >&2`,
		"sacct":    `echo "Slurm accounting storage is disabled" >&2; exit 1`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	l := lookFlags{slurm: true, folder: dir}
	look, err := l.look(context.Background())
	if err != nil || len(look.Nodes) == 0 {
		t.Fatalf("look %+v, %v", look, err)
	}
	f := forecasting{lookFlags: l, nodes: 1, duration: grid.Hour, policy: &flags.Replayed{Policy: livePolicy()}, priority: "last", days: 1, draws: 20, level: 80}
	f.partition = look.Nodes[0].Partitions[0]
	var out, messages bytes.Buffer
	if err := f.run(context.Background(), nil, nil, &out, &messages); err != nil {
		t.Fatal(err)
	}
	if own := strings.Fields(out.String()[strings.Index(out.String(), "Slurm itself")+12:]); own[0] != "2026-11-22" || own[1] != "16:25:41Z" {
		t.Errorf("printed %s", &out)
	}
	if !strings.Contains(messages.String(), "no history from accounting: sacct --allusers: Slurm accounting storage is disabled") {
		t.Errorf("said %q", &messages)
	}
	l.folder = t.TempDir()
	if _, err := l.look(context.Background()); !failure.Is(err) || !strings.Contains(err.Error(), "not found; install Slurm's commands") {
		t.Errorf("without Slurm: %v", err)
	}
}

// Of saved looks that are far apart it is not known who came in between: such days do not come again.
// What accounting saw is known.
func TestForecast_DaysWithoutSavedLooksDoNotComeAgain(t *testing.T) {
	t.Parallel()
	p, day := &past{}, grid.Time(grid.Day)
	var looks []grid.Time
	for at := grid.Time(0); at <= 10*day; at = at.Add(4 * grid.Minute) {
		p.Submissions.Add(int64(at), at, 1, grid.Hour)
		if at < 4*day || at >= 7*day {
			looks = append(looks, at)
		}
	}
	p.between(nil)
	if n := p.Submissions.Days(10 * day); n != 10 {
		t.Errorf("%d days of a whole record come again, must be 10", n)
	}
	var hourly []grid.Time // by a line of cron, which is late by seconds
	for at := grid.Time(0); at <= 10*day; at = at.Add(grid.Hour + grid.Second) {
		hourly = append(hourly, at)
	}
	p.between(hourly)
	if n := p.Submissions.Days(10 * day); n != 10 {
		t.Errorf("with a look each hour %d days come again, must be 10", n)
	}
	slices.Reverse(looks)
	p.between(looks)
	if n := p.Submissions.Days(10 * day); n != 7 {
		t.Errorf("%d days come again, must be the 7 with looks", n)
	}
}
